//! Values that are text: in quotes, or bare.
//!
//! What may only be a string is written while it arrives. Anything else is held until it is
//! whole, or until it cannot be other than a string.

use jail_match::Feed;

use super::{
    BraceEngine, MAX_GAP, State, Step,
    scalar::may_go_on,
    shape::{BraceShape, BraceTypes},
};
use crate::{
    calls::Calls,
    engine::text::{Is, is},
    event::{CallSink, DiagnosticKind},
    json::escape::escape,
    typing::{Fit, Types, declared_at, json_or_string, typed},
};

/// What becomes of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A string that is being written.
    String,
    /// Typed by the schema once it is whole.
    Typed(Types),
    /// JSON or a string, whatever it looks like once it is whole.
    Guess,
}

impl BraceEngine {
    pub(super) fn begin_quoted(
        &mut self,
        shape: &BraceShape,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) {
        self.text.clear();
        self.state = State::Quoted;
        self.mode = match shape.types {
            BraceTypes::Wire => Mode::Typed(Types::STRING),
            BraceTypes::Schema => self.declared(calls),
        };
        if self.mode == Mode::Typed(Types::STRING) {
            self.begin_string(calls, sink);
        }
    }

    pub(super) fn begin_bare(&mut self, shape: &BraceShape, calls: &Calls) {
        self.text.clear();
        self.state = State::Bare;
        self.mode = match shape.types {
            BraceTypes::Wire => Mode::Guess,
            BraceTypes::Schema => self.declared(calls),
        };
    }

    fn declared(&self, calls: &Calls) -> Mode {
        let tool = calls.tools.get(&self.name);
        match tool.and_then(|tool| declared_at(&tool.parameters, self.path.steps())) {
            Some(Types::ALL) | None => Mode::Guess,
            Some(types) => Mode::Typed(types),
        }
    }

    /// Writes the beginning of a string, with what is held of it.
    fn begin_string(&mut self, calls: &Calls, sink: &mut dyn CallSink) {
        self.mode = Mode::String;
        self.lead(calls, sink);
        calls.arguments("\"", sink);
        self.put_held(calls, sink);
    }

    fn put_held(&mut self, calls: &Calls, sink: &mut dyn CallSink) {
        escape(&self.text, |piece| calls.arguments(piece, sink));
        self.text.clear();
    }

    /// Text between quotes.
    pub(super) fn quoted(
        &mut self,
        shape: &BraceShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let first = shape.quote.as_bytes().first().copied().unwrap_or(0);
        let mut from = *i;
        while let Some(hit) = memchr::memchr(first, &text.as_bytes()[from..]) {
            let at = from + hit;
            match is(&text[at..], &shape.quote) {
                Is::Yes => {
                    self.push(&text[*i..at], calls, sink);
                    *i = at + shape.quote.len();
                    self.end_text(shape, *i, calls, sink);
                    return Step::Go;
                }
                Is::Maybe => {
                    self.push(&text[*i..at], calls, sink);
                    return Step::Return(Feed::More { used: at });
                }
                Is::No => from = at + text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        self.push(&text[*i..], calls, sink);
        Step::Return(Feed::More { used: text.len() })
    }

    /// Takes in text of a quoted value.
    fn push(&mut self, text: &str, calls: &Calls, sink: &mut dyn CallSink) {
        if self.mode == Mode::String {
            return escape(text, |piece| calls.arguments(piece, sink));
        }
        self.text.push_str(text);
        let is_text = match (self.mode, self.text.trim_ascii_start().bytes().next()) {
            (Mode::Guess, Some(byte)) => {
                !matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
            }
            _ => false,
        };
        if is_text || self.text.len() > calls.options.limits.value {
            self.begin_string(calls, sink);
        }
    }

    /// A scalar without quotes, up to a delimiter.
    pub(super) fn bare(
        &mut self,
        shape: &BraceShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        for (n, scalar) in text[*i..].char_indices() {
            let at = *i + n;
            // A closing quote whose opening one was forgotten.
            let quote = is(&text[at..], &shape.quote);
            match scalar {
                _ if quote == Is::Maybe => return Step::Return(Feed::More { used: at }),
                ',' | '}' | ']' => {
                    self.end_text(shape, at, calls, sink);
                    *i = at;
                    return Step::Go;
                }
                _ if quote == Is::Yes => {
                    if self.mode != Mode::String {
                        self.begin_string(calls, sink);
                    }
                    *i = at + shape.quote.len();
                    self.end_text(shape, *i, calls, sink);
                    return Step::Go;
                }
                _ => self.push_bare(shape, scalar, calls, sink),
            }
        }
        Step::Return(Feed::More { used: text.len() })
    }

    /// Takes in one scalar of a bare value. Whitespace is held: it may be the value's end.
    fn push_bare(
        &mut self,
        shape: &BraceShape,
        scalar: char,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) {
        let guess = self.mode == Mode::Guess;
        let is_text = guess && !may_go_on(&self.text, scalar, &shape.null_words);
        self.text.push(scalar);
        if self.mode == Mode::String {
            if !scalar.is_ascii_whitespace() || self.text.len() > MAX_GAP {
                self.put_held(calls, sink);
            }
            return;
        }
        // Numbers and words are short, unlike JSON in a bare value.
        let limits = &calls.options.limits;
        let short = guess && !self.text.starts_with('"');
        if is_text || self.text.len() > if short { limits.name } else { limits.value } {
            self.begin_string(calls, sink);
        }
    }

    /// A value's text ended, at `offset` in the text being fed.
    fn end_text(
        &mut self,
        shape: &BraceShape,
        offset: usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) {
        if self.mode == Mode::String {
            calls.arguments("\"", sink);
        } else {
            self.lead(calls, sink);
            let bare = self.state == State::Bare;
            let text = if bare { self.text.trim_ascii_end() } else { self.text.as_str() };
            let out = |piece: &str| calls.arguments(piece, sink);
            let is_null = bare && shape.null_words.iter().any(|word| word == text);
            let fit = match self.mode {
                Mode::Typed(types) if is_null && types.has(Types::NULL) => {
                    typed("null", Types::NULL, out)
                }
                Mode::Typed(types) => typed(text, types, out),
                _ if is_null => typed("null", Types::NULL, out),
                _ => json_or_string(text, out),
            };
            if fit == Fit::No && self.mode != Mode::Guess {
                calls.diagnose(DiagnosticKind::Mistyped, offset, 0, sink);
            }
        }
        self.text.clear();
        self.end_value();
    }
}
