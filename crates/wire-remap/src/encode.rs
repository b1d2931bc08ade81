//! Canonical to wire, as a stream.

use alloc::string::String;

use crate::{
    bit::{Bit, Kind, Quoting, Syntax, Way},
    json_text::Channel,
    scan::Scanner,
    table::RemapTable,
    tally::Tally,
};

/// Encodes a stream of canonical text.
///
/// The output depends on the concatenated input only, and equals [`RemapTable::encode`] of it.
/// Holds back a proper beginning of a marker and nothing else, at most
/// [`RemapTable::max_held`] bytes.
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
    /// An encoder of plain text.
    #[must_use]
    pub fn new(table: &RemapTable) -> Self {
        Self::of(table, Quoting::Protocol, Syntax::Text)
    }

    /// An encoder of text in the given syntax.
    #[must_use]
    pub fn with_syntax(table: &RemapTable, syntax: Syntax) -> Self {
        Self::of(table, Quoting::Protocol, syntax)
    }

    pub(crate) fn of(table: &RemapTable, quoting: Quoting, syntax: Syntax) -> Self {
        let scanner = Scanner::new(&table.inner, Way::Encode(quoting));
        Self { channel: Channel::new(scanner, syntax), tally: Tally::default() }
    }

    /// Feeds the next piece and appends what is certain to `out`.
    pub fn push(&mut self, chunk: &str, out: &mut String) {
        self.push_bits(chunk, &mut |text, _| out.push_str(text));
    }

    /// Ends the stream and appends what was held; the encoder is then as new, its tally kept.
    pub fn finish(&mut self, out: &mut String) {
        self.finish_bits(&mut |text, _| out.push_str(text));
    }

    /// Forgets everything received, and the tally.
    pub fn reset(&mut self) {
        self.channel.reset();
        self.tally = Tally::default();
    }

    /// Bytes received and not yet written.
    #[must_use]
    pub fn held(&self) -> usize {
        self.channel.held()
    }

    /// What was rewritten so far.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Bytes looked at so far: a measure of work that does not depend on the clock.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.channel.scanner().examined()
    }

    /// Reports output and whether it equals the input it stands for.
    pub(crate) fn push_bits(&mut self, chunk: &str, on: &mut impl FnMut(&str, bool)) {
        let tally = &mut self.tally;
        self.channel.push(chunk, &mut |bit| note(bit, tally, on));
        tally.max_held = tally.max_held.max(self.channel.held());
    }

    pub(crate) fn finish_bits(&mut self, on: &mut impl FnMut(&str, bool)) {
        let tally = &mut self.tally;
        self.channel.finish(&mut |bit| note(bit, tally, on));
    }
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "the tally counts markers of one stream with 64 bits"
)]
fn note(bit: Bit<'_>, tally: &mut Tally, on: &mut impl FnMut(&str, bool)) {
    match bit.kind {
        Kind::Encoded => tally.encoded += 1,
        Kind::Escaped => tally.escaped += 1,
        _ => {}
    }
    on(bit.text, bit.kind == Kind::Text);
}
