//! The output stages of a guard, and their chain before the caller's sink.

use jail_match::{ByRef, Edge, End, Held, HeldKind, LimitError, MarkerTokens, Sink};

use super::{
    Delivery,
    mixed_markers::Forms,
    tokens::{Token, TokenKind, TokenStage},
};
use crate::{
    jailer::{JailStage, Jailer, ParseBlocks},
    observe::{Counted, StatsStage},
    stages::{Link, atomic::Atomic, withholding::Withholding},
};

/// The output stages, in their order. A stage that is not configured is `None`.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    pub(super) forms: Option<Box<Forms>>,
    pub(super) tokens: Option<Box<TokenStage>>,
    pub(super) atomic: Option<Box<Atomic>>,
    pub(super) withheld: Option<Box<Withholding>>,
    pub(super) jail: Option<Box<JailStage>>,
    pub(super) stats: StatsStage,
}

type AfterJail<'a> = Counted<'a, ByRef<'a, dyn Sink + 'a>>;
type AfterWithholding<'a> = Link<'a, Option<Box<JailStage>>, AfterJail<'a>>;
type AfterAtomic<'a> = Link<'a, Option<Box<Withholding>>, AfterWithholding<'a>>;
type AfterTokens<'a> = Link<'a, Option<Box<Atomic>>, AfterAtomic<'a>>;
type AfterForms<'a> = Link<'a, Option<Box<TokenStage>>, AfterTokens<'a>>;

/// The whole chain. Everything after it is compiled once, for any sink.
pub(super) type Chain<'a> = Link<'a, Option<Box<Forms>>, AfterForms<'a>>;

impl Output {
    /// Creates the configured stages, without the stage for mixed markers.
    pub(super) fn new(
        delivery: Delivery,
        atomic_limit: usize,
        withheld: Option<Withholding>,
        jailer: Option<Jailer>,
        stats: StatsStage,
    ) -> Self {
        let atomic = delivery == Delivery::Atomic;
        Self {
            forms: None,
            tokens: None,
            atomic: atomic.then(|| Box::new(Atomic::new(atomic_limit))),
            withheld: withheld.map(Box::new),
            jail: jailer.map(|jailer| Box::new(JailStage::new(jailer))),
            stats,
        }
    }

    /// Whether the stage of marker tokens is the only one.
    pub(super) fn is_empty(&self) -> bool {
        self.changes_nothing() && self.stats.is_none()
    }

    /// Whether every event passes unchanged and at once. Counters do not change events.
    pub(super) fn passes(&self) -> bool {
        self.changes_nothing() && self.tokens.is_none()
    }

    fn changes_nothing(&self) -> bool {
        let Self { forms, tokens: _, atomic, withheld, jail, stats: _ } = self;
        forms.is_none() && atomic.is_none() && withheld.is_none() && jail.is_none()
    }

    pub(super) fn reset(&mut self) {
        let Self { forms, tokens, atomic, withheld, jail, stats, .. } = self;
        forms.iter_mut().for_each(|stage| stage.reset());
        tokens.iter_mut().for_each(|stage| stage.reset());
        atomic.iter_mut().for_each(|stage| stage.reset());
        withheld.iter_mut().for_each(|stage| stage.reset());
        jail.iter_mut().for_each(|stage| stage.reset());
        stats.iter_mut().for_each(|stage| stage.reset());
    }

    /// Holds each later call until it ends.
    pub(super) fn deliver_at_end(&mut self, limit: usize) {
        self.atomic.get_or_insert_with(|| Box::new(Atomic::new(limit)));
    }

    /// Returns the limit of a jail that ended the message.
    pub(super) fn failed(&self) -> Option<LimitError> {
        self.jail.as_ref().and_then(|jail| jail.failed)
    }

    /// Returns the chain of stages before `sink`.
    pub(super) fn chain<'a>(&'a mut self, sink: &'a mut (dyn Sink + 'a)) -> Chain<'a> {
        let Self { forms, tokens, atomic, withheld, jail, stats, .. } = self;
        let counted = Link { stage: stats, next: ByRef(sink) };
        let jailed = Link { stage: jail, next: counted };
        let atomic = Link { stage: atomic, next: Link { stage: withheld, next: jailed } };
        Link { stage: forms, next: Link { stage: tokens, next: atomic } }
    }

    /// Returns the edges with the family's own markers, if marker tokens rewrite some of them.
    pub(super) fn tokens_shown(&self) -> Option<&[Edge]> {
        self.tokens.as_ref().map(|tokens| &*tokens.shown)
    }

    /// Returns the parser of a jail's blocks.
    pub(super) fn block_parser(&mut self) -> Option<&mut (dyn ParseBlocks + 'static)> {
        self.jail.as_mut().and_then(|jail| jail.jailer.parser_mut())
    }

    pub(super) fn withholds_call(&self) -> bool {
        self.atomic.as_ref().is_some_and(|atomic| atomic.is_open())
    }

    /// Returns the bytes that atomic delivery holds.
    pub(super) fn held_of_call(&self) -> usize {
        self.atomic.as_ref().map_or(0, |atomic| atomic.held())
    }

    /// Adds the bytes held by the stages after atomic delivery to `held`. After the limit of a jail
    /// nothing is held, because no text follows.
    pub(super) fn held(&self, mut held: Held) -> Held {
        if self.failed().is_some() {
            return Held::default();
        }
        let kept = self.withheld.as_ref().map_or(0, |withheld| withheld.held());
        if kept > 0 {
            held = Held { bytes: held.bytes.saturating_add(kept), kind: HeldKind::Reasoning };
        }
        match self.jail.as_ref().map(|jail| jail.jailer.held()) {
            Some(jailed) if jailed.kind != HeldKind::Nothing => {
                Held { bytes: held.bytes.saturating_add(jailed.bytes), kind: jailed.kind }
            }
            _ => held,
        }
    }

    /// Returns the bytes of text held by the stages.
    pub(super) fn texts(&self) -> usize {
        let withheld = self.withheld.as_ref().map_or(0, |withheld| withheld.held());
        withheld.saturating_add(self.jail.as_ref().map_or(0, |jail| jail.jailer.held().bytes))
    }

    pub(super) fn buffered(&self) -> usize {
        let stages = [
            self.held_of_call(),
            self.forms.as_ref().map_or(0, |forms| forms.buffered()),
            self.withheld.as_ref().map_or(0, |withheld| withheld.held()),
            self.jail.as_ref().map_or(0, |jail| jail.jailer.buffered()),
        ];
        stages.iter().sum()
    }
}

/// Calls to the stages that are not events.
impl Chain<'_> {
    /// Returns the markers that act only as marker tokens, unless `token` is fed as its text.
    pub(super) fn tokens_for(&self, token: Token<'_>) -> Option<MarkerTokens> {
        let stage = self.next.stage.as_ref().filter(|_| !token.is_plain())?;
        Some(stage.tokens().clone())
    }

    /// Whether `token` is a marker token that acts.
    pub(super) fn acts_on(&self, token: Token<'_>) -> bool {
        let stage = self.next.stage.as_ref().filter(|_| token.kind == TokenKind::Marker);
        stage.is_some_and(|stage| stage.tokens().fed(token.text).is_some())
    }

    fn jail(&mut self, step: impl FnOnce(&mut JailStage, &mut AfterJail<'_>)) {
        let Link { stage, next } = &mut self.next.next.next.next;
        if let Some(jail) = stage {
            step(jail, next);
        }
    }

    /// Checks the time limits of the stages.
    pub(super) fn tick(&mut self) {
        self.jail(|jail, next| jail.run(|jailer| jailer.tick(next)));
    }

    /// Reports the end of a chunk to the stages.
    pub(super) fn chunk_ended(&mut self) {
        self.jail(|jail, next| jail.run(|jailer| jailer.chunk_ended(next)));
    }

    /// Begins another message. The previous one ended in reasoning if `open` is set. No mark spans
    /// the boundary.
    pub(super) fn message_boundary(&mut self, open: bool) {
        if let Link { stage: Some(withheld), next } = &mut self.next.next.next {
            withheld.message_boundary(open, next);
        }
        self.jail(|jail, next| jail.run(|jailer| jailer.settle(next)));
    }

    /// Records a call that the guard did not read. The call counts as an answer, and no mark spans
    /// it.
    pub(super) fn call(&mut self) {
        self.release();
        self.jail(|jail, next| jail.run(|jailer| jailer.settle(next)));
    }

    /// Emits withheld reasoning.
    pub(super) fn release(&mut self) {
        if let Link { stage: Some(withheld), next } = &mut self.next.next.next {
            withheld.release(next);
        }
    }

    /// Reports the calls with mixed markers. The cursor has ended.
    pub(super) fn report_mixed(&mut self) {
        let Link { stage, next } = self;
        if let Some(forms) = stage {
            forms.ended(next);
        }
    }

    /// Reports the end of the cursor, inside reasoning if `open` is set. Withheld reasoning may be
    /// the answer.
    pub(super) fn cursor_ended(&mut self, end: End, open: bool) {
        if let Link { stage: Some(withheld), next } = &mut self.next.next.next {
            withheld.finish(end, open, next);
        }
        self.jail(|jail, _| {
            if let Some(parser) = jail.jailer.parser_mut() {
                parser.ended(end);
            }
        });
    }

    /// Ends the message and releases held events.
    pub(super) fn finish(&mut self) {
        self.jail(|jail, next| jail.run(|jailer| jailer.finish(next)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jail_match::{
        Diagnostic, DiagnosticKind, Event, Jail, MarkerTokens, OwnedEvent, Sink, Span, SpanKind,
        Trace,
    };

    use think_filter::Withheld;
    use wire_remap::RemapTable;

    use super::{Atomic, Forms, JailStage, Output, TokenStage, Withholding};
    use crate::jailer::Jailer;

    #[derive(Default)]
    struct Received {
        events: Vec<OwnedEvent>,
        accounted: u64,
        traced: Vec<Trace>,
    }

    impl Sink for Received {
        fn event(&mut self, event: Event<'_>) {
            self.events.push(event.to_owned());
        }

        fn account(&mut self, span: Span) {
            self.accounted += span.len;
        }

        fn trace(&mut self, trace: Trace) {
            self.traced.push(trace);
        }
    }

    #[test]
    fn every_stage_forwards_unhandled_events() {
        let jail = Jail::builder().pair("<s>", "</s>").build().unwrap();
        let mut output = Output {
            forms: Some(Box::new(Forms::new(&RemapTable::hermes()))),
            tokens: Some(Box::new(TokenStage::new(MarkerTokens::default(), Arc::default()))),
            atomic: Some(Box::new(Atomic::new(64))),
            withheld: Some(Box::new(Withholding::new(Withheld::new(Some(64), None), &[]))),
            jail: Some(Box::new(JailStage::new(Jailer::new(jail)))),
            stats: Some(Box::default()),
        };
        let (mut bare, mut staged) = (Received::default(), Received::default());
        let mut chain = output.chain(&mut staged);
        let stages: [&mut dyn Sink; 2] = [&mut bare, &mut chain];
        for sink in stages {
            sink.event(Event::EdgeMatched(3));
            sink.event(Diagnostic::new(DiagnosticKind::Noise, 1, 2).into());
            sink.account(Span { kind: SpanKind::Markup, at: 0, len: 5 });
            sink.trace(Trace::Refuted { at: 3, len: 4 });
        }
        assert_eq!(staged.events, bare.events);
        assert_eq!((staged.accounted, bare.accounted), (5, 5));
        assert_eq!((staged.traced.len(), bare.traced.len()), (1, 1));
    }
}
