//! The added tokens of a tokenizer: texts that are one token each.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Read as _},
    path::Path,
};

use serde::Deserialize;

use super::CheckpointError;
use crate::guard::{Token, TokenKind};

/// The longest file that is read: a `tokenizer.json` holds the whole vocabulary.
const LONGEST: u64 = 256 << 20;

/// The files of a checkpoint that list added tokens. The first lists all of them.
const FILES: [&str; 2] = ["tokenizer.json", "tokenizer_config.json"];

/// An added token of a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct AddedToken {
    /// Id of the added token.
    pub id: u32,
    /// Text of the added token.
    pub text: String,
    /// Whether servers leave the token out of the text unless they are asked to keep it.
    pub special: bool,
}

/// The added tokens of a tokenizer, by number: those that
/// [`crate::GuardBuilder::marker_tokens`] asks for.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{AddedTokens, Guard, TokenKind, profile};
/// let config = r#"{"added_tokens_decoder": {
///     "151657": {"content": "<tool_call>", "special": false},
///     "151658": {"content": "</tool_call>", "special": false}}}"#;
/// let tokens = AddedTokens::from_json(config)?;
/// let guard = Guard::builder(&profile("qwen3")?).marker_tokens(tokens.texts()).build()?;
/// assert_eq!(guard.marker_tokens().count(), 2);
/// assert_eq!(tokens.token(151_657, "<tool_call>").kind, TokenKind::Marker);
/// assert_eq!(tokens.token(27, "<").kind, TokenKind::Text);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedTokens {
    by_id: BTreeMap<u32, AddedToken>,
}

/// The parts of the files that list added tokens.
#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    added_tokens: Vec<ListedToken>,
    #[serde(default)]
    added_tokens_decoder: BTreeMap<u32, ListedToken>,
}

#[derive(Deserialize)]
struct ListedToken {
    id: Option<u32>,
    content: String,
    #[serde(default)]
    special: bool,
}

impl AddedTokens {
    /// Reads the text of a `tokenizer.json` or a `tokenizer_config.json`.
    ///
    /// # Errors
    /// The text is not JSON, or a list of added tokens is malformed.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self::listed)
    }

    /// Reads a checkpoint's folder, or one of its two files that list added tokens.
    ///
    /// # Errors
    /// A file that cannot be read or is malformed. A folder without these files has no tokens.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        if !path.is_dir() {
            return Self::file(path);
        }
        let mut tokens = Self::default();
        for name in FILES {
            let file = path.join(name);
            if file.is_file() {
                let Self { by_id } = Self::file(&file)?;
                for (id, token) in by_id {
                    tokens.by_id.entry(id).or_insert(token);
                }
            }
        }
        Ok(tokens)
    }

    fn file(path: &Path) -> Result<Self, CheckpointError> {
        let file = File::open(path).map_err(|error| CheckpointError::Io(path.to_owned(), error))?;
        let text = BufReader::new(file.take(LONGEST));
        let malformed = |error: serde_json::Error| match error.is_io() {
            true => CheckpointError::Io(path.to_owned(), error.into()),
            false => CheckpointError::Malformed(path.to_owned(), error.to_string()),
        };
        serde_json::from_reader(text).map(Self::listed).map_err(malformed)
    }

    fn listed(Listed { added_tokens, added_tokens_decoder }: Listed) -> Self {
        let decoded = added_tokens_decoder.into_iter().map(|(id, entry)| (Some(id), entry));
        let added = added_tokens.into_iter().map(|entry| (entry.id, entry));
        let token =
            |(id, ListedToken { content: text, special, .. }): (Option<u32>, ListedToken)| {
                id.map(|id| (id, AddedToken { id, text, special }))
            };
        Self { by_id: decoded.chain(added).filter_map(token).collect() }
    }

    /// The tokens, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &AddedToken> {
        self.by_id.values()
    }

    /// The texts of the tokens.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|token| token.text.as_str())
    }

    /// The token `id` of a stream, which a server decoded as `text`: a marker if it is an added
    /// token with that text.
    #[must_use]
    pub fn token<'t>(&self, id: u32, text: &'t str) -> Token<'t> {
        let added = self.by_id.get(&id).is_some_and(|token| token.text == text);
        let kind = if added { TokenKind::Marker } else { TokenKind::Text };
        Token { id, text, kind }
    }
}

#[cfg(test)]
mod tests {
    use super::AddedTokens;

    #[test]
    fn both_token_files_yield_ids_texts_and_special_flags() {
        let tokenizer = r#"{"version": "1.0", "added_tokens": [
            {"id": 9, "content": "<think>", "special": false, "normalized": false},
            {"id": 7, "content": "<|end|>", "special": true}], "model": {"vocab": {"a": 0}}}"#;
        let config = r#"{"added_tokens_decoder": {
            "7": {"content": "<|end|>", "special": true}, "9": {"content": "<think>"}}}"#;
        let of = |text| AddedTokens::from_json(text).expect("lists");
        assert_eq!(of(tokenizer), of(config));
        let all: Vec<_> =
            of(config).iter().map(|it| (it.id, it.text.clone(), it.special)).collect();
        assert_eq!(all, [(7, "<|end|>".to_owned(), true), (9, "<think>".to_owned(), false)]);
        assert!(AddedTokens::from_json(r#"{"added_tokens": 1}"#).is_err());
        assert_eq!(of("{}").iter().count(), 0);
    }
}
