//! JSON calls: values that hold name and arguments, alone, in lists or in wrappers.

use alloc::string::String;

use jail_match::{End, Feed, Tail};
use serde::{Deserialize, Serialize};

use super::{
    arguments::Arguments,
    frame::{Closing, close, glue, skip},
    text::{Is, is, space},
    uncommitted,
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::{Certainty, List, Text},
    json::{
        decode::{Decoded, decode},
        scan::{JsonScan, Scanned},
    },
    options::Repair,
};

/// Calls as JSON values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonShape {
    /// Literals between the opener and the value, in order; whitespace may stand before each.
    #[serde(default)]
    pub glue: List<Text>,
    /// What the value is.
    pub container: Container,
    /// How a call is written.
    pub item: Item,
    /// End markers, any of which closes; whitespace may stand before it.
    #[serde(default)]
    pub closers: List<Text>,
    /// Whether an end marker is expected.
    #[serde(default)]
    pub closing: Closing,
    /// Names that mean "no call".
    #[serde(default)]
    pub ignored_names: List<Text>,
}

/// What a JSON value behind an opener is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    /// One object: one call.
    Object,
    /// An array of calls.
    Array,
    /// Either of the two.
    ObjectOrArray,
    /// Objects one after the other, whitespace between, up to the end marker.
    Objects,
}

/// How a call is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// An object with these keys.
    Keys(Keys),
    /// An object whose key is the name and whose value is the arguments.
    NameIsKey,
}

/// The keys of a call object. Unknown keys are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// The name.
    pub name: List<Text>,
    /// The arguments; of several present the first counts.
    pub arguments: List<Text>,
    /// The id.
    #[serde(default)]
    pub id: List<Text>,
    /// A nested object that holds keys of the call.
    #[serde(default)]
    pub wrap: List<Text>,
    /// An array of calls inside the outermost object.
    #[serde(default)]
    pub list: List<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Name,
    Arguments,
    Id,
    Wrap,
    List,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the glue literal with this number.
    Glue(usize),
    Open,
    /// Behind `[`.
    First,
    /// Before a further element of an array.
    Element,
    /// Behind `{`.
    FirstKey,
    /// Behind `,` in an object.
    NextKey,
    Key,
    Colon(Role),
    Value(Role),
    Name,
    Id,
    Arguments,
    /// A value that does not matter.
    Ignored,
    AfterMember,
    AfterElement,
    /// Behind the array inside an outer object.
    AfterList,
    /// Between objects that follow each other.
    Between,
    Close,
    /// Behind a fault, looking for a place to go on.
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentsAre {
    Missing,
    /// Streaming out.
    Open,
    /// Being kept until the name is known.
    Early,
    /// Kept, whole.
    Kept,
    Closed,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct JsonEngine {
    certainty: Certainty,
    state: State,
    in_array: bool,
    in_list: bool,
    nest: u8,
    /// Calls or pseudo calls seen, so that an empty list can be told.
    items: u32,
    key: String,
    name: Option<String>,
    id: Option<String>,
    started: bool,
    are: ArgumentsAre,
    arguments: Arguments,
    early: String,
    ignored: JsonScan,
    /// Stream offset of the current call object's first byte.
    item_at: u64,
    dropped: u64,
}

/// What a step of the machine asks its loop to do.
enum Step {
    Go,
    /// Go on at this index.
    Jump(usize),
    Return(Feed),
}

impl JsonEngine {
    pub(crate) fn new(certainty: Certainty) -> Self {
        Self {
            certainty,
            state: State::Glue(0),
            in_array: false,
            in_list: false,
            nest: 0,
            items: 0,
            key: String::new(),
            name: None,
            id: None,
            started: false,
            are: ArgumentsAre::Missing,
            arguments: Arguments::new(),
            early: String::new(),
            ignored: JsonScan::new(),
            item_at: 0,
            dropped: 0,
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.early.len() + self.arguments.held()
    }

    pub(crate) fn feed<S: CallSink + ?Sized>(
        &mut self,
        shape: &JsonShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Feed {
        // Almost every chunk of a long call is the inside of a string.
        if self.state == State::Arguments
            && self.are == ArgumentsAre::Open
            && self.started
            && self.arguments.passes(text)
        {
            calls.arguments(text, sink);
            return Feed::More { used: text.len() };
        }
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Arguments => self.feed_arguments(text, &mut i, calls, sink),
                State::Key | State::Name | State::Id => {
                    self.feed_string(shape, text, &mut i, calls, sink)
                }
                State::Ignored => self.feed_ignored(text, &mut i, calls, sink),
                State::Glue(n) => self.glue(shape, n, text, &mut i),
                State::Close => {
                    let closers = (shape.closers.as_slice(), shape.closing);
                    Step::Return(close(closers, self.items, text, i, calls, sink))
                }
                State::Broken => {
                    Step::Return(skip(&shape.closers, &mut self.dropped, text, i, calls, sink))
                }
                _ => self.structure(shape, text, &mut i, calls, sink),
            };
            match step {
                Step::Go => {}
                Step::Jump(at) => i = at,
                Step::Return(feed) => return feed,
            }
        }
    }

    pub(crate) fn finish<S: CallSink + ?Sized>(
        &mut self,
        _: &JsonShape,
        tail: &str,
        _: End,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Tail {
        if !calls.committed() {
            return uncommitted(self.certainty);
        }
        if calls.is_open() {
            self.cut(calls, sink);
            return Tail::Closed { used: tail.len() };
        }
        match self.state {
            // All calls are whole: what follows them is no part of one.
            State::Close | State::Between => Tail::Closed { used: 0 },
            State::Broken => {
                let bytes = self.dropped + tail.len() as u64;
                calls.diagnose(DiagnosticKind::Skipped, tail.len(), bytes, sink);
                Tail::Closed { used: tail.len() }
            }
            State::First | State::AfterElement | State::Element | State::AfterList => {
                Tail::Closed { used: tail.len() }
            }
            // A further call object was cut before its name was known.
            _ => {
                let bytes = calls.at + tail.len() as u64 - self.item_at;
                calls.diagnose(DiagnosticKind::Skipped, tail.len(), bytes, sink);
                Tail::Closed { used: tail.len() }
            }
        }
    }

    /// The stream ended inside a call.
    fn cut<S: CallSink + ?Sized>(&mut self, calls: &mut Calls, sink: &mut S) {
        let closing = match self.are {
            ArgumentsAre::Missing => Some(String::from("{}")),
            ArgumentsAre::Open => self.arguments.closing(),
            ArgumentsAre::Closed => Some(String::new()),
            ArgumentsAre::Early | ArgumentsAre::Kept => None,
        };
        match closing {
            Some(text) if calls.options.repair == Repair::Close => {
                calls.arguments(&text, sink);
                calls.end(Outcome::Repaired, sink);
            }
            _ => calls.end(Outcome::Incomplete, sink),
        }
    }

    /// The byte at `at` cannot stand there.
    fn bad<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        at: usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        let behind = at + text[at..].chars().next().map_or(0, char::len_utf8);
        if !calls.committed() {
            return Step::Return(Feed::NotMine { used: behind });
        }
        if calls.is_open() {
            calls.end(Outcome::Malformed, sink);
        }
        self.state = State::Broken;
        self.dropped = 0;
        Step::Jump(at)
    }

    fn glue(&mut self, shape: &JsonShape, n: usize, text: &str, i: &mut usize) -> Step {
        let Some(literal) = shape.glue.get(n) else {
            self.state = State::Open;
            return Step::Go;
        };
        match glue(literal, text, *i) {
            Ok(behind) => {
                *i = behind;
                self.state = State::Glue(n + 1);
                Step::Go
            }
            Err(feed) => Step::Return(feed),
        }
    }

    fn structure<S: CallSink + ?Sized>(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        *i += space(&text[*i..]);
        let Some(&byte) = text.as_bytes().get(*i) else {
            return Step::Return(Feed::More { used: *i });
        };
        let at = *i;
        if self.state == State::Open && !calls.committed() {
            let repeated = calls.repeatable().map_or(Is::No, |marker| is(&text[at..], marker));
            match repeated {
                Is::Yes => return Step::Jump(at + calls.repeatable().map_or(0, str::len)),
                Is::Maybe => return Step::Return(Feed::More { used: at }),
                Is::No => {}
            }
        }
        *i += 1;
        if byte == b'{' && self.nest == 0 {
            self.item_at = calls.at + at as u64;
        }
        let array = matches!(shape.container, Container::Array | Container::ObjectOrArray);
        self.state = match (self.state, byte) {
            (State::Open, b'{') if shape.container != Container::Array => State::FirstKey,
            (State::Open, b'[') if array => {
                self.in_array = true;
                State::First
            }
            (State::First, b']') if self.items == 0 => return self.empty(shape, *i),
            (State::First | State::Element, b'{') => State::FirstKey,
            (State::FirstKey | State::NextKey, b'"') => {
                self.key.clear();
                State::Key
            }
            (State::FirstKey | State::AfterMember, b'}') => {
                return self.end_object(shape, text, at, calls, sink);
            }
            (State::Colon(role), b':') => State::Value(role),
            (State::Value(role), _) => {
                *i = at;
                return self.value(role, byte, text, i, calls, sink);
            }
            (State::AfterMember, b',') => State::NextKey,
            (State::AfterElement, b',') => State::Element,
            // A comma forgotten between elements harms nobody.
            (State::AfterElement, b'{') => State::FirstKey,
            (State::AfterElement, b']') if self.in_list => State::AfterList,
            (State::AfterElement, b']') => State::Close,
            (State::AfterList, b'}') => State::Close,
            (State::Between, b'{') => State::FirstKey,
            (State::Between, _) => {
                *i = at;
                State::Close
            }
            _ => return self.bad(text, at, calls, sink),
        };
        Step::Go
    }

    /// `[]`, up to `i`: markup between explicit markers, else text.
    fn empty(&mut self, shape: &JsonShape, i: usize) -> Step {
        if self.certainty == Certainty::Marked && !shape.closers.is_empty() {
            self.state = State::Close;
            Step::Go
        } else {
            Step::Return(Feed::NotMine { used: i })
        }
    }

    fn value<S: CallSink + ?Sized>(
        &mut self,
        role: Role,
        byte: u8,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        self.state = match (role, byte) {
            (Role::Name | Role::Wrap, b'"') if self.name.is_none() => {
                *i += 1;
                self.key.clear();
                State::Name
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

    fn feed_ignored<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
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
    fn feed_string<S: CallSink + ?Sized>(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
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

    fn string_read<S: CallSink + ?Sized>(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        let read = core::mem::take(&mut self.key);
        match self.state {
            State::Key => {
                let role = self.role(shape, &read);
                if role == Role::Arguments && shape.item == Item::NameIsKey {
                    if self.started {
                        self.end_call(calls, sink);
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
                    && !self.name.as_deref().is_some_and(|name| calls.tools.admits(name))
                {
                    return Step::Return(Feed::NotMine { used: i });
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
            Item::NameIsKey => return Role::Arguments,
            Item::Keys(keys) => keys,
        };
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
        } else {
            Role::Other
        }
    }

    /// The name is known, and the call is certain.
    fn start<S: CallSink + ?Sized>(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        let Some(name) = self.name.as_deref() else { return Step::Go };
        if name.is_empty() {
            return self.bad(text, i - 1, calls, sink);
        }
        self.started = true;
        self.items += 1;
        if shape.ignored_names.iter().any(|ignored| ignored == name) {
            calls.mute(DiagnosticKind::PseudoCall, i, sink);
        } else {
            calls.start(name, self.id.as_deref(), i, sink);
        }
        if self.are == ArgumentsAre::Kept {
            calls.arguments(&self.early, sink);
            self.early.clear();
            self.are = ArgumentsAre::Closed;
        }
        Step::Go
    }

    fn feed_arguments<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        let rest = &text[*i..];
        if self.are == ArgumentsAre::Open && !self.started {
            // The call is certain once its arguments open.
            let at = space(rest);
            match rest.as_bytes().get(at) {
                None => return Step::Return(Feed::More { used: *i + at }),
                Some(b'{' | b'"' | b'n') => {
                    self.started = true;
                    self.items += 1;
                    let name = self.name.as_deref().unwrap_or_default();
                    calls.start(name, self.id.as_deref(), *i + at, sink);
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
                Step::Go
            }
            Scanned::Bad { at } => self.bad(text, *i + at, calls, sink),
        }
    }

    /// `}` of a call object, or of one nested in it.
    fn end_object<S: CallSink + ?Sized>(
        &mut self,
        shape: &JsonShape,
        text: &str,
        at: usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
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

    fn end_call<S: CallSink + ?Sized>(&mut self, calls: &mut Calls, sink: &mut S) {
        if self.are == ArgumentsAre::Missing {
            calls.arguments("{}", sink);
        }
        calls.end(Outcome::Complete, sink);
        (self.name, self.id, self.started) = (None, None, false);
        self.are = ArgumentsAre::Missing;
    }
}
