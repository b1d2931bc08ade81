//! Templates: refusals, streaming, and the laws of streams.

/// Errors of templates, and their texts.
mod errors;
/// Chunk invariance, nothing lost, bounded, linear.
mod laws;
/// Each error of the reference, with its place.
mod refusals;
/// Limits and settings of parsers.
mod settings;
/// Events at the earliest chunk that makes them certain.
mod streaming;
mod support;
