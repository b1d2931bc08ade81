//! Where a driver writes: events, and the account of every byte that became none.

use crate::event::Event;

/// Receives what a [`crate::Driver`] emits, in source order.
///
/// A closure over [`Event`]s is a sink; implement the trait where the account matters, too. Text is
/// borrowed from the caller's chunk or from what was held; copy it to keep it.
///
/// ```
/// use jail_match::{Channel, Driver, Edge, End, Event, NoBodies, DriverSettings, Table, Then};
/// let on = Channel::CONTENT.mask();
/// let table = Table::new([Edge::new("<mark>", on, Then::Erase)])?;
/// let (mut driver, mut text) = (Driver::new(table, DriverSettings::default()), String::new());
/// let mut sink = |event: Event<'_>| {
///     if let Event::Content(piece) = event {
///         text.push_str(piece);
///     }
/// };
/// driver.push("a <mark>b", &mut NoBodies, &mut sink)?;
/// driver.finish(End::Stop, &mut NoBodies, &mut sink)?;
/// assert_eq!(text, "a b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sink {
    /// The next event.
    fn event(&mut self, event: Event<'_>);

    /// A range of the input that did not become text. Ignored unless overridden; without an
    /// override it costs nothing.
    fn account(&mut self, span: Span) {
        let _ = span;
    }

    /// What the cursor made of a marker it found: for explanations. Ignored unless overridden;
    /// without an override it costs nothing.
    fn trace(&mut self, trace: Trace) {
        let _ = trace;
    }
}

impl<F: FnMut(Event<'_>)> Sink for F {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// A borrowed sink as a sink of its own: makes a trait object of any, sized or not.
pub struct ByRef<'s, S: ?Sized>(pub &'s mut S);

impl<S: ?Sized> core::fmt::Debug for ByRef<'_, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("ByRef").finish_non_exhaustive()
    }
}

impl<S: Sink + ?Sized> Sink for ByRef<'_, S> {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        self.0.event(event);
    }

    #[inline]
    fn account(&mut self, span: Span) {
        self.0.account(span);
    }

    #[inline]
    fn trace(&mut self, trace: Trace) {
        self.0.trace(trace);
    }
}

/// A range of the input that is not text, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Why it is not text.
    pub kind: SpanKind,
    /// Offset in the stream, in bytes.
    pub at: u64,
    /// Length in bytes; never 0.
    pub len: u64,
}

/// Why a range of the input is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// A recognised marker and the newlines bound to it.
    Markup,
    /// Whitespace that only framed markup.
    Framing,
    /// Input of a body that committed: markup and data of a call.
    Body,
    /// Dropped, with a diagnostic.
    Dropped,
}

/// What the cursor made of a marker. Offsets are in the stream, in bytes; newlines bound to the
/// marker count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trace {
    /// The marker of the edge at this position of the table acted.
    Matched {
        /// Position in [`crate::Table::edges`].
        edge: usize,
        /// Where the marker stands.
        at: u64,
        /// Its length.
        len: u64,
    },
    /// A body read an end tag: of what it read last, or of what holds it.
    EndTag {
        /// Where the tag stands.
        at: u64,
        /// Its length.
        len: u64,
    },
    /// The marker of an edge opened a candidate: nothing is certain yet.
    Opened {
        /// Position in [`crate::Table::edges`].
        edge: usize,
        /// Where the marker stands.
        at: u64,
        /// Its length.
        len: u64,
    },
    /// The candidate is certain: a body acts.
    Committed {
        /// Where the candidate's opener stands.
        at: u64,
        /// How much of the input made it certain, the opener with it.
        len: u64,
    },
    /// The candidate is no body: its bytes are scanned again from behind its first, as text.
    Refuted {
        /// Where the candidate's opener stands.
        at: u64,
        /// How much of the input showed it, the opener with it.
        len: u64,
    },
    /// The candidate is markup, and no body: what follows its markup is scanned as text.
    Empty {
        /// Where the candidate's opener stands.
        at: u64,
        /// How much is markup, the opener with it.
        len: u64,
    },
}
