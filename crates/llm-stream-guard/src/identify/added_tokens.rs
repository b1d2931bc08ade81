//! The added tokens of a tokenizer: texts that are one token each.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{BufReader, Read as _},
    path::Path,
};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use super::{
    CheckpointError, checkpoint,
    token_lengths::{ListedModel, TokenLengths},
};
use crate::guard::{Token, TokenKind};
use crate::limits::{MAX_ADDED_TEXT_BYTES, MAX_ADDED_TOKENS, MAX_TOKENIZER_BYTES};

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

impl AddedToken {
    /// An added token that servers keep in the text.
    #[must_use]
    pub fn new(id: u32, text: &str) -> Self {
        Self { id, text: text.to_owned(), special: false }
    }
}

/// The added tokens of a tokenizer, by id. Their texts are the argument of
/// [`crate::GuardBuilder::marker_tokens`].
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
    /// The lengths of all tokens, if the file has the vocabulary.
    lengths: Option<TokenLengths>,
}

/// The parts of the files that list added tokens.
#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    added_tokens: TokenList,
    #[serde(default)]
    added_tokens_decoder: TokenList,
    #[serde(default)]
    model: ListedModel,
    #[serde(default)]
    decoder: Value,
}

/// A list of tokens, each with its id: an array of a `tokenizer.json`, or an object by id of a
/// `tokenizer_config.json`.
#[derive(Default)]
struct TokenList(Vec<AddedToken>);

#[derive(Deserialize)]
struct ListedToken {
    id: Option<u32>,
    content: String,
    #[serde(default)]
    special: bool,
}

impl<'de> Deserialize<'de> for TokenList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TokenLists { tokens: Vec::new(), texts: 0 })
    }
}

/// Reads a [`TokenList`] within the limits.
struct TokenLists {
    tokens: Vec<AddedToken>,
    /// Bytes of the texts so far.
    texts: usize,
}

impl TokenLists {
    fn add<E: serde::de::Error>(&mut self, id: u32, entry: ListedToken) -> Result<(), E> {
        let ListedToken { content: text, special, .. } = entry;
        self.texts = self.texts.saturating_add(text.len());
        if self.tokens.len() >= MAX_ADDED_TOKENS || self.texts > MAX_ADDED_TEXT_BYTES {
            return Err(E::custom("more added tokens than any tokenizer has"));
        }
        self.tokens.push(AddedToken { id, text, special });
        Ok(())
    }
}

impl<'de> Visitor<'de> for TokenLists {
    type Value = TokenList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of added tokens")
    }

    fn visit_unit<E>(self) -> Result<TokenList, E> {
        Ok(TokenList::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<TokenList, A::Error> {
        while let Some(entry) = list.next_element::<ListedToken>()? {
            let id = entry.id.ok_or_else(|| A::Error::missing_field("id"))?;
            self.add(id, entry)?;
        }
        Ok(TokenList(self.tokens))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut list: A) -> Result<TokenList, A::Error> {
        while let Some((id, entry)) = list.next_entry::<u32, ListedToken>()? {
            self.add(id, entry)?;
        }
        Ok(TokenList(self.tokens))
    }
}

impl AddedTokens {
    /// Reads the text of a `tokenizer.json` or a `tokenizer_config.json`.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or if a list of added tokens is malformed.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self::listed)
    }

    /// Reads a checkpoint's folder, or one of its files that list added tokens: `tokenizer.json`,
    /// `tokenizer_config.json`, or a GGUF file, which a folder without the others may have.
    ///
    /// # Errors
    /// Returns an error for a file that cannot be read, is malformed, or exceeds the limits. A
    /// folder without these files has no tokens.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        if checkpoint::is(path, "gguf") {
            return Ok(checkpoint::gguf_file(path)?.added_tokens);
        }
        if !path.is_dir() {
            return Self::file(path);
        }
        let mut tokens = Self::default();
        for name in FILES {
            let file = path.join(name);
            if file.is_file() {
                let Self { by_id, lengths } = Self::file(&file)?;
                tokens.lengths = tokens.lengths.or(lengths);
                for (id, token) in by_id {
                    tokens.by_id.entry(id).or_insert(token);
                }
            }
        }
        match checkpoint::gguf_in(path)? {
            Some(gguf) if tokens.is_empty() => Ok(checkpoint::gguf_file(&gguf)?.added_tokens),
            _ => Ok(tokens),
        }
    }

    /// Returns the tokens that a `tokenizer_config.json` lists; none if the list is malformed.
    pub(super) fn of_config(config: &Value) -> Self {
        Listed::deserialize(config).map(Self::listed).unwrap_or_default()
    }

    fn file(path: &Path) -> Result<Self, CheckpointError> {
        let file = File::open(path).map_err(|error| CheckpointError::Io(path.to_owned(), error))?;
        let text = BufReader::new(file.take(MAX_TOKENIZER_BYTES));
        let malformed = |error: serde_json::Error| match error.is_io() {
            true => CheckpointError::Io(path.to_owned(), error.into()),
            false => CheckpointError::Malformed(path.to_owned(), error.to_string()),
        };
        serde_json::from_reader(text).map(Self::listed).map_err(malformed)
    }

    fn listed(Listed { added_tokens, added_tokens_decoder, model, decoder }: Listed) -> Self {
        let listed: Self = added_tokens_decoder.0.into_iter().chain(added_tokens.0).collect();
        let added = listed.iter().map(|token| (token.id, token.text.as_str()));
        let lengths = TokenLengths::new(model, &decoder, added);
        Self { lengths, ..listed }
    }

    /// Returns the tokens that `keep` selects, with the lengths of all tokens of the vocabulary.
    #[must_use]
    pub fn selected(&self, keep: impl Fn(&AddedToken) -> bool) -> Self {
        let by_id = self.by_id.iter().filter(|(_, token)| keep(token));
        let by_id = by_id.map(|(id, token)| (*id, token.clone())).collect();
        Self { by_id, lengths: self.lengths.clone() }
    }

    /// Returns the lengths of all tokens of the vocabulary, if the file has it.
    pub(crate) fn lengths(&self) -> Option<&TokenLengths> {
        self.lengths.as_ref()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Returns the tokens in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &AddedToken> {
        self.by_id.values()
    }

    /// Returns the texts of the tokens.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|token| token.text.as_str())
    }

    /// Returns the token `id` of a stream, which a server decoded as `text`. The token is a marker
    /// if it is an added token with that text.
    #[must_use]
    pub fn token<'t>(&self, id: u32, text: &'t str) -> Token<'t> {
        let added = self.by_id.get(&id).is_some_and(|token| token.text == text);
        let kind = if added { TokenKind::Marker } else { TokenKind::Text };
        Token { id, text, kind }
    }
}

/// Collects tokens. Of tokens with the same id, the last counts.
impl FromIterator<AddedToken> for AddedTokens {
    fn from_iter<I: IntoIterator<Item = AddedToken>>(tokens: I) -> Self {
        let by_id = tokens.into_iter().map(|token| (token.id, token)).collect();
        Self { by_id, lengths: None }
    }
}

#[cfg(test)]
mod tests {
    use super::{AddedTokens, MAX_ADDED_TEXT_BYTES, MAX_ADDED_TOKENS};

    #[test]
    fn both_token_files_yield_ids_texts_and_special_flags() {
        let tokenizer = r#"{"version": "1.0", "added_tokens": [
            {"id": 9, "content": "<think>", "special": false, "normalized": false},
            {"id": 7, "content": "<|end|>", "special": true}], "model": {"vocab": {"a": 0}}}"#;
        let config = r#"{"added_tokens_decoder": {
            "7": {"content": "<|end|>", "special": true}, "9": {"content": "<think>"}}}"#;
        let of = |text| AddedTokens::from_json(text).expect("lists");
        assert!(of(tokenizer).iter().eq(of(config).iter()));
        let all: Vec<_> =
            of(config).iter().map(|it| (it.id, it.text.clone(), it.special)).collect();
        assert_eq!(all, [(7, "<|end|>".to_owned(), true), (9, "<think>".to_owned(), false)]);
        assert!(AddedTokens::from_json(r#"{"added_tokens": 1}"#).is_err());
        assert_eq!(of("{}").iter().count(), 0);
    }
    #[test]
    fn more_tokens_or_longer_texts_than_any_tokenizer_has_are_refused() {
        let list = |count: usize, text: &str| {
            let tokens: Vec<_> =
                (0..count).map(|id| format!(r#"{{"id": {id}, "content": "{text}"}}"#)).collect();
            AddedTokens::from_json(&format!(r#"{{"added_tokens": [{}]}}"#, tokens.join(",")))
        };
        assert_eq!(list(MAX_ADDED_TOKENS, "a").expect("a list").iter().count(), MAX_ADDED_TOKENS);
        assert!(list(MAX_ADDED_TOKENS + 1, "a").is_err());
        assert!(list(3, &"a".repeat(MAX_ADDED_TEXT_BYTES / 2)).is_err());
    }

    #[test]
    fn absent_lists_are_empty_and_entries_without_an_id_are_malformed() {
        let null = AddedTokens::from_json(r#"{"added_tokens": null}"#).expect("no list");
        assert!(null.is_empty());
        assert!(AddedTokens::from_json(r#"{"added_tokens": [{"content": "a"}]}"#).is_err());
        let config = r#"{"added_tokens_decoder": {"x": {"content": "a"}}}"#;
        assert!(AddedTokens::from_json(config).is_err());
    }
}
