//! Puts calls into sequence, even if upstream interleaves their pieces.

use std::collections::VecDeque;

use crate::limits::MAX_WAITING_BYTES;
use llm_stream_guard::chat::{Balance, ChatStep, Delta};

/// A queue of calls. A call is released after the arguments of the call before it are whole or
/// cannot be completed. Every released piece of arguments therefore belongs to the call that began
/// last.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: Option<(u32, Balance)>,
    waiting: VecDeque<Waiting>,
    /// Number of bytes of the waiting arguments.
    held: usize,
}

/// A call in the queue, with its arguments so far.
#[derive(Debug)]
struct Waiting {
    index: u32,
    id: String,
    name: String,
    arguments: String,
}

impl Turns {
    /// Feeds the deltas of the first choice and those around the choices. Calls `on` with the
    /// released deltas.
    pub(super) fn step(&mut self, step: &ChatStep<'_>, on: &mut impl FnMut(Delta<'_>)) {
        step.deltas(|choice, delta| {
            if choice == 0 {
                self.take(delta, on);
            }
        });
    }

    /// Feeds the next delta, and calls `on` with the released deltas.
    fn take(&mut self, delta: Delta<'_>, on: &mut impl FnMut(Delta<'_>)) {
        match delta {
            Delta::CallStart { index, .. }
                if self.open.as_ref().is_none_or(|it| it.1.is_closed()) =>
            {
                self.open = Some((index, Balance::default()));
                on(delta);
            }
            Delta::CallStart { index, id, name } => {
                let (id, name) = (id.to_owned(), name.to_owned());
                self.waiting.push_back(Waiting { index, id, name, arguments: String::new() });
            }
            Delta::CallArguments { index, fragment } => self.arguments(index, fragment, on),
            // None of these deltas ends an item of the answer.
            Delta::Around(_) | Delta::Role(_) | Delta::Usage(_) | Delta::CallEnd { .. } => {
                on(delta);
            }
            _ => {
                self.rest(on);
                self.open = None;
                on(delta);
            }
        }
    }

    fn arguments(&mut self, index: u32, fragment: &str, on: &mut impl FnMut(Delta<'_>)) {
        if let Some((open, balance)) = &mut self.open
            && *open == index
        {
            balance.feed(fragment);
            on(Delta::CallArguments { index, fragment });
            while self.open.as_ref().is_some_and(|it| it.1.is_closed()) && self.next(on) {}
        } else if let Some(call) = self.waiting.iter_mut().find(|call| call.index == index) {
            call.arguments.push_str(fragment);
            self.held += fragment.len();
            if self.held > MAX_WAITING_BYTES {
                self.rest(on);
            }
        } else {
            tracing::warn!("a piece of a call that is over was dropped");
        }
    }

    /// Releases all waiting calls.
    pub(super) fn rest(&mut self, on: &mut impl FnMut(Delta<'_>)) {
        while self.next(on) {}
    }

    /// Releases the next waiting call, and returns whether there was one.
    fn next(&mut self, on: &mut impl FnMut(Delta<'_>)) -> bool {
        let Some(Waiting { index, id, name, arguments }) = self.waiting.pop_front() else {
            return false;
        };
        self.held -= arguments.len();
        let mut balance = Balance::default();
        balance.feed(&arguments);
        self.open = Some((index, balance));
        on(Delta::CallStart { index, id: &id, name: &name });
        if !arguments.is_empty() {
            on(Delta::CallArguments { index, fragment: &arguments });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Delta, MAX_WAITING_BYTES, Turns};

    /// Returns the output for pieces, each with a call's index and its name or arguments.
    fn told(pieces: &[(u32, &str)]) -> Vec<String> {
        let mut told = Vec::new();
        let mut on = |delta: Delta<'_>| match delta {
            Delta::CallStart { index, name, .. } => told.push(format!("{index}:{name}")),
            Delta::CallArguments { fragment, .. } => {
                if let Some(last) = told.last_mut() {
                    last.push_str(fragment);
                }
            }
            Delta::Content(text) => told.push(text.to_owned()),
            _ => {}
        };
        let mut turns = Turns::default();
        for &(index, text) in pieces {
            let delta = match text.strip_prefix('=') {
                Some(name) => Delta::CallStart { index, id: "c", name },
                None if index == 9 => Delta::Content(text),
                None => Delta::CallArguments { index, fragment: text },
            };
            turns.take(delta, &mut on);
        }
        turns.rest(&mut on);
        told
    }

    #[test]
    fn interleaved_call_fragments_are_emitted_call_by_call() {
        let mixed = [
            (0, "=f"),
            (1, "=g"),
            (0, "{\"a\":"),
            (1, "{\"b\": \"}\\\""),
            (2, "=h"),
            (0, "1}"),
            (2, "{}"),
            (1, "\"}"),
        ];
        assert_eq!(told(&mixed), ["0:f{\"a\":1}", "1:g{\"b\": \"}\\\"\"}", "2:h{}"]);
    }

    #[test]
    fn unfinished_call_ends_before_text_or_at_the_end() {
        let cut = [(0, "=f"), (0, "{\"a\":"), (1, "=g"), (1, "{}"), (9, "So."), (0, "late")];
        assert_eq!(told(&cut), ["0:f{\"a\":", "1:g{}", "So."]);
        assert_eq!(told(&cut[..4]), ["0:f{\"a\":", "1:g{}"]);
    }

    #[test]
    fn waiting_fragments_are_limited() {
        let much = "x".repeat(MAX_WAITING_BYTES + 1);
        let told = told(&[(0, "=f"), (1, "=g"), (1, &much), (0, "{}"), (1, "y")]);
        assert_eq!(told[0], "0:f");
        assert_eq!(told[1].len(), "1:g".len() + MAX_WAITING_BYTES + 2);
    }
}
