//! Arguments that are plain text.

use jail_match::{End, Feed};

use super::{NamedEngine, NamedShape, Raw, State, Step};
use crate::{
    calls::Calls,
    engine::{
        frame::Closing,
        text::{BLANKS, find, space},
    },
    event::{CallSink, Outcome},
    json::escape::escape,
    options::Repair,
};

impl NamedEngine {
    /// Before arguments that may be JSON or plain text: the first byte that is no blank decides.
    pub(super) fn either(
        &mut self,
        shape: &NamedShape,
        text: &str,
        i: usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let blank = space(&text[i..]);
        match (text.as_bytes().get(i + blank), &shape.raw) {
            (None, _) if blank <= BLANKS => return Step::Return(Feed::More { used: i }),
            (_, None) => self.state = State::Arguments,
            (Some(b'{'), _) if blank <= BLANKS => self.state = State::Arguments,
            (_, Some(raw)) => {
                calls.arguments("{\"", sink);
                escape(&raw.key, |piece| calls.arguments(piece, sink));
                calls.arguments("\": \"", sink);
                self.state = State::Raw;
            }
        }
        Step::Go
    }

    pub(super) fn raw(
        &mut self,
        shape: &NamedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let ends = shape.raw.iter().flat_map(|raw| raw.ends.iter()).map(|end| end.as_ref());
        let rest = &text[*i..];
        let (to, whole) = match find(rest, ends) {
            Ok((to, _)) => (to, true),
            Err(to) => (to, false),
        };
        // A newline is held: the end may stand behind it.
        let value = rest[..to].strip_suffix('\n').unwrap_or(&rest[..to]);
        escape(value, |piece| calls.arguments(piece, sink));
        if !whole {
            return Step::Return(Feed::More { used: *i + value.len() });
        }
        *i += to;
        calls.arguments("\"}", sink);
        calls.end(Outcome::Complete, sink);
        self.state = State::Close(0);
        Step::Go
    }

    /// The stream ended in plain text, or before arguments that might have been some.
    pub(super) fn finish_raw(
        &mut self,
        raw: &Raw,
        tail: &str,
        end: End,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) {
        if self.state == State::Raw {
            escape(tail, |piece| calls.arguments(piece, sink));
        }
        let whole = self.state == State::Raw && raw.closing == Closing::Optional;
        let outcome = match (end, calls.options.repair) {
            (End::Stop, _) if whole => Outcome::Complete,
            (_, Repair::Close) => Outcome::Repaired,
            _ => Outcome::Incomplete,
        };
        if outcome != Outcome::Incomplete {
            calls.arguments(if self.state == State::Raw { "\"}" } else { "{}" }, sink);
        }
        calls.end(outcome, sink);
    }
}
