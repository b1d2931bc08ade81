//! The conversion of the driver's events to pieces, with spans, counts and withheld reasoning.
//!
//! ```text
//! <think>why</think>so     ReasoningStart, Reasoning("why"), ReasoningEnd, Content("so")
//! ```

use jail_match::{Channel, End, Event, Sink};

use crate::{
    counts::Counts,
    edges::Role,
    withheld::{Kept, Withheld},
};

/// A piece of a message. Its text is borrowed from the chunk or from held text, and never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "callers match on all of it")]
pub enum Piece<'a> {
    /// Text of the visible answer.
    Content(&'a str),
    /// The start of a span of reasoning, directly before its first text.
    ReasoningStart,
    /// Text of the reasoning.
    Reasoning(&'a str),
    /// The end of a span, at its closer or at the end of the message.
    ReasoningEnd,
}

/// The state of a message between chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) counts: Counts,
    pub(crate) withheld: Withheld,
    /// Whether a span is open whose start was emitted.
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

    /// Runs `step` on the withheld text, and emits the text it releases.
    fn with_withheld(
        &mut self,
        on: &mut impl FnMut(Piece<'_>),
        step: impl FnOnce(&mut Withheld, &mut dyn FnMut(Kept<'_>)),
    ) {
        let Self { counts, withheld, in_span } = self;
        step(withheld, &mut |kept| emit(counts, in_span, kept, on));
    }

    pub(crate) fn text(&mut self, channel: Channel, text: &str, on: &mut impl FnMut(Piece<'_>)) {
        if self.withheld.is_off() {
            return emit(&mut self.counts, &mut self.in_span, Kept::Text(channel, text), on);
        }
        self.with_withheld(on, |withheld, on| withheld.text(channel, text, on));
    }

    fn span_ended(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        self.with_withheld(on, Withheld::span_ended);
    }

    /// Ends the message. `open` states whether its reasoning was open.
    pub(crate) fn finish(&mut self, end: End, open: bool, on: &mut impl FnMut(Piece<'_>)) {
        self.counts.unclosed = self.counts.unclosed.saturating_add(u64::from(open));
        self.with_withheld(on, |withheld, on| withheld.finish(end, open, on));
        emit(&mut self.counts, &mut self.in_span, Kept::SpanEnd, on);
    }

    /// Starts another message. `open` states whether the reasoning of the previous one was open.
    pub(crate) fn message_boundary(&mut self, open: bool, on: &mut impl FnMut(Piece<'_>)) {
        self.with_withheld(on, |withheld, on| withheld.message_boundary(open, on));
        emit(&mut self.counts, &mut self.in_span, Kept::SpanEnd, on);
    }
}

/// Counts and emits released text, with the starts and ends of its spans.
fn emit(counts: &mut Counts, in_span: &mut bool, kept: Kept<'_>, on: &mut impl FnMut(Piece<'_>)) {
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
        counts.spans = counts.spans.saturating_add(1);
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
        let counts = &mut self.progress.counts;
        match self.roles.get(edge) {
            Some(Role::Close) => self.progress.span_ended(&mut self.on),
            Some(Role::Echo) => counts.echoes = counts.echoes.saturating_add(1),
            Some(Role::Stray) => counts.stray_closers = counts.stray_closers.saturating_add(1),
            Some(Role::Open | Role::Other) | None => {}
        }
    }
}
