//! Reading of chunks with token ids: their text is fed to a choice's guard as tokens.

use jail_match::LimitError;

use crate::{
    chat::{
        choice::{GuardedChoice, pending_fields::Part, state::SharedStep, writer::DeltaWriter},
        guard::ChatGuard,
        model::content::Pieces,
        note::Violation,
        tokens::marker_ids::{ChunkTokens, TokenMode, TokenReader},
    },
    guard::{Guard, Token, TokenKind},
    identify::AddedTokens,
};

impl ChatGuard {
    /// Distinguishes marker tokens from text that spells them, in chunks with token ids.
    ///
    /// `guard` is built with the same options as the guard of [`ChatGuard::new`] and with
    /// [`crate::GuardBuilder::marker_tokens`]; `tokens` are those of the checkpoint. A choice is read
    /// by `guard` if its first chunk with text has ids: `token_ids` (vLLM and SGLang with
    /// `return_token_ids`), `response_token_ids` (chats of SGLang), `output_ids` (SGLang's own
    /// endpoint), `tokens` (llama.cpp with `return_tokens`), or an id in each log probability. Other
    /// choices are read without tokens.
    ///
    /// If a chunk has several tokens, the order and number of its marker tokens decide which parts
    /// of its text are markers. An uncertain part is text, and is noted as
    /// [`Violation::AmbiguousTokens`].
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use llm_stream_guard::{AddedTokens, End, Guard, chat::{ChatGuard, ChatOptions, Chunk}, profile};
    /// let tokens = AddedTokens::from_json(r#"{"added_tokens": [
    ///     {"id": 7, "content": "<think>"}, {"id": 8, "content": "</think>"}]}"#)?;
    /// let guard = || Guard::builder(&profile("qwen3")?).build();
    /// # let guard = || -> Result<_, Box<dyn std::error::Error>> { Ok(Guard::builder(&profile("qwen3")?)) };
    /// let with_tokens = guard()?.marker_tokens(tokens.texts()).build()?;
    /// let mut chat = ChatGuard::new(guard()?.build()?, ChatOptions::default())
    ///     .token_ids(with_tokens, &tokens);
    /// let mut clean: Vec<Chunk> = Vec::new();
    /// for (text, ids) in [("<think>The tag", vec![7, 40, 41]), (" </think> ends it.", vec![42, 43]),
    ///     ("</think>Yes.", vec![8, 44])] {
    ///     let chunk = serde_json::json!({"choices": [
    ///         {"index": 0, "delta": {"content": text}, "token_ids": ids}]});
    ///     chat.push(serde_json::from_value(chunk)?, &mut clean)?;
    /// }
    /// chat.finish(End::Stop, &mut clean)?;
    /// let reasoning: String =
    ///     clean.iter().filter_map(|chunk| chunk.choices[0].delta.reasoning_text()).collect();
    /// assert_eq!(reasoning, "The tag </think> ends it.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn token_ids(mut self, mut guard: Guard, tokens: &AddedTokens) -> Self {
        self.options.prepare(&mut guard, self.whole);
        self.token_reader = Some(TokenReader::new(guard, tokens).into());
        self
    }
}

impl GuardedChoice {
    /// Decides at the first chunk with ids or text whether the choice is read by tokens.
    pub(in crate::chat) fn decide_mode(&mut self, has_text: bool, has_ids: bool) {
        let TokenMode::Undecided(reader) = &self.mode else { return };
        if has_ids {
            let mut guard = reader.guard.clone();
            guard.observe_choice(self.state.index);
            guard.set_ids(self.guard.calls().options().ids.clone());
            self.mode = TokenMode::On(Box::new(ChunkTokens::new(reader)));
            self.guard = guard;
        } else if has_text {
            self.mode = TokenMode::Off;
        }
    }

    /// Matches the ids of a chunk to its text. Returns whether the pieces are counted.
    pub(in crate::chat) fn divide(
        &mut self,
        content: &mut Pieces,
        ids: Option<&[u32]>,
        step: &mut SharedStep<'_>,
    ) -> bool {
        let Self { mode, state, .. } = self;
        let TokenMode::On(tokens) = mode else { return false };
        let (ambiguous, divided) = match content {
            Pieces::Text(text) => (tokens.divide(text, ids), true),
            // Lists of parts come from servers that read the markup themselves.
            Pieces::Parts(parts) => {
                let mut text: String = parts.iter().map(Part::text).collect();
                let ambiguous = tokens.divide(&mut text, None);
                (ambiguous, false)
            }
        };
        state.cut = tokens.held();
        if ambiguous {
            DeltaWriter { state, step }.violation(Violation::AmbiguousTokens);
        }
        divided
    }

    /// Counts the tokens of a chunk's text at `from..to`: in the pieces that begin at `pieces`, if it
    /// was divided.
    pub(in crate::chat) fn count_text(
        &mut self,
        (from, to): (u64, u64),
        pieces: Option<u64>,
        ids: Option<&[u32]>,
    ) {
        let entries = &mut self.state.entries;
        let (TokenMode::On(tokens), Some(mut at)) = (&self.mode, pieces) else {
            return entries.take_chunk(from, to, ids.map(|ids| ids.len() as u64));
        };
        for piece in &tokens.pieces {
            let end = at.saturating_add(piece.len as u64);
            entries.take_chunk(at, end, piece.tokens);
            at = end;
        }
    }

    /// Feeds the pieces of `text`.
    pub(in crate::chat) fn push_pieces(
        &mut self,
        text: &str,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        let Self { guard, state, mode, .. } = self;
        let mut writer = DeltaWriter { state, step };
        let TokenMode::On(tokens) = mode else { return guard.push(text, &mut writer) };
        let mut rest = text;
        for piece in &tokens.pieces {
            let Some((text, after)) = rest.split_at_checked(piece.len) else { break };
            let kind = if piece.marker.is_some() { TokenKind::Marker } else { TokenKind::Text };
            let id = piece.marker.unwrap_or_default();
            guard.push_token(Token { id, text, kind }, &mut writer)?;
            rest = after;
        }
        Ok(())
    }

    /// Feeds text that waits for the rest of a marker token, because other output follows.
    pub(in crate::chat) fn release_begun(
        &mut self,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        let Self { guard, state, mode, .. } = self;
        let TokenMode::On(tokens) = mode else { return Ok(()) };
        let text = tokens.release();
        state.cut = 0;
        if text.is_empty() {
            return Ok(());
        }
        state.entries.take_chunk(state.fed - text.len() as u64, state.fed, None);
        guard.push(&text, &mut DeltaWriter { state, step })
    }
}
