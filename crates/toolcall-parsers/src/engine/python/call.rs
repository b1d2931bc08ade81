//! `name(key=value, ...)`.

use alloc::string::String;

use jail_match::Feed;

use super::{
    PythonEngine, PythonShape, State, Step,
    literal::{Read, Top},
};
use crate::{calls::Calls, event::CallSink, grammar::Certainty};

impl PythonEngine {
    /// A name or a keyword, scalar by scalar.
    pub(super) fn word(
        &mut self,
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
        let room = calls.options.limits.name.saturating_sub(word.len());
        if len > room {
            let over = (0..=room).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
            return self.bad(text, i, *i + over, calls, sink);
        }
        word.push_str(&rest[..len]);
        *i += len;
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
        if byte != b'(' || self.name.ends_with(['.', '-']) || !known {
            return self.bad(text, i, *i, calls, sink);
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
        let rules = Self::rules(shape, calls, b",)");
        let read =
            self.literal.feed(&rules, &text[*i..], &mut |piece| calls.arguments(piece, sink));
        match read {
            Read::More { used } => Step::Return(Feed::More { used: *i + used }),
            Read::Certain { used } => {
                *i += used;
                if !self.started {
                    self.start(*i, calls, sink);
                    self.write_key(calls, sink);
                }
                Step::Go
            }
            Read::End { used } => {
                *i += used;
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
