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

mod finish;
mod head;
mod shape;
mod value;

#[cfg(test)]
mod tests;

use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
};

use jail_match::{Feed, Resume};

pub use shape::{
    Duplicates, Head, HeadEnd, Implicit, OtherCalls, Quotes, Quoting, TaggedShape, Then, Trim,
    Undeclared,
};

use self::{
    head::{HeadReader, Names, Read},
    value::{By, Fed, Mode, ValueReader},
};
use super::{
    arguments::Arguments,
    skip::{Skipped, skip},
    text::{Is, Undecided, is, space},
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::{Certainty, Text},
    json::scan::Scanned,
    typing::admitted,
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

enum Step {
    Go,
    Return(Feed),
}

/// A tag that may stand between parameters or calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Parameter,
    CallClose,
    WrapperOpen,
    WrapperClose,
    Call,
    /// What begins another body.
    Opener,
    Ignored,
    JsonBody,
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

    pub(crate) fn held(&self) -> usize {
        self.value.held() + self.body.held()
    }

    pub(crate) fn feed<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut S,
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
                State::JsonBody => self.json_body(text, &mut i, calls, sink),
                State::Broken => self.skip(shape, text, &mut i, calls, sink),
            };
            if let Step::Return(feed) = step {
                return feed;
            }
        }
    }

    fn done(used: usize) -> Step {
        Step::Return(Feed::Done { used, then: Resume::Here })
    }

    /// The byte at `at` cannot stand there.
    fn bad<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        i: &mut usize,
        at: usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        if !calls.committed() {
            let behind = at + text[at..].chars().next().map_or(0, char::len_utf8);
            return Step::Return(Feed::NotMine { used: behind });
        }
        if calls.is_open() {
            calls.end(Outcome::Malformed, sink);
        }
        self.state = State::Broken;
        self.dropped = 0;
        *i = at;
        Step::Go
    }

    /// In a wrapper, before a call. Behind a call anything that is no markup is text again.
    fn section<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        *i += space(&text[*i..]);
        let behind = self.calls_seen > 0;
        let call = shape.call.open.first();
        let (opens, closes) = match &shape.wrapper {
            Some(wrapper) => (&wrapper.open[..], &wrapper.close[..]),
            None => (&[][..], &[][..]),
        };
        let call_closes = if behind { &shape.call_close[..] } else { &[] };
        let tags = tags(Tag::Call, call)
            .chain(tags(Tag::WrapperClose, closes))
            .chain(tags(Tag::WrapperOpen, opens))
            .chain(tags(Tag::CallClose, call_closes));
        match tag(&text[*i..], tags) {
            Err(Undecided) => return Step::Return(Feed::More { used: *i }),
            Ok(Some((Tag::Call, len))) => {
                *i += len;
                self.head.restart(1);
                self.state = State::Call;
            }
            Ok(Some((Tag::WrapperClose, len))) => {
                *i += len;
                if !behind {
                    calls.diagnose(DiagnosticKind::EmptyList, *i, 0, sink);
                }
                return Self::done(*i);
            }
            // Another block, though this one did not end: a candidate of its own.
            Ok(Some((Tag::WrapperOpen, _))) if behind => return self.unclosed(*i, calls, sink),
            Ok(Some((_, len))) => *i += len,
            Ok(None) if behind => return self.unclosed(*i, calls, sink),
            Ok(None) => return self.bad(text, i, *i, calls, sink),
        }
        Step::Go
    }

    /// The wrapper ends at `i` without its closer.
    fn unclosed<S: CallSink + ?Sized>(&self, i: usize, calls: &Calls, sink: &mut S) -> Step {
        calls.diagnose(DiagnosticKind::MissingCloser, i, 0, sink);
        Self::done(i)
    }

    fn call<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        let limit = calls.options.limits.name;
        match self.head.feed(&shape.call, None, Names::Tool, limit, &text[*i..]) {
            Read::More { used } => Step::Return(Feed::More { used: *i + used }),
            Read::Bad { at } if shape.other_calls == OtherCalls::Skip && self.head.opened() => {
                calls.mute(DiagnosticKind::PseudoCall, *i + at, sink);
                self.calls_seen += 1;
                self.bad(text, i, *i + at, calls, sink)
            }
            Read::Bad { at } => self.bad(text, i, *i + at, calls, sink),
            Read::Done { used, then } => {
                let name = self.head.name();
                *i += used;
                if self.certainty == Certainty::Unmarked && !calls.tools.admits(name) {
                    return Step::Return(Feed::NotMine { used: *i });
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

    /// Between the parameters of a call.
    fn between<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        *i += space(&text[*i..]);
        let (opens, closes) = match &shape.wrapper {
            Some(wrapper) => (&wrapper.open[..], &wrapper.close[..]),
            None => (&[][..], &[][..]),
        };
        let brace = (shape.json_body && !self.evidence).then_some("{");
        let call = shape.call.open.first().filter(|_| self.in_wrapper);
        let tags = tags(Tag::Parameter, shape.parameter.open.first())
            .chain(tags(Tag::CallClose, &shape.call_close))
            .chain(tags(Tag::WrapperClose, closes))
            .chain(tags(Tag::Call, call))
            .chain(tags(Tag::Ignored, &shape.ignored))
            .chain(tags(Tag::Opener, opens))
            .chain(tags(Tag::Opener, &calls.openers))
            .chain(brace.map(|brace| (Tag::JsonBody, brace)));
        let tag = match tag(&text[*i..], tags) {
            Err(Undecided) => return Step::Return(Feed::More { used: *i }),
            Ok(None) => return self.bad(text, i, *i, calls, sink),
            Ok(Some((tag, len))) => {
                if !matches!(tag, Tag::JsonBody | Tag::Opener | Tag::Call) {
                    *i += len;
                }
                tag
            }
        };
        match tag {
            Tag::Parameter if self.written == Written::Whole => {
                return self.bad(text, i, *i, calls, sink);
            }
            Tag::Parameter => {
                self.head.restart(1);
                self.state = State::Parameter;
            }
            Tag::CallClose => return self.end_call(*i, calls, sink),
            Tag::WrapperClose => {
                calls.diagnose(DiagnosticKind::MissingCloser, *i, 0, sink);
                self.end_call(*i, calls, sink);
                return Self::done(*i);
            }
            // The call did not end, but another begins.
            Tag::Call => {
                calls.diagnose(DiagnosticKind::MissingCloser, *i, 0, sink);
                return self.end_call(*i, calls, sink);
            }
            Tag::Opener | Tag::WrapperOpen => {
                calls.diagnose(DiagnosticKind::MissingCloser, *i, 0, sink);
                self.end_call(*i, calls, sink);
                return Self::done(*i);
            }
            Tag::Ignored => {}
            Tag::JsonBody => {
                self.body = Arguments::new();
                self.state = State::JsonBody;
            }
        }
        Step::Go
    }

    /// The call is whole.
    fn end_call<S: CallSink + ?Sized>(
        &mut self,
        i: usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        self.close_arguments(calls, sink);
        calls.end(Outcome::Complete, sink);
        if self.in_wrapper {
            self.state = State::Section;
            Step::Go
        } else {
            Self::done(i)
        }
    }

    fn close_arguments<S: CallSink + ?Sized>(&self, calls: &Calls, sink: &mut S) {
        match self.written {
            Written::Nothing => calls.arguments("{}", sink),
            Written::Members => calls.arguments("}", sink),
            Written::Whole => {}
        }
    }

    fn parameter<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        let limit = calls.options.limits.name;
        let attribute = shape.string_attribute.as_deref();
        match self.head.feed(&shape.parameter, attribute, Names::Parameter, limit, &text[*i..]) {
            Read::More { used } => Step::Return(Feed::More { used: *i + used }),
            Read::Bad { at } => self.bad(text, i, *i + at, calls, sink),
            Read::Done { used, then } => {
                *i += used;
                self.parameter_read(shape, then, *i, calls, sink)
            }
        }
    }

    /// A parameter's header is whole, and ended at `i`.
    fn parameter_read<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        then: Then,
        i: usize,
        calls: &Calls,
        sink: &mut S,
    ) -> Step {
        self.state = State::ValueOpen(0);
        if then == Then::Closed || shape.value_open.is_empty() {
            self.begin_value(shape, calls, sink);
        }
        if then == Then::Closed {
            self.end_value(i, calls, sink);
        }
        Step::Go
    }

    fn value_open<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        n: usize,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        let Some(literal) = shape.value_open.get(n) else {
            self.begin_value(shape, calls, sink);
            return Step::Go;
        };
        *i += space(&text[*i..]);
        let rest = &text[*i..];
        let next = shape.parameter.open.first().map_or("", |literal| literal.as_ref());
        match (is(rest, literal), is(rest, next)) {
            (Is::Yes, _) => {
                *i += literal.len();
                self.state = State::ValueOpen(n + 1);
            }
            // A name without a value gives way to the next one.
            (Is::No, Is::Yes) => {
                *i += next.len();
                let bytes = self.head.name().len() as u64;
                calls.diagnose(DiagnosticKind::Noise, *i, bytes, sink);
                self.head.restart(1);
                self.state = State::Parameter;
            }
            (Is::Maybe, _) | (_, Is::Maybe) => return Step::Return(Feed::More { used: *i }),
            (Is::No, Is::No) => return self.bad(text, i, *i, calls, sink),
        }
        Step::Go
    }

    fn begin_value<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        calls: &Calls,
        sink: &mut S,
    ) {
        let key = self.head.name();
        let mode = if shape.duplicates == Duplicates::KeepFirst && self.seen.contains(key) {
            Mode::Drop
        } else {
            mode(shape, &self.name, key, self.head.attribute(), calls)
        };
        // What is remembered is bounded; a name forgotten is written again.
        let remember = shape.duplicates == Duplicates::KeepFirst
            && self.seen_bytes + key.len() <= calls.options.limits.value;
        if remember && mode != Mode::Drop {
            self.seen_bytes += key.len();
            self.seen.insert(key.to_string());
        }
        let first = self.written == Written::Nothing;
        self.value.begin(key, mode, first, calls, sink);
        if mode == Mode::String {
            self.written = Written::Members;
        }
        self.state = State::Value;
    }

    fn feed_value<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        match self.value.feed(shape, &text[*i..], calls, sink) {
            Fed::More { used } => Step::Return(Feed::More { used: *i + used }),
            Fed::Closed { used, by } => {
                *i += used;
                self.end_value(*i, calls, sink);
                if by == By::Itself {
                    return Step::Go;
                }
                calls.diagnose(DiagnosticKind::MissingCloser, *i, 0, sink);
                if let By::NextParameter(then) = by {
                    core::mem::swap(&mut self.head, self.value.next());
                    return self.parameter_read(shape, then, *i, calls, sink);
                }
                self.end_call(*i, calls, sink);
                Self::done(*i)
            }
        }
    }

    fn end_value<S: CallSink + ?Sized>(&mut self, i: usize, calls: &Calls, sink: &mut S) {
        if self.value.close(i, calls, sink) {
            self.written = Written::Members;
        }
        self.evidence = true;
        self.state = State::Between;
    }

    fn json_body<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut S,
    ) -> Step {
        match self.body.feed(&text[*i..], |fragment| calls.arguments(fragment, sink)) {
            Scanned::More { used } => Step::Return(Feed::More { used: *i + used }),
            Scanned::End { used } => {
                *i += used;
                (self.written, self.evidence) = (Written::Whole, true);
                self.state = State::Between;
                Step::Go
            }
            Scanned::Bad { at } => self.bad(text, i, *i + at, calls, sink),
        }
    }

    /// Drops what follows a fault, up to the next closer or opener.
    fn skip<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut S,
    ) -> Step {
        let closes = shape.wrapper.as_ref().map_or(&[][..], |wrapper| &wrapper.close);
        let inner = shape.call_close.last().into_iter();
        let outer = closes.iter();
        let call = shape.call.open.first().filter(|_| self.in_wrapper);
        let openers = call.into_iter().chain(&calls.openers);
        match skip(&text[*i..], inner, outer, openers) {
            Skipped::More { used } => {
                self.dropped += used as u64;
                Step::Return(Feed::More { used: *i + used })
            }
            Skipped::To { at, len, stop } => {
                self.dropped += at as u64;
                *i += at;
                calls.diagnose(DiagnosticKind::Skipped, *i, self.dropped, sink);
                *i += len;
                if !self.in_wrapper || stop == super::skip::Stop::Outer {
                    return Self::done(*i);
                }
                self.state = State::Section;
                Step::Go
            }
        }
    }
}

/// How the value of a parameter is to be read.
fn mode(
    shape: &TaggedShape,
    tool: &str,
    key: &str,
    attribute: Option<bool>,
    calls: &Calls,
) -> Mode {
    match attribute {
        Some(true) => return Mode::String,
        Some(false) => return Mode::Json,
        None => {}
    }
    let types = calls.tools.get(tool).and_then(|tool| admitted(&tool.parameters, key));
    match types {
        Some(types) if types.only_string() => Mode::String,
        Some(types) => Mode::Typed(types),
        None if shape.undeclared == Undeclared::JsonElseText => Mode::Guess,
        None => Mode::String,
    }
}

fn tags<'s>(
    tag: Tag,
    literals: impl IntoIterator<Item = &'s Text>,
) -> impl Iterator<Item = (Tag, &'s str)> {
    literals.into_iter().map(move |literal| (tag, literal.as_ref()))
}

/// The longest of `tags` at the head of `text`, with its length.
fn tag<'s>(
    text: &str,
    tags: impl Iterator<Item = (Tag, &'s str)>,
) -> Result<Option<(Tag, usize)>, Undecided> {
    let mut best: Option<(Tag, usize)> = None;
    let mut maybe = text.is_empty();
    for (tag, literal) in tags {
        match is(text, literal) {
            Is::Yes if best.is_none_or(|(_, len)| literal.len() > len) => {
                best = Some((tag, literal.len()));
            }
            Is::Maybe => maybe = true,
            Is::Yes | Is::No => {}
        }
    }
    if maybe { Err(Undecided) } else { Ok(best) }
}
