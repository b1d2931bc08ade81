//! Where markup stands, the channel ends or the message does: held whitespace is decided about.

use super::{Emitter, Rule, Whitespace};
use crate::{channel::Channel, edge::OnCommit, sink::Sink};

/// What kind of markup the text ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// A channel opens: this one.
    Enter(Channel),
    /// The current channel closes.
    Leave,
    /// A call committed.
    Call,
    /// Anything else.
    Other,
}

impl Emitter {
    /// Markup was recognised in `channel`; called before the channel changes.
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
                // Text of another channel follows: in source order, it comes after.
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
            // Hidden text is markup: what surrounds it is as if it were not there.
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

    /// A body's opener was met in `channel`. Where a call does not end the channel, whitespace
    /// before it is not the channel's last, and is emitted before the call is.
    pub(crate) fn opener(&mut self, channel: Channel, on_commit: OnCommit, sink: &mut dyn Sink) {
        if self.policy.rule(channel) == Rule::TrimEnd && on_commit == OnCommit::Stay {
            self.release(channel, sink);
        }
        // Told here: how much of a call its first feed emits depends on the cuts.
        if channel == Channel::REASONING && on_commit == OnCommit::Leave {
            self.budget.report(sink);
        }
    }

    /// A call ended: orphan closers are markup until something visible comes.
    pub(crate) fn call_ended(&mut self) {
        self.after_call = true;
        self.blank = true;
    }

    /// The stream ended in `channel`.
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
