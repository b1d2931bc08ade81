//! Reading of arguments that are plain text: the text is the value of one key.
//!
//! ```text
//! <|python_tag|>print(1)<|eom_id|>       {"code": "print(1)"}
//! ```
//!
//! At `p` the state changes from `Open` to `Text`. A brace at that position would begin an object
//! with the arguments.

use alloc::boxed::Box;

use jail_match::End;

use super::call_sink::CallSink;
use crate::{
    cursor::{Progress, TextCursor, Undecided, few_blanks, longest_prefix},
    limits::MAX_BLANKS,
    {event::Outcome, options::Repair, value::escape},
};

/// The position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RawState {
    /// Before the first byte that is not blank. A brace there begins an object.
    Open,
    Text,
}

/// A reader of plain text up to an end.
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

    /// Returns whether a message header is in place of the text, so that the call was cut. `None`
    /// if undecided.
    pub(super) fn is_header(&self, headers: &[Box<str>], cursor: &TextCursor<'_>) -> Option<bool> {
        if self.state == RawState::Text || headers.is_empty() {
            return Some(false);
        }
        let rest = cursor.rest().trim_ascii_start();
        match longest_prefix(rest, headers.iter().map(|token| &**token)) {
            Err(Undecided) => None,
            Ok(found) => Some(found.is_some()),
        }
    }

    /// Returns whether the arguments are an object instead of text. `None` if undecided.
    /// Repetitions of the token before the text are skipped.
    pub(super) fn is_object(
        &mut self,
        key: &str,
        again: &[Box<str>],
        out: &mut CallSink<'_>,
    ) -> Option<bool> {
        if self.state == RawState::Text {
            return Some(false);
        }
        loop {
            match longest_prefix(out.cursor.rest(), again.iter().map(|again| &**again)) {
                Err(Undecided) => return None,
                Ok(Some(n)) => out.cursor.advance(again[n].len()),
                Ok(None) => break,
            }
        }
        let blank = few_blanks(out.cursor.rest());
        match out.cursor.rest().as_bytes().get(blank) {
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

    /// Reads the text up to an end, which is not consumed. A newline before the end is removed.
    pub(super) fn feed<'s>(
        &mut self,
        ends: impl Iterator<Item = &'s str> + Clone,
        out: &mut CallSink<'_>,
    ) -> Progress {
        let rest = out.cursor.rest();
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
            out.cursor.advance(value.len());
            return Progress::More;
        }
        out.cursor.advance(to);
        out.arguments("\"}");
        Progress::Done
    }

    /// Handles the end of the stream; the text being fed is unread. The call is complete if the family
    /// has no end tag.
    pub(super) fn finish(
        &mut self,
        end: End,
        ends_expected: bool,
        out: &mut CallSink<'_>,
    ) -> Outcome {
        let tail = out.cursor.text;
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
