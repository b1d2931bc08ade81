//! Brackets: their meaning in JSON. For Python's `{` and `(` only the text after the first item
//! decides it.

use super::{
    Syntax,
    dialect::Tolerated,
    escape::escape,
    transcoder::{Cx, Flow, Top, Transcoder, TranscoderState},
};
use crate::limits::MAX_DEPTH;

/// A bracket that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// `{` with at most one item after it: a dict or a set.
    Brace,
    /// `(` with at most one item after it: a tuple, or parentheses without a meaning.
    Paren,
    /// With the number of elements so far, which only a schema asks for.
    List(u32),
    Tuple,
    /// Taken for a tuple because of what its first element is; the comma must follow.
    TupleOfOne,
    Set,
    Dict,
    /// Parentheses that mean nothing.
    Group,
    /// The parentheses of a call with keyword arguments.
    Keywords,
}

impl Container {
    pub(super) fn json(self) -> (&'static str, &'static str) {
        match self {
            Self::Dict | Self::Keywords => ("{", "}"),
            Self::Group => ("", ""),
            _ => ("[", "]"),
        }
    }

    /// Whether `byte` closes it where an element or a value was expected.
    fn may_end(self, byte: u8) -> bool {
        match byte {
            b']' => matches!(self, Self::List(_)),
            b')' => matches!(self, Self::Paren | Self::Tuple | Self::Keywords),
            _ => matches!(self, Self::Brace | Self::Set | Self::Dict),
        }
    }
}

impl Transcoder {
    /// Writes what the comma before and the brackets around the next thing are in JSON.
    pub(super) fn lead_in(&mut self, cx: &mut Cx<'_, '_>) {
        cx.out.put(&self.lead);
        self.lead.clear();
    }

    /// Whether the innermost frame's kind is open.
    pub(super) fn is_open_kind(&self) -> bool {
        matches!(self.frames.last(), Some(Container::Brace | Container::Paren))
    }

    /// Decides what the innermost frame is.
    pub(super) fn decide(&mut self, frame: Container) {
        self.retake(frame);
        self.lead.push_str(frame.json().0);
    }

    pub(super) fn retake(&mut self, frame: Container) {
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
        }
    }

    /// In a list whose elements the schema types, one more begins.
    pub(super) fn count_element(&mut self, cx: &Cx<'_, '_>) {
        if let (Some(Container::List(count)), true) = (self.frames.last_mut(), cx.typing.is_some())
        {
            self.path.element(*count as usize);
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn open(&mut self, byte: u8, cx: &mut Cx<'_, '_>) -> Flow {
        let python = cx.dialect.is(Syntax::Python);
        if self.key {
            return if python { cx.inexpressible(0) } else { cx.bad(0) };
        }
        if self.frames.len() >= MAX_DEPTH {
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

    /// Whether `byte` closes the innermost bracket directly after it or after a comma.
    pub(super) fn may_close(&self, byte: u8) -> bool {
        self.frames.last().is_some_and(|frame| frame.may_end(byte))
    }

    pub(super) fn close_empty(&mut self, byte: u8, cx: &mut Cx<'_, '_>) -> Flow {
        // A comma at the end has no successor.
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

    fn pop(&mut self, cx: &mut Cx<'_, '_>) {
        if let Some(frame) = self.frames.pop() {
            cx.out.put(frame.json().1);
        }
        self.key = false;
        self.ended();
    }

    /// A value is whole and written.
    pub(super) fn ended(&mut self) {
        self.path.pop();
        self.state =
            if self.frames.is_empty() { TranscoderState::Done } else { TranscoderState::After };
    }

    /// Writes the brackets of all that is open, which ends the value.
    pub(super) fn close_all(&mut self, cx: &mut Cx<'_, '_>) {
        // Keywords open their object with the first value.
        cx.out.put(if self.lead.starts_with('{') { "{" } else { "" });
        self.lead.clear();
        while !self.frames.is_empty() {
            self.pop(cx);
        }
        self.state = TranscoderState::Done;
    }

    /// Reads on after a value or a key: the next text decides which of them it was.
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
            return if self.lost_end(cx)? { Ok(()) } else { cx.bad(0) };
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

    /// Keeps a key that is emitted with its value. A key of keyword arguments is emitted once the
    /// call is certain.
    fn keep_key(&mut self, cx: &mut Cx<'_, '_>) {
        cx.advance(1);
        self.lead.push('"');
        escape(&self.scalar, |piece| self.lead.push_str(piece));
        self.lead.push_str("\": ");
        if cx.typing.is_some() {
            self.path.member(&self.scalar);
        }
        self.scalar.clear();
        (self.key, self.state) = (false, TranscoderState::Value);
        if self.certain && !cx.dialect.is(Syntax::Literal) {
            self.lead_in(cx);
        }
    }

    /// Writes the scalar before the cursor, whose end is now certain.
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
