//! The text that a run of an expression reads.

/// Text from the place where a run began.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "regex"), expect(dead_code, reason = "no expression reads it"))]
pub(crate) struct PatternView<'t> {
    pub(crate) text: &'t [u8],
    /// The byte before it; `None` at the start of the stream.
    pub(crate) before: Option<u8>,
    /// Whether no text follows.
    pub(crate) ended: bool,
}
