//! The streaming encoder, from canonical text to wire text.

use alloc::string::String;

use crate::{
    json_text::Channel,
    scan::Scanner,
    segment::{Direction, Quoting, Segment, SegmentKind, Syntax},
    table::RemapTable,
    tally::Tally,
};

/// An encoder of one stream of canonical text.
///
/// The output equals [`RemapTable::encode`] of the concatenated input. The encoder holds back only
/// a proper prefix of a marker, at most [`RemapTable::max_held`] bytes.
///
/// ```
/// use wire_remap::{RemapTable, StreamEncoder};
/// let mut encoder = StreamEncoder::new(&RemapTable::hermes());
/// let mut wire = String::new();
/// for chunk in ["<tool_", "call>\n{}\n</tool_call", ">"] {
///     encoder.push(chunk, &mut wire);
/// }
/// encoder.finish(&mut wire);
/// assert_eq!(wire, "[[CALL]]\n{}\n[[/CALL]]");
/// ```
#[derive(Debug, Clone)]
pub struct StreamEncoder {
    channel: Channel,
    tally: Tally,
}

impl StreamEncoder {
    /// Creates an encoder of plain text.
    #[must_use]
    pub fn new(table: &RemapTable) -> Self {
        Self::with_syntax(table, Syntax::Text)
    }

    /// Creates an encoder of text in the given syntax.
    #[must_use]
    pub fn with_syntax(table: &RemapTable, syntax: Syntax) -> Self {
        Self::with_quoting(table, Quoting::Protocol, syntax)
    }

    pub(crate) fn with_quoting(table: &RemapTable, quoting: Quoting, syntax: Syntax) -> Self {
        let scanner = Scanner::new(&table.inner, Direction::Encode(quoting));
        Self { channel: Channel::new(scanner, syntax), tally: Tally::default() }
    }

    /// Feeds the next chunk and appends the output that no later chunk can change to `out`.
    pub fn push(&mut self, chunk: &str, out: &mut String) {
        self.push_segments(chunk, &mut |segment| out.push_str(segment.text));
    }

    /// Ends the stream and appends the held text. The encoder keeps its tally, and can then encode
    /// another stream.
    pub fn finish(&mut self, out: &mut String) {
        self.finish_segments(&mut |segment| out.push_str(segment.text));
    }

    /// Discards the held text and clears the tally.
    pub fn reset(&mut self) {
        self.channel.reset();
        self.tally = Tally::default();
    }

    /// Returns the number of bytes received and not yet written.
    #[must_use]
    pub fn held(&self) -> usize {
        self.channel.held()
    }

    /// Returns the counters of this stream.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the number of bytes examined, a measure of work without a clock.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.channel.scanner().examined()
    }

    pub(crate) fn push_segments(&mut self, chunk: &str, on: &mut impl FnMut(Segment<'_>)) {
        let Self { channel, tally } = self;
        channel.push(chunk, &mut |segment| {
            count(segment.kind, tally);
            on(segment);
        });
        tally.max_held = tally.max_held.max(channel.held());
    }

    pub(crate) fn finish_segments(&mut self, on: &mut impl FnMut(Segment<'_>)) {
        let Self { channel, tally } = self;
        channel.finish(&mut |segment| {
            count(segment.kind, tally);
            on(segment);
        });
    }
}

fn count(kind: SegmentKind, tally: &mut Tally) {
    match kind {
        SegmentKind::Encoded => tally.encoded += 1,
        SegmentKind::Escaped => tally.escaped += 1,
        _ => {}
    }
}
