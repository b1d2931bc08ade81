//! Arguments that are plain text: the value of one key.
//!
//! ```text
//! <|python_tag|>print(1)<|eom_id|>       {"code": "print(1)"}
//! ```

use alloc::boxed::Box;

use jail_match::End;

use super::output::Output;
use crate::{
    cursor::{Cursor, Progress, Undecided, few_blanks, longest_prefix},
    limits::MAX_BLANKS,
    {event::Outcome, options::Repair, value::escape},
};

/// The position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RawState {
    /// The first byte that is not blank decides.
    Open,
    Text,
}

/// Reads plain text up to one of its ends.
#[derive(Debug, Clone)]
pub(super) struct Raw {
    state: RawState,
}

impl Raw {
    pub(super) const fn new() -> Self {
        Self { state: RawState::Open }
    }

    pub(super) fn begin(&mut self) {
        self.state = RawState::Open;
    }

    /// Whether a token of a header is in place of the text, so that the message broke off. `None`
    /// if undecided.
    pub(super) fn is_header(&self, headers: &[Box<str>], cursor: &Cursor<'_>) -> Option<bool> {
        if self.state == RawState::Text || headers.is_empty() {
            return Some(false);
        }
        let rest = cursor.rest().trim_ascii_start();
        match longest_prefix(rest, headers.iter().map(|token| &**token)) {
            Err(Undecided) => None,
            Ok(found) => Some(found.is_some()),
        }
    }

    /// Whether the arguments turned out to be an object; `None`: not known yet.
    pub(super) fn is_object(
        &mut self,
        key: &str,
        again: &[Box<str>],
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Option<bool> {
        if self.state == RawState::Text {
            return Some(false);
        }
        loop {
            match longest_prefix(cursor.rest(), again.iter().map(|again| &**again)) {
                Err(Undecided) => return None,
                Ok(Some(n)) => cursor.advance(again[n].len()),
                Ok(None) => break,
            }
        }
        let blank = few_blanks(cursor.rest());
        match cursor.rest().as_bytes().get(blank) {
            None if blank <= MAX_BLANKS => return None,
            Some(b'{') if blank <= MAX_BLANKS => return Some(true),
            _ => {}
        }
        out.arguments("{\"");
        escape(key, |piece| out.arguments(piece));
        out.arguments("\": \"");
        self.state = RawState::Text;
        Some(false)
    }

    /// Reads on, up to an end, which is not consumed. A newline before it goes with it.
    pub(super) fn feed<'s>(
        &mut self,
        ends: impl Iterator<Item = &'s str> + Clone,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Progress {
        let rest = cursor.rest();
        let begins = |byte: u8| ends.clone().any(|end| end.as_bytes().first() == Some(&byte));
        let mut at = 0;
        let mut whole = false;
        while let Some(hit) = rest.bytes().skip(at).position(begins) {
            at = at.saturating_add(hit);
            match longest_prefix(&rest[at..], ends.clone()) {
                Err(Undecided) => break,
                Ok(Some(_)) => {
                    whole = true;
                    break;
                }
                Ok(None) => {
                    let scalar = rest[at..].chars().next();
                    at = at.saturating_add(scalar.map_or(1, char::len_utf8));
                }
            }
        }
        let held = rest.bytes().skip(at).position(begins).is_some();
        let to = if whole || held { at } else { rest.len() };
        // A newline is held, because the end may follow it.
        let value = rest[..to].strip_suffix('\n').unwrap_or(&rest[..to]);
        escape(value, |piece| out.arguments(piece));
        if !whole {
            cursor.advance(value.len());
            return Progress::More;
        }
        cursor.advance(to);
        out.arguments("\"}");
        Progress::Done
    }

    /// The stream ended, with `tail` not consumed; text that nothing else ends is whole then.
    pub(super) fn finish(
        &mut self,
        tail: &str,
        end: End,
        ends_expected: bool,
        out: &mut Output<'_>,
    ) -> Outcome {
        let text = self.state == RawState::Text;
        if text {
            escape(tail, |piece| out.arguments(piece));
        }
        let outcome = match (end, out.calls.options.repair) {
            (End::Stop, _) if text && !ends_expected => Outcome::Complete,
            (_, Repair::Close) => Outcome::Repaired,
            _ => Outcome::Incomplete,
        };
        if outcome != Outcome::Incomplete {
            out.arguments(if text { "\"}" } else { "{}" });
        }
        outcome
    }
}
