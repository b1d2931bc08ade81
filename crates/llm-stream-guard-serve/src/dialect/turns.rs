//! Puts calls, text and reasoning into sequence, even if upstream interleaves their pieces.
//!
//! ```text
//! call 0 `{"a":`, call 1 `{}`, text `So.`, call 0 `1}`   arrives
//! call 0 `{"a":1}`, call 1 `{}`, text `So.`              is released
//! ```

use std::collections::VecDeque;

use llm_stream_guard::{
    Outcome,
    chat::{Balance, ChatStep, Delta},
};
use serde_json::{Map, Value};

use crate::limits::MAX_WAITING_BYTES;

/// A queue of calls and text. What follows a call is released after the call has ended. Every
/// released piece of arguments therefore belongs to the call that began last.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: Option<(u32, Balance)>,
    waiting: VecDeque<Waiting>,
    /// Number of bytes of waiting text and arguments.
    held: usize,
}

/// An item in the queue.
#[derive(Debug)]
enum Waiting {
    Call(WaitingCall),
    Text(TextKind, String),
}

/// A call in the queue, with its arguments so far.
#[derive(Debug)]
struct WaitingCall {
    index: u32,
    id: String,
    name: String,
    fields: Map<String, Value>,
    arguments: String,
    /// The outcome and the seal, if the call has ended.
    end: Option<(Outcome, String)>,
}

/// The kind of a waiting text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Reasoning,
    Signature,
    Content,
    Refusal,
}

impl TextKind {
    fn of<'d>(delta: Delta<'d>) -> Option<(Self, &'d str)> {
        Some(match delta {
            Delta::Reasoning(text) => (Self::Reasoning, text),
            Delta::Signature(text) => (Self::Signature, text),
            Delta::Content(text) => (Self::Content, text),
            Delta::Refusal(text) => (Self::Refusal, text),
            _ => return None,
        })
    }

    fn delta(self, text: &str) -> Delta<'_> {
        match self {
            Self::Reasoning => Delta::Reasoning(text),
            Self::Signature => Delta::Signature(text),
            Self::Content => Delta::Content(text),
            Self::Refusal => Delta::Refusal(text),
        }
    }
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
            Delta::CallStart { index, .. } if self.open.is_none() => {
                self.open = Some((index, Balance::default()));
                on(delta);
            }
            Delta::CallStart { index, id, name, fields } => {
                let (id, name, fields) = (id.to_owned(), name.to_owned(), fields.clone());
                let (arguments, end) = (String::new(), None);
                let call = WaitingCall { index, id, name, fields, arguments, end };
                self.waiting.push_back(Waiting::Call(call));
            }
            Delta::CallArguments { index, fragment } => self.arguments(index, fragment, on),
            Delta::CallEnd { index, outcome, seal } => {
                if self.open.as_ref().is_some_and(|(open, _)| *open == index) {
                    self.open = None;
                    on(delta);
                    self.release(on);
                } else if let Some(call) = self.waiting_call(index) {
                    call.end = Some((outcome, seal.to_owned()));
                }
            }
            _ => match TextKind::of(delta).filter(|_| self.open.is_some()) {
                Some((kind, text)) => self.text(kind, text, on),
                None => on(delta),
            },
        }
    }

    fn waiting_call(&mut self, index: u32) -> Option<&mut WaitingCall> {
        self.waiting.iter_mut().find_map(|item| match item {
            Waiting::Call(call) if call.index == index => Some(call),
            _ => None,
        })
    }

    fn arguments(&mut self, index: u32, fragment: &str, on: &mut impl FnMut(Delta<'_>)) {
        if let Some((open, balance)) = &mut self.open
            && *open == index
        {
            balance.feed(fragment);
            on(Delta::CallArguments { index, fragment });
        } else if let Some(call) = self.waiting_call(index) {
            call.arguments.push_str(fragment);
            self.hold(fragment.len(), on);
        } else {
            tracing::warn!("a piece of a call that is over was dropped");
        }
    }

    fn text(&mut self, kind: TextKind, text: &str, on: &mut impl FnMut(Delta<'_>)) {
        match self.waiting.back_mut() {
            Some(Waiting::Text(last, held)) if *last == kind => held.push_str(text),
            _ => self.waiting.push_back(Waiting::Text(kind, text.to_owned())),
        }
        self.hold(text.len(), on);
    }

    fn hold(&mut self, bytes: usize, on: &mut impl FnMut(Delta<'_>)) {
        self.held = self.held.saturating_add(bytes);
        if self.held > MAX_WAITING_BYTES {
            tracing::warn!("too much text waited for the end of a call, which was ended");
            self.rest(on);
        }
    }

    /// Releases everything that waits. Calls that have not ended become malformed, because their
    /// other pieces are dropped.
    pub(super) fn rest(&mut self, on: &mut impl FnMut(Delta<'_>)) {
        loop {
            if let Some((index, balance)) = self.open.take() {
                let (outcome, seal) = (Outcome::Malformed, &*balance.seal());
                on(Delta::CallEnd { index, outcome, seal });
            }
            if self.waiting.is_empty() {
                return;
            }
            self.release(on);
        }
    }

    /// Releases waiting items up to a call that has not ended.
    fn release(&mut self, on: &mut impl FnMut(Delta<'_>)) {
        while self.open.is_none()
            && let Some(item) = self.waiting.pop_front()
        {
            match item {
                Waiting::Text(kind, text) => {
                    self.held = self.held.saturating_sub(text.len());
                    on(kind.delta(&text));
                }
                Waiting::Call(call) => self.call(call, on),
            }
        }
    }

    fn call(&mut self, call: WaitingCall, on: &mut impl FnMut(Delta<'_>)) {
        let WaitingCall { index, id, name, fields, arguments, end } = call;
        self.held = self.held.saturating_sub(arguments.len());
        on(Delta::CallStart { index, id: &id, name: &name, fields: &fields });
        if !arguments.is_empty() {
            on(Delta::CallArguments { index, fragment: &arguments });
        }
        match end {
            Some((outcome, seal)) => on(Delta::CallEnd { index, outcome, seal: &seal }),
            None => {
                let mut balance = Balance::default();
                balance.feed(&arguments);
                self.open = Some((index, balance));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use llm_stream_guard::Outcome;
    use serde_json::Map;

    use super::{Delta, MAX_WAITING_BYTES, Turns};

    /// Returns the output for pieces: a call's index with `=` and its name, its arguments, or `.` for
    /// its end. The index 9 is for text.
    fn told(pieces: &[(u32, &str)]) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        let mut on = |delta: Delta<'_>| match delta {
            Delta::CallStart { index, name, .. } => told.push(format!("{index}:{name}")),
            Delta::CallArguments { fragment, .. } => {
                if let Some(last) = told.last_mut() {
                    last.push_str(fragment);
                }
            }
            Delta::CallEnd { outcome: Outcome::Complete, .. } => {}
            Delta::CallEnd { seal, .. } => {
                if let Some(last) = told.last_mut() {
                    last.push_str(seal);
                }
            }
            Delta::Content(text) => told.push(text.to_owned()),
            _ => {}
        };
        let mut turns = Turns::default();
        let fields = Map::new();
        for &(index, text) in pieces {
            let delta = match text.strip_prefix('=') {
                Some(name) => Delta::CallStart { index, id: "c", name, fields: &fields },
                None if index == 9 => Delta::Content(text),
                None if text == "." => {
                    Delta::CallEnd { index, outcome: Outcome::Complete, seal: "" }
                }
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
            (0, "."),
            (2, "{}"),
            (2, "."),
            (1, "\"}"),
            (1, "."),
        ];
        assert_eq!(told(&mixed), ["0:f{\"a\":1}", "1:g{\"b\": \"}\\\"\"}", "2:h{}"]);
    }

    #[test]
    fn text_inside_an_open_call_waits_for_its_end() {
        let mixed =
            [(0, "=f"), (0, "{\"a\":"), (9, "So"), (9, "."), (0, "1}"), (0, "."), (9, "Done")];
        assert_eq!(told(&mixed), ["0:f{\"a\":1}", "So.", "Done"]);
    }

    #[test]
    fn unfinished_call_is_sealed_at_the_end() {
        let cut = [(0, "=f"), (0, "{\"a\":"), (1, "=g"), (1, "{}"), (1, "."), (9, "So.")];
        assert_eq!(told(&cut), ["0:f{\"a\":,]", "1:g{}", "So."]);
    }

    #[test]
    fn waiting_fragments_are_limited() {
        let much = "x".repeat(MAX_WAITING_BYTES + 1);
        let told = told(&[(0, "=f"), (1, "=g"), (1, &much), (0, "{}"), (1, "y")]);
        assert_eq!(told[0], "0:f{,]");
        assert_eq!(told[1].len(), "1:g{,]".len() + MAX_WAITING_BYTES + 1);
    }
}
