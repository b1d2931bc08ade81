//! Emitting text under a whitespace policy and a limit of reasoning.

use super::{Emitter, Rule, TextPiece, trim_end, trim_start};
use crate::{
    channel::Channel,
    event::Event,
    sink::{Sink, Span, SpanKind, Trace},
};

impl Emitter {
    /// Emits a piece of text, or holds the whitespace at its edges.
    pub(crate) fn emit(&mut self, piece: TextPiece<'_>, sink: &mut dyn Sink) {
        let TextPiece { channel, text, at } = piece;
        if text.is_empty() {
            return;
        }
        if channel == Channel::HIDDEN {
            sink.account(Span { kind: SpanKind::Markup, at, len: text.len() as u64 });
            return;
        }
        if self.passes(channel) {
            self.count(channel, text.len());
            sink.event(Event::text(channel, text));
            return;
        }
        let lead = text.len() - trim_start(text).len();
        let visible = lead < text.len();
        let rule = self.policy.rule(channel);
        let (space, rest) = piece.split_at(lead);
        match rule {
            Rule::Keep => self.put(piece, sink),
            Rule::DropBlank | Rule::DropBlankBeforeCall if !self.blank => self.put(piece, sink),
            Rule::DropBlank | Rule::DropBlankBeforeCall if !visible => self.hold(piece, sink),
            Rule::DropBlank | Rule::DropBlankBeforeCall => {
                // Over the limit, the whitespace goes through `hold`, which reports it at every
                // cut.
                if self.held() + space.len() > self.limit {
                    self.hold(space, sink);
                    self.put(rest, sink);
                } else {
                    self.release(channel, sink);
                    self.put(piece, sink);
                }
            }
            Rule::Trim | Rule::TrimEnd => {
                if !space.is_empty() {
                    self.hold(space, sink);
                }
                if visible {
                    self.settle(channel, rule, sink);
                    let (body, end) = rest.split_at(trim_end(rest.text).len());
                    self.put_runs(body, sink);
                    if !end.is_empty() {
                        self.hold(end, sink);
                    }
                }
            }
        }
        if visible {
            self.blank = false;
            (self.lead, self.untouched) = (false, false);
            self.after_call = false;
        }
    }

    pub(crate) fn reasoning_bytes(&self) -> u64 {
        self.reasoning_bytes
    }

    /// Starts the counts over for another stream.
    pub(crate) fn forget_counts(&mut self) {
        self.reasoning_bytes = 0;
    }

    /// Counts emitted bytes of `channel`.
    pub(crate) fn count(&mut self, channel: Channel, bytes: usize) {
        if channel == Channel::REASONING {
            self.reasoning_bytes += bytes as u64;
        }
    }

    /// Emits a piece of text. Reasoning over its limit is treated by the limit's policy.
    pub(super) fn put(&mut self, piece: TextPiece<'_>, sink: &mut dyn Sink) {
        let within = self.budget.within(piece.channel, piece.text);
        let (allowed, over) = piece.split_at(within);
        if !allowed.is_empty() {
            self.count(piece.channel, allowed.len());
            self.budget.put(allowed, sink);
        }
        if !over.is_empty() {
            if self.budget.spills() {
                // Reasoning over the limit becomes content, so held whitespace of the content comes
                // first.
                let moves = self.moves(Channel::CONTENT);
                self.content.release(Channel::CONTENT, moves, sink);
                self.content.visible = true;
            }
            self.budget.put(over, sink);
        }
    }

    /// Emits the held whitespace of a channel.
    pub(super) fn release(&mut self, channel: Channel, sink: &mut dyn Sink) {
        if !self.budget.counts(channel) {
            let held = self.run(channel).text.len();
            self.count(channel, held);
            let moves = self.moves(channel);
            return self.run(channel).release(channel, moves, sink);
        }
        let (text, spans) = self.run(channel).take();
        let mut rest = text.as_str();
        for (at, len) in spans {
            let (text, after) = rest.split_at(len as usize);
            if self.moves(channel) {
                sink.trace(Trace::Released { at, len });
            }
            self.put(TextPiece { channel, text, at }, sink);
            rest = after;
        }
    }
}
