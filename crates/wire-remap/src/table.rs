//! The validated table of marker pairs.

use alloc::sync::Arc;

use crate::{
    pair::{MarkerPair, Mode},
    words::Compiled,
};

/// A validated table of marker pairs; cheap to clone, immutable, shared between threads.
///
/// ```
/// use wire_remap::RemapTable;
/// let table = RemapTable::hermes();
/// let text = "Wrap calls in <tool_call>. A user typed [[CALL]].";
/// let wire = table.encode(text);
/// assert_eq!(wire, "Wrap calls in [[CALL]]. A user typed [[~CALL]].");
/// assert_eq!(table.decode(&wire), text);
/// ```
#[derive(Debug, Clone)]
pub struct RemapTable {
    pub(crate) inner: Arc<Compiled>,
}

impl RemapTable {
    /// The most pairs a table may have.
    pub const MAX_ENTRIES: usize = 256;

    /// The pairs, in the order in which they were added; events refer to them by position.
    #[must_use]
    pub fn pairs(&self) -> &[MarkerPair] {
        &self.inner.pairs
    }

    /// The table's mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.inner.settings.mode
    }

    /// A fingerprint of pairs and options: equal tables have equal versions on every machine,
    /// different ones practically never. The nonce does not enter it.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.inner.version
    }

    /// The most bytes of text a stream over this table ever holds back: the longest marker, two
    /// escapes in it, minus one byte. Text without escapes never holds more than the longest marker
    /// minus one. In JSON text ([`Syntax::Json`](crate::Syntax::Json)) each of these bytes may be
    /// spelled in six, and at most 11 bytes of an escape are held until it is whole.
    #[must_use]
    pub fn max_held(&self) -> usize {
        self.inner.max_held
    }
}
