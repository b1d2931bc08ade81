//! Calls as element trees: parameters are elements, nested for objects and lists.
//!
//! Structure and declared strings are written while they arrive. Held is what is not decided
//! yet: text of which the schema does not say that it is a string (it may turn out to stand next
//! to elements), and elements in undeclared objects, until the next one shows whether they repeat
//! and so make a list. Nesting is a list of open elements. A call is certain when its header
//! closed.

mod element;
mod finish;
mod out;
mod shape;
mod tag;
mod text;

#[cfg(test)]
mod tests;

use alloc::{format, string::String, vec::Vec};

use jail_match::Feed;

pub use self::shape::TreeShape;
pub(crate) use self::{element::holds_list, text::leaf};

use self::{element::Element, out::Out, tag::Tag};
use super::{
    skip::{Skipped, Stop, skip},
    step::Step,
    text::space,
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::{Certainty, Text},
    typing::Path,
};

/// The deepest nesting of the arguments, their own object included.
const MAX_DEPTH: usize = 128;
/// Bytes a tag may have beyond a name.
const SLACK: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a call.
    Section,
    /// Between tags, inside a call.
    Text,
    /// Behind a tag's bracket.
    Tag,
    /// Behind a fault, looking for a place to go on.
    Broken,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct TreeEngine {
    certainty: Certainty,
    state: State,
    in_wrapper: bool,
    call_close: Text,
    wrapper_close: Text,
    name: String,
    /// The tag being read, from behind its bracket on.
    tag: String,
    /// Bytes of it, and of what stands before it.
    tag_bytes: usize,
    /// The open elements; the first is the call.
    open: Vec<Element>,
    /// Their tags, one behind the other.
    tags: String,
    path: Path,
    /// Their text that is not written, one behind the other.
    text: String,
    out: Out,
    calls_seen: u32,
    dropped: u64,
}

impl TreeEngine {
    pub(crate) fn new(shape: &TreeShape, certainty: Certainty, marker: &str) -> Self {
        let (space, wrapper, call) = (&shape.namespace, &shape.wrapper, &shape.call);
        Self {
            certainty,
            state: State::Section,
            in_wrapper: marker == format!("{space}<{wrapper}>"),
            call_close: format!("{space}</{call}>").into(),
            wrapper_close: format!("{space}</{wrapper}>").into(),
            name: String::new(),
            tag: String::new(),
            tag_bytes: 0,
            open: Vec::new(),
            tags: String::new(),
            path: Path::default(),
            text: String::new(),
            out: Out::default(),
            calls_seen: 0,
            dropped: 0,
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.tag.len() + self.tags.len() + self.path.len() + self.text.len() + self.out.held()
    }

    pub(crate) fn feed(
        &mut self,
        shape: &TreeShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Text => self.text(shape, text, &mut i, calls, sink),
                State::Tag => self.tag(shape, text, &mut i, calls, sink),
                State::Section => self.section(shape, text, &mut i, calls, sink),
                State::Broken => self.skip(text, &mut i, calls, sink),
            };
            if let Step::Return(feed) = step {
                return feed;
            }
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
        self.malformed(calls, sink);
        (self.state, self.dropped) = (State::Broken, self.tag_begun());
        *i = at;
        Step::Go
    }

    /// What is open ends in a fault.
    fn malformed(&mut self, calls: &mut Calls, sink: &mut dyn CallSink) {
        if calls.is_open() {
            self.out.flush(calls, sink);
            calls.end(Outcome::Malformed, sink);
        }
        self.open.clear();
    }

    /// Before a call. Behind one, anything that is no markup is text again.
    fn section(
        &mut self,
        shape: &TreeShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        *i += space(&text[*i..]);
        let at = *i;
        if at == text.len() {
            return Step::Return(Feed::More { used: at });
        }
        match shape.tag_at(&text[at..]) {
            Tag::Maybe => Step::Return(Feed::More { used: at }),
            Tag::Yes { len } => self.begin_tag(len, i),
            Tag::No if self.calls_seen > 0 => {
                calls.diagnose(DiagnosticKind::MissingCloser, at, 0, sink);
                Step::done(at)
            }
            Tag::No => self.bad(text, i, at, calls, sink),
        }
    }

    /// Drops what follows a fault, up to the next closer or opener.
    fn skip(&mut self, text: &str, i: &mut usize, calls: &Calls, sink: &mut dyn CallSink) -> Step {
        let one = core::slice::from_ref::<Text>;
        let (inner, outer) = (one(&self.call_close).iter(), one(&self.wrapper_close).iter());
        match skip(&text[*i..], inner, outer, calls.openers.iter()) {
            Skipped::More { used } => {
                self.dropped += used as u64;
                Step::Return(Feed::More { used: *i + used })
            }
            Skipped::To { at, len, stop } => {
                *i += at;
                self.dropped += at as u64;
                calls.diagnose(DiagnosticKind::Skipped, *i, self.dropped, sink);
                *i += len;
                if !self.in_wrapper || stop == Stop::Outer {
                    return Step::done(*i);
                }
                self.state = State::Section;
                Step::Go
            }
        }
    }
}
