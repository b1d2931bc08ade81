//! Marker tokens in settings.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use crate::identify::{AddedToken, AddedTokens};

/// Added tokens of a tokenizer: a list of texts, or an object from texts to ids.
///
/// ```text
/// ["<think>", "</think>"]
/// {"<think>": 151667, "</think>": 151668}
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenSettings {
    /// Texts of tokens without their ids.
    Texts(Vec<String>),
    /// Tokens with their ids.
    WithIds(AddedTokens),
}

impl TokenSettings {
    /// Returns the texts of the tokens.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Texts(texts) => texts.iter().map(String::as_str).collect(),
            Self::WithIds(tokens) => tokens.texts().collect(),
        }
    }
}

impl From<AddedTokens> for TokenSettings {
    fn from(tokens: AddedTokens) -> Self {
        Self::WithIds(tokens)
    }
}

impl<'de> Deserialize<'de> for TokenSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = TokenSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of texts, or a mapping from texts to ids")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<TokenSettings, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(TokenSettings::Texts(texts))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TokenSettings, A::Error> {
                let mut tokens = Vec::new();
                while let Some((text, id)) = map.next_entry::<String, u32>()? {
                    tokens.push(AddedToken::new(id, &text));
                }
                Ok(TokenSettings::WithIds(tokens.into_iter().collect()))
            }
        }

        deserializer.deserialize_any(Either)
    }
}
