//! The limit of reasoning in a message, and the policy for reasoning beyond it.

use super::TextPiece;
use crate::{
    channel::Channel,
    chars::floor_char_boundary,
    diagnostic::{Diagnostic, DiagnosticKind},
    event::Event,
    limits::{LimitError, LimitPolicy, ReasoningLimit},
    sink::{Sink, Span, SpanKind},
};

/// The number of bytes of reasoning emitted so far, and their limit.
#[derive(Debug, Clone, Default)]
pub(super) struct ReasoningBudget {
    limit: Option<ReasoningLimit>,
    used: usize,
    over: Option<Over>,
    failed: Option<LimitError>,
}

/// Reasoning beyond the limit that is not reported yet.
#[derive(Debug, Clone, Copy)]
struct Over {
    at: u64,
    bytes: u64,
}

impl ReasoningBudget {
    pub(super) fn new(limit: Option<ReasoningLimit>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns a budget with the same limit for another message.
    pub(super) fn renewed(&self) -> Self {
        Self::new(self.limit)
    }

    /// Returns whether text of `channel` must be counted.
    pub(super) fn counts(&self, channel: Channel) -> bool {
        self.limit.is_some() && (channel == Channel::REASONING || self.failed.is_some())
    }

    pub(super) fn failed(&self) -> Option<LimitError> {
        self.failed
    }

    /// Returns whether reasoning beyond the limit becomes content.
    pub(super) fn spills(&self) -> bool {
        self.limit.is_some_and(|limit| limit.policy == LimitPolicy::Release)
    }

    /// Returns how many bytes of `text` are within the limit.
    pub(super) fn within(&self, channel: Channel, text: &str) -> usize {
        match self.limit {
            Some(limit) if self.counts(channel) => {
                let left = limit.bytes - self.used;
                floor_char_boundary(text, left.min(text.len()))
            }
            _ => text.len(),
        }
    }

    /// Emits a piece of text that is entirely within the limit or entirely beyond it.
    pub(super) fn put(&mut self, piece: TextPiece<'_>, sink: &mut dyn Sink) {
        let TextPiece { channel, text, at } = piece;
        let Some(limit) = self.limit.filter(|_| self.counts(channel)) else {
            return sink.event(Event::text(channel, text));
        };
        if self.failed.is_some() {
            return;
        }
        if text.len() <= limit.bytes - self.used {
            self.used += text.len();
            return sink.event(Event::text(channel, text));
        }
        // After a scalar that did not fit, no shorter one is emitted.
        self.used = limit.bytes;
        let bytes = text.len() as u64;
        match limit.policy {
            LimitPolicy::Release => sink.event(Event::text(Channel::CONTENT, text)),
            LimitPolicy::Drop => sink.account(Span { kind: SpanKind::Dropped, at, len: bytes }),
            LimitPolicy::Error => {
                let (kind, bytes) = (DiagnosticKind::ReasoningLimit, 0);
                self.failed = Some(LimitError { kind, at, bytes });
                return;
            }
        }
        self.over.get_or_insert(Over { at, bytes: 0 }).bytes += bytes;
    }

    /// Reports the number of bytes over the limit, at the end of a span.
    pub(super) fn report(&mut self, sink: &mut dyn Sink) {
        if let Some(Over { at, bytes }) = self.over.take() {
            sink.event(Diagnostic::new(DiagnosticKind::ReasoningLimit, at, bytes).into());
        }
    }
}
