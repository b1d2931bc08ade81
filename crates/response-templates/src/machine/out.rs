//! Where a machine writes: the sink, from the end of the prompt on.

use jail_match::{Channel, Diagnostic, DiagnosticKind, Event, Sink, Span, SpanKind, Trace};

/// The sink, and where what is for it begins. Places are counted from the start of what was read,
/// those in events from the start of what the model wrote.
pub(super) struct Out<'s> {
    pub(super) sink: &'s mut dyn Sink,
    /// What came before this place belongs to the prompt.
    pub(super) from: u64,
    /// Where in the stream the message begins.
    pub(super) origin: u64,
}

impl Out<'_> {
    /// A place as events say it.
    pub(super) fn place(&self, at: u64) -> u64 {
        at.saturating_sub(self.from) + self.origin
    }

    /// Text of `channel` that stands at `at`.
    pub(super) fn text(&mut self, channel: Channel, at: u64, text: &str) {
        let muted = usize::try_from(self.from.saturating_sub(at)).unwrap_or(usize::MAX);
        if let Some(text) = text.get(muted..).filter(|text| !text.is_empty()) {
            self.sink.event(Event::text(channel, text));
        }
    }

    /// Bytes from `at` to `end` that are no text.
    pub(super) fn span(&mut self, kind: SpanKind, at: u64, end: u64) {
        let (at, end) = (at.max(self.from), end.max(self.from));
        if end > at {
            self.sink.account(Span { kind, at: self.place(at), len: end - at });
        }
    }

    /// The boundary of this number acted, from `at` to `end`.
    pub(super) fn marker(&mut self, edge: usize, at: u64, end: u64) {
        let (at, end) = (at.max(self.from), end.max(self.from));
        if end > at {
            self.span(SpanKind::Markup, at, end);
            self.sink.trace(Trace::Matched { edge, at: self.place(at), len: end - at });
        }
    }

    pub(super) fn diagnostic(&mut self, kind: DiagnosticKind, at: u64, bytes: u64) {
        let diagnostic = Diagnostic::new(kind, self.place(at), bytes);
        self.sink.event(diagnostic.into());
    }

    /// A diagnostic that counts the bytes from `at` to `end`.
    pub(super) fn counted(&mut self, kind: DiagnosticKind, at: u64, end: u64) {
        let at = at.max(self.from);
        if end > at {
            self.diagnostic(kind, at, end - at);
        }
    }

    /// As [`Out::span`] of dropped bytes, with a diagnostic that counts them.
    pub(super) fn dropped(&mut self, kind: DiagnosticKind, at: u64, end: u64) {
        self.counted(kind, at, end);
        self.span(SpanKind::Dropped, at, end);
    }
}
