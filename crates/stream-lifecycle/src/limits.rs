//! Limits without a setting. Those with one are options of the builder.

/// Maximum number of texts of a stream that are checked apart. One more text ends the stream.
pub(crate) const MAX_TEXTS: usize = 1024;

/// Maximum number of faults of components that the END event names. Further ones are counted.
pub(crate) const MAX_FAULTS: usize = 16;
