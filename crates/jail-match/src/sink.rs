//! Sinks, which receive events, the account of all other bytes, and traces.

use crate::event::Event;

/// A receiver of the output of a [`crate::Driver`], in source order.
///
/// A closure over [`Event`]s is a sink. Implement the trait to receive the account as well. Text is
/// borrowed from the caller's chunk or from held text: copy it to keep it.
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
    /// Receives the next event.
    fn event(&mut self, event: Event<'_>);

    /// Receives a range of the input that did not become text. By default, does nothing.
    fn account(&mut self, span: Span) {
        let _ = span;
    }

    /// Receives a decision of the cursor about a marker, for explanations. By default, does
    /// nothing.
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

/// A reference to a sink, as a sink. It makes a trait object of any sink, sized or not.
///
/// ```
/// use jail_match::{ByRef, Event, Sink};
/// fn emit(sink: &mut dyn Sink) {
///     sink.event(Event::Content("hi"));
/// }
/// fn emit_to<S: Sink + ?Sized>(sink: &mut S) {
///     emit(&mut ByRef(sink));
/// }
/// let mut count = 0;
/// emit_to(&mut |_: Event<'_>| count += 1);
/// assert_eq!(count, 1);
/// ```
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
    /// The reason why the range is not text.
    pub kind: SpanKind,
    /// The stream offset, in bytes.
    pub at: u64,
    /// The length in bytes; never 0.
    pub len: u64,
}

/// The reason why a range of the input is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// A marker and the newlines bound to it.
    Markup,
    /// Whitespace that only framed markup.
    Framing,
    /// The input of a committed body: markup and data of a call.
    Body,
    /// Bytes that were dropped and reported in a diagnostic.
    Dropped,
}

/// A decision of the cursor about a marker. Offsets are in the stream, in bytes, and include
/// newlines bound to the marker.
///
/// `"<call> is a tag, <call>go</call>"` traces `Opened`, `Refuted`, `Opened`, `Committed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trace {
    /// The marker of an edge acted.
    Matched {
        /// The position of the edge in [`crate::Table::edges`].
        edge: usize,
        /// The offset of the marker.
        at: u64,
        /// The length of the marker or tag.
        len: u64,
    },
    /// Whitespace is held, and text after it may be emitted before its fate is decided.
    Held {
        /// The offset of the whitespace.
        at: u64,
        /// The length of the whitespace.
        len: u64,
    },
    /// Whitespace that was held is text. It is emitted next.
    Released {
        /// The offset of the whitespace.
        at: u64,
        /// The length of the whitespace.
        len: u64,
    },
    /// A body read the end tag of the item it was reading, or of an item around that.
    EndTag {
        /// The offset of the tag.
        at: u64,
        /// The length of the marker or tag.
        len: u64,
    },
    /// The marker of an edge opened a candidate, which may still be text.
    Opened {
        /// The position of the edge in [`crate::Table::edges`].
        edge: usize,
        /// The offset of the marker.
        at: u64,
        /// The length of the marker or tag.
        len: u64,
    },
    /// A part of a call begins. Parts that a candidate reads are reported before it commits.
    Part {
        /// The part that begins.
        part: CallPart,
        /// The position of the call among the message's calls.
        call: u32,
        /// The offset at which the part begins.
        at: u64,
    },
    /// The candidate committed: it is a call.
    Committed {
        /// The offset of the candidate's opener.
        at: u64,
        /// The length of the input that made it certain, with the opener.
        len: u64,
    },
    /// The candidate was refuted: its bytes are scanned again as text, from its second byte on.
    Refuted {
        /// The offset of the candidate's opener.
        at: u64,
        /// The length of the input that refuted it, with the opener.
        len: u64,
    },
    /// The candidate is markup without a call. The text after its markup is scanned for markers.
    Empty {
        /// The offset of the candidate's opener.
        at: u64,
        /// The length of the markup, with the opener.
        len: u64,
    },
}

/// A part of a call on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallPart {
    /// The text after the call's name. The name is known here.
    Named,
    /// The arguments, including the tags of parameters.
    Arguments,
    /// The text after the arguments.
    Rest,
}
