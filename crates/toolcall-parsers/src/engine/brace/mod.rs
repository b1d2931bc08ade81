//! Brace calls: a name, then an object with bare keys and quoted strings.
//!
//! ```text
//! <|tool_call>call:NAME{key:<|"|>text, } and all<|"|>,n:3,list:[1,{deep:true}]}<tool_call|>
//! ```
//!
//! The text becomes JSON while it arrives: structure at once, strings as they come, bare scalars
//! once what follows them tells what they were. Nesting is a list of frames. A call is certain
//! when its brace opened.

mod finish;
mod scalar;
mod shape;
mod structure;
mod value;

#[cfg(test)]
mod tests;

use alloc::{string::String, vec::Vec};

use jail_match::Feed;

pub use self::shape::{BraceShape, BraceTypes};

use self::value::Mode;
use super::{
    frame::{Repeated, close, glue, repeated, skip},
    step::Step,
};
use crate::{
    calls::Calls,
    event::{CallSink, Outcome},
    grammar::Certainty,
    typing::Path,
};

/// The deepest nesting of the arguments, their own object included.
const MAX_DEPTH: usize = 128;
/// Whitespace that is held, at most, in the hope that it ends a scalar.
const MAX_GAP: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the prefix literal with this number.
    Prefix(usize),
    Name,
    /// Behind a name, before its brace.
    Brace,
    /// Before a key or `}`.
    Member,
    BareKey,
    QuotedKey,
    Colon,
    /// Before a value, or the bracket that closes a list.
    Value,
    /// Inside quotes.
    Quoted,
    Bare,
    /// Behind a value.
    After,
    Close,
    /// Behind a fault, looking for a place to go on.
    Broken,
}

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    kind: Kind,
    /// What was written inside it.
    count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    List,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct BraceEngine {
    certainty: Certainty,
    state: State,
    name: String,
    frames: Vec<Frame>,
    path: Path,
    mode: Mode,
    /// A key, or what is not written yet of a value.
    text: String,
    dropped: u64,
}

impl BraceEngine {
    pub(crate) fn new(certainty: Certainty) -> Self {
        Self {
            certainty,
            state: State::Prefix(0),
            name: String::new(),
            frames: Vec::new(),
            path: Path::default(),
            mode: Mode::String,
            text: String::new(),
            dropped: 0,
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.text.len() + self.path.len()
    }

    pub(crate) fn feed(
        &mut self,
        shape: &BraceShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Quoted => self.quoted(shape, text, &mut i, calls, sink),
                State::Bare => self.bare(shape, text, &mut i, calls, sink),
                State::Prefix(n) => self.prefix(shape, n, text, &mut i, calls),
                State::Name | State::Brace => self.name(text, &mut i, calls, sink),
                State::BareKey => self.bare_key(text, &mut i, calls, sink),
                State::QuotedKey => self.quoted_key(shape, text, &mut i, calls, sink),
                State::Close => {
                    Step::Return(close((&shape.closers, shape.closing), 1, text, i, calls, sink))
                }
                State::Broken => {
                    Step::Return(skip(&shape.closers, &mut self.dropped, text, i, calls, sink))
                }
                State::Member | State::Colon | State::Value | State::After => {
                    self.structure(shape, text, &mut i, calls, sink)
                }
            };
            if let Step::Return(feed) = step {
                return feed;
            }
        }
    }

    fn prefix(
        &mut self,
        shape: &BraceShape,
        n: usize,
        text: &str,
        i: &mut usize,
        calls: &Calls,
    ) -> Step {
        let Some(literal) = shape.prefix.get(n) else {
            self.state = State::Name;
            return Step::Go;
        };
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
        match glue(literal, text, *i) {
            Ok(at) => (self.state, *i) = (State::Prefix(n + 1), at),
            Err(feed) => return Step::Return(feed),
        }
        Step::Go
    }

    fn name(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        for (n, scalar) in text[*i..].char_indices() {
            let at = *i + n;
            let odd = matches!(scalar, '}' | '[' | ']' | '(' | ')' | '<' | '>' | '"' | '\'' | ',');
            match scalar {
                '{' if !self.name.is_empty() => {
                    *i = at + 1;
                    if self.certainty == Certainty::Unmarked && !calls.tools.admits(&self.name) {
                        return Step::Return(Feed::Mismatch { used: *i });
                    }
                    calls.start(&self.name, None, *i, sink);
                    self.path.clear();
                    self.open(Kind::Object, calls, sink);
                    return Step::Go;
                }
                _ if scalar.is_ascii_whitespace() => {
                    if !self.name.is_empty() {
                        self.state = State::Brace;
                    }
                }
                _ if self.state == State::Brace || odd || scalar == '{' || scalar.is_control() => {
                    return self.bad(text, i, at, calls, sink);
                }
                _ if self.name.len() >= calls.options.limits.name => {
                    return self.bad(text, i, at, calls, sink);
                }
                _ => self.name.push(scalar),
            }
        }
        Step::Return(Feed::More { used: text.len() })
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
        calls.end(Outcome::Malformed, sink);
        (self.state, self.dropped) = (State::Broken, 0);
        *i = at;
        Step::Go
    }
}
