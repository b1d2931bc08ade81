//! What a machine did: the neutral form in which machines of every layer are compared.

use core::{fmt, ops::Range};

/// The channel of text meant for the reader.
pub const CONTENT: u8 = 0;
/// The channel of the model's reasoning.
pub const REASONING: u8 = 1;
/// The outcome of a call that arrived in full.
pub const COMPLETE: &str = "complete";
/// The outcome of a call whose arguments the machine was asked to repair, and did.
pub const REPAIRED: &str = "repaired";

/// One event of a machine's output, in source order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Text of a channel.
    Text {
        /// [`CONTENT`], [`REASONING`] or a machine's own.
        channel: u8,
        /// Never empty.
        text: String,
    },
    /// A call began.
    CallStart {
        /// 0 for the first call of the stream, 1 for the next.
        index: u32,
        /// Unique in the stream.
        id: String,
        /// The function's name.
        name: String,
    },
    /// The JSON text of a call's arguments grew.
    CallArguments {
        /// The call's index.
        index: u32,
        /// Never empty.
        fragment: String,
    },
    /// A call ended.
    CallEnd {
        /// The call's index.
        index: u32,
        /// [`COMPLETE`], [`REPAIRED`], or why it is neither.
        outcome: String,
    },
}

/// An out-of-band note about the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What happened, in the machine's own terms.
    pub kind: String,
    /// Where in the stream, in bytes from its start.
    pub offset: u64,
    /// How many bytes it is about.
    pub bytes: u64,
    /// Where it stands among the events; an error that was returned stands nowhere.
    pub place: Option<Place>,
}

/// A place among the events of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Events before it.
    pub events: usize,
    /// Bytes of text or arguments in the last of them.
    pub bytes: usize,
}

impl Place {
    fn behind(events: &[Event]) -> Self {
        let bytes = match events.last() {
            Some(Event::Text { text, .. }) => text.len(),
            Some(Event::CallArguments { fragment, .. }) => fragment.len(),
            Some(Event::CallStart { .. } | Event::CallEnd { .. }) | None => 0,
        };
        Self { events: events.len(), bytes }
    }
}

/// Why a range of the input is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpanKind {
    /// Recognised markup.
    Markup,
    /// Whitespace removed under a whitespace policy, or bound to a marker.
    Framing,
    /// The inside of a call.
    Call,
    /// Bytes given up, each counted in a diagnostic.
    Dropped,
}

/// A byte range of the input that a machine accounts for as not being text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Why it is not text.
    pub kind: SpanKind,
    /// First byte, counted from the start of the stream.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
}

impl Span {
    /// The range of the input.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.at..self.at.saturating_add(self.len)
    }
}

/// Everything a machine reported. The methods append; machines under test write here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// In source order.
    pub events: Vec<Event>,
    /// In the order reported.
    pub diagnostics: Vec<Diagnostic>,
    /// In any order, and in as many parts as the machine likes.
    pub spans: Vec<Span>,
}

impl Record {
    /// Appends text of `channel`.
    pub fn text(&mut self, channel: u8, text: impl Into<String>) {
        self.events.push(Event::Text { channel, text: text.into() });
    }

    /// Appends the start of a call.
    pub fn call_start(&mut self, index: u32, id: impl Into<String>, name: impl Into<String>) {
        self.events.push(Event::CallStart { index, id: id.into(), name: name.into() });
    }

    /// Appends a piece of a call's arguments.
    pub fn call_arguments(&mut self, index: u32, fragment: impl Into<String>) {
        self.events.push(Event::CallArguments { index, fragment: fragment.into() });
    }

    /// Appends the end of a call.
    pub fn call_end(&mut self, index: u32, outcome: impl Into<String>) {
        self.events.push(Event::CallEnd { index, outcome: outcome.into() });
    }

    /// Appends a diagnostic.
    pub fn diagnostic(&mut self, kind: impl Into<String>, offset: u64, bytes: u64) {
        let place = Some(Place::behind(&self.events));
        self.diagnostics.push(Diagnostic { kind: kind.into(), offset, bytes, place });
    }

    /// Appends what an error said that the machine returned: which events of the same chunk came
    /// before it means nothing.
    pub fn failure(&mut self, kind: impl Into<String>, offset: u64, bytes: u64) {
        self.diagnostics.push(Diagnostic { kind: kind.into(), offset, bytes, place: None });
    }

    /// Accounts for a range of the input.
    pub fn span(&mut self, kind: SpanKind, at: u64, len: u64) {
        self.spans.push(Span { kind, at, len });
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.events.clear();
        self.diagnostics.clear();
        self.spans.clear();
    }

    /// The texts of all channels, concatenated.
    #[must_use]
    pub fn all_text(&self) -> String {
        self.texts().map(|(_, text)| text).collect()
    }

    /// The text of one channel, concatenated.
    #[must_use]
    pub fn channel_text(&self, wanted: u8) -> String {
        self.texts().filter(|&(channel, _)| channel == wanted).map(|(_, text)| text).collect()
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (u8, &str)> {
        self.events.iter().filter_map(|event| match event {
            Event::Text { channel, text } => Some((*channel, text.as_str())),
            _ => None,
        })
    }

    /// Appends a diagnostic behind the events so far, if it has a place.
    fn place(&mut self, one: &Diagnostic) {
        let place = one.place.map(|_| Place::behind(&self.events));
        self.diagnostics.push(Diagnostic { place, ..one.clone() });
    }

    /// The form that must not depend on the chunks: neighbouring texts of one channel and
    /// neighbouring fragments of one call merged, spans sorted and merged. Diagnostics keep their
    /// place, which may be in the middle of a text.
    ///
    /// # Errors
    /// An empty text or fragment: no machine may emit one.
    pub fn coalesced(&self) -> Result<Self, EmptyEvent> {
        let mut whole = Self::default();
        let mut diagnostics = self.diagnostics.iter().peekable();
        for (position, event) in self.events.iter().enumerate() {
            let before = |one: &&Diagnostic| one.place.is_none_or(|it| it.events <= position);
            while let Some(one) = diagnostics.next_if(before) {
                whole.place(one);
            }
            match (whole.events.last_mut(), event) {
                (
                    _,
                    Event::Text { text: piece, .. } | Event::CallArguments { fragment: piece, .. },
                ) if piece.is_empty() => {
                    return Err(EmptyEvent { position });
                }
                (
                    Some(Event::Text { channel, text }),
                    Event::Text { channel: same, text: more },
                ) if channel == same => text.push_str(more),
                (
                    Some(Event::CallArguments { index, fragment }),
                    Event::CallArguments { index: same, fragment: more },
                ) if index == same => fragment.push_str(more),
                _ => whole.events.push(event.clone()),
            }
        }
        diagnostics.for_each(|one| whole.place(one));
        whole.spans = merged(&self.spans);
        Ok(whole)
    }
}

/// The reports of a record without their places: for oracles that know none.
#[must_use]
pub fn unplaced(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.into_iter().map(|one| Diagnostic { place: None, ..one }).collect()
}

fn merged(spans: &[Span]) -> Vec<Span> {
    let mut sorted: Vec<Span> = spans.iter().copied().filter(|span| span.len > 0).collect();
    sorted.sort_by_key(|span| (span.at, span.kind));
    let mut merged: Vec<Span> = Vec::new();
    for span in sorted {
        match merged.last_mut() {
            Some(last) if last.kind == span.kind && last.range().end == span.at => {
                last.len += span.len;
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// An event without text, which tells a reader nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyEvent {
    /// Position in [`Record::events`].
    pub position: usize,
}

impl fmt::Display for EmptyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} carries no text", self.position)
    }
}

impl core::error::Error for EmptyEvent {}
