//! JSON calls: values that hold name and arguments, alone, in lists or in wrappers.

mod answer;
mod item;
mod shape;

use alloc::string::String;

use jail_match::{AtEnd, End, Feed};

pub use self::shape::{Container, Item, JsonShape, Keys};
use super::{
    arguments::Arguments,
    frame::{Repeated, close, glue, repeated, skip},
    step::not_mine,
    text::space,
    uncommitted,
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::Certainty,
    json::scan::JsonScan,
    options::Repair,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Name,
    Arguments,
    Id,
    Wrap,
    List,
    Answer,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the glue literal with this number.
    Glue(usize),
    Open,
    /// Behind the `{` of an object that is the arguments.
    Bare,
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
    /// Visible text in a string, and as JSON.
    Answer,
    AnswerJson,
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
    /// The object holds visible text.
    answered: bool,
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
            answered: false,
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

    pub(crate) fn feed(
        &mut self,
        shape: &JsonShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
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
                State::Arguments => self.feed_arguments(shape, text, &mut i, calls, sink),
                State::Key | State::Name | State::Id => {
                    self.feed_string(shape, text, &mut i, calls, sink)
                }
                State::Answer | State::AnswerJson => self.feed_answer(text, &mut i, calls, sink),
                State::Ignored => self.feed_ignored(text, &mut i, calls, sink),
                State::Glue(n) => self.glue(shape, n, text, &mut i, calls),
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

    pub(crate) fn finish(
        &mut self,
        _: &JsonShape,
        tail: &str,
        _: End,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> AtEnd {
        if !calls.committed() {
            return uncommitted(self.certainty);
        }
        if calls.is_open() {
            self.cut(calls, sink);
            return AtEnd::Closed { used: tail.len() };
        }
        match self.state {
            // All calls are whole: what follows them is no part of one.
            State::Close | State::Between => AtEnd::Closed { used: 0 },
            State::Broken => {
                let bytes = self.dropped + tail.len() as u64;
                calls.diagnose(DiagnosticKind::Skipped, tail.len(), bytes, sink);
                AtEnd::Closed { used: tail.len() }
            }
            _ if self.answered => {
                calls.diagnose(DiagnosticKind::MissingCloser, tail.len(), 0, sink);
                AtEnd::Closed { used: tail.len() }
            }
            State::First | State::AfterElement | State::Element | State::AfterList => {
                AtEnd::Closed { used: tail.len() }
            }
            // A further call object was cut before its name was known.
            _ => {
                let bytes = calls.at + tail.len() as u64 - self.item_at;
                calls.diagnose(DiagnosticKind::Skipped, tail.len(), bytes, sink);
                AtEnd::Closed { used: tail.len() }
            }
        }
    }

    /// The stream ended inside a call.
    fn cut(&mut self, calls: &mut Calls, sink: &mut dyn CallSink) {
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
    fn bad(&mut self, text: &str, at: usize, calls: &mut Calls, sink: &mut dyn CallSink) -> Step {
        if !calls.committed() {
            return Step::Return(not_mine(text, at));
        }
        if calls.is_open() {
            calls.end(Outcome::Malformed, sink);
        }
        self.state = State::Broken;
        self.dropped = 0;
        Step::Jump(at)
    }

    fn glue(
        &mut self,
        shape: &JsonShape,
        n: usize,
        text: &str,
        i: &mut usize,
        calls: &Calls,
    ) -> Step {
        let Some(literal) = shape.glue.get(n) else {
            self.state = State::Open;
            return Step::Go;
        };
        if n == 0 {
            match repeated(text, *i, calls) {
                Repeated::Until(at) => return Step::Jump(at),
                Repeated::Undecided(at) => return Step::Return(Feed::More { used: at }),
                Repeated::No => {}
            }
        }
        match glue(literal, text, *i) {
            Ok(behind) => {
                *i = behind;
                self.state = State::Glue(n + 1);
                Step::Go
            }
            Err(feed) => Step::Return(feed),
        }
    }

    fn structure(
        &mut self,
        shape: &JsonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let from = *i;
        *i += space(&text[*i..]);
        if self.state == State::Bare {
            self.early.push_str(&text[from..*i]);
        }
        let Some(&byte) = text.as_bytes().get(*i) else {
            return Step::Return(Feed::More { used: *i });
        };
        let at = *i;
        if self.state == State::Open && !calls.committed() {
            match repeated(text, at, calls) {
                Repeated::Until(at) => return Step::Jump(at),
                Repeated::Undecided(at) => return Step::Return(Feed::More { used: at }),
                Repeated::No => {}
            }
        }
        *i += 1;
        if byte == b'{' && self.nest == 0 {
            self.item_at = calls.at + at as u64;
        }
        let objects = shape.container == Container::Objects;
        let array = matches!(shape.container, Container::Array | Container::ObjectOrArray);
        self.state = match (self.state, byte) {
            (State::Open, b'{') if matches!(shape.item, Item::Arguments(_)) => {
                self.early.push('{');
                State::Bare
            }
            (State::Bare, b'"' | b'}') => {
                *i = at;
                self.bare(shape, at, calls, sink);
                State::Arguments
            }
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
            // No object at all is an empty list, if the end marker follows.
            (State::Open, _) if objects && !shape.closers.is_empty() => {
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
            Step::Return(Feed::Mismatch { used: i })
        }
    }
}
