//! What the façade promises, by subject.

/// Chunks of chat completions.
mod chat;
/// Jails around content and streams.
mod jails;
/// Every profile under the laws.
mod laws;
/// Records of guarded streams.
mod lifecycle;
/// Names, limits and estimates of reasoning.
mod reasoning;
/// The page of reasoning formats.
mod reasoning_docs;
/// Guards that decode remapped delimiters.
mod remap;
/// Streams of text.
mod stream;
