//! Calls in Python syntax: `f(a=1, b='x')`, `f({a: 1})`, or dicts that hold name and arguments.
//!
//! Literals become JSON while they arrive. A call is certain at `f(` and the first byte of a
//! literal behind a keyword, or `)`; a word is a literal only once what follows it is seen, and
//! a bracket once there is a literal in it, so that `[f(x)]` and `[f(a=g(1))]` stay text.

mod call;
mod container;
mod dict;
mod escape;
mod literal;
mod number;
mod object;
mod shape;
mod text;

#[cfg(test)]
mod tests;

use alloc::string::String;

use jail_match::{AtEnd, End, Feed};

pub use self::shape::{PythonCall, PythonContainer, PythonShape, Quotes};

use self::literal::{Literal, Rules, Top};
use super::{
    frame::{Repeated, close, glue, repeated, skip},
    step::Step,
    text::{find, space},
    uncommitted,
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::Certainty,
    options::Repair,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the glue literal with this number.
    Glue(usize),
    Open,
    /// Behind `[`.
    First,
    /// Before a further element of a list.
    Element,
    /// Inside the name of a call.
    Name,
    /// Behind `(` or `,`: before a keyword or `)`.
    Keyword,
    /// Inside a keyword.
    Key,
    /// Before `=`.
    Equals,
    /// The value of a keyword.
    Value,
    AfterValue,
    /// Behind the name of a call with an object, before its parenthesis or brace.
    Object,
    /// Behind that parenthesis, before the object.
    Inner,
    /// Behind the object.
    AfterObject,
    /// Inside a call that is a dict.
    Dict(dict::At),
    AfterElement,
    /// Between calls that follow each other.
    Between,
    Close,
    /// Behind a fault, looking for a place to go on.
    Broken,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct PythonEngine {
    certainty: Certainty,
    state: State,
    in_list: bool,
    /// Calls seen, so that an empty list can be told.
    items: u32,
    name: String,
    key: String,
    started: bool,
    /// Arguments of the current call went out.
    opened: bool,
    /// The object of a call stands in parentheses.
    in_parentheses: bool,
    literal: Literal,
    dict: dict::Dict,
    /// Stream offset of the current call's first byte.
    item_at: u64,
    dropped: u64,
}

impl PythonEngine {
    pub(crate) fn new(certainty: Certainty) -> Self {
        Self {
            certainty,
            state: State::Glue(0),
            in_list: false,
            items: 0,
            name: String::new(),
            key: String::new(),
            started: false,
            opened: false,
            in_parentheses: false,
            literal: Literal::new(Top::Any),
            dict: dict::Dict::default(),
            item_at: 0,
            dropped: 0,
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.literal.held() + self.dict.held()
    }

    pub(crate) fn feed(
        &mut self,
        shape: &PythonShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        // Almost every chunk of a long call is the inside of a string.
        if self.state == State::Value && self.literal.passes(text) {
            calls.arguments(text, sink);
            return Feed::More { used: text.len() };
        }
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Value => self.value(shape, text, &mut i, calls, sink),
                State::Dict(at) => self.dict(shape, at, text, &mut i, calls, sink),
                State::Name | State::Key => self.word(shape, text, &mut i, calls, sink),
                State::Glue(n) => self.glue(shape, n, text, &mut i, calls),
                State::Close => {
                    let closers = (shape.closers.as_slice(), shape.closing);
                    Step::Return(close(closers, self.items, text, i, calls, sink))
                }
                State::Broken if shape.closers.is_empty() => {
                    Step::Return(self.skip_line(shape, text, i, calls, sink))
                }
                State::Broken => {
                    Step::Return(skip(&shape.closers, &mut self.dropped, text, i, calls, sink))
                }
                _ => self.structure(shape, text, &mut i, calls, sink),
            };
            if let Step::Return(feed) = step {
                return feed;
            }
        }
    }

    pub(crate) fn finish(
        &mut self,
        shape: &PythonShape,
        tail: &str,
        _: End,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> AtEnd {
        if !calls.committed() {
            return uncommitted(self.certainty);
        }
        if calls.is_open() {
            self.cut(shape, tail, calls, sink);
            return AtEnd::Closed { used: tail.len() };
        }
        let skipped = match self.state {
            // All calls are whole: what follows them is no part of one.
            State::Close | State::Between => return AtEnd::Closed { used: 0 },
            State::Element | State::AfterElement => 0,
            State::Broken => self.dropped + tail.len() as u64,
            // A further call was cut before it was certain.
            _ => calls.at + tail.len() as u64 - self.item_at,
        };
        if skipped > 0 {
            calls.diagnose(DiagnosticKind::Skipped, tail.len(), skipped, sink);
        }
        AtEnd::Closed { used: tail.len() }
    }

    /// The stream ended inside a call.
    fn cut(&mut self, shape: &PythonShape, tail: &str, calls: &mut Calls, sink: &mut dyn CallSink) {
        let closing = match shape.call {
            PythonCall::Call => self.closing(tail),
            PythonCall::Object => self.object_closing(tail),
            PythonCall::Dict(_) => self.dict_closing(tail),
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
    fn bad(
        &mut self,
        text: &str,
        i: &mut usize,
        at: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        if !calls.committed() {
            return Step::not_mine(text, at);
        }
        self.dropped = 0;
        if calls.is_open() {
            calls.end(Outcome::Malformed, sink);
        } else if !matches!(self.state, State::Element | State::AfterElement) {
            self.dropped = calls.at + at as u64 - self.item_at;
        }
        self.state = State::Broken;
        *i = at;
        Step::Go
    }

    /// The byte at `at` made a literal one that JSON cannot express.
    fn inexpressible(
        &mut self,
        text: &str,
        i: &mut usize,
        at: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        if calls.committed() {
            calls.diagnose(DiagnosticKind::Inexpressible, at, 0, sink);
        }
        self.bad(text, i, at, calls, sink)
    }

    fn glue(
        &mut self,
        shape: &PythonShape,
        n: usize,
        text: &str,
        i: &mut usize,
        calls: &Calls,
    ) -> Step {
        if n == 0 {
            match repeated(text, *i, calls) {
                Repeated::Until(at) => {
                    *i = at;
                    return Step::Go;
                }
                Repeated::Undecided(at) => return Step::Return(Feed::More { used: at }),
                Repeated::No => {}
            }
        }
        let Some(literal) = shape.glue.get(n) else {
            self.state = if shape.container == PythonContainer::Lines {
                State::Between
            } else {
                State::Open
            };
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

    /// Everything of which one byte decides, whitespace before it allowed.
    fn structure(
        &mut self,
        shape: &PythonShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        *i += space(&text[*i..]);
        let at = *i;
        let Some(&byte) = text.as_bytes().get(at) else {
            return Step::Return(Feed::More { used: at });
        };
        *i += 1;
        let list = matches!(shape.container, PythonContainer::List | PythonContainer::ListOrCall);
        self.state = match (self.state, byte) {
            (State::Open, b'[') if list => {
                self.in_list = true;
                State::First
            }
            (State::First, b']') => return self.empty(shape, *i),
            (State::Element | State::AfterElement, b']') => State::Close,
            (State::AfterElement, b',') => State::Element,
            (State::Between, b',') if self.items > 0 => State::Between,
            (State::Keyword, b')') | (State::AfterValue, b')') => {
                self.end_arguments(at, calls, sink);
                self.end_call(shape, calls, sink);
                return Step::Go;
            }
            (State::AfterValue, b',') => State::Keyword,
            (State::Keyword, _) if begins_word(&text[at..]) => {
                *i = at;
                self.key.clear();
                State::Key
            }
            (State::Object, b'(') => State::Inner,
            (State::Object | State::Inner, b'{') => {
                *i = at;
                self.begin_object()
            }
            (State::Inner, b')') => {
                self.end_arguments(at, calls, sink);
                self.end_call(shape, calls, sink);
                return Step::Go;
            }
            (State::AfterObject, b')') => {
                self.end_call(shape, calls, sink);
                return Step::Go;
            }
            (State::Equals, b'=') => return self.begin_value(calls, sink),
            (State::Open, _) if shape.container == PythonContainer::List => {
                return self.bad(text, i, at, calls, sink);
            }
            // A comma forgotten between calls harms nobody.
            (State::Open | State::First | State::Element | State::AfterElement, _)
            | (State::Between, _)
                if begins(shape, &text[at..]) =>
            {
                *i = at;
                self.begin_call(shape, at, calls)
            }
            (State::Between, _) => {
                *i = at;
                State::Close
            }
            _ => return self.bad(text, i, at, calls, sink),
        };
        Step::Go
    }

    fn begin_call(&mut self, shape: &PythonShape, at: usize, calls: &Calls) -> State {
        self.item_at = calls.at + at as u64;
        (self.started, self.opened) = (false, false);
        self.name.clear();
        match shape.call {
            PythonCall::Call | PythonCall::Object => State::Name,
            PythonCall::Dict(_) => {
                self.dict.restart();
                State::Dict(dict::At::Open)
            }
        }
    }

    /// `[]`, up to `i`: markup between explicit markers, else text.
    fn empty(&mut self, shape: &PythonShape, i: usize) -> Step {
        if self.certainty == Certainty::Marked && !shape.closers.is_empty() {
            self.state = State::Close;
            Step::Go
        } else {
            Step::Return(Feed::Mismatch { used: i })
        }
    }

    /// A call is whole.
    fn end_call(&mut self, shape: &PythonShape, calls: &mut Calls, sink: &mut dyn CallSink) {
        calls.end(Outcome::Complete, sink);
        self.started = false;
        self.state = match shape.container {
            _ if self.in_list => State::AfterElement,
            PythonContainer::Lines => State::Between,
            _ => State::Close,
        };
    }

    fn rules<'a>(shape: &'a PythonShape, calls: &Calls, ends: &'static [u8]) -> Rules<'a> {
        Rules {
            quotes: shape.quotes,
            null_words: &shape.null_words,
            script: shape.call == PythonCall::Object,
            ends,
            limit: calls.options.limits.name,
            in_call: calls.is_open(),
        }
    }

    /// Behind a fault where no end marker comes: the list's end is the way out, or the line's, or
    /// the next opener that is more than a bracket.
    fn skip_line(
        &mut self,
        shape: &PythonShape,
        text: &str,
        i: usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        let end = match shape.call {
            PythonCall::Call | PythonCall::Object => ")]",
            PythonCall::Dict(_) => "}]",
        };
        let own = [Some("\n"), self.in_list.then_some(end)];
        let openers = calls.openers.iter().map(|t| t.as_ref()).filter(|t| t.len() > 1);
        let stops = own.into_iter().flatten().chain(openers);
        let (at, found) = match find(&text[i..], stops) {
            Ok((at, n)) => {
                let is_end = n == 1 && self.in_list;
                (i + at + if is_end { end.len() } else { 0 }, true)
            }
            Err(keep) => (i + keep, false),
        };
        self.dropped += (at - i) as u64;
        if !found {
            return Feed::More { used: at };
        }
        calls.diagnose(DiagnosticKind::Skipped, at, self.dropped, sink);
        Feed::Done { used: at, then: jail_match::Resume::SameChannel }
    }
}

/// Whether a call may begin with the head of `text`.
fn begins(shape: &PythonShape, text: &str) -> bool {
    match shape.call {
        PythonCall::Call | PythonCall::Object => begins_word(text),
        PythonCall::Dict(_) => text.starts_with('{'),
    }
}

/// Whether a name or a keyword may begin with the head of `text`.
fn begins_word(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}
