//! Between tags: which one comes next, and where to go on behind a fault.

use jail_match::Feed;

use super::{State, Step, TaggedEngine, Written, shape::TaggedShape};
use crate::{
    calls::Calls,
    engine::{
        arguments::Arguments,
        skip::{Skipped, Stop, skip},
        text::{Is, Undecided, is, space},
    },
    event::{CallSink, DiagnosticKind},
    grammar::Text,
};

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
    /// In a wrapper, before a call. Behind a call anything that is no markup is text again.
    pub(super) fn section(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
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
                return Step::done(*i);
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
    pub(super) fn unclosed(&self, i: usize, calls: &Calls, sink: &mut dyn CallSink) -> Step {
        calls.diagnose(DiagnosticKind::MissingCloser, i, 0, sink);
        Step::done(i)
    }

    /// Between the parameters of a call.
    pub(super) fn between(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
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
                return Step::done(*i);
            }
            // The call did not end, but another begins.
            Tag::Call => {
                calls.diagnose(DiagnosticKind::MissingCloser, *i, 0, sink);
                return self.end_call(*i, calls, sink);
            }
            Tag::Opener | Tag::WrapperOpen => {
                calls.diagnose(DiagnosticKind::MissingCloser, *i, 0, sink);
                self.end_call(*i, calls, sink);
                return Step::done(*i);
            }
            Tag::Ignored => {}
            Tag::JsonBody => {
                self.body = Arguments::new();
                self.state = State::JsonBody;
            }
        }
        Step::Go
    }

    /// Drops what follows a fault, up to the next closer or opener.
    pub(super) fn skip(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
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
                if !self.in_wrapper || stop == Stop::Outer {
                    return Step::done(*i);
                }
                self.state = State::Section;
                Step::Go
            }
        }
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
