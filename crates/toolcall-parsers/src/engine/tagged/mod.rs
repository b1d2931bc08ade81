//! Tagged calls: a header with the name, then parameters between tags.
//!
//! ```text
//! <tool_call>                          wrapper
//! <function=NAME>                      call header
//! <parameter=KEY>VALUE</parameter>     parameter header, value, value end
//! </function></tool_call>              call end, wrapper end
//! ```
//!
//! Key and value in separate tags are the same shape: the key's end tag ends the header, and the
//! value has an opening tag. A call is certain when its header closed.

mod attribute;
mod between;
mod finish;
mod head;
mod parameter;
mod phases;
mod shape;
mod stops;
mod value;
mod write;

#[cfg(test)]
mod tests;

use alloc::{collections::BTreeSet, string::String};

use jail_match::Feed;

pub use shape::{
    Attributes, Duplicates, Head, HeadEnd, Implicit, OtherCalls, Quotes, Quoting, TaggedShape,
    Then, Trim, TypeTags, Undeclared,
};

pub(crate) use self::{
    head::{parameter_header, tool_header},
    parameter::mode,
    value::Mode,
};

use self::{
    attribute::Flag,
    head::{HeadReader, Names, Read},
    value::ValueReader,
};
use super::{arguments::Arguments, step::Step};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::Certainty,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In a wrapper, before a call.
    Section,
    /// In a call's header.
    Call,
    /// Between parameters.
    Between,
    /// In a parameter's header.
    Parameter,
    /// Before the literal with this number in front of a value.
    ValueOpen(usize),
    /// In the type of a value.
    ValueType,
    Value,
    /// In a JSON object that stands for all parameters.
    JsonBody,
    /// Behind a fault, looking for a place to go on.
    Broken,
}

/// What of the current call's arguments is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Nothing,
    /// `{` and at least one member.
    Members,
    /// All of it.
    Whole,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct TaggedEngine {
    certainty: Certainty,
    state: State,
    in_wrapper: bool,
    head: HeadReader,
    name: String,
    /// The current parameter's type, as the wire says.
    wire_type: String,
    value: ValueReader,
    body: Arguments,
    written: Written,
    /// Parameters were read in the current call, or its end was.
    evidence: bool,
    /// Names of the current call's parameters, where the first counts.
    seen: BTreeSet<String>,
    seen_bytes: usize,
    calls_seen: u32,
    dropped: u64,
}

impl TaggedEngine {
    pub(crate) fn new(shape: &TaggedShape, certainty: Certainty, marker: &str) -> Self {
        let in_wrapper =
            shape.wrapper.as_ref().is_some_and(|w| w.open.iter().any(|open| open == marker));
        Self {
            certainty,
            state: if in_wrapper { State::Section } else { State::Call },
            in_wrapper,
            head: HeadReader::new(),
            name: String::new(),
            wire_type: String::new(),
            value: ValueReader::new(),
            body: Arguments::new(),
            written: Written::Nothing,
            evidence: false,
            seen: BTreeSet::new(),
            seen_bytes: 0,
            calls_seen: 0,
            dropped: 0,
        }
    }

    /// Inside a call of `name`, whose header was of another kind.
    pub(crate) fn inside(name: &str) -> Self {
        Self {
            certainty: Certainty::Marked,
            state: State::Between,
            in_wrapper: false,
            head: HeadReader::new(),
            name: String::from(name),
            wire_type: String::new(),
            value: ValueReader::new(),
            body: Arguments::new(),
            written: Written::Nothing,
            evidence: false,
            seen: BTreeSet::new(),
            seen_bytes: 0,
            calls_seen: 1,
            dropped: 0,
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.value.held() + self.body.held()
    }

    pub(crate) fn feed(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Value => self.feed_value(shape, text, &mut i, calls, sink),
                State::Section => self.section(shape, text, &mut i, calls, sink),
                State::Call => self.call(shape, text, &mut i, calls, sink),
                State::Between => self.between(shape, text, &mut i, calls, sink),
                State::Parameter => self.parameter(shape, text, &mut i, calls, sink),
                State::ValueOpen(n) => self.value_open(shape, n, text, &mut i, calls, sink),
                State::ValueType => self.value_type(shape, text, &mut i, calls, sink),
                State::JsonBody => self.json_body(text, &mut i, calls, sink),
                State::Broken => self.skip(shape, text, &mut i, calls, sink),
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
        if calls.is_open() {
            calls.end(Outcome::Malformed, sink);
        }
        self.state = State::Broken;
        self.dropped = 0;
        *i = at;
        Step::Go
    }

    fn call(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let limit = calls.options.limits.name;
        match self.head.feed(&shape.call, Flag::default(), Names::Tool, limit, &text[*i..]) {
            Read::More { used } => Step::Return(Feed::More { used: *i + used }),
            Read::Bad { at } if shape.other_calls == OtherCalls::Skip && self.head.opened() => {
                calls.mute(DiagnosticKind::PseudoCall, *i + at, sink);
                self.calls_seen += 1;
                self.bad(text, i, *i + at, calls, sink)
            }
            Read::Bad { at } => self.bad(text, i, *i + at, calls, sink),
            Read::Done { used, then } => {
                let name = name(shape, self.head.name());
                *i += used;
                if self.certainty == Certainty::Unmarked && !calls.tools.admits(name) {
                    return Step::Return(Feed::Mismatch { used: *i });
                }
                self.name.clear();
                self.name.push_str(name);
                calls.start(name, None, *i, sink);
                self.calls_seen += 1;
                (self.written, self.evidence) = (Written::Nothing, false);
                self.seen.clear();
                self.seen_bytes = 0;
                if then == Then::Closed {
                    return self.end_call(*i, calls, sink);
                }
                self.state = State::Between;
                Step::Go
            }
        }
    }

    /// The call is whole.
    fn end_call(&mut self, i: usize, calls: &mut Calls, sink: &mut dyn CallSink) -> Step {
        self.close_arguments(calls, sink);
        calls.end(Outcome::Complete, sink);
        if self.in_wrapper {
            self.state = State::Section;
            Step::Go
        } else {
            Step::done(i)
        }
    }

    fn close_arguments(&self, calls: &Calls, sink: &mut dyn CallSink) {
        match self.written {
            Written::Nothing => calls.arguments("{}", sink),
            Written::Members => calls.arguments("}", sink),
            Written::Whole => {}
        }
    }
}

/// The name that a header's name stands for.
fn name<'n>(shape: &TaggedShape, name: &'n str) -> &'n str {
    let halves = name.split_at_checked(name.len() / 2).filter(|_| shape.doubled_names);
    match halves {
        Some((first, rest)) if rest.strip_prefix('.') == Some(first) => first,
        _ => name,
    }
}
