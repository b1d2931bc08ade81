//! What rides along with text: it comes out with, or behind, the text it came with.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "`others` counts riders of the queue, each when it comes and when it goes; `behind` \
              counts some of the queue; ends are places in a choice's text, counted with 64 bits"
)]

use std::collections::VecDeque;

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(super) enum Rider {
    /// A token's log probability: not before the token's text, and never without company.
    Entry(Value),
    /// Other members of the log probabilities, or such as are no object.
    Logprobs(Value),
    /// Fields of a delta.
    Fields(Map<String, Value>),
    /// Text behind goes to this part, or a part that is no text stands here.
    Part(Part),
}

/// What content that comes in parts says about the text behind.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// It stands in no list.
    None,
    /// It is that of a part, whose other fields these are.
    Text { list: u64, fields: Map<String, Value>, text: String },
    /// Content that is no text.
    Other { list: u64, part: Value },
}

impl Part {
    /// A part of the list that came in chunk `list`.
    pub(super) fn new(part: Value, list: u64) -> Self {
        match part {
            Value::Object(mut fields)
                if fields.get("type").is_some_and(|kind| kind == "text")
                    && fields
                        .get("text")
                        .and_then(Value::as_str)
                        .is_some_and(|it| !it.is_empty()) =>
            {
                // The empty text keeps the place of what will be written there.
                let text = fields.get_mut("text").map(Value::take);
                let Some(Value::String(text)) = text else {
                    return Self::Other { list, part: Value::Object(fields) };
                };
                Self::Text { list, fields, text }
            }
            part => Self::Other { list, part },
        }
    }

    /// Bytes of text.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.len(),
            Self::None | Self::Other { .. } => 0,
        }
    }
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
        // Those of one chunk do not come in order.
        let behind = self.queue.iter().rev().take_while(|(end, _)| *end > at).count();
        self.queue.insert(self.queue.len() - behind, (at, rider));
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

    /// Drops the log probabilities of text up to `to`: it does not come out.
    pub(super) fn forget_logprobs(&mut self, to: u64) {
        let tells = |rider: &Rider| matches!(rider, Rider::Entry(_) | Rider::Logprobs(_));
        self.queue.retain(|(end, rider)| *end > to || !tells(rider));
        let other = |(_, rider): &&(u64, Rider)| !matches!(rider, Rider::Entry(_));
        self.others = self.queue.iter().filter(other).count();
    }

    /// Takes the log probabilities of a chunk whose text lies at `from..to`.
    pub(super) fn take_logprobs(&mut self, from: u64, to: u64, logprobs: Value) {
        let Value::Object(mut rest) = logprobs else {
            return self.push(to, Rider::Logprobs(logprobs));
        };
        match rest.remove("content") {
            Some(Value::Array(entries)) => {
                let last = entries.len().saturating_sub(1);
                let mut end = from;
                for (i, entry) in entries.into_iter().enumerate() {
                    end = if i == last { to } else { to.min(end + token_len(&entry)) };
                    self.push(end, Rider::Entry(entry));
                }
            }
            Some(other) => drop(rest.insert("content".into(), other)),
            None => {}
        }
        if !rest.is_empty() {
            self.push(to, Rider::Logprobs(Value::Object(rest)));
        }
    }
}

/// The length of a token's text in bytes.
fn token_len(entry: &Value) -> u64 {
    let bytes = entry.get("bytes").and_then(Value::as_array).map(Vec::len);
    let text = || entry.get("token").and_then(Value::as_str).map_or(0, str::len);
    bytes.unwrap_or_else(text) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::{Rider, Riders, token_len};

    #[test]
    fn a_token_is_as_long_as_its_bytes_or_else_its_text() {
        for (entry, len) in [
            (json!({"token": "ab", "bytes": [240, 159, 166]}), 3),
            (json!({"token": "é", "bytes": null}), 2),
            (json!({"token": "\u{fffd}", "bytes": []}), 0),
            (json!({}), 0),
        ] {
            assert_eq!(token_len(&entry), len, "{entry}");
        }
    }

    #[test]
    fn entries_alone_are_no_company() {
        let mut riders = Riders::default();
        riders.push(3, Rider::Entry(json!(1)));
        assert!(!riders.has_company(9));
        riders.push(5, Rider::Fields(Map::new()));
        riders.push(7, Rider::Logprobs(json!(2)));
        assert!(!riders.has_company(4) && riders.has_company(5) && riders.has_company(9));
        riders.forget_logprobs(3);
        assert_eq!(riders.len(), 2, "the entry is forgotten, what stands behind stays");
        riders.forget_logprobs(9);
        assert_eq!(riders.len(), 1, "fields stay");
        assert!(riders.has_company(9));
        assert!(matches!(riders.pop_if(|_, _| true), Some((5, Rider::Fields(_)))));
        assert!(!riders.has_company(9) && riders.is_empty());
    }

    #[test]
    fn entries_end_with_their_tokens_and_the_last_with_the_text() {
        let mut riders = Riders::default();
        let token = |text: &str| json!({"token": text});
        let tokens = [token("ab"), token("cde"), token("long beyond the text"), token("f")];
        riders.take_logprobs(10, 17, json!({"content": tokens, "refusal": null}));
        let ends = std::iter::from_fn(|| riders.pop_if(|_, _| true)).map(|(end, _)| end);
        assert_eq!(ends.collect::<Vec<_>>(), [12, 15, 17, 17, 17]);
    }
}
