//! Templates: what is refused, what streams, and the laws of streams.

/// What is refused, and what an error says.
mod errors;
/// Chunk invariance, nothing lost, bounded, linear.
mod laws;
/// Each error of the reference, with its place.
mod refusals;
/// Limits, and what may be asked for.
mod settings;
/// What comes out with the piece that makes it certain.
mod streaming;
mod support;
