//! Fields that wait until the text they arrived with is emitted.

use std::collections::VecDeque;

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(in crate::chat) enum PendingField {
    /// Log probabilities that are not lists of tokens.
    Logprobs(Value),
    /// Further fields of a delta.
    Fields(Map<String, Value>),
    /// The start of a content part, or a part that is not text.
    Part(Part),
}

/// The content part that the following text belongs to.
#[derive(Debug, Clone)]
pub(in crate::chat) enum Part {
    /// Text outside of any list of parts.
    None,
    /// Text of a part, with the part's other fields.
    Text { list: u64, fields: Map<String, Value>, text: String },
    /// A part that is not text.
    Other { list: u64, part: Value },
}

impl Part {
    /// Creates a part of the list that arrived in chunk `list`.
    pub(in crate::chat) fn new(part: Value, list: u64) -> Self {
        match part {
            Value::Object(mut fields)
                if fields.get("type").is_some_and(|kind| kind == "text")
                    && fields
                        .get("text")
                        .and_then(Value::as_str)
                        .is_some_and(|it| !it.is_empty()) =>
            {
                // An empty text keeps the member's place for the text that is written later.
                let text = fields.get_mut("text").map(Value::take);
                let Some(Value::String(text)) = text else {
                    return Self::Other { list, part: Value::Object(fields) };
                };
                Self::Text { list, fields, text }
            }
            part => Self::Other { list, part },
        }
    }

    /// Returns the text of a text part, or empty text for other parts.
    pub(in crate::chat) fn text(&self) -> &str {
        match self {
            Self::Text { text, .. } => text,
            Self::None | Self::Other { .. } => "",
        }
    }
}

/// Pending fields in order, each with the offset in the choice's text at which its text ends.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct PendingFields {
    queue: VecDeque<(u64, PendingField)>,
}

impl PendingFields {
    pub(in crate::chat) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(in crate::chat) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(in crate::chat) fn push(&mut self, at: u64, field: PendingField) {
        // Fields of one chunk do not arrive in order.
        let behind = self.queue.iter().rev().take_while(|(end, _)| *end > at).count();
        self.queue.insert(self.queue.len() - behind, (at, field));
    }

    /// Removes and returns the first pending field if `due` accepts it.
    pub(in crate::chat) fn pop_if(
        &mut self,
        due: impl FnOnce(u64, &PendingField) -> bool,
    ) -> Option<(u64, PendingField)> {
        let (at, field) = self.queue.front()?;
        if !due(*at, field) {
            return None;
        }
        self.queue.pop_front()
    }

    /// Drops the log probabilities of text up to `to`, which is not written.
    pub(in crate::chat) fn forget_logprobs(&mut self, to: u64) {
        self.queue.retain(|(end, field)| *end > to || !matches!(field, PendingField::Logprobs(_)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::{PendingField, PendingFields};

    #[test]
    fn pending_fields_follow_their_text_and_forgotten_logprobs_are_removed() {
        let mut pending = PendingFields::default();
        pending.push(5, PendingField::Logprobs(json!(1)));
        pending.push(7, PendingField::Logprobs(json!(2)));
        pending.push(5, PendingField::Fields(Map::new()));
        pending.forget_logprobs(5);
        assert_eq!(pending.len(), 2, "fields stay");
        assert!(matches!(pending.pop_if(|_, _| true), Some((5, PendingField::Fields(_)))));
        assert!(matches!(pending.pop_if(|_, _| true), Some((7, PendingField::Logprobs(_)))));
        assert!(pending.is_empty());
    }
}
