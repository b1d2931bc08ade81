//! Templates: refusals, streaming, and the laws of streams.

/// Errors of templates, with their texts.
mod errors;
/// The laws of streams, with random texts.
mod laws;
/// Each error of the reference implementation, with its place.
mod refusals;
/// Limits and settings of parsers.
mod settings;
/// Events at the earliest chunk that makes them certain.
mod streaming;
mod support;
