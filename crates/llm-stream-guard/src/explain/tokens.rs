//! The tokens of a recording, each with the roles of its bytes.

use std::collections::VecDeque;

use jail_match::{Span, Trace};
use toolcall_parsers::Event;

use super::report::{ExplainedToken, TokenPart};
use crate::{
    chat::{ChunkPiece, ChunkTokens},
    guard::Guard,
    roles::{RoleLedger, RoleSpan},
};

/// A tracker of the tokens of a recording. Without ids, only the places of chunks are kept.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenTracker {
    /// Ledger of roles, if no stage of the guard moves text.
    ledger: Option<RoleLedger>,
    tokens: Vec<ExplainedToken>,
    /// Ids whose text has not arrived.
    ids: VecDeque<u32>,
    /// Matching of the ids of chunks to their text.
    pub(super) chunks: Option<ChunkTokens>,
    /// Whether any token has an id.
    any: bool,
}

impl TokenTracker {
    pub(super) fn new(guard: &Guard) -> Self {
        let ledger = guard.moves_text().is_none().then(RoleLedger::default);
        Self { ledger, ..Self::default() }
    }

    /// Records the ids of a chunk.
    pub(super) fn arrived(&mut self, ids: Option<&[u32]>) {
        self.ids.extend(ids.unwrap_or_default());
    }

    /// Records a piece of text at offset `at`, with the ids that arrived if the number of its
    /// tokens is known.
    pub(super) fn piece(&mut self, at: usize, text: &str, piece: ChunkPiece) {
        let ids = match (piece.marker, piece.tokens) {
            (Some(id), _) => {
                self.ids.pop_front();
                vec![id]
            }
            (None, Some(count)) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.ids.len());
                self.ids.drain(..count).collect()
            }
            // The ids of this text cannot be separated from those of other text.
            (None, None) => {
                self.ids.clear();
                Vec::new()
            }
        };
        self.token(at, text, ids);
    }

    /// Records the text at offset `at` of tokens with these ids.
    pub(super) fn token(&mut self, at: usize, text: &str, ids: Vec<u32>) {
        let Some(ledger) = &mut self.ledger else { return };
        ledger.token(0, text);
        self.any |= !ids.is_empty();
        self.tokens.push(ExplainedToken { ids, at, len: text.len(), parts: Vec::new() });
    }

    pub(super) fn event(&mut self, event: Event<'_>) {
        let Some(ledger) = &mut self.ledger else { return };
        match event {
            Event::CallStart { name, .. } => ledger.name(name),
            event => {
                if let Some((channel, text)) = event.as_text() {
                    ledger.text(channel, text.len());
                }
            }
        }
    }

    pub(super) fn span(&mut self, span: Span) {
        if let Some(ledger) = &mut self.ledger {
            ledger.span(span);
        }
    }

    pub(super) fn trace(&mut self, trace: Trace) {
        if let Some(ledger) = &mut self.ledger {
            ledger.trace(trace);
        }
    }

    /// Assigns the known roles to tokens.
    pub(super) fn settle(&mut self) {
        let Self { ledger: Some(ledger), tokens, .. } = self else { return };
        ledger.settle(&mut |span| add(tokens, span));
    }

    /// Returns the tokens, if the recording has ids.
    pub(super) fn finish(self) -> Vec<ExplainedToken> {
        let Self { ledger: Some(mut ledger), mut tokens, any: true, .. } = self else {
            return Vec::new();
        };
        ledger.finish(&mut |span| add(&mut tokens, span));
        tokens
    }
}

fn add(tokens: &mut [ExplainedToken], span: RoleSpan) {
    let token = usize::try_from(span.token).ok().and_then(|at| tokens.get_mut(at));
    if let Some(token) = token.filter(|_| span.bytes > 0) {
        let (role, call) = (span.role.name(), span.role.call());
        token.parts.push(TokenPart { role, call, bytes: span.bytes });
    }
}
