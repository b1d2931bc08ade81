//! What rides along with text: it comes out with, or behind, the text it came with.

use std::collections::VecDeque;

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(super) enum Rider {
    /// A token's log probability: not before the token's text, and never without company.
    Entry(Value),
    /// Other members of the log probabilities.
    Logprobs(Map<String, Value>),
    /// Fields of a delta.
    Fields(Map<String, Value>),
    /// Content that is no text.
    Parts(Vec<Value>),
}

/// Riders in order, each with the offset in the choice's text at which its own text ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Riders {
    queue: VecDeque<(u64, Rider)>,
    /// How many of them are no entries.
    others: usize,
}

impl Riders {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn push(&mut self, at: u64, rider: Rider) {
        self.others += usize::from(!matches!(rider, Rider::Entry(_)));
        self.queue.push_back((at, rider));
    }

    /// The first rider, if `due` says so.
    pub(super) fn pop_if(&mut self, due: impl FnOnce(u64, &Rider) -> bool) -> Option<(u64, Rider)> {
        let (at, rider) = self.queue.front()?;
        if !due(*at, rider) {
            return None;
        }
        self.others -= usize::from(!matches!(rider, Rider::Entry(_)));
        self.queue.pop_front()
    }

    /// Whether something that is not a token's entry is due at `at`.
    pub(super) fn has_company(&self, at: u64) -> bool {
        if self.others == 0 {
            return false;
        }
        let mut due = self.queue.iter().take_while(|(end, _)| *end <= at);
        due.any(|(_, rider)| !matches!(rider, Rider::Entry(_)))
    }

    /// Takes the log probabilities of a chunk whose text lies at `from..to`.
    pub(super) fn take_logprobs(&mut self, from: u64, to: u64, logprobs: Value) {
        let Value::Object(mut rest) = logprobs else { return };
        if let Some(Value::Array(entries)) = rest.remove("content") {
            let last = entries.len().saturating_sub(1);
            let mut end = from;
            for (i, entry) in entries.into_iter().enumerate() {
                end = if i == last { to } else { to.min(end + token_len(&entry)) };
                self.push(end, Rider::Entry(entry));
            }
        }
        rest.retain(|_, value| !super::piece::says_nothing(value));
        if !rest.is_empty() {
            self.push(to, Rider::Logprobs(rest));
        }
    }
}

/// The length of a token's text in bytes.
fn token_len(entry: &Value) -> u64 {
    let bytes = entry.get("bytes").and_then(Value::as_array).map(Vec::len);
    let text = || entry.get("token").and_then(Value::as_str).map_or(0, str::len);
    bytes.unwrap_or_else(text) as u64
}
