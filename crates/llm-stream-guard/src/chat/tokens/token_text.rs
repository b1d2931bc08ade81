//! Division of a text into tokens, by the ids that came with it.
//!
//! ```text
//! text <think>a </think>    ids 7 40 41    7: <think>, 8: </think>
//!      <think>  marker
//!      a </think>  text: id 8 is missing
//! ```

use crate::{
    chat::tokens::marker_ids::{ChunkPiece, ChunkTokens, TokenReader},
    guard::{Guard, Token, TokenKind},
    identify::AddedTokens,
};

/// Divides the text of a stream into tokens, by the ids that a server gives with it.
///
/// A guard with marker tokens reads the tokens. Text may come later than its ids, as servers hold
/// back what may begin a stop string.
///
/// ```
/// use llm_stream_guard::{AddedTokens, Guard, TokenKind, chat::TokenText, profile};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tokens = AddedTokens::from_json(r#"{"added_tokens": [
///     {"id": 7, "content": "<think>"}, {"id": 8, "content": "</think>"}]}"#)?;
/// let guard = Guard::builder(&profile("qwen3")?).marker_tokens(tokens.texts()).build()?;
/// let mut texts = TokenText::new(&guard, &tokens);
/// let divided = texts.divide("<think>a </think>", &[7, 40, 41]);
/// let markers = divided.tokens().map(|token| (token.text, token.kind == TokenKind::Marker));
/// assert_eq!(markers.collect::<Vec<_>>(), [("<think>", true), ("a </think>", false)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TokenText(ChunkTokens);

impl TokenText {
    /// Creates a divider for the marker tokens of `guard`, whose ids are in `tokens`.
    #[must_use]
    pub fn new(guard: &Guard, tokens: &AddedTokens) -> Self {
        Self(ChunkTokens::new(&TokenReader::new(guard.clone(), tokens)))
    }

    /// Divides the next text, whose tokens have these ids. The end of the text waits for the next
    /// call if it may begin a marker whose id has come.
    #[must_use]
    pub fn divide(&mut self, text: &str, ids: &[u32]) -> DividedText {
        let mut text = text.to_owned();
        self.0.divide(&mut text, Some(ids));
        DividedText { text, pieces: self.0.pieces.clone() }
    }

    /// Ends the stream and returns the text that waits. The next text begins a new stream.
    #[must_use]
    pub fn finish(&mut self) -> String {
        self.0.restart()
    }
}

/// A text that was divided into tokens.
#[derive(Debug, Clone)]
pub struct DividedText {
    text: String,
    pieces: Vec<ChunkPiece>,
}

impl DividedText {
    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the marker tokens, and the texts between them. Such a text may be several tokens.
    pub fn tokens(&self) -> impl Iterator<Item = Token<'_>> {
        let mut rest = &*self.text;
        self.pieces.iter().map_while(move |piece| {
            let (text, after) = rest.split_at_checked(piece.len)?;
            rest = after;
            let kind = if piece.marker.is_some() { TokenKind::Marker } else { TokenKind::Text };
            Some(Token { id: piece.marker.unwrap_or_default(), text, kind })
        })
    }
}
