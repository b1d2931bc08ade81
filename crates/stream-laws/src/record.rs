//! The record of a run, a form in which machines of every layer can be compared.

use core::{fmt, ops::Range};

/// The channel of text meant for the reader.
pub const CONTENT: u8 = 0;
/// The channel of the model's reasoning.
pub const REASONING: u8 = 1;
/// The outcome of a call that arrived in full.
pub const COMPLETE: &str = "complete";
/// The outcome of a call whose arguments the machine repaired on request.
pub const REPAIRED: &str = "repaired";

/// One event of a machine's output, in source order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedEvent {
    /// A piece of text of a channel.
    Text {
        /// [`CONTENT`], [`REASONING`] or another channel of the machine.
        channel: u8,
        /// The text; never empty.
        text: String,
    },
    /// The start of a call.
    CallStart {
        /// 0 for the first call of the stream, 1 for the next.
        index: u32,
        /// The id of the call, unique in the stream.
        id: String,
        /// The function's name.
        name: String,
    },
    /// The next piece of the JSON text of a call's arguments.
    CallArguments {
        /// The index of the call.
        index: u32,
        /// The text; never empty.
        fragment: String,
    },
    /// The end of a call, with its outcome.
    CallEnd {
        /// The index of the call.
        index: u32,
        /// [`COMPLETE`], [`REPAIRED`], or another reason for the end.
        outcome: String,
    },
}

/// A notice about the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedDiagnostic {
    /// The kind of the notice, in the machine's terms.
    pub kind: String,
    /// The offset in the stream, in bytes.
    pub offset: u64,
    /// The number of bytes concerned.
    pub bytes: u64,
    /// The place among the events, or `None` for an error that was returned.
    pub place: Option<RecordPlace>,
}

/// A place among the events of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordPlace {
    /// The number of events before the place.
    pub events: usize,
    /// The length of the text or arguments in the last of them.
    pub bytes: usize,
}

impl RecordPlace {
    fn behind(events: &[RecordedEvent]) -> Self {
        let bytes = match events.last() {
            Some(RecordedEvent::Text { text, .. }) => text.len(),
            Some(RecordedEvent::CallArguments { fragment, .. }) => fragment.len(),
            Some(RecordedEvent::CallStart { .. } | RecordedEvent::CallEnd { .. }) | None => 0,
        };
        Self { events: events.len(), bytes }
    }
}

/// The reason why a range of the input is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordedSpanKind {
    /// The range is markup.
    Markup,
    /// The range is whitespace removed under a whitespace policy, or bound to a marker.
    Framing,
    /// The range is the inside of a call.
    Call,
    /// The range was dropped, and a diagnostic counts its bytes.
    Dropped,
}

/// A byte range of the input that a machine accounts for as not being text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedSpan {
    /// The reason why the range is not text.
    pub kind: RecordedSpanKind,
    /// The offset of the first byte in the stream.
    pub at: u64,
    /// The length of the range in bytes.
    pub len: u64,
}

impl RecordedSpan {
    /// Returns the range of the input.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.at..self.at.saturating_add(self.len)
    }
}

/// Everything that a machine reported. Machines under test append to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunRecord {
    /// The events, in source order.
    pub events: Vec<RecordedEvent>,
    /// The diagnostics, in the order reported.
    pub diagnostics: Vec<RecordedDiagnostic>,
    /// The spans, in any order and in any number of parts.
    pub spans: Vec<RecordedSpan>,
}

impl RunRecord {
    /// Appends text of `channel`.
    pub fn text(&mut self, channel: u8, text: impl Into<String>) {
        self.events.push(RecordedEvent::Text { channel, text: text.into() });
    }

    /// Appends the start of a call.
    pub fn call_start(&mut self, index: u32, id: impl Into<String>, name: impl Into<String>) {
        self.events.push(RecordedEvent::CallStart { index, id: id.into(), name: name.into() });
    }

    /// Appends a piece of a call's arguments.
    pub fn call_arguments(&mut self, index: u32, fragment: impl Into<String>) {
        self.events.push(RecordedEvent::CallArguments { index, fragment: fragment.into() });
    }

    /// Appends the end of a call.
    pub fn call_end(&mut self, index: u32, outcome: impl Into<String>) {
        self.events.push(RecordedEvent::CallEnd { index, outcome: outcome.into() });
    }

    /// Appends a diagnostic.
    pub fn diagnostic(&mut self, kind: impl Into<String>, offset: u64, bytes: u64) {
        let place = Some(RecordPlace::behind(&self.events));
        self.diagnostics.push(RecordedDiagnostic { kind: kind.into(), offset, bytes, place });
    }

    /// Appends an error that the machine returned. Such an error has no place among the events,
    /// because events of the same chunk may come before or after it.
    pub fn failure(&mut self, kind: impl Into<String>, offset: u64, bytes: u64) {
        self.diagnostics.push(RecordedDiagnostic { kind: kind.into(), offset, bytes, place: None });
    }

    /// Accounts for a range of the input.
    pub fn span(&mut self, kind: RecordedSpanKind, at: u64, len: u64) {
        self.spans.push(RecordedSpan { kind, at, len });
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.events.clear();
        self.diagnostics.clear();
        self.spans.clear();
    }

    /// Returns the texts of all channels, concatenated.
    #[must_use]
    pub fn all_text(&self) -> String {
        self.texts().map(|(_, text)| text).collect()
    }

    /// Returns the text of one channel, concatenated.
    #[must_use]
    pub fn channel_text(&self, wanted: u8) -> String {
        self.texts().filter(|&(channel, _)| channel == wanted).map(|(_, text)| text).collect()
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (u8, &str)> {
        self.events.iter().filter_map(|event| match event {
            RecordedEvent::Text { channel, text } => Some((*channel, text.as_str())),
            _ => None,
        })
    }

    /// Puts each call together from its events, in the order of their starts.
    ///
    /// # Errors
    /// Returns the first event of a call that never started.
    pub fn calls(&self) -> Result<Vec<RecordedCall>, &RecordedEvent> {
        let mut calls: Vec<RecordedCall> = Vec::new();
        for event in &self.events {
            let (index, fragment, outcome) = match event {
                RecordedEvent::Text { .. } => continue,
                RecordedEvent::CallStart { id, name, .. } => {
                    let (name, id) = (name.clone(), id.clone());
                    calls.push(RecordedCall { name, id, ..RecordedCall::default() });
                    continue;
                }
                RecordedEvent::CallArguments { index, fragment } => (index, fragment.as_str(), ""),
                RecordedEvent::CallEnd { index, outcome } => (index, "", outcome.as_str()),
            };
            let call = calls.get_mut(*index as usize).ok_or(event)?;
            call.arguments.push_str(fragment);
            call.outcome.push_str(outcome);
        }
        Ok(calls)
    }

    /// Appends a diagnostic after the events so far, if it has a place.
    fn place(&mut self, one: &RecordedDiagnostic) {
        let place = one.place.map(|_| RecordPlace::behind(&self.events));
        self.diagnostics.push(RecordedDiagnostic { place, ..one.clone() });
    }

    /// Returns the form of the record that must not depend on chunks. Neighbouring texts of one
    /// channel are merged, and so are neighbouring fragments of one call. Spans are sorted and
    /// merged. Diagnostics keep their place, which may be inside a text.
    ///
    /// # Errors
    /// Returns an error for an empty text or fragment, which no machine may emit.
    pub fn coalesced(&self) -> Result<Self, EmptyEvent> {
        let mut whole = Self::default();
        let mut diagnostics = self.diagnostics.iter().peekable();
        for (position, event) in self.events.iter().enumerate() {
            let before =
                |one: &&RecordedDiagnostic| one.place.is_none_or(|it| it.events <= position);
            while let Some(one) = diagnostics.next_if(before) {
                whole.place(one);
            }
            match (whole.events.last_mut(), event) {
                (
                    _,
                    RecordedEvent::Text { text: piece, .. }
                    | RecordedEvent::CallArguments { fragment: piece, .. },
                ) if piece.is_empty() => {
                    return Err(EmptyEvent { position });
                }
                (
                    Some(RecordedEvent::Text { channel, text }),
                    RecordedEvent::Text { channel: same, text: more },
                ) if channel == same => text.push_str(more),
                (
                    Some(RecordedEvent::CallArguments { index, fragment }),
                    RecordedEvent::CallArguments { index: same, fragment: more },
                ) if index == same => fragment.push_str(more),
                _ => whole.events.push(event.clone()),
            }
        }
        diagnostics.for_each(|one| whole.place(one));
        whole.spans = merged(&self.spans);
        Ok(whole)
    }
}

/// A call of a record, put together from its events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedCall {
    /// The function's name.
    pub name: String,
    /// The id of the call, unique in the stream.
    pub id: String,
    /// The JSON text of the arguments, from all fragments.
    pub arguments: String,
    /// The outcome of the call's end; empty while the call is open.
    pub outcome: String,
}

impl RecordedCall {
    /// Returns whether the call ended with all of its arguments, repaired or not.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        is_complete(&self.outcome)
    }
}

/// Returns whether a call with this outcome has all of its arguments, repaired or not.
///
/// ```
/// use stream_laws::{COMPLETE, REPAIRED, is_complete};
/// assert!(is_complete(COMPLETE) && is_complete(REPAIRED) && !is_complete("malformed"));
/// ```
#[must_use]
pub fn is_complete(outcome: &str) -> bool {
    [COMPLETE, REPAIRED].contains(&outcome)
}

/// Removes the places of diagnostics, for comparison with results that have none.
#[must_use]
pub fn unplaced(diagnostics: Vec<RecordedDiagnostic>) -> Vec<RecordedDiagnostic> {
    diagnostics.into_iter().map(|one| RecordedDiagnostic { place: None, ..one }).collect()
}

fn merged(spans: &[RecordedSpan]) -> Vec<RecordedSpan> {
    let mut sorted: Vec<RecordedSpan> = spans.iter().copied().filter(|span| span.len > 0).collect();
    sorted.sort_by_key(|span| (span.at, span.kind));
    let mut merged: Vec<RecordedSpan> = Vec::new();
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

/// An error: an event has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyEvent {
    /// The position in [`RunRecord::events`].
    pub position: usize,
}

impl fmt::Display for EmptyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} carries no text", self.position)
    }
}

impl core::error::Error for EmptyEvent {}
