//! A sequence of guardrails. Each receives the items that the previous one released.
//!
//! Two guardrails, of which the first holds one item:
//!
//! ```text
//! input   first             second   consumer
//! a       holds a           -        -
//! b       holds b, gives a  gives a  a
//! end     gives b           gives b  b
//! ```

use std::{
    borrow::Cow,
    task::{Context, Poll},
};

use crate::{
    ending::{UpstreamEnd, WithheldInfo},
    guardrail::{Decision, Guardrail, GuardrailOutput},
};

/// The guardrails of a stream, in order.
pub(crate) struct Rails<T> {
    stages: Vec<RailStage<T>>,
    /// Items that the last guardrail released.
    out: GuardrailOutput<T>,
    /// The way in which upstream ended, once it has.
    over: Option<UpstreamEnd>,
    refusal: Option<Cow<'static, str>>,
}

struct RailStage<T> {
    rail: Box<dyn Guardrail<T>>,
    /// Items that the guardrail has not received yet.
    waiting: GuardrailOutput<T>,
    phase: RailPhase,
}

/// Phase of one guardrail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RailPhase {
    Open,
    /// The guardrail received the end of its input.
    Finishing(UpstreamEnd),
    /// The guardrail releases no more items. Later guardrails receive this end.
    Done(UpstreamEnd),
}

impl<T> Default for Rails<T> {
    fn default() -> Self {
        Self { stages: Vec::new(), out: GuardrailOutput::default(), over: None, refusal: None }
    }
}

impl<T> Rails<T> {
    pub(crate) fn add(&mut self, rail: Box<dyn Guardrail<T>>) {
        self.stages.push(RailStage {
            rail,
            waiting: GuardrailOutput::default(),
            phase: RailPhase::Open,
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Takes an item from upstream.
    pub(crate) fn push(&mut self, item: T) {
        self.stages.first_mut().map_or(&mut self.out, |first| &mut first.waiting).put(item);
    }

    /// Records the end of upstream.
    pub(crate) fn finish(&mut self, end: UpstreamEnd) {
        self.over = Some(end);
    }

    /// Returns whether no more items are released.
    pub(crate) fn is_done(&self) -> bool {
        self.stages.last().is_none_or(|last| matches!(last.phase, RailPhase::Done(_)))
    }

    /// Returns the items that are released and not fetched yet.
    pub(crate) fn out(&mut self) -> &mut GuardrailOutput<T> {
        &mut self.out
    }

    pub(crate) fn waiting(&self) -> usize {
        self.out.0.len()
    }

    /// Takes the reason that a guardrail gave when it ended the stream.
    pub(crate) fn take_refusal(&mut self) -> Option<Cow<'static, str>> {
        self.refusal.take()
    }

    /// Moves items as far as possible. Ready when all guardrails can take more, or are done.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (mut before, mut ready) = (self.over, true);
        for n in 0..self.stages.len() {
            ready &= self.poll_stage(n, before, cx);
            before = match self.stages[n].phase {
                RailPhase::Done(end) => Some(end),
                _ => None,
            };
        }
        if ready { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Moves items through one guardrail. `before` is the way its input ended, once it has.
    fn poll_stage(&mut self, n: usize, before: Option<UpstreamEnd>, cx: &mut Context<'_>) -> bool {
        let (head, tail) = self.stages.split_at_mut(n + 1);
        let out = tail.first_mut().map_or(&mut self.out, |next| &mut next.waiting);
        let Some(RailStage { rail, waiting, phase }) = head.last_mut() else { return true };
        while !matches!(phase, RailPhase::Done(_)) {
            let decision = match (rail.poll_ready(cx, out), *phase) {
                (Poll::Pending, _) => return false,
                (Poll::Ready(Decision::Continue), RailPhase::Open) => {
                    match (waiting.0.pop_front(), before) {
                        (Some(item), _) => rail.push(item, out),
                        (None, Some(end)) => {
                            *phase = RailPhase::Finishing(end);
                            rail.finish(end, out)
                        }
                        (None, None) => return true,
                    }
                }
                (
                    Poll::Ready(Decision::Continue),
                    RailPhase::Finishing(end) | RailPhase::Done(end),
                ) => {
                    *phase = RailPhase::Done(end);
                    return true;
                }
                (Poll::Ready(end), _) => end,
            };
            if let Decision::End(reason) = decision {
                self.refusal.get_or_insert(reason);
                // Earlier guardrails are done too.
                head.iter_mut().for_each(|one| one.phase = RailPhase::Done(UpstreamEnd::Refused));
                return true;
            }
        }
        true
    }

    /// Returns the size of data received and not released, or not fetched.
    pub(crate) fn held(&self) -> WithheldInfo {
        let items =
            |out: &GuardrailOutput<T>| WithheldInfo { items: out.0.len(), ..WithheldInfo::NOTHING };
        let stages = self.stages.iter().rev();
        let stages = stages.map(|stage| stage.rail.held().and(items(&stage.waiting)));
        stages.fold(items(&self.out), WithheldInfo::and)
    }

    /// Returns the guardrails and the items inside them, to be dropped separately.
    pub(crate) fn into_parts(self) -> (Vec<Box<dyn Guardrail<T>>>, Vec<T>) {
        let (mut rails, mut items) = (Vec::new(), Vec::from(self.out.0));
        for RailStage { rail, waiting, .. } in self.stages {
            rails.push(rail);
            items.extend(waiting.0);
        }
        (rails, items)
    }
}
