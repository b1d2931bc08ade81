//! The added tokens of a checkpoint that the configuration names.

use std::{path::Path, str::FromStr, sync::Arc};

use llm_stream_guard::AddedTokens;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A checkpoint's folder, or its file that lists added tokens: `tokenizer.json`,
/// `tokenizer_config.json`, or a GGUF file.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointTokens {
    written: String,
    tokens: Arc<AddedTokens>,
}

impl CheckpointTokens {
    /// Creates a setting from the path `written` and the tokens read from it.
    pub(super) fn of(written: &str, tokens: AddedTokens) -> Self {
        Self { written: written.to_owned(), tokens: Arc::new(tokens) }
    }

    /// Returns the path of the checkpoint.
    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.written)
    }

    /// Returns the added tokens of the checkpoint.
    #[must_use]
    pub fn tokens(&self) -> &AddedTokens {
        &self.tokens
    }
}

impl FromStr for CheckpointTokens {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let tokens = AddedTokens::read(Path::new(written)).map_err(|error| error.to_string())?;
        match tokens.is_empty() {
            true => Err(format!("{written}: no file lists added tokens")),
            false => Ok(Self::of(written, tokens)),
        }
    }
}

impl Serialize for CheckpointTokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

impl<'de> Deserialize<'de> for CheckpointTokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
