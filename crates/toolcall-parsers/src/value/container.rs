//! Brackets of literals, and their meaning in JSON.
//!
//! ```text
//! Python    state after the bracket, then after the next token
//! {'a': 1}  Brace, Dict     {"a": 1}
//! {'a', 1}  Brace, Set      ["a", 1]
//! ('a', 1)  Paren, Tuple    ["a", 1]
//! ('a')     Paren, Group    "a"
//! ```

use super::{
    Syntax,
    dialect::Tolerated,
    escape::escape,
    transcoder::{Cx, Flow, Top, Transcoder, TranscoderState},
};
use crate::limits::MAX_ARGUMENT_DEPTH;

/// The kind of an open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// `{` and at most one item: a dict or a set.
    Brace,
    /// `(` and at most one item: a tuple or a group.
    Paren,
    /// A list. The number of elements is counted only if a schema needs it.
    List(u32),
    Tuple,
    /// A `(` before a bracket, which is assumed to be a tuple. A comma must follow the first
    /// element.
    TupleOfOne,
    Set,
    Dict,
    /// Parentheses around a single value.
    Group,
    /// The parentheses of a call with keyword arguments.
    Keywords,
}

impl Container {
    /// Returns the brackets in JSON.
    pub(super) fn json(self) -> (&'static str, &'static str) {
        match self {
            Self::Dict | Self::Keywords => ("{", "}"),
            Self::Group => ("", ""),
            _ => ("[", "]"),
        }
    }

    /// Returns whether `byte` closes the bracket in place of an element.
    fn may_end(self, byte: u8) -> bool {
        match byte {
            b']' => matches!(self, Self::List(_)),
            b')' => matches!(self, Self::Paren | Self::Tuple | Self::Keywords),
            _ => matches!(self, Self::Brace | Self::Set | Self::Dict),
        }
    }
}

impl Transcoder {
    /// Emits the comma and the brackets before the next value.
    pub(super) fn lead_in(&mut self, cx: &mut Cx<'_, '_>) {
        cx.out.put(&self.lead);
        self.lead.clear();
    }

    /// Returns whether the kind of the innermost bracket is undecided.
    pub(super) fn is_open_kind(&self) -> bool {
        matches!(self.frames.last(), Some(Container::Brace | Container::Paren))
    }

    /// Sets the kind of the innermost bracket, which was undecided.
    pub(super) fn decide(&mut self, frame: Container) {
        self.retake(frame);
        self.lead.push_str(frame.json().0);
    }

    /// Replaces the kind of the innermost bracket.
    pub(super) fn retake(&mut self, frame: Container) {
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
        }
    }

    /// Counts an element of a list, if a schema gives elements their types.
    pub(super) fn count_element(&mut self, cx: &Cx<'_, '_>) {
        if let (Some(Container::List(count)), true) =
            (self.frames.last_mut(), cx.dialect.typing.is_some())
        {
            self.path.element(*count as usize);
            *count = count.saturating_add(1);
        }
    }

    /// Opens the bracket `byte`.
    pub(super) fn open(&mut self, byte: u8, cx: &mut Cx<'_, '_>) -> Flow {
        let python = cx.dialect.is(Syntax::Python);
        if self.key {
            return if python { cx.inexpressible(0) } else { cx.bad(0) };
        }
        if self.frames.len() >= MAX_ARGUMENT_DEPTH {
            return cx.bad(0);
        }
        if !python {
            self.certain(cx)?;
        }
        self.count_element(cx);
        match self.frames.last() {
            Some(Container::Brace) => self.decide(Container::Set),
            Some(Container::Paren) => self.decide(Container::TupleOfOne),
            _ => {}
        }
        // An object of arguments cannot be a set.
        let arguments =
            self.frames.iter().all(|frame| *frame == Container::Group) && self.top != Top::Value;
        let frame = match byte {
            b'[' => Container::List(0),
            b'(' => Container::Paren,
            _ if !python || arguments => Container::Dict,
            _ => Container::Brace,
        };
        self.frames.push(frame);
        if matches!(frame, Container::List(_) | Container::Dict) {
            self.lead.push_str(frame.json().0);
        }
        self.key = frame == Container::Dict;
        if self.certain {
            self.lead_in(cx);
        }
        self.state = TranscoderState::Element;
        cx.advance(1);
        Ok(())
    }

    /// Returns whether `byte` may close the innermost bracket in place of an element.
    pub(super) fn may_close(&self, byte: u8) -> bool {
        self.frames.last().is_some_and(|frame| frame.may_end(byte))
    }

    /// Closes a bracket in place of an element.
    pub(super) fn close_empty(&mut self, byte: u8, cx: &mut Cx<'_, '_>) -> Flow {
        // A trailing comma is not emitted.
        let trailing = self.lead == ", ";
        if trailing {
            self.tolerate(Tolerated::TrailingComma, cx)?;
        }
        self.certain(cx)?;
        if trailing && !self.is_open_kind() {
            self.lead.clear();
        }
        if self.is_open_kind() {
            self.decide(if byte == b'}' { Container::Dict } else { Container::Tuple });
        }
        self.lead_in(cx);
        cx.advance(1);
        self.pop(cx);
        Ok(())
    }

    /// Closes the innermost bracket.
    fn pop(&mut self, cx: &mut Cx<'_, '_>) {
        if let Some(frame) = self.frames.pop() {
            cx.out.put(frame.json().1);
        }
        self.key = false;
        self.ended();
    }

    /// Ends a value that was emitted.
    pub(super) fn ended(&mut self) {
        self.path.pop();
        self.state =
            if self.frames.is_empty() { TranscoderState::Done } else { TranscoderState::After };
    }

    /// Emits all closing brackets, which ends the literal.
    pub(super) fn close_all(&mut self, cx: &mut Cx<'_, '_>) {
        // The opening brace of keyword arguments is emitted with the first value.
        cx.out.put(if self.lead.starts_with('{') { "{" } else { "" });
        self.lead.clear();
        while !self.frames.is_empty() {
            self.pop(cx);
        }
        self.state = TranscoderState::Done;
    }

    /// Reads the token after a value or key. The token shows which of them it was.
    pub(super) fn after(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        let Some(&frame) = self.frames.last() else {
            self.certain(cx)?;
            self.settle(cx);
            self.state = TranscoderState::Done;
            return Ok(());
        };
        self.skip_blanks(cx)?;
        let Some(byte) = cx.peek() else { return cx.more() };
        let decided = match (frame, byte) {
            (Container::Brace, b':') => Some(Container::Dict),
            (Container::Brace, b',' | b'}') => Some(Container::Set),
            (Container::Paren, b',') => Some(Container::Tuple),
            (Container::Paren, b')') => Some(Container::Group),
            (Container::Group, b',') | (Container::TupleOfOne, b')') => return cx.inexpressible(0),
            _ => None,
        };
        let frame = decided.unwrap_or(frame);
        let key = self.key || decided == Some(Container::Dict);
        let fits = match byte {
            b'=' => frame == Container::Keywords && key,
            b':' => frame == Container::Dict && key,
            b',' => frame != Container::Group && !key,
            b']' => matches!(frame, Container::List(_)),
            b')' => {
                !key && matches!(frame, Container::Tuple | Container::Group | Container::Keywords)
            }
            b'}' => frame == Container::Set || frame == Container::Dict && !key,
            _ => false,
        };
        if !fits {
            return if self.close_at_call_end(cx)? { Ok(()) } else { cx.bad(0) };
        }
        if key && (byte == b'=' || cx.dialect.is(Syntax::Literal)) {
            self.keep_key(cx);
            return Ok(());
        }
        self.certain(cx)?;
        self.key = key;
        if decided.is_some() {
            self.lead_in(cx);
            self.decide(frame);
        }
        self.settle(cx);
        cx.advance(1);
        match byte {
            b':' => {
                cx.out.put(": ");
                (self.key, self.state) = (false, TranscoderState::Value);
            }
            b',' => {
                if frame == Container::TupleOfOne {
                    self.retake(Container::Tuple);
                }
                self.lead.push_str(", ");
                self.key = matches!(frame, Container::Dict | Container::Keywords);
                self.state = TranscoderState::Element;
            }
            _ => self.pop(cx),
        }
        Ok(())
    }

    /// Holds a key until its value begins. A keyword's key is emitted if the call is certain.
    fn keep_key(&mut self, cx: &mut Cx<'_, '_>) {
        cx.advance(1);
        self.lead.push('"');
        escape(&self.scalar, |piece| self.lead.push_str(piece));
        self.lead.push_str("\": ");
        if cx.dialect.typing.is_some() {
            self.path.member(&self.scalar);
        }
        self.scalar.clear();
        (self.key, self.state) = (false, TranscoderState::Value);
        if self.certain && !cx.dialect.is(Syntax::Literal) {
            self.lead_in(cx);
        }
    }

    /// Emits the held number, word or key, whose end is now certain.
    pub(super) fn settle(&mut self, cx: &mut Cx<'_, '_>) {
        self.lead_in(cx);
        let scalar = if self.word.is_empty() { self.scalar.as_str() } else { self.word };
        if self.key && !scalar.is_empty() {
            cx.out.put("\"");
            cx.out.put(scalar);
            cx.out.put("\"");
        } else {
            cx.out.put(scalar);
            cx.out.put(&self.kept);
        }
        self.word = "";
        self.scalar.clear();
        self.kept.clear();
    }
}
