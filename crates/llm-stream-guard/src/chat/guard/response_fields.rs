//! Fields around the choices, some repeated in every chunk and some sent once.

use serde_json::{Map, Value};

use crate::chat::{choice::delta_part::says_nothing, model::chunk::Chunk};

/// Fields that every chunk carries, in the order in which the guard writes them in added chunks.
const REPEATED: [&str; 7] =
    ["id", "object", "created", "model", "provider", "service_tier", "system_fingerprint"];

/// Padding that some servers add to hide the length of a chunk. Padding is dropped if its chunk is
/// withheld.
const PADDING: &str = "obfuscation";

/// The repeated fields of the last chunk that had them.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct RepeatedFields(Map<String, Value>);

impl RepeatedFields {
    /// Remembers the fields that every chunk repeats.
    pub(in crate::chat) fn learn(&mut self, chunk: &Chunk) {
        // Chunks have few fields: comparing names costs less than hashing them.
        let is_known = |(name, value): (&String, &Value)| {
            !REPEATED.contains(&name.as_str()) || self.0.iter().any(|known| known == (name, value))
        };
        if chunk.fields.iter().all(is_known) {
            return;
        }
        for name in REPEATED {
            if let Some(value) = chunk.fields.get(name)
                && self.0.get(name) != Some(value)
            {
                self.0.insert(name.to_owned(), value.clone());
            }
        }
    }

    pub(in crate::chat) fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns the fields of a chunk whose choices were not emitted, if any field needs a chunk.
    pub(in crate::chat) fn remaining(
        &self,
        mut fields: Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        fields.retain(|name, value| {
            !self.0.contains_key(name) && name != PADDING && !says_nothing(value)
        });
        if fields.is_empty() {
            return None;
        }
        fields.extend(self.0.clone());
        Some(fields)
    }
}
