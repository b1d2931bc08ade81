//! Decisions about held whitespace at markup, and at the end of a channel or of the message.

use super::{Emitter, Rule, Whitespace};
use crate::{channel::Channel, edge::OnCommit, sink::Sink};

/// The kind of markup that follows the text.
///
/// At each marker of `<think>why</think><call>go</call><sep>`: `Enter(REASONING)`, `Leave`, `Call`,
/// `Other`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// The given channel opens.
    Enter(Channel),
    /// The current channel closes.
    Leave,
    /// A call commits here.
    Call,
    /// Markup without an effect on channels.
    Other,
}

impl Emitter {
    /// Decides about held whitespace at markup in `channel`. Called before the channel changes.
    pub(crate) fn boundary(&mut self, boundary: Boundary, channel: Channel, sink: &mut dyn Sink) {
        self.run(channel).overflow = false;
        let rule = self.policy.rule(channel);
        match rule {
            Rule::Keep => {}
            Rule::DropBlank => self.run(channel).drop_held(sink),
            Rule::DropBlankBeforeCall if boundary == Boundary::Call => {
                self.run(channel).drop_held(sink);
            }
            Rule::DropBlankBeforeCall => self.release(channel, sink),
            Rule::Trim | Rule::TrimEnd => match boundary {
                Boundary::Leave if channel == Channel::REASONING => {
                    let run = self.run(channel);
                    run.drop_held(sink);
                    run.visible = false;
                }
                // Text of another channel follows in source order.
                Boundary::Enter(to) if to != Channel::HIDDEN && rule == Rule::TrimEnd => {
                    self.release(channel, sink);
                }
                _ => {}
            },
        }
        if channel == Channel::REASONING && boundary == Boundary::Leave {
            self.budget.report(sink);
        }
        match boundary {
            // Hidden text is markup: the text on both sides of it is one text.
            Boundary::Enter(Channel::HIDDEN) => {}
            Boundary::Leave if channel == Channel::HIDDEN => {}
            Boundary::Enter(_) | Boundary::Leave => {
                self.lead = true;
                self.after_call = false;
                self.marked = true;
                if boundary == Boundary::Leave
                    && channel == Channel::REASONING
                    && self.policy == Whitespace::Trim
                {
                    self.content.eat = true;
                }
            }
            Boundary::Call => self.called = true,
            Boundary::Other => {}
        }
        self.blank = true;
        self.untouched = false;
        if self.policy == Whitespace::Trim && !self.content.visible && (self.called || self.marked)
        {
            self.content.drop_held(sink);
        }
    }

    /// Releases whitespace before the opener of a body, unless a call ends the channel. Without an
    /// end of the channel, the whitespace cannot be trailing.
    pub(crate) fn opener(&mut self, channel: Channel, on_commit: OnCommit, sink: &mut dyn Sink) {
        if self.policy.rule(channel) == Rule::TrimEnd && on_commit == OnCommit::Stay {
            self.release(channel, sink);
        }
        // Reported at the opener: how many events the first feed of a call emits depends on the
        // cut.
        if channel == Channel::REASONING && on_commit == OnCommit::Leave {
            self.budget.report(sink);
        }
    }

    /// Records that a call ended. Until visible text comes, a closer without an opener is markup.
    pub(crate) fn call_ended(&mut self) {
        self.after_call = true;
        self.blank = true;
    }

    /// Decides about all held whitespace at the end of the stream.
    pub(crate) fn finish(&mut self, sink: &mut dyn Sink) {
        for channel in [Channel::REASONING, Channel::CONTENT] {
            let drop = match self.policy.rule(channel) {
                Rule::Keep | Rule::DropBlankBeforeCall | Rule::TrimEnd => false,
                Rule::DropBlank => true,
                Rule::Trim => {
                    channel == Channel::REASONING
                        || self.called
                        || self.marked && !self.content.visible
                }
            };
            if drop {
                self.run(channel).drop_held(sink);
            } else {
                self.release(channel, sink);
            }
        }
        self.budget.report(sink);
    }
}
