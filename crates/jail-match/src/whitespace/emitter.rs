//! The state of a message's whitespace, which also decides which markers are live.

use super::{Rule, Whitespace, reasoning_budget::ReasoningBudget, run::WhitespaceRun};
use crate::{
    channel::Channel,
    limits::{LimitError, ReasoningLimit},
};

/// An emitter of text under a policy, with the flags that depend on visible text.
#[derive(Debug, Clone)]
pub(crate) struct Emitter {
    pub(super) policy: Whitespace,
    pub(super) limit: usize,
    /// Whether only whitespace was emitted since the last markup, or the start.
    pub(super) blank: bool,
    /// Whether only whitespace was emitted in the channel: the condition of lead-anchored markers.
    pub(super) lead: bool,
    /// Whether only whitespace was emitted since the message began, and no markup came: the
    /// condition of start-anchored markers. Implies `lead`.
    pub(super) untouched: bool,
    /// Whether only whitespace was emitted since a call: the condition of closers without an
    /// opener.
    pub(super) after_call: bool,
    pub(super) called: bool,
    pub(super) marked: bool,
    pub(super) content: WhitespaceRun,
    pub(super) reasoning: WhitespaceRun,
    pub(super) budget: ReasoningBudget,
    /// Bytes of reasoning emitted since the start of the stream.
    pub(super) reasoning_bytes: u64,
}

impl Emitter {
    pub(crate) fn new(policy: Whitespace, limit: usize, reasoning: Option<ReasoningLimit>) -> Self {
        Self {
            policy,
            limit,
            blank: true,
            lead: true,
            untouched: true,
            after_call: false,
            called: false,
            marked: false,
            content: WhitespaceRun::default(),
            reasoning: WhitespaceRun::default(),
            budget: ReasoningBudget::new(reasoning),
            reasoning_bytes: 0,
        }
    }

    /// Starts over with another message.
    pub(crate) fn reset(&mut self) {
        self.budget = self.budget.renewed();
        (self.blank, self.lead, self.after_call) = (true, true, false);
        self.untouched = true;
        (self.called, self.marked) = (false, false);
        for run in [&mut self.content, &mut self.reasoning] {
            run.text.clear();
            run.spans.clear();
            (run.overflow, run.eat, run.visible) = (false, false, false);
        }
    }

    /// Returns whether only whitespace was emitted since the last markup, as some anchors require.
    pub(crate) fn edge_of_markup(&self) -> bool {
        self.blank
    }

    pub(crate) fn lead(&self) -> bool {
        self.lead
    }

    pub(crate) fn untouched(&self) -> bool {
        self.untouched
    }

    pub(crate) fn after_call(&self) -> bool {
        self.after_call
    }

    /// Returns the error if the limit of reasoning was hit under the error policy.
    pub(crate) fn failed(&self) -> Option<LimitError> {
        self.budget.failed()
    }

    pub(crate) fn policy(&self) -> Whitespace {
        self.policy
    }

    /// Returns the number of whitespace bytes held.
    pub(crate) fn held(&self) -> usize {
        self.content.text.len().saturating_add(self.reasoning.text.len())
    }

    /// Returns whether text of `channel` may go to the sink unread and unchanged.
    pub(crate) fn passes(&self, channel: Channel) -> bool {
        !self.blank
            && !self.budget.counts(channel)
            && !matches!(self.policy.rule(channel), Rule::Trim | Rule::TrimEnd)
    }

    pub(super) fn run(&mut self, channel: Channel) -> &mut WhitespaceRun {
        if channel == Channel::REASONING { &mut self.reasoning } else { &mut self.content }
    }
}
