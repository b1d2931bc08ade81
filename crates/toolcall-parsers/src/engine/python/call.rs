//! `name(key=value, ...)`.

use alloc::string::String;

use jail_match::Feed;

use super::{
    PythonCall, PythonEngine, PythonShape, State, Step,
    literal::{Read, Top},
};
use crate::{calls::Calls, event::CallSink, grammar::Certainty};

impl PythonEngine {
    /// A name or a keyword, scalar by scalar.
    pub(super) fn word(
        &mut self,
        shape: &PythonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let in_name = self.state == State::Name;
        let word = if in_name { &mut self.name } else { &mut self.key };
        let rest = &text[*i..];
        let more = |c: char| c == '_' || c.is_alphanumeric() || in_name && matches!(c, '.' | '-');
        let len = rest.find(|c| !more(c)).unwrap_or(rest.len());
        let (begun, from) = (word.len(), *i);
        let room = calls.options.limits.name.saturating_sub(begun);
        let fits = (0..=room.min(len)).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
        word.push_str(&rest[..fits]);
        *i += fits;
        if in_name && self.certainty == Certainty::Unmarked && !calls.committed() {
            // Text that no declared name begins with need not wait for its end.
            let admits = |at: usize| calls.tools.may_become(&self.name[..begun + at]);
            let mut ends = rest[..fits].char_indices().map(|(at, c)| (at, at + c.len_utf8()));
            if let Some((at, _)) = ends.find(|&(_, end)| !admits(end)) {
                return self.bad(text, i, from + at, calls, sink);
            }
        }
        if fits < len {
            return self.bad(text, i, from + fits, calls, sink);
        }
        let Some(&byte) = text.as_bytes().get(*i) else {
            return Step::Return(Feed::More { used: *i });
        };
        if !in_name {
            self.state = State::Equals;
            return Step::Go;
        }
        let known = self.certainty == Certainty::Marked
            || calls.committed()
            || calls.tools.admits(&self.name);
        let object = shape.call == PythonCall::Object;
        let opens = byte == b'(' || object && (byte == b'{' || byte.is_ascii_whitespace());
        if !opens || self.name.ends_with(['.', '-']) || !known {
            return self.bad(text, i, *i, calls, sink);
        }
        if object {
            self.state = State::Object;
            return Step::Go;
        }
        *i += 1;
        self.state = State::Keyword;
        Step::Go
    }

    fn start(&mut self, at: usize, calls: &mut Calls, sink: &mut dyn CallSink) {
        if !self.started {
            self.started = true;
            self.items += 1;
            calls.start(&self.name, None, at, sink);
        }
    }

    /// Behind `=`.
    pub(super) fn begin_value(&mut self, calls: &mut Calls, sink: &mut dyn CallSink) -> Step {
        self.literal.restart(Top::Any);
        self.state = State::Value;
        if self.started {
            self.write_key(calls, sink);
        }
        Step::Go
    }

    fn write_key(&mut self, calls: &Calls, sink: &mut dyn CallSink) {
        calls.arguments(if self.opened { ", \"" } else { "{\"" }, sink);
        calls.arguments(&self.key, sink);
        calls.arguments("\": ", sink);
        self.opened = true;
    }

    pub(super) fn value(
        &mut self,
        shape: &PythonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let object = shape.call == PythonCall::Object;
        let rules = Self::rules(shape, calls, b",)");
        let read =
            self.literal.feed(&rules, &text[*i..], &mut |piece| calls.arguments(piece, sink));
        match read {
            Read::More { used } => Step::Return(Feed::More { used: *i + used }),
            Read::Certain { used } => {
                *i += used;
                if !self.started {
                    self.start(*i, calls, sink);
                    if !object {
                        self.write_key(calls, sink);
                    }
                }
                Step::Go
            }
            Read::End { used } => {
                *i += used;
                if object {
                    return self.end_object(shape, calls, sink);
                }
                self.state = State::AfterValue;
                Step::Go
            }
            Read::Bad { at } => self.bad(text, i, *i + at, calls, sink),
            Read::Inexpressible { at } => self.inexpressible(text, i, *i + at, calls, sink),
        }
    }

    /// `)`, at index `at`.
    pub(super) fn end_arguments(&mut self, at: usize, calls: &mut Calls, sink: &mut dyn CallSink) {
        self.start(at, calls, sink);
        calls.arguments(if self.opened { "}" } else { "{}" }, sink);
    }

    /// The text that closes the arguments, if that makes JSON of them.
    pub(super) fn closing(&self, tail: &str) -> Option<String> {
        let mut text = match self.state {
            State::Value => self.literal.closing(tail)?,
            State::Keyword | State::Key | State::Equals | State::AfterValue => String::new(),
            _ => return None,
        };
        text.push_str(if self.opened { "}" } else { "{}" });
        Some(text)
    }
}
