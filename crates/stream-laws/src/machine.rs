//! The interface of machines under test, and functions that run them.

use crate::{cuts::Cut, record::RunRecord};

/// A streaming machine under test, usually a thin adapter around the real one.
///
/// Events must be written to the record when they are decided. Spans may be written later and in
/// parts. A span outside of calls must be written before the text that follows it.
pub trait StreamMachine: Clone + Send + 'static {
    /// Feeds the next piece of the stream.
    fn push(&mut self, chunk: &str, out: &mut RunRecord);

    /// Ends the stream. Called once, after the last push.
    fn finish(&mut self, out: &mut RunRecord);

    /// Makes the machine equal to a new one. The work counter may continue.
    fn reset(&mut self);

    /// Returns the part of the input that is held back now.
    fn held(&self) -> HeldBytes;

    /// Returns the number of bytes examined so far. A byte that is examined twice counts twice.
    fn work(&self) -> u64;

    /// Returns the number of bytes in buffers whose size depends on the input.
    fn state_size(&self) -> usize;
}

/// A machine that also accepts bytes, which may be cut anywhere.
pub trait ByteMachine: StreamMachine {
    /// Feeds the next piece of the stream, which may begin and end inside a scalar.
    fn push_bytes(&mut self, chunk: &[u8], out: &mut RunRecord);
}

/// The bytes that a machine holds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldBytes {
    /// The number of input bytes received and neither emitted nor accounted for.
    pub bytes: usize,
    /// The reason why the bytes are held.
    pub kind: HeldReason,
}

impl HeldBytes {
    /// The value for a machine that holds nothing.
    pub const NOTHING: Self = Self { bytes: 0, kind: HeldReason::None };

    /// Returns the value for `bytes` held because of `kind`, or [`HeldBytes::NOTHING`] for no
    /// bytes.
    #[must_use]
    pub const fn new(kind: HeldReason, bytes: usize) -> Self {
        if bytes == 0 { Self::NOTHING } else { Self { bytes, kind } }
    }
}

/// The reason why bytes are held back: one of five, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldReason {
    /// The machine holds no bytes.
    None,
    /// A proper prefix of a live marker.
    Marker,
    /// A call or header that may still turn out to be text.
    Candidate,
    /// A run of whitespace that the next visible byte decides about.
    Whitespace,
    /// Bytes inside a call: a closer's prefix, an open escape, an undecided scalar, early
    /// arguments.
    Call,
    /// The first bytes of a scalar that was cut.
    Utf8,
}

/// Runs a copy of `machine` over `input` cut by `cut`, including the end of the stream.
pub fn run<M: StreamMachine>(machine: &M, input: &str, cut: Cut) -> RunRecord {
    let (mut machine, mut out) = (machine.clone(), RunRecord::default());
    push_all(&mut machine, input, cut, &mut out);
    machine.finish(&mut out);
    out
}

/// Runs a copy of `machine` over bytes cut by `cut`, including the end of the stream.
pub fn run_bytes<M: ByteMachine>(machine: &M, input: &[u8], cut: Cut) -> RunRecord {
    let (mut machine, mut out) = (machine.clone(), RunRecord::default());
    for piece in cut.byte_pieces(input) {
        machine.push_bytes(piece, &mut out);
    }
    machine.finish(&mut out);
    out
}

/// Pushes the pieces of `input` without ending the stream.
pub fn push_all<M: StreamMachine>(machine: &mut M, input: &str, cut: Cut, out: &mut RunRecord) {
    for piece in cut.pieces(input) {
        machine.push(piece, out);
    }
}
