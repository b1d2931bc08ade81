//! A run of whitespace that is not decided yet.

use alloc::string::String;
use smallvec::SmallVec;

use crate::{
    channel::Channel,
    event::Event,
    sink::{Sink, Span, SpanKind, Trace},
};

/// A held run of whitespace, with the stream offset and length of each of its pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct WhitespaceRun {
    pub(super) text: String,
    pub(super) spans: SmallVec<[(u64, u64); 2]>,
    /// Whether the run outgrew the limit. Its rest is then text.
    pub(super) overflow: bool,
    /// Whether whitespace is dropped until visible text comes.
    pub(super) eat: bool,
    /// Whether visible text was emitted since the channel began.
    pub(super) visible: bool,
}

impl WhitespaceRun {
    pub(super) fn hold(&mut self, text: &str, at: u64) {
        self.text.push_str(text);
        match self.spans.last_mut() {
            Some((start, len)) if *start + *len == at => *len += text.len() as u64,
            _ => self.spans.push((at, text.len() as u64)),
        }
    }

    pub(super) fn drop_held(&mut self, sink: &mut dyn Sink) {
        for (at, len) in self.spans.drain(..) {
            sink.account(Span { kind: SpanKind::Framing, at, len });
        }
        self.text.clear();
    }

    /// Emits the run as text of `channel`. `moves` states whether text may have overtaken it.
    pub(super) fn release(&mut self, channel: Channel, moves: bool, sink: &mut dyn Sink) {
        if !self.text.is_empty() {
            for &(at, len) in self.spans.iter().filter(|_| moves) {
                sink.trace(Trace::Released { at, len });
            }
            sink.event(Event::text(channel, &self.text));
            self.text.clear();
            self.spans.clear();
        }
    }

    /// Takes the held text, with the stream offset and length of each of its pieces.
    pub(super) fn take(&mut self) -> (String, SmallVec<[(u64, u64); 2]>) {
        (core::mem::take(&mut self.text), core::mem::take(&mut self.spans))
    }
}
