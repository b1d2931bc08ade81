//! Brackets, keys and what stands between values.

use jail_match::Feed;

use super::{BraceEngine, Frame, Kind, MAX_DEPTH, State, Step, shape::BraceShape};
use crate::{
    calls::Calls,
    engine::text::{Is, is, space},
    event::{CallSink, Outcome},
    json::escape::escape,
};

impl Kind {
    const fn brackets(self) -> (&'static str, &'static str) {
        match self {
            Self::Object => ("{", "}"),
            Self::List => ("[", "]"),
        }
    }

    /// Where to go on behind its bracket or a comma.
    const fn inside(self) -> State {
        match self {
            Self::Object => State::Member,
            Self::List => State::Value,
        }
    }
}

impl BraceEngine {
    /// Between tokens: what the next byte is.
    pub(super) fn structure(
        &mut self,
        shape: &BraceShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        *i += space(&text[*i..]);
        let at = *i;
        let more = Step::Return(Feed::More { used: at });
        let Some(&byte) = text.as_bytes().get(at) else { return more };
        let quote = match self.state {
            State::Member | State::Value => is(&text[at..], &shape.quote),
            _ => Is::No,
        };
        if quote == Is::Maybe {
            return more;
        }
        let Some(&Frame { kind, count }) = self.frames.last() else {
            return self.bad(text, i, at, calls, sink);
        };
        let closes = byte == kind.brackets().1.as_bytes()[0];
        match (self.state, byte) {
            (State::Member, _) if quote == Is::Yes => {
                *i += shape.quote.len();
                self.text.clear();
                self.state = State::QuotedKey;
            }
            (State::Member, b'}') => self.close_bracket(i, calls, sink),
            (State::Member, b',' | b':' | b'{' | b'[' | b']') => {
                return self.bad(text, i, at, calls, sink);
            }
            (State::Member, _) => {
                self.text.clear();
                self.state = State::BareKey;
            }
            (State::Colon, b':') => {
                self.path.member(&self.text);
                self.text.clear();
                (self.state, *i) = (State::Value, at + 1);
            }
            // An empty list, or a comma at a list's end.
            (State::Value, b']') if kind == Kind::List => self.close_bracket(i, calls, sink),
            (State::Value, _) => {
                if kind == Kind::List {
                    self.path.element(count);
                }
                match byte {
                    _ if quote == Is::Yes => {
                        *i += shape.quote.len();
                        self.begin_quoted(shape, calls, sink);
                    }
                    b'{' | b'[' if self.frames.len() == MAX_DEPTH => {
                        return self.bad(text, i, at, calls, sink);
                    }
                    b'{' | b'[' => {
                        *i += 1;
                        let kind = if byte == b'{' { Kind::Object } else { Kind::List };
                        self.lead(calls, sink);
                        self.open(kind, calls, sink);
                    }
                    // Perhaps nothing at all.
                    _ => self.begin_bare(shape, calls),
                }
            }
            (State::After, b',') => (self.state, *i) = (kind.inside(), at + 1),
            (State::After, _) if closes => self.close_bracket(i, calls, sink),
            _ => return self.bad(text, i, at, calls, sink),
        }
        Step::Go
    }

    /// Writes what stands before a value: a comma, and its key if it has one.
    pub(super) fn lead(&mut self, calls: &Calls, sink: &mut dyn CallSink) {
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.count > 0 {
            calls.arguments(", ", sink);
        }
        frame.count += 1;
        if let Some(key) = self.path.name() {
            calls.arguments("\"", sink);
            escape(key, |piece| calls.arguments(piece, sink));
            calls.arguments("\": ", sink);
        }
    }

    pub(super) fn open(&mut self, kind: Kind, calls: &Calls, sink: &mut dyn CallSink) {
        self.frames.push(Frame { kind, count: 0 });
        calls.arguments(kind.brackets().0, sink);
        self.state = kind.inside();
    }

    fn close_bracket(&mut self, i: &mut usize, calls: &mut Calls, sink: &mut dyn CallSink) {
        *i += 1;
        if let Some(frame) = self.frames.pop() {
            calls.arguments(frame.kind.brackets().1, sink);
        }
        self.end_value();
        if self.frames.is_empty() {
            calls.end(Outcome::Complete, sink);
            self.state = State::Close;
        }
    }

    /// A value is whole.
    pub(super) fn end_value(&mut self) {
        self.path.pop();
        self.state = State::After;
    }

    /// A key without quotes, up to its colon.
    pub(super) fn bare_key(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        for (n, scalar) in text[*i..].char_indices() {
            let at = *i + n;
            match scalar {
                ':' => {
                    self.text.truncate(self.text.trim_ascii_end().len());
                    (self.state, *i) = (State::Colon, at);
                    return Step::Go;
                }
                ',' | '{' | '}' | '[' | ']' => return self.bad(text, i, at, calls, sink),
                _ if self.text.len() >= calls.options.limits.name => {
                    return self.bad(text, i, at, calls, sink);
                }
                _ => self.text.push(scalar),
            }
        }
        Step::Return(Feed::More { used: text.len() })
    }

    /// A key in quotes.
    pub(super) fn quoted_key(
        &mut self,
        shape: &BraceShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        for (n, scalar) in text[*i..].char_indices() {
            let at = *i + n;
            match is(&text[at..], &shape.quote) {
                Is::Yes => {
                    (self.state, *i) = (State::Colon, at + shape.quote.len());
                    return Step::Go;
                }
                Is::Maybe => return Step::Return(Feed::More { used: at }),
                Is::No if self.text.len() >= calls.options.limits.name => {
                    return self.bad(text, i, at, calls, sink);
                }
                Is::No => self.text.push(scalar),
            }
        }
        Step::Return(Feed::More { used: text.len() })
    }
}
