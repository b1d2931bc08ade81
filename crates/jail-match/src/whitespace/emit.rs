//! Emitting text: by the policy, counted, and reasoning as far as its limit allows.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "lengths of parts of one text, and places of the stream with 64 bits"
)]

use super::{Emitter, Rule, trim_end, trim_start};
use crate::{
    channel::Channel,
    event::Event,
    sink::{Sink, Span, SpanKind},
};

impl Emitter {
    /// Emits `text`, which stands at offset `at`.
    pub(crate) fn emit(&mut self, channel: Channel, text: &str, at: u64, sink: &mut dyn Sink) {
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
        match rule {
            Rule::Keep => self.put(channel, text, at, sink),
            Rule::DropBlank | Rule::DropBlankBeforeCall => {
                if self.blank && visible {
                    // Held first, so that the limit is reported as if it had come apart.
                    let (space, rest) = text.split_at(lead);
                    if self.held() + space.len() > self.limit {
                        self.hold(channel, space, at, sink);
                        self.put(channel, rest, at + lead as u64, sink);
                    } else {
                        self.release(channel, sink);
                        self.put(channel, text, at, sink);
                    }
                } else if !self.blank {
                    self.put(channel, text, at, sink);
                } else {
                    self.hold(channel, text, at, sink);
                }
            }
            Rule::Trim | Rule::TrimEnd => {
                let (space, rest) = text.split_at(lead);
                if !space.is_empty() {
                    self.hold(channel, space, at, sink);
                }
                if visible {
                    self.settle(channel, rule, sink);
                    let body = trim_end(rest);
                    self.put_runs(channel, body, at + lead as u64, sink);
                    if body.len() < rest.len() {
                        let from = at + (lead + body.len()) as u64;
                        self.hold(channel, &rest[body.len()..], from, sink);
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

    /// Another stream begins.
    pub(crate) fn forget_counts(&mut self) {
        self.reasoning_bytes = 0;
    }

    /// So many bytes of `channel` are emitted.
    pub(crate) fn count(&mut self, channel: Channel, bytes: usize) {
        if channel == Channel::REASONING {
            self.reasoning_bytes += bytes as u64;
        }
    }

    /// Emits text of a channel, reasoning as far as it may.
    pub(super) fn put(&mut self, channel: Channel, text: &str, at: u64, sink: &mut dyn Sink) {
        let within = self.budget.within(channel, text);
        if within > 0 {
            self.count(channel, within);
            self.budget.put(channel, &text[..within], at, sink);
        }
        if within < text.len() {
            if self.budget.spills() {
                // It becomes visible content: what was held of that is emitted before it.
                self.content.release(Channel::CONTENT, sink);
                self.content.visible = true;
            }
            self.budget.put(channel, &text[within..], at + within as u64, sink);
        }
    }

    /// What is held of a channel is emitted.
    pub(super) fn release(&mut self, channel: Channel, sink: &mut dyn Sink) {
        if !self.budget.counts(channel) {
            let held = self.run(channel).text.len();
            self.count(channel, held);
            return self.run(channel).release(channel, sink);
        }
        let (text, spans) = self.run(channel).take();
        let mut rest = text.as_str();
        for (at, len) in spans {
            let (piece, behind) = rest.split_at(len as usize);
            self.put(channel, piece, at, sink);
            rest = behind;
        }
    }
}
