//! The parameters of a call: header, value, end.

use alloc::string::ToString;

use jail_match::Feed;

use super::{
    State, Step, TaggedEngine, Written,
    attribute::Flag,
    head::{Names, Read},
    shape::{Duplicates, TaggedShape, Then, Undeclared},
    value::{By, Fed, Mode},
};
use crate::{
    calls::Calls,
    engine::text::{Is, is, space},
    event::{CallSink, DiagnosticKind},
    json::scan::Scanned,
    tools::Tools,
    typing::{Types, admitted, by_name},
};

impl TaggedEngine {
    pub(super) fn parameter(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let limit = calls.options.limits.name;
        let flag = Flag::of(shape);
        match self.head.feed(&shape.parameter, flag, Names::Parameter, limit, &text[*i..]) {
            Read::More { used } => Step::Return(Feed::More { used: *i + used }),
            Read::Bad { at } => self.bad(text, i, *i + at, calls, sink),
            Read::Done { used, then } => {
                *i += used;
                self.parameter_read(shape, then, *i, calls, sink)
            }
        }
    }

    /// A parameter's header is whole, and ended at `i`.
    pub(super) fn parameter_read(
        &mut self,
        shape: &TaggedShape,
        then: Then,
        i: usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        self.state = State::ValueOpen(0);
        self.wire_type.clear();
        if then == Then::Closed || shape.value_open.is_empty() {
            self.begin_value(shape, calls, sink);
        }
        if then == Then::Closed {
            self.end_value(i, calls, sink);
        }
        Step::Go
    }

    pub(super) fn value_open(
        &mut self,
        shape: &TaggedShape,
        n: usize,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let Some(literal) = shape.value_open.get(n) else {
            self.begin_value(shape, calls, sink);
            return Step::Go;
        };
        *i += space(&text[*i..]);
        let rest = &text[*i..];
        let next = shape.parameter.open.first().map_or("", |literal| literal.as_ref());
        let types = shape.type_tags.as_ref().filter(|_| n == 0 && self.wire_type.is_empty());
        match types.map_or(Is::No, |types| is(rest, &types.open)) {
            Is::Yes => {
                *i += types.map_or(0, |types| types.open.len());
                self.state = State::ValueType;
                return Step::Go;
            }
            Is::Maybe => return Step::Return(Feed::More { used: *i }),
            Is::No => {}
        }
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

    /// Inside the type before a value.
    pub(super) fn value_type(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let close = shape.type_tags.as_ref().map_or("", |types| types.close.as_ref());
        for (n, scalar) in text[*i..].char_indices() {
            let at = *i + n;
            match is(&text[at..], close) {
                Is::Yes => {
                    (self.state, *i) = (State::ValueOpen(0), at + close.len());
                    return Step::Go;
                }
                Is::Maybe => return Step::Return(Feed::More { used: at }),
                Is::No if self.wire_type.len() >= calls.options.limits.name => {
                    return self.bad(text, i, at, calls, sink);
                }
                Is::No => self.wire_type.push(scalar),
            }
        }
        Step::Return(Feed::More { used: text.len() })
    }

    pub(super) fn begin_value(
        &mut self,
        shape: &TaggedShape,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) {
        let key = self.head.name();
        let mode = if shape.duplicates == Duplicates::KeepFirst && self.seen.contains(key) {
            Mode::Drop
        } else {
            mode(shape, &self.name, key, (self.head.attribute(), &self.wire_type), &calls.tools)
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

    pub(super) fn feed_value(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
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
                Step::done(*i)
            }
        }
    }

    pub(super) fn end_value(&mut self, i: usize, calls: &Calls, sink: &mut dyn CallSink) {
        if self.value.close(i, calls, sink) {
            self.written = Written::Members;
        }
        self.evidence = true;
        self.state = State::Between;
    }

    pub(super) fn json_body(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
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
}

/// How the value of a parameter is to be read.
pub(crate) fn mode(
    shape: &TaggedShape,
    tool: &str,
    key: &str,
    (attribute, wire_type): (Option<bool>, &str),
    tools: &Tools,
) -> Mode {
    match attribute {
        Some(true) => return Mode::String,
        Some(false) => return Mode::Json,
        None => {}
    }
    let types = tools.get(tool).and_then(|tool| admitted(&tool.parameters, key));
    let wire_type = Some(wire_type.trim_ascii()).filter(|name| !name.is_empty());
    match types.or_else(|| wire_type.map(by_name)) {
        Some(Types::ALL) => Mode::String,
        Some(types) if types.only_string() => Mode::String,
        Some(types) => Mode::Typed(types),
        None if shape.undeclared == Undeclared::JsonElseText => Mode::Guess,
        None => Mode::String,
    }
}
