//! From the driver's sink to the caller's pieces: spans, counts, withheld reasoning.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "the counts are of spans and markers of one stream, which has fewer than 2^64 bytes"
)]

use jail_match::{Channel, End, Event, Sink};

use crate::{
    counts::Counts,
    edges::Role,
    withheld::{Kept, Withheld},
};

/// A piece of the answer, its text borrowed from the chunk it came in and never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "callers match on all of it")]
pub enum Piece<'a> {
    /// Visible text.
    Content(&'a str),
    /// A span of reasoning begins: its first text follows.
    ReasoningStart,
    /// Reasoning.
    Reasoning(&'a str),
    /// The span ended, by its closer or with the message: its last text came before.
    ReasoningEnd,
}

/// What of a message outlives a chunk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) counts: Counts,
    pub(crate) withheld: Withheld,
    /// A span of reasoning whose start was told.
    in_span: bool,
}

impl Progress {
    pub(crate) fn new(withheld: Withheld) -> Self {
        Self { withheld, ..Self::default() }
    }

    pub(crate) fn reset(&mut self) {
        (self.counts, self.in_span) = (Counts::default(), false);
        self.withheld.reset();
    }

    /// Runs `step` on what is withheld; what it lets go is told.
    fn telling(
        &mut self,
        on: &mut impl FnMut(Piece<'_>),
        step: impl FnOnce(&mut Withheld, &mut dyn FnMut(Kept<'_>)),
    ) {
        let Self { counts, withheld, in_span } = self;
        step(withheld, &mut |kept| tell(counts, in_span, kept, on));
    }

    pub(crate) fn text(&mut self, channel: Channel, text: &str, on: &mut impl FnMut(Piece<'_>)) {
        if self.withheld.is_off() {
            return tell(&mut self.counts, &mut self.in_span, Kept::Text(channel, text), on);
        }
        self.telling(on, |withheld, on| withheld.text(channel, text, on));
    }

    fn span_ended(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        self.telling(on, Withheld::span_ended);
    }

    /// The message ended, as `end` says; `open` if its reasoning was.
    pub(crate) fn finish(&mut self, end: End, open: bool, on: &mut impl FnMut(Piece<'_>)) {
        self.counts.unclosed += u64::from(open);
        self.telling(on, |withheld, on| withheld.finish(end, open, on));
        tell(&mut self.counts, &mut self.in_span, Kept::SpanEnd, on);
    }

    /// Another message follows in the stream; the one before ended in reasoning if `open`.
    pub(crate) fn message_boundary(&mut self, open: bool, on: &mut impl FnMut(Piece<'_>)) {
        self.telling(on, |withheld, on| withheld.message_boundary(open, on));
        tell(&mut self.counts, &mut self.in_span, Kept::SpanEnd, on);
    }
}

fn tell(counts: &mut Counts, in_span: &mut bool, kept: Kept<'_>, on: &mut impl FnMut(Piece<'_>)) {
    let reasons = matches!(kept, Kept::Text(Channel::REASONING, _));
    if !reasons && core::mem::take(in_span) {
        on(Piece::ReasoningEnd);
    }
    let Kept::Text(channel, text) = kept else { return };
    counts.add(channel, text);
    if !reasons {
        return on(Piece::Content(text));
    }
    if !core::mem::replace(in_span, true) {
        counts.spans += 1;
        on(Piece::ReasoningStart);
    }
    on(Piece::Reasoning(text));
}

/// The sink of one push.
pub(crate) struct Pieces<'f, F> {
    pub(crate) progress: &'f mut Progress,
    pub(crate) roles: &'f [Role],
    pub(crate) on: F,
}

impl<F: FnMut(Piece<'_>)> Sink for Pieces<'_, F> {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        if let Some((channel, text)) = event.as_text() {
            return self.progress.text(channel, text, &mut self.on);
        }
        let Event::EdgeMatched(edge) = event else { return };
        match self.roles.get(edge) {
            Some(Role::Close) => self.progress.span_ended(&mut self.on),
            Some(Role::Echo) => self.progress.counts.echoes += 1,
            Some(Role::Stray) => self.progress.counts.stray_closers += 1,
            Some(Role::Open | Role::Other) | None => {}
        }
    }
}
