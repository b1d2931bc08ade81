//! Finds the text of a call, for those who repair calls that cannot run.
//!
//! ```text
//! Wait. <tool_call>{"name": "ring", "arguments": {"times": tw}}</tool_call> Hm.
//!       ╰─────────────────────── call 0 ─────────────────────╯
//! ```
//!
//! Events have no place in the text. The message is read once more, character by character, and the
//! place is known from what each character changes.

use llm_stream_guard::{Diagnostic, DiagnosticKind, End, Event, Guard, Sink};

/// The place of a call in the text.
#[derive(Debug)]
struct Place {
    index: u32,
    /// Where the block of the call began, or the call before it ended.
    block: usize,
    /// Bytes that were read, with the character that is read now.
    now: usize,
    start: Option<usize>,
    end: Option<usize>,
    /// Whether nothing came after the call.
    is_last: bool,
}

impl Sink for Place {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::CallEnd { index, .. } => {
                self.is_last = index == self.index;
                if self.is_last {
                    self.end = Some(self.now);
                }
                self.block = self.now;
            }
            // The text of a malformed call goes on after its fault, and is skipped up to its end.
            Event::Diagnostic(Diagnostic { kind: DiagnosticKind::Skipped, at, .. }) => {
                if self.is_last {
                    self.end = usize::try_from(at).ok().max(self.end);
                }
            }
            Event::Diagnostic(_) => {}
            Event::CallStart { index, .. } => {
                self.is_last = false;
                if index == self.index {
                    self.start = Some(self.block);
                }
            }
            _ => self.is_last = false,
        }
    }
}

/// Returns the part of `text` that is the call with this index: from its opening tag to the end of
/// its arguments, without blanks at the edges.
pub(crate) fn call_text(mut guard: Guard, text: &str, index: u32) -> Option<&str> {
    guard.reset();
    let mut place = Place { index, block: 0, now: 0, start: None, end: None, is_last: false };
    for (at, scalar) in text.char_indices() {
        let (held, candidates) = (guard.held().bytes, guard.counters().candidates);
        place.now = at + scalar.len_utf8();
        guard.push(text.get(at..place.now)?, &mut place).ok()?;
        if guard.counters().candidates > candidates {
            place.block = at.saturating_sub(held);
        }
    }
    guard.finish(End::Aborted, &mut place).ok()?;
    text.get(place.start?..place.end?.min(text.len())).map(str::trim)
}
