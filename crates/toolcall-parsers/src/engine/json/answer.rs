//! Objects that hold an answer instead of a call: their string is visible text.

use jail_match::Feed;

use super::{JsonEngine, State, Step};
use crate::{
    calls::Calls,
    event::{Event, Sink},
    json::{
        decode::{Decoded, decode},
        scan::{JsonScan, Scanned},
    },
};

impl JsonEngine {
    /// An answer that is no string comes out as the JSON it is.
    pub(super) fn answer_json(&mut self) -> State {
        self.ignored = JsonScan::new();
        State::AnswerJson
    }

    pub(super) fn feed_answer(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn Sink,
    ) -> Step {
        let rest = &text[*i..];
        let mut out = |piece: &str| sink.event(Event::Content(piece));
        let (used, done) = if self.state == State::Answer {
            match decode(rest, |piece, _| out(piece)) {
                Decoded::More { used } => (used, false),
                Decoded::End { used } => (used, true),
                Decoded::Bad { at } => return self.bad(text, *i + at, calls, sink),
            }
        } else {
            match self.ignored.feed(rest, out) {
                Scanned::More { used } => (used, false),
                Scanned::End { used } => (used, true),
                Scanned::Bad { at } => return self.bad(text, *i + at, calls, sink),
            }
        };
        *i += used;
        if !done {
            return Step::Return(Feed::More { used: *i });
        }
        self.state = State::AfterMember;
        Step::Go
    }
}
