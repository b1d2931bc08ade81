//! The body of a call that another engine reads, and the end of the stream.

use jail_match::{AtEnd, Channel, End, Feed, Resume};

use super::{
    EnvelopeEngine, State,
    shape::{CallBody, Envelope, Target},
};
use crate::{
    calls::Calls,
    engine::{Engine, uncommitted},
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::{Certainty, Shape},
    options::Repair,
};

impl EnvelopeEngine {
    pub(crate) fn finish(
        &mut self,
        envelope: &Envelope,
        inner: &mut Engine,
        (tail, end): (&str, End),
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> AtEnd {
        let used = tail.len();
        match self.state {
            State::Header => return uncommitted(Certainty::Marked),
            State::Close => return AtEnd::Closed { used: 0 },
            State::Blank | State::Arguments => match self.arguments.closing() {
                Some(text) if calls.options.repair == Repair::Close => {
                    calls.arguments(&text, sink);
                    calls.end(Outcome::Repaired, sink);
                }
                _ => calls.end(Outcome::Incomplete, sink),
            },
            State::Broken => {
                let bytes = self.dropped + used as u64;
                calls.diagnose(DiagnosticKind::Skipped, used, bytes, sink);
            }
            State::Body(route) => match (&envelope.routes[route].to, inner) {
                (Target::Call(CallBody::Parameters(shape)), Engine::Tagged(engine)) => {
                    return engine.finish(shape, tail, end, calls, sink);
                }
                (Target::Calls(shapes), inner) => {
                    let Some(shape) = shapes.get(self.reading) else { return AtEnd::Release };
                    return inner.finish(shape, tail, end, calls, sink);
                }
                _ => return AtEnd::Release,
            },
        }
        AtEnd::Closed { used }
    }
}

/// Reads a call's body with the engine of its shape, from index `i` on.
pub(super) fn read(
    (to, reading): (&Target, usize),
    inner: &mut Engine,
    text: &str,
    i: usize,
    calls: &mut Calls,
    sink: &mut dyn CallSink,
) -> Feed {
    let content = Resume::Switch(Channel::CONTENT);
    calls.at += i as u64;
    let feed = match (to, inner) {
        (Target::Call(CallBody::Parameters(shape)), Engine::Tagged(engine)) => {
            engine.feed(shape, &text[i..], calls, sink)
        }
        (Target::Calls(shapes), inner) => match shapes.get(reading) {
            Some(shape) => inner.feed(shape, &text[i..], calls, sink),
            // No reading was left: it is text.
            None => Feed::Done { used: 0, then: content },
        },
        _ => Feed::Mismatch { used: 0 },
    };
    calls.at -= i as u64;
    match feed {
        Feed::More { used } => Feed::More { used: used + i },
        // A message without a call ends what it stood in all the same.
        Feed::Done { used, .. } if !calls.committed() => {
            Feed::Done { used: used + i, then: content }
        }
        Feed::Done { used, then } => Feed::Done { used: used + i, then },
        Feed::Mismatch { used } => Feed::Mismatch { used: used + i },
        // Whether a call is certain only the calls know.
        Feed::Committed { .. } | Feed::Markup { .. } => feed,
    }
}

/// The marker by which a shape's engine knows that it stands inside a wrapper: that may open
/// again, or be missing.
pub(super) fn wrapper(shape: &Shape) -> &str {
    match shape {
        Shape::Tagged(shape) => {
            shape.wrapper.as_ref().and_then(|w| w.open.first()).map_or("", |open| open.as_ref())
        }
        _ => "",
    }
}
