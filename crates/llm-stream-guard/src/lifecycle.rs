//! The life of a stream on record: a collector sees every item, a finalizer makes one aggregate,
//! sanitizers decide what of it may be told, subscribers are told once.
//!
//! [`Lifecycle`] sets it up; [`Lifecycle::wrap`] puts it around any `Stream` of `Result`s.
//! Nothing here spawns, and nothing reads a clock that was not handed in.
//!
//! - All of it runs inside the [`Context`] that was given, on whatever thread polls or drops.
//! - **Panics.** One in the finalizer, a sanitizer, the codec or a subscriber is a
//!   [`Fault`] in the END event, and ends nothing else: a finalizer's aggregate is then null, a
//!   sanitizer's is omitted. One in upstream, the guardrail or the collector ends the stream as
//!   [`Ending::Panicked`] and goes on to whoever polls, behind END, unless
//!   [`Lifecycle::cut_error`] makes an error of it. None leaves a drop.
//! - **The guardrail** is the only thing that changes what the consumer sees. Sanitizers see
//!   to the record.
//! - **Cost.** An item costs a virtual call, two with a context; no lock, no clone, no
//!   allocation. A guardrail holds what it must; nothing else is buffered.
//! - A wrapper may stand in front of a guard, behind it, or both: same id, different
//!   [`Lifecycle::tap`], one END each.
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
#![doc = include_str!("../../../docs/lifecycle.md")]

mod builder;
mod clock;
mod close;
mod collector;
mod collectors;
mod context;
mod ending;
mod event;
mod guardrail;
mod live;
mod metadata;
mod observed;
mod queue;
mod redact;
mod reporter;
mod sanitize;
#[cfg(feature = "tracing")]
mod span;
mod subscribe;
mod unwind;

pub use builder::{Lifecycle, Started};
pub use clock::{Clock, Stamp, SystemClock, Times};
pub use close::CloseError;
pub use collector::{Collector, Finish, Refused};
pub use collectors::{ChatCollector, MessageCollector, TextCollector, message_json};
pub use context::{Context, ContextHandle};
pub use ending::{AfterWhole, Ending, ErrorInfo, Fault, Party, Standing, Withheld};
pub use event::{
    Call, EndEvent, ItemInfo, LifecycleEvent, Mark, Omission, OmittedWhy, Rejected, Start,
};
pub use guardrail::{Flow, Guardrail, Outlet};
pub use metadata::{Merge, StatusKeys};
pub use observed::Observed;
pub use queue::{Flush, Inbox, Overflow, Queue};
pub use redact::{MatchTooLong, RedactChunks, RedactEvents, RedactText, Redactor};
pub use reporter::{Marks, OnNull};
pub use sanitize::{Sanitizer, Subject, Verdict};
pub use subscribe::{Codec, Subscriber};
