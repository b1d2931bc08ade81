//! Call objects: their keys, names, ids and arguments.

use jail_match::Feed;

use super::{ArgumentsAre, Item, JsonEngine, JsonShape, Role, State, Step};
use crate::{
    calls::Calls,
    engine::{arguments::Arguments, text::space},
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::{Certainty, Container, List, Text},
    json::{
        decode::{Decoded, decode},
        scan::{JsonScan, Scanned},
    },
    options::Wanted,
};

impl JsonEngine {
    pub(super) fn value(
        &mut self,
        role: Role,
        byte: u8,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        self.state = match (role, byte) {
            (Role::Name | Role::Wrap, b'"') if self.name.is_none() => {
                *i += 1;
                self.key.clear();
                State::Name
            }
            (Role::Answer, _) => {
                calls.commit();
                self.answered = true;
                *i += usize::from(byte == b'"');
                if byte == b'"' { State::Answer } else { self.answer_json() }
            }
            (Role::Id, b'"') => {
                *i += 1;
                self.key.clear();
                State::Id
            }
            (Role::Wrap, b'{') if self.nest < 8 => {
                *i += 1;
                self.nest += 1;
                State::FirstKey
            }
            (Role::List, b'[') if self.nest == 0 && !self.in_array => {
                *i += 1;
                (self.in_array, self.in_list) = (true, true);
                State::First
            }
            (Role::Arguments, _) if self.are == ArgumentsAre::Missing => {
                self.arguments = Arguments::new();
                self.are =
                    if self.name.is_some() { ArgumentsAre::Open } else { ArgumentsAre::Early };
                State::Arguments
            }
            (Role::Arguments, _) => {
                calls.diagnose(DiagnosticKind::SecondArguments, *i, 0, sink);
                self.ignore()
            }
            (Role::Name, _) if self.name.is_none() => return self.bad(text, *i, calls, sink),
            _ => self.ignore(),
        };
        Step::Go
    }

    fn ignore(&mut self) -> State {
        self.ignored = JsonScan::new();
        State::Ignored
    }

    pub(super) fn feed_ignored(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        match self.ignored.feed(&text[*i..], |_| {}) {
            Scanned::More { used } => Step::Return(Feed::More { used: *i + used }),
            Scanned::End { used } => {
                *i += used;
                self.state = State::AfterMember;
                Step::Go
            }
            Scanned::Bad { at } => self.bad(text, *i + at, calls, sink),
        }
    }

    /// A key, a name or an id: a string that must be whole.
    pub(super) fn feed_string(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let limit = calls.options.limits.name;
        let mut over = None;
        let key = &mut self.key;
        let decoded = decode(&text[*i..], |piece, at| {
            if key.len() + piece.len() > limit && over.is_none() {
                over = Some(at + (limit - key.len().min(limit)));
            }
            if over.is_none() {
                key.push_str(piece);
            }
        });
        if let Some(at) = over {
            let at = (*i + at..text.len()).find(|&at| text.is_char_boundary(at));
            return self.bad(text, at.unwrap_or(*i), calls, sink);
        }
        match decoded {
            Decoded::More { used } => Step::Return(Feed::More { used: *i + used }),
            Decoded::Bad { at } => self.bad(text, *i + at, calls, sink),
            Decoded::End { used } => {
                *i += used;
                self.string_read(shape, text, *i, calls, sink)
            }
        }
    }

    fn string_read(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let read = core::mem::take(&mut self.key);
        match self.state {
            State::Key => {
                let role = self.role(shape, &read);
                if role == Role::Other && !calls.committed() && !may_stand(shape, &read) {
                    return Step::Return(Feed::Mismatch { used: i });
                }
                if role == Role::Arguments && shape.item == Item::NameIsKey {
                    if self.started {
                        self.end_call(calls, sink);
                    }
                    // Any key could be a name: only a declared one says so.
                    if self.certainty == Certainty::Unmarked
                        && !calls.committed()
                        && calls.tools.get(&read).is_none()
                    {
                        return Step::Return(Feed::Mismatch { used: i });
                    }
                    self.name = Some(read);
                }
                self.state = State::Colon(role);
                Step::Go
            }
            State::Id => {
                if self.started {
                    calls.diagnose(DiagnosticKind::LateId, i, 0, sink);
                } else {
                    self.id = Some(read);
                }
                self.state = State::AfterMember;
                Step::Go
            }
            _ => {
                self.name = Some(read);
                self.state = State::AfterMember;
                let kept = self.are == ArgumentsAre::Kept;
                if self.certainty == Certainty::Unmarked
                    && !calls.committed()
                    && !self.admits(shape, calls)
                {
                    return Step::Return(Feed::Mismatch { used: i });
                }
                if self.certainty == Certainty::Marked || calls.committed() || kept {
                    return self.start(shape, text, i, calls, sink);
                }
                Step::Go
            }
        }
    }

    fn role(&self, shape: &JsonShape, key: &str) -> Role {
        let keys = match &shape.item {
            Item::NameIsKey | Item::Arguments(_) => return Role::Arguments,
            Item::Keys(keys) => keys,
        };
        if self.answered {
            return Role::Other;
        }
        let has = |list: &List<Text>| list.iter().any(|k| k == key);
        if has(&keys.name) && self.name.is_none() {
            Role::Name
        } else if has(&keys.arguments) {
            Role::Arguments
        } else if has(&keys.id) && self.id.is_none() {
            Role::Id
        } else if has(&keys.wrap) {
            Role::Wrap
        } else if has(&keys.list) && self.items == 0 {
            Role::List
        } else if has(&keys.answer) && self.nest == 0 && !self.in_array && self.name.is_none() {
            Role::Answer
        } else {
            Role::Other
        }
    }

    /// The name is known, and the call is certain.
    fn start(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let Some(name) = self.name.as_deref() else { return Step::Go };
        if name.is_empty() {
            return self.bad(text, i - 1, calls, sink);
        }
        self.announce(shape, i, calls, sink);
        if self.are == ArgumentsAre::Kept {
            calls.arguments(&self.early, sink);
            self.early.clear();
            self.are = ArgumentsAre::Closed;
        }
        Step::Go
    }

    /// Whether the call may be one: its name is declared, or means "no call".
    fn admits(&self, shape: &JsonShape, calls: &Calls) -> bool {
        let Some(name) = self.name.as_deref() else { return false };
        // Where one tool is asked for, a call of another is no text.
        let known = calls.tools.admits(name) || matches!(calls.options.wanted, Wanted::Only(_));
        known || shape.ignored_names.iter().any(|ignored| ignored == name)
    }

    /// What was opened is the arguments, and goes on at index `at`.
    pub(super) fn bare(
        &mut self,
        shape: &JsonShape,
        at: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) {
        let Item::Arguments(name) = &shape.item else { return };
        self.name = Some(name.clone().into_owned());
        self.announce(shape, at, calls, sink);
        let opened = core::mem::take(&mut self.early);
        self.arguments = Arguments::new();
        self.are = ArgumentsAre::Open;
        // An opening brace and blanks: nothing ends here.
        self.arguments.feed(&opened, |fragment| calls.arguments(fragment, sink));
    }

    /// Starts the call, at index `at`.
    fn announce(
        &mut self,
        shape: &JsonShape,
        at: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) {
        self.started = true;
        self.items += 1;
        let name = self.name.as_deref().unwrap_or_default();
        if shape.ignored_names.iter().any(|ignored| ignored == name) {
            calls.mute(DiagnosticKind::PseudoCall, at, sink);
        } else {
            calls.start(name, self.id.as_deref(), at, sink);
        }
    }

    pub(super) fn feed_arguments(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let rest = &text[*i..];
        if self.are == ArgumentsAre::Open && !self.started {
            // The call is certain once its arguments open.
            let at = space(rest);
            match rest.as_bytes().get(at) {
                None => return Step::Return(Feed::More { used: *i + at }),
                Some(b'{' | b'"' | b'n') => {
                    self.announce(shape, *i + at, calls, sink);
                }
                Some(_) => return self.bad(text, *i + at, calls, sink),
            }
        }
        let scanned = if self.are == ArgumentsAre::Open {
            self.arguments.feed(rest, |fragment| calls.arguments(fragment, sink))
        } else {
            let limit = calls.options.limits.early_arguments;
            let room = (limit as u64).saturating_sub(self.arguments.consumed()) as usize;
            let room = (room..rest.len()).find(|&at| rest.is_char_boundary(at));
            let early = &mut self.early;
            let offered = &rest[..room.unwrap_or(rest.len())];
            match self.arguments.feed(offered, |fragment| early.push_str(fragment)) {
                Scanned::More { .. } if room.is_some() => Scanned::Bad { at: offered.len() },
                scanned => scanned,
            }
        };
        match scanned {
            Scanned::More { used } => Step::Return(Feed::More { used: *i + used }),
            Scanned::End { used } => {
                *i += used;
                self.are = match self.are {
                    ArgumentsAre::Early => ArgumentsAre::Kept,
                    _ => ArgumentsAre::Closed,
                };
                self.state = State::AfterMember;
                if matches!(shape.item, Item::Arguments(_)) {
                    self.end_call(calls, sink);
                    self.state = State::Close;
                }
                Step::Go
            }
            Scanned::Bad { at } => self.bad(text, *i + at, calls, sink),
        }
    }

    /// `}` of a call object, or of one nested in it.
    pub(super) fn end_object(
        &mut self,
        shape: &JsonShape,
        text: &str,
        at: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        if self.answered {
            self.state = State::Close;
            return Step::Go;
        }
        if self.nest > 0 {
            self.nest -= 1;
            self.state = State::AfterMember;
            return Step::Go;
        }
        if !self.started {
            return self.bad(text, at, calls, sink);
        }
        self.end_call(calls, sink);
        self.state = match shape.container {
            _ if self.in_array => State::AfterElement,
            Container::Objects => State::Between,
            _ => State::Close,
        };
        Step::Go
    }

    fn end_call(&mut self, calls: &mut Calls, sink: &mut dyn CallSink) {
        if self.are == ArgumentsAre::Missing {
            calls.arguments("{}", sink);
        }
        calls.end(Outcome::Complete, sink);
        (self.name, self.id, self.started) = (None, None, false);
        self.are = ArgumentsAre::Missing;
    }
}

/// Whether a key that is none of a call's may stand beside those.
fn may_stand(shape: &JsonShape, key: &str) -> bool {
    let Item::Keys(keys) = &shape.item else { return true };
    keys.beside.as_ref().is_none_or(|beside| beside.iter().any(|known| known == key))
}
