//! From the driver's sink to the caller's pieces: spans, counts, withheld reasoning.

use jail_match::{Channel, End, Event, Sink};

use crate::{
    counts::Counts,
    edges::Role,
    unclosed::OpenSpan,
    withheld::{Kept, WithheldReasoning},
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
    pub(crate) withheld: Option<WithheldReasoning>,
    pub(crate) open: Option<OpenSpan>,
    /// A span of reasoning whose start was told.
    in_span: bool,
}

impl Progress {
    pub(crate) fn new(withheld: Option<WithheldReasoning>, open: Option<OpenSpan>) -> Self {
        Self { withheld, open, ..Self::default() }
    }

    pub(crate) fn reset(&mut self) {
        (self.counts, self.in_span) = (Counts::default(), false);
        if let Some(withheld) = &mut self.withheld {
            withheld.reset();
        }
        if let Some(open) = &mut self.open {
            open.close();
        }
    }

    fn tell(&mut self, channel: Channel, text: &str, on: &mut impl FnMut(Piece<'_>)) {
        self.counts.add(channel, text);
        if channel != Channel::REASONING {
            self.end_span(on);
            return on(Piece::Content(text));
        }
        if !self.in_span {
            self.in_span = true;
            self.counts.spans += 1;
            on(Piece::ReasoningStart);
        }
        on(Piece::Reasoning(text));
    }

    fn end_span(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        if core::mem::take(&mut self.in_span) {
            on(Piece::ReasoningEnd);
        }
    }

    pub(crate) fn text(&mut self, channel: Channel, text: &str, on: &mut impl FnMut(Piece<'_>)) {
        if let Some(open) = &mut self.open {
            if channel == Channel::REASONING && open.keeps(text) {
                return;
            }
            self.release_open(usize::MAX, on);
            if channel != Channel::REASONING
                && let Some(open) = &mut self.open
            {
                open.close();
            }
        }
        self.pass(channel, text, on);
    }

    /// Lets go of the open span's text: so many bytes of it are reasoning, the rest is content.
    fn release_open(&mut self, reasoning: usize, on: &mut impl FnMut(Piece<'_>)) {
        let Some(text) = self.open.as_mut().map(OpenSpan::take) else { return };
        let (reasoning, content) = text.split_at(reasoning.min(text.len()));
        for (channel, text) in [(Channel::REASONING, reasoning), (Channel::CONTENT, content)] {
            if !text.is_empty() {
                self.pass(channel, text, on);
            }
        }
    }

    fn pass(&mut self, channel: Channel, text: &str, on: &mut impl FnMut(Piece<'_>)) {
        if self.withheld.as_mut().is_some_and(|withheld| withheld.keeps(channel, text)) {
            return;
        }
        self.release(on);
        self.tell(channel, text, on);
    }

    fn span_ended(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        self.release_open(usize::MAX, on);
        if let Some(open) = &mut self.open {
            open.close();
        }
        if !self.withheld.as_mut().is_some_and(WithheldReasoning::keeps_span_end) {
            self.end_span(on);
        }
    }

    /// Whatever is withheld is emitted where it belongs.
    fn release(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        self.with_withheld(on, |withheld, on| withheld.release(on));
    }

    fn with_withheld<F: FnMut(Piece<'_>)>(
        &mut self,
        on: &mut F,
        step: impl FnOnce(&mut WithheldReasoning, &mut dyn FnMut(Kept<'_>)),
    ) {
        let Some(mut withheld) = self.withheld.take() else { return };
        step(&mut withheld, &mut |kept| match kept {
            Kept::Text(channel, text) => self.tell(channel, text, on),
            Kept::SpanEnd => self.end_span(on),
        });
        self.withheld = Some(withheld);
    }

    /// The message ended, as `end` says; `open` if its reasoning was.
    pub(crate) fn finish(&mut self, end: End, open: bool, on: &mut impl FnMut(Piece<'_>)) {
        self.counts.unclosed += u64::from(open);
        self.end_open(open, on);
        self.with_withheld(on, |withheld, on| withheld.finish(end, on));
        self.end_span(on);
    }

    /// The message ended, in reasoning if `open`.
    fn end_open(&mut self, open: bool, on: &mut impl FnMut(Piece<'_>)) {
        let Some(span) = &self.open else { return };
        let reasoning = if open { span.reasoning() } else { usize::MAX };
        self.release_open(reasoning, on);
    }

    /// Another message follows in the stream; the one before ended in reasoning if `open`.
    pub(crate) fn message_boundary(&mut self, open: bool, on: &mut impl FnMut(Piece<'_>)) {
        self.end_open(open, on);
        if let Some(open) = &mut self.open {
            open.close();
        }
        self.release(on);
        self.end_span(on);
        if let Some(withheld) = &mut self.withheld {
            withheld.reset();
        }
    }
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
