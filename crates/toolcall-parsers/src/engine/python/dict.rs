//! `{'name': 'f', 'arguments': {...}}`.

use alloc::string::String;

use jail_match::Feed;

use super::{
    PythonCall, PythonEngine, PythonShape, State, Step,
    literal::{Read, Rules, Top},
};
use crate::{
    calls::Calls,
    engine::{json::Keys, text::space},
    event::{CallSink, DiagnosticKind},
    grammar::Certainty,
};

/// Where in a dict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// Before `{`.
    Open,
    /// Before a key or `}`.
    Member,
    Key,
    Colon(Role),
    Name,
    Id,
    Arguments,
    /// A value that does not matter.
    Ignored,
    AfterMember,
}

/// What a key of a call's dict says its value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Name,
    Arguments,
    Id,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ArgumentsAre {
    #[default]
    Missing,
    /// Streaming out, or about to.
    Open,
    /// Being kept until the name is known.
    Early,
    /// Kept, whole.
    Kept,
    Closed,
}

/// What was read of the current call.
#[derive(Debug, Clone, Default)]
pub(super) struct Dict {
    named: bool,
    id: Option<String>,
    are: ArgumentsAre,
    early: String,
    /// Bytes of the wire that `early` was made of.
    early_read: usize,
}

impl Dict {
    pub(super) fn restart(&mut self) {
        (self.named, self.id, self.are) = (false, None, ArgumentsAre::Missing);
        self.early.clear();
        self.early_read = 0;
    }

    pub(super) fn held(&self) -> usize {
        self.early.len()
    }
}

impl PythonEngine {
    pub(super) fn dict(
        &mut self,
        shape: &PythonShape,
        at: At,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        match at {
            At::Key | At::Name | At::Id => self.dict_text(shape, at, text, i, calls, sink),
            At::Arguments => self.dict_arguments(shape, text, i, calls, sink),
            At::Ignored => {
                let rules = Self::rules(shape, calls, b",}");
                let read = self.literal.feed(&rules, &text[*i..], &mut |_| {});
                self.dict_read(read, text, i, calls, sink)
            }
            At::Open | At::Member | At::Colon(_) | At::AfterMember => {
                self.dict_structure(shape, at, text, i, calls, sink)
            }
        }
    }

    fn dict_structure(
        &mut self,
        shape: &PythonShape,
        at: At,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        *i += space(&text[*i..]);
        let Some(&byte) = text.as_bytes().get(*i) else {
            return Step::Return(Feed::More { used: *i });
        };
        let next = match (at, byte) {
            (At::Open, b'{') | (At::AfterMember, b',') => At::Member,
            (At::Member, b'\'' | b'"') => {
                self.literal.restart(Top::Text);
                self.key.clear();
                self.state = State::Dict(At::Key);
                return Step::Go;
            }
            (At::Member | At::AfterMember, b'}') if self.dict.named => {
                if self.dict.are == ArgumentsAre::Missing {
                    self.dict_start(*i, calls, sink);
                    calls.arguments("{}", sink);
                }
                *i += 1;
                self.end_call(shape, calls, sink);
                return Step::Go;
            }
            (At::Colon(role), b':') => self.dict_value(role, *i, calls, sink),
            _ => return self.bad(text, i, *i, calls, sink),
        };
        *i += 1;
        self.state = State::Dict(next);
        Step::Go
    }

    fn dict_value(&mut self, role: Role, at: usize, calls: &Calls, sink: &mut dyn CallSink) -> At {
        let dict = &mut self.dict;
        let (at, top) = match role {
            Role::Arguments if dict.are == ArgumentsAre::Missing => {
                dict.are = if dict.named { ArgumentsAre::Open } else { ArgumentsAre::Early };
                (At::Arguments, Top::Dict)
            }
            Role::Arguments => {
                calls.diagnose(DiagnosticKind::SecondArguments, at, 0, sink);
                (At::Ignored, Top::Any)
            }
            Role::Name => (At::Name, Top::Text),
            Role::Id => (At::Id, Top::Text),
            Role::Other => (At::Ignored, Top::Any),
        };
        self.key.clear();
        self.literal.restart(top);
        at
    }

    /// What a literal's reader said, where nothing depends on it.
    fn dict_read(
        &mut self,
        read: Read,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        match read {
            Read::More { used } => Step::Return(Feed::More { used: *i + used }),
            Read::Certain { used } => {
                *i += used;
                Step::Go
            }
            Read::End { used } => {
                *i += used;
                self.state = State::Dict(At::AfterMember);
                Step::Go
            }
            Read::Bad { at } => self.bad(text, i, *i + at, calls, sink),
            Read::Inexpressible { at } => self.inexpressible(text, i, *i + at, calls, sink),
        }
    }

    /// A key, a name or an id: a string that must be whole.
    fn dict_text(
        &mut self,
        shape: &PythonShape,
        at: At,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let rules = Self::rules(shape, calls, if at == At::Key { b":" } else { b",}" });
        // As JSON text it may be some times as long, and has quotes.
        let limit = calls.options.limits.name.saturating_mul(6).saturating_add(2);
        let key = &mut self.key;
        let read = self.literal.feed(&rules, &text[*i..], &mut |piece| {
            let room = limit + 1 - key.len().min(limit + 1);
            let cut = (0..=room.min(piece.len())).rev().find(|&at| piece.is_char_boundary(at));
            key.push_str(&piece[..cut.unwrap_or(0)]);
        });
        let Read::End { used } = read else { return self.dict_read(read, text, i, calls, sink) };
        *i += used;
        let string = serde_json::from_str::<String>(&self.key).ok();
        let Some(string) = string.filter(|s| s.len() <= calls.options.limits.name) else {
            return self.bad(text, i, *i, calls, sink);
        };
        self.state = State::Dict(At::AfterMember);
        match at {
            At::Key => self.state = State::Dict(At::Colon(self.dict_role(shape, &string))),
            At::Id if self.started => calls.diagnose(DiagnosticKind::LateId, *i, 0, sink),
            At::Id => self.dict.id = Some(string),
            _ => {
                let admitted = calls.committed() || calls.tools.admits(&string);
                if string.is_empty() || self.certainty == Certainty::Unmarked && !admitted {
                    return self.bad(text, i, *i, calls, sink);
                }
                self.name = string;
                self.dict.named = true;
                let kept = self.dict.are == ArgumentsAre::Kept;
                if self.certainty == Certainty::Marked || calls.committed() || kept {
                    self.dict_start(*i, calls, sink);
                }
            }
        }
        Step::Go
    }

    fn dict_role(&self, shape: &PythonShape, key: &str) -> Role {
        let PythonCall::Dict(keys) = &shape.call else { return Role::Other };
        let Keys { name, arguments, id, .. } = keys;
        if name.iter().any(|k| k == key) && !self.dict.named {
            Role::Name
        } else if arguments.iter().any(|k| k == key) {
            Role::Arguments
        } else if id.iter().any(|k| k == key) && self.dict.id.is_none() {
            Role::Id
        } else {
            Role::Other
        }
    }

    /// The name is known, and the call is certain.
    fn dict_start(&mut self, at: usize, calls: &mut Calls, sink: &mut dyn CallSink) {
        if self.started {
            return;
        }
        self.started = true;
        self.items += 1;
        calls.start(&self.name, self.dict.id.as_deref(), at, sink);
        if self.dict.are == ArgumentsAre::Kept {
            calls.arguments(&self.dict.early, sink);
            self.dict.early.clear();
            self.dict.are = ArgumentsAre::Closed;
        }
    }

    fn dict_arguments(
        &mut self,
        shape: &PythonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let rules = Self::rules(shape, calls, b",}");
        let rest = &text[*i..];
        if self.dict.are == ArgumentsAre::Early {
            return self.dict_early(&rules, text, i, calls, sink);
        }
        let read = self.literal.feed(&rules, rest, &mut |piece| calls.arguments(piece, sink));
        match read {
            Read::Certain { used } => self.dict_start(*i + used, calls, sink),
            Read::End { .. } => self.dict.are = ArgumentsAre::Closed,
            _ => {}
        }
        self.dict_read(read, text, i, calls, sink)
    }

    /// Arguments that came before the name.
    fn dict_early(
        &mut self,
        rules: &Rules<'_>,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let rest = &text[*i..];
        let Dict { early, early_read, are, .. } = &mut self.dict;
        let room = calls.options.limits.early_arguments.saturating_sub(*early_read);
        let room = (room..rest.len()).find(|&at| rest.is_char_boundary(at));
        let offered = &rest[..room.unwrap_or(rest.len())];
        let read = self.literal.feed(rules, offered, &mut |piece| early.push_str(piece));
        match read {
            Read::More { .. } if room.is_some() => {
                return self.bad(text, i, *i + offered.len(), calls, sink);
            }
            Read::More { used } | Read::Certain { used } => *early_read += used,
            Read::End { .. } => *are = ArgumentsAre::Kept,
            Read::Bad { .. } | Read::Inexpressible { .. } => {}
        }
        self.dict_read(read, text, i, calls, sink)
    }

    /// The text that closes the arguments, if that makes JSON of them.
    pub(super) fn dict_closing(&self, tail: &str) -> Option<String> {
        match self.dict.are {
            ArgumentsAre::Missing => Some(String::from("{}")),
            ArgumentsAre::Open => self.literal.closing(tail),
            ArgumentsAre::Closed => Some(String::new()),
            ArgumentsAre::Early | ArgumentsAre::Kept => None,
        }
    }
}
