//! The lengths of a vocabulary's tokens, by which a text is divided into the tokens that it is of.
//!
//! | entry of the vocabulary | text | bytes |
//! |---|---|---|
//! | `Ġé`, spelled `ĠÃ©` (byte level: each character is a byte) | ` é` | 3 |
//! | `▁é` (the sign is a blank) | ` é` | 3 |
//! | `<0xE2>` (one byte of a character) | | 1 |

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::limits::MAX_VOCABULARY;

/// The length of each token's text in bytes, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenLengths(Arc<[u16]>);

/// The object `model` of a `tokenizer.json`.
#[derive(Default)]
pub(super) struct ListedModel(Spellings);

/// The lengths of the entries of a vocabulary, by id, under both ways to spell a text.
#[derive(Default)]
struct Spellings {
    byte_level: Vec<u16>,
    plain: Vec<u16>,
}

impl TokenLengths {
    /// Returns the lengths of a model's tokens, where the others have the lengths `added`. Without
    /// a vocabulary there are none.
    pub(super) fn new<'t>(
        ListedModel(listed): ListedModel,
        decoder: &Value,
        added: impl Iterator<Item = (u32, &'t str)>,
    ) -> Option<Self> {
        let mut lengths = if is_byte_level(decoder) { listed.byte_level } else { listed.plain };
        if lengths.is_empty() {
            return None;
        }
        added.for_each(|(id, text)| set(&mut lengths, id, text.len()));
        Some(Self(lengths.into()))
    }

    /// Returns the bytes of the text of token `id`, or `None` if the vocabulary does not have it.
    pub(crate) fn of(&self, id: u32) -> Option<usize> {
        let length = self.0.get(usize::try_from(id).ok()?)?;
        (*length > 0).then_some(usize::from(*length))
    }
}

/// Returns whether each character of an entry is one byte of the text.
fn is_byte_level(decoder: &Value) -> bool {
    let parts = decoder["decoders"].as_array().map_or(&[][..], |parts| parts);
    parts.iter().chain([decoder]).any(|part| part["type"] == "ByteLevel")
}

fn set(lengths: &mut Vec<u16>, id: u32, length: usize) {
    let Ok(at) = usize::try_from(id) else { return };
    if at >= MAX_VOCABULARY {
        return;
    }
    if lengths.len() <= at {
        lengths.resize(at + 1, 0);
    }
    lengths[at] = u16::try_from(length).unwrap_or(0);
}

impl Spellings {
    fn add(&mut self, id: u32, entry: &str) {
        set(&mut self.byte_level, id, entry.chars().count());
        let hex = entry.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
        let is_byte = hex.is_some_and(|hex| hex.len() == 2 && u8::from_str_radix(hex, 16).is_ok());
        let blanks = entry.matches('▁').count();
        let plain = entry.len() - blanks * ('▁'.len_utf8() - 1);
        set(&mut self.plain, id, if is_byte { 1 } else { plain });
    }
}

impl<'de> Deserialize<'de> for ListedModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ModelReader)
    }
}

/// Reads the vocabulary of a model. Other JSON than an object has none.
struct ModelReader;

impl<'de> Visitor<'de> for ModelReader {
    type Value = ListedModel;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a model with a vocabulary")
    }

    fn visit_unit<E>(self) -> Result<ListedModel, E> {
        Ok(ListedModel::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<ListedModel, E> {
        Ok(ListedModel::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ListedModel, A::Error> {
        let mut found = ListedModel::default();
        while let Some(field) = fields.next_key::<String>()? {
            match field.as_str() {
                "vocab" => found.0 = fields.next_value()?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

impl<'de> Deserialize<'de> for Spellings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VocabularyReader)
    }
}

/// Reads a vocabulary: an object of ids by entry, or a list of entries with their weights.
struct VocabularyReader;

impl<'de> Visitor<'de> for VocabularyReader {
    type Value = Spellings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a vocabulary")
    }

    fn visit_unit<E>(self) -> Result<Spellings, E> {
        Ok(Spellings::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Spellings, A::Error> {
        let mut found = Spellings::default();
        while let Some((entry, id)) = entries.next_entry::<String, u32>()? {
            found.add(id, &entry);
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Spellings, A::Error> {
        let mut found = Spellings::default();
        let mut id = 0;
        while let Some((entry, _)) = entries.next_element::<(String, IgnoredAny)>()? {
            found.add(id, &entry);
            id = u32::saturating_add(id, 1);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ListedModel, TokenLengths};

    fn lengths(model: serde_json::Value, decoder: serde_json::Value) -> Option<Vec<Option<usize>>> {
        let model: ListedModel = serde_json::from_value(model).expect("a model");
        let lengths = TokenLengths::new(model, &decoder, [(3, "<think>")].into_iter())?;
        Some((0..5).map(|id| lengths.of(id)).collect())
    }

    #[test]
    fn lengths_are_those_of_the_text_and_not_of_the_entry() {
        let vocab = json!({"ĠÃ©": 0, "a": 1});
        let bytes = Some(vec![Some(3), Some(1), None, Some(7), None]);
        let decoder = json!({"type": "Sequence", "decoders": [{"type": "ByteLevel"}]});
        assert_eq!(lengths(json!({"type": "BPE", "vocab": vocab}), decoder), bytes);
        let list = json!([["▁é", -1.5], ["<0xE2>", 0.0], ["", 0]]);
        let plain = Some(vec![Some(3), Some(1), None, Some(7), None]);
        assert_eq!(lengths(json!({"vocab": list}), json!(null)), plain);
    }

    #[test]
    fn file_without_a_vocabulary_has_no_lengths() {
        for model in [json!(null), json!("x"), json!({}), json!({"vocab": null})] {
            assert_eq!(lengths(model, json!(null)), None);
        }
        let far = json!({"vocab": {"a": 4_000_000_000_u32}});
        assert_eq!(lengths(far, json!(null)), None);
    }
}
