//! What the façade promises, by subject.

/// Chunks of chat completions.
mod chat;
/// Tables of promises.
mod contracts;
/// The page of default limits.
mod default_limits;
/// The page of diagnostics.
mod diagnostics;
/// What became of recordings, and why.
mod explain;
/// Templates that hurt whoever renders them.
#[cfg(feature = "jinja")]
mod hostile;
/// From checkpoints to families.
mod identify;
/// Jails around content and streams.
mod jails;
/// Ids that stand after the name on the wire.
mod late_ids;
/// Every profile under the laws.
mod laws;
/// Records of guarded streams.
mod lifecycle;
/// Every limit, and the heap they leave.
mod limits;
/// Ends of messages, and what was open then.
mod message_end;
/// Model ids and the patterns of families.
mod models;
/// Names, limits and estimates of reasoning.
mod reasoning;
/// The page of reasoning formats.
mod reasoning_docs;
/// Recordings with token ids.
mod recorded_ids;
/// Guards that decode remapped delimiters.
mod remap;
/// Guards made from requests.
mod request;
/// Settings as data.
mod settings;
/// Streams of text.
mod stream;
/// Response templates.
mod templates;
