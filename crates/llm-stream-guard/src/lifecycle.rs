//! Lifecycle records and redaction for the streams of this crate: [`stream_lifecycle`] with
//! collectors and guardrails for events and chunks.
//!
//! A wrapper may be before a guard, after it, or both. Two wrappers share an id, differ in
//! [`Lifecycle::tap`], and write one END record each.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use llm_stream_guard::{Guard, guard_text, profile};
//! use llm_stream_guard::lifecycle::{Lifecycle, LifecycleEvent, MessageCollector};
//! use tokio_stream::StreamExt;
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let chunks = ["<think>hm</thi", "nk>Hi."].map(Ok::<_, std::io::Error>);
//! let guard = Guard::builder(&profile("qwen3")?).build()?;
//! let log = Arc::new(std::sync::Mutex::new(Vec::new()));
//! let sink = Arc::clone(&log);
//! let stream = Lifecycle::new("call-1")
//!     .collect_with(MessageCollector::default())
//!     .subscriber(Arc::new(move |event: &Arc<LifecycleEvent>| {
//!         if let (Some(end), Ok(mut log)) = (event.end(), sink.lock()) {
//!             log.push(end.clone());
//!         }
//!     }))
//!     .wrap(guard_text(tokio_stream::iter(chunks), guard));
//! let events: Vec<_> = stream.collect().await;
//! assert_eq!(events.len(), 2);
//! let log = log.lock().map_err(|_| "poisoned")?;
//! assert_eq!(log[0].ending.name(), "complete");
//! assert_eq!(log[0].data.as_ref().map(|data| &data["content"]), Some(&"Hi.".into()));
//! # Ok(())
//! # })
//! # }
//! ```
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | join what a stream carried | [`MessageCollector`] for events, [`ChatCollector`] for chunks |
//! | redact a stream | [`Redactor`] with [`RedactText`], [`RedactEvents`] or [`RedactChunks`]; [`Found`] is what a [`Substitute`] sees, and [`MatchTooLong`] is an error |
//! | restore what was redacted | [`Vault`] |

mod chat;
mod message;
mod read;
mod redact;
mod refuse;

pub use chat::ChatCollector;
pub use message::{MessageCollector, message_json};
pub use read::{chunk_text, event_text};
pub use redact::{
    Found, MatchTooLong, Recogniser, RedactChunks, RedactEvents, RedactText, Redactor, Substitute,
    Vault,
};
pub use refuse::RefuseChunks;
pub use stream_lifecycle::*;
