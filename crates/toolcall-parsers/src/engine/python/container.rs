//! Brackets: what they are in JSON, which for `{` and `(` only what follows the first thing in
//! them tells.

use super::literal::{Literal, Out, Read, Rules, State, Step, Top};
use crate::engine::text::space;

/// The deepest nesting of the arguments, their own object included.
const MAX_DEPTH: usize = 128;

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// `{` with one thing at most behind it: a dict or a set.
    Brace,
    /// `(` with one thing at most behind it: a tuple, or parentheses that mean nothing.
    Paren,
    List,
    Tuple,
    /// Taken for a tuple because of what its first element is; the comma must follow.
    TupleOfOne,
    Set,
    Dict,
    /// Parentheses that mean nothing.
    Group,
}

impl Frame {
    pub(super) fn json(self) -> (&'static str, &'static str) {
        match self {
            Self::Dict => ("{", "}"),
            Self::Group => ("", ""),
            _ => ("[", "]"),
        }
    }
}

impl Literal {
    /// Writes what the comma before and the brackets around the next thing are in JSON.
    pub(super) fn lead_in(&mut self, out: Out<'_>) {
        if self.separator {
            self.separator = false;
            out(", ");
        }
        if self.unwritten > 0 {
            let known = self.frames.len() - usize::from(self.is_open_kind());
            for frame in &self.frames[known - self.unwritten..known] {
                put(frame.json().0, out);
            }
            self.unwritten = 0;
        }
    }

    /// Whether the innermost frame's kind is open.
    pub(super) fn is_open_kind(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Brace | Frame::Paren))
    }

    /// Decides what the innermost frame is.
    pub(super) fn decide(&mut self, frame: Frame) {
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
            self.unwritten += 1;
        }
    }

    pub(super) fn open(&mut self, rules: &Rules<'_>, byte: u8, at: usize, out: Out<'_>) -> Step {
        let room = MAX_DEPTH - usize::from(self.top != Top::Dict);
        if self.key {
            return Err(Read::Inexpressible { at });
        }
        if self.frames.len() >= room {
            return Err(Read::Bad { at });
        }
        match self.frames.last() {
            Some(Frame::Brace) => self.decide(Frame::Set),
            Some(Frame::Paren) => self.decide(Frame::TupleOfOne),
            _ => {}
        }
        let frame = match byte {
            b'[' => Frame::List,
            b'(' => Frame::Paren,
            _ if rules.script || self.top == Top::Dict && self.frames.is_empty() => Frame::Dict,
            _ => Frame::Brace,
        };
        self.frames.push(frame);
        self.unwritten += usize::from(matches!(frame, Frame::List | Frame::Dict));
        self.key = frame == Frame::Dict;
        if self.certain {
            self.lead_in(out);
        }
        self.state = State::Element;
        Ok(())
    }

    /// A bracket closes directly behind the opening one or a comma.
    pub(super) fn close_empty(&mut self, byte: u8, at: usize, out: Out<'_>) -> Step {
        match (self.frames.last(), byte) {
            (Some(Frame::Brace), b'}') | (Some(Frame::Paren), b')') => {
                self.certain(at)?;
                self.decide(if byte == b'}' { Frame::Dict } else { Frame::Tuple });
                self.lead_in(out);
            }
            (Some(Frame::List), b']')
            | (Some(Frame::Tuple), b')')
            | (Some(Frame::Set | Frame::Dict), b'}') => {
                self.certain(at)?;
                // A comma at the end has no successor.
                self.separator &= self.unwritten > 0;
                self.lead_in(out);
            }
            _ => return Err(Read::Bad { at }),
        }
        self.pop(out);
        Ok(())
    }

    fn pop(&mut self, out: Out<'_>) {
        if let Some(frame) = self.frames.pop() {
            put(frame.json().1, out);
        }
        self.key = false;
        self.state = State::After;
    }

    /// Behind a container: the literal is over if that was the outermost.
    pub(super) fn closed(&self, used: usize) -> Step {
        if self.frames.is_empty() { Err(Read::End { used }) } else { Ok(()) }
    }

    /// Behind a value: what follows says what it was.
    pub(super) fn after(
        &mut self,
        rules: &Rules<'_>,
        text: &str,
        i: &mut usize,
        out: Out<'_>,
    ) -> Step {
        *i += space(&text[*i..]);
        let at = *i;
        let Some(&byte) = text.as_bytes().get(at) else { return Err(Read::More { used: at }) };
        let Some(&frame) = self.frames.last() else {
            if !rules.ends.contains(&byte) {
                return Err(Read::Bad { at });
            }
            self.certain(at)?;
            self.settle(out);
            return Err(Read::End { used: at });
        };
        let decided = match (frame, byte) {
            (Frame::Brace, b':') => Some(Frame::Dict),
            (Frame::Brace, b',' | b'}') => Some(Frame::Set),
            (Frame::Paren, b',') => Some(Frame::Tuple),
            (Frame::Paren, b')') => Some(Frame::Group),
            (Frame::Group, b',') | (Frame::TupleOfOne, b')') => {
                return Err(Read::Inexpressible { at });
            }
            _ => None,
        };
        let frame = decided.unwrap_or(frame);
        let key = self.key || (decided == Some(Frame::Dict));
        let fits = match byte {
            b':' => frame == Frame::Dict && key,
            b',' => frame != Frame::Group && !key,
            b']' => frame == Frame::List,
            b')' => matches!(frame, Frame::Tuple | Frame::Group),
            b'}' => frame == Frame::Set || frame == Frame::Dict && !key,
            _ => false,
        };
        if !fits {
            return Err(Read::Bad { at });
        }
        self.certain(at)?;
        self.key = key;
        if decided.is_some() {
            // A scalar that was pending belongs to what was kept.
            self.lead_in(out);
            self.decide(frame);
        }
        self.settle(out);
        *i += 1;
        match byte {
            b':' => {
                out(": ");
                (self.key, self.state) = (false, State::Value);
            }
            b',' => {
                if frame == Frame::TupleOfOne {
                    self.retake(Frame::Tuple);
                }
                (self.separator, self.key) = (true, frame == Frame::Dict);
                self.state = State::Element;
            }
            _ => {
                self.pop(out);
                return self.closed(*i);
            }
        }
        Ok(())
    }

    fn retake(&mut self, frame: Frame) {
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
        }
    }

    /// Writes the scalar before the cursor, whose end is now certain.
    fn settle(&mut self, out: Out<'_>) {
        self.lead_in(out);
        let scalar = if self.word.is_empty() { self.number.as_str() } else { self.word };
        if self.key && !scalar.is_empty() {
            out("\"");
            out(scalar);
            out("\"");
        } else {
            put(scalar, out);
            put(&self.kept, out);
        }
        self.word = "";
        self.number.clear();
        self.kept.clear();
    }
}

fn put(piece: &str, out: Out<'_>) {
    if !piece.is_empty() {
        out(piece);
    }
}
