//! The validated table of marker pairs.

use alloc::sync::Arc;

use crate::{
    pair::{MarkerPair, Mode},
    words::Compiled,
};

/// A validated table of marker pairs: immutable, cheap to clone, and shared between threads.
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
    /// Maximum number of pairs of a table.
    pub const MAX_ENTRIES: usize = 256;

    /// Returns the pairs in the order they were added. Pieces refer to them by index.
    #[must_use]
    pub fn pairs(&self) -> &[MarkerPair] {
        &self.inner.pairs
    }

    /// Returns the mode of the table, exact or plain.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.inner.settings.mode
    }

    /// Returns a fingerprint of the pairs and options.
    ///
    /// Equal tables have equal versions on every machine, and different tables almost surely have
    /// different ones. The nonce is not part of the fingerprint.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.inner.version
    }

    /// Returns the maximum number of bytes that a stream over this table holds back.
    ///
    /// This is the length of the longest marker with two escapes, less one. In JSON text
    /// ([`Syntax::Json`](crate::Syntax::Json)) each of these bytes may be spelled with six bytes,
    /// and at most 11 bytes of an incomplete escape are held in addition.
    #[must_use]
    pub fn max_held(&self) -> usize {
        self.inner.max_held
    }
}
