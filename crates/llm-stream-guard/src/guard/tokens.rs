//! Marker tokens: guards that distinguish a marker token from text that spells the marker.
//!
//! ```text
//! push_token(<think>, marker)   fed as a reserved scalar and `ink>`: the table knows no other opener
//! push_token("<think>", text)   fed as it is: matches nothing
//! events                        a reserved scalar in them is a marker that turned out to be text
//! ```

use std::sync::Arc;

use jail_match::{
    ByRef, Edge, Event, LimitError, MarkerTokens, Reserved, Sink, Utf8, escape_reserved,
    is_reserved, may_have_reserved, unescape_reserved,
};

use super::{
    Guard, Then,
    cursor::Cursor,
    input::Input,
    output::{Chain, Output},
};
use crate::stages::{Link, OutputStage};

/// One token of the model, as a tokenizer decodes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    /// Id of the token in the tokenizer. The guard does not use the id.
    pub id: u32,
    /// Text of the given token.
    pub text: &'t str,
    /// Whether the token is a marker or text.
    pub kind: TokenKind,
}

impl<'t> Token<'t> {
    /// Creates a text token from text that is not known to be a token.
    pub(super) const fn of_text(text: &'t str) -> Self {
        Self { id: 0, text, kind: TokenKind::Text }
    }

    /// Whether the token is fed as its text, whatever the marker tokens are.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.kind == TokenKind::Text && !may_have_reserved(self.text)
    }
}

/// Whether a token is a marker or text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TokenKind {
    /// A piece of text. Text that spells a marker token is not markup.
    #[default]
    Text,
    /// An added token of the tokenizer, such as `<tool_call>`.
    Marker,
}

/// How events and text go through a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// No stage is active. Text goes straight to the cursor, and events go straight to the sink.
    Plain,
    /// Events pass only the stage that restores marker tokens, and no text is undecided. Text
    /// without reserved scalars then has events without them.
    Settled,
    /// Events pass only the stage that restores marker tokens.
    Tokens,
    /// Text and events pass all stages.
    Staged,
}

impl Path {
    /// Returns the path through these stages. Text that comes next follows a scalar that was cut.
    pub(super) fn of(input: &Input, output: &Output, utf8: &Utf8) -> Self {
        if utf8.held() > 0 {
            return Self::Staged;
        }
        match (input.is_passed() && output.is_empty(), &output.tokens) {
            (true, None) => Self::Plain,
            (true, Some(_)) => Self::Tokens,
            (false, _) => Self::Staged,
        }
    }
}

impl Guard {
    /// Feeds the next token.
    ///
    /// A marker token acts if [`crate::GuardBuilder::marker_tokens`] has its text and the family
    /// uses it. Any other token is text, which may be cut and joined freely.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use llm_stream_guard::{End, Event, Guard, Token, TokenKind, profile};
    /// let tags = ["<think>", "</think>"];
    /// let mut guard = Guard::builder(&profile("qwen3")?).marker_tokens(tags).build()?;
    /// let (mut reasoning, mut content) = (String::new(), String::new());
    /// let mut sink = |event: Event<'_>| match event {
    ///     Event::Reasoning(text) => reasoning.push_str(text),
    ///     Event::Content(text) => content.push_str(text),
    ///     _ => {}
    /// };
    /// let marker = |id, text| Token { id, text, kind: TokenKind::Marker };
    /// let text = |id, text| Token { id, text, kind: TokenKind::Text };
    /// let tokens = [marker(7, "<think>"), text(40, "The tag </think> ends"),
    ///     text(41, " it."), marker(8, "</think>"), text(42, "Done.")];
    /// for token in tokens {
    ///     guard.push_token(token, &mut sink)?;
    /// }
    /// guard.finish(End::Stop, &mut sink)?;
    /// assert_eq!((&*reasoning, &*content), ("The tag </think> ends it.", "Done."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Guard::push`].
    // Without inlining, text that passes costs a fifth more instructions.
    #[inline(always)]
    pub fn push_token<S: Sink + ?Sized>(
        &mut self,
        token: Token<'_>,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        let plain = self.path == Path::Plain;
        if plain || self.path == Path::Settled && token.kind == TokenKind::Text {
            // A text that passes holds no reserved scalar.
            if self.cursor.pass(token.text, sink) {
                return Ok(());
            }
            if plain || !may_have_reserved(token.text) {
                return self.cursor.push_looking(token.text, &mut ByRef(sink));
            }
        }
        self.push_token_apart(token, &mut ByRef(sink))
    }

    /// Feeds a token on any path. This function is compiled once, and not for each type of sink.
    #[inline(never)]
    pub(super) fn push_token_apart(
        &mut self,
        token: Token<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        match (self.path, &mut self.output.tokens) {
            (Path::Settled, _) if token.is_plain() => self.cursor.push(token.text, sink),
            (Path::Settled | Path::Tokens, Some(stage)) => {
                let result = stage.push(token, &mut self.cursor, sink);
                let settled = stage.is_settled() && self.cursor.undecided() == 0;
                self.path = if settled { Path::Settled } else { Path::Tokens };
                result
            }
            _ => self.push_token_staged(token, sink),
        }
    }

    #[inline(never)]
    fn push_token_staged(
        &mut self,
        token: Token<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.count(|stats| stats.chunk(token.text.len()));
        self.staged(sink, Then::ChunkEnded, |utf8, input, cursor, out| {
            input.end_scalar(utf8, cursor, out)?;
            input.push(token, cursor, out)
        })
    }

    /// Returns the texts that act only as marker tokens: those of
    /// [`crate::GuardBuilder::marker_tokens`] that the family uses.
    pub fn marker_tokens(&self) -> impl Iterator<Item = &str> {
        self.output.tokens.iter().flat_map(|stage| stage.tokens.texts())
    }
}

/// Calls `push` with the token as it is fed.
#[inline]
fn push_spelled<E>(
    tokens: &MarkerTokens,
    token: Token<'_>,
    mut push: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let Token { text, kind, .. } = token;
    let marker = if kind == TokenKind::Marker { tokens.fed(text) } else { None };
    match marker {
        Some(fed) => push(fed),
        None if may_have_reserved(text) => escaped(text, push),
        None => push(text),
    }
}

/// Calls `on` with `text` in pieces, with substitutes for reserved scalars.
#[cold]
fn escaped<E>(text: &str, mut on: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    for piece in text.split_inclusive(is_reserved) {
        let scalar = piece.chars().next_back().filter(|&scalar| is_reserved(scalar));
        let Some(scalar) = scalar else { return on(piece) };
        on(piece.trim_end_matches(scalar))?;
        for scalar in escape_reserved(scalar) {
            on(scalar.encode_utf8(&mut [0; 4]))?;
        }
    }
    Ok(())
}

impl Cursor {
    /// Reads a token after all input stages.
    pub(super) fn push_token(
        &mut self,
        token: Token<'_>,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        match out.tokens_for(token) {
            None => self.push(token.text, out),
            Some(tokens) => push_spelled(&tokens, token, |spelled| self.push(spelled, out)),
        }
    }
}

/// The stage of marker tokens.
#[derive(Debug, Clone)]
pub(super) struct TokenStage {
    tokens: MarkerTokens,
    /// Edges of the table, with the family's own markers.
    pub(super) shown: Arc<[Edge]>,
    restore: RestoreTokens,
}

impl TokenStage {
    pub(super) fn new(tokens: MarkerTokens, shown: Arc<[Edge]>) -> Self {
        let restore = RestoreTokens { tokens: tokens.clone(), escaped: false };
        Self { tokens, shown, restore }
    }

    pub(super) fn reset(&mut self) {
        self.restore.escaped = false;
    }

    /// Whether the last text did not end between an escape and the substitute after it.
    fn is_settled(&self) -> bool {
        !self.restore.escaped
    }

    /// Feeds a token when no other stage is active.
    fn push(
        &mut self,
        token: Token<'_>,
        cursor: &mut Cursor,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        let Self { tokens, restore, .. } = self;
        let mut out = Link { stage: restore, next: ByRef(sink) };
        push_spelled(tokens, token, |spelled| cursor.push(spelled, &mut out))
    }

    /// Returns the markers that act only as marker tokens.
    pub(super) fn tokens(&self) -> &MarkerTokens {
        &self.tokens
    }
}

impl<S: Sink + ?Sized> OutputStage<S> for TokenStage {
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        self.restore.event(event, next);
    }
}

/// A stage that replaces reserved scalars in events by the text of their marker tokens.
#[derive(Debug, Clone)]
struct RestoreTokens {
    tokens: MarkerTokens,
    /// Whether the last text ended between an escape and the substitute after it.
    escaped: bool,
}

/// A piece of an event's text.
enum RestoredPiece<'p> {
    /// The text, unchanged.
    Text(&'p str),
    /// The beginning of a marker, plain and escaped for a JSON string.
    Head(&'p str, &'p str),
}

impl RestoreTokens {
    #[inline]
    fn is_unchanged(&self, text: &str) -> bool {
        !self.escaped && !may_have_reserved(text)
    }

    /// Calls `on` with the pieces of `text`.
    #[cold]
    fn pieces(&mut self, text: &str, mut on: impl FnMut(RestoredPiece<'_>)) {
        let Self { tokens, escaped, .. } = self;
        let mut from = 0;
        for (at, scalar) in text.char_indices() {
            let restored = if std::mem::take(escaped) { unescape_reserved(scalar) } else { None };
            let reserved = tokens.reserved(scalar);
            if restored.is_none() && reserved.is_none() {
                continue;
            }
            if from < at {
                on(RestoredPiece::Text(&text[from..at]));
            }
            from = at.saturating_add(scalar.len_utf8());
            match (restored, reserved) {
                (Some(scalar), _) => on(RestoredPiece::Text(scalar.encode_utf8(&mut [0; 4]))),
                (None, Some(Reserved::Head(head, json))) => on(RestoredPiece::Head(head, json)),
                (None, _) => *escaped = true,
            }
        }
        if from < text.len() {
            on(RestoredPiece::Text(&text[from..]));
        }
    }

    /// Restores the whole `text` of a name or an id.
    fn whole(&mut self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        self.pieces(text, |piece| {
            let (RestoredPiece::Text(text) | RestoredPiece::Head(text, _)) = piece;
            whole.push_str(text);
        });
        whole
    }
}

impl<S: Sink + ?Sized> OutputStage<S> for RestoreTokens {
    #[inline]
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        match event {
            Event::CallArguments { fragment: text, .. }
            | Event::Content(text)
            | Event::Reasoning(text)
            | Event::Other(_, text)
                if self.is_unchanged(text) =>
            {
                next.event(event);
            }
            Event::Content(_)
            | Event::Reasoning(_)
            | Event::Other(..)
            | Event::CallArguments { .. }
            | Event::CallStart { .. }
            | Event::CallId { .. } => self.restore(event, next),
            _ => next.event(event),
        }
    }
}

impl RestoreTokens {
    #[inline(never)]
    fn restore<S: Sink + ?Sized>(&mut self, event: Event<'_>, next: &mut S) {
        match event {
            Event::CallStart { index, id, name } => {
                let (id, name) = (self.whole(id), self.whole(name));
                next.event(Event::CallStart { index, id: &id, name: &name });
            }
            Event::CallId { index, id, at } => {
                next.event(Event::CallId { index, id: &self.whole(id), at });
            }
            Event::CallArguments { index, fragment } => self.pieces(fragment, |piece| {
                let (RestoredPiece::Text(fragment) | RestoredPiece::Head(_, fragment)) = piece;
                next.event(Event::CallArguments { index, fragment });
            }),
            event => {
                let Some((channel, text)) = event.as_text() else { return next.event(event) };
                self.pieces(text, |piece| {
                    let (RestoredPiece::Text(text) | RestoredPiece::Head(text, _)) = piece;
                    next.event(Event::text(channel, text));
                });
            }
        }
    }
}
