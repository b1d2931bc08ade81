//! Incremental JSON: checking, escaping, decoding, closing.

pub(crate) mod escape;
pub(crate) mod scan;
