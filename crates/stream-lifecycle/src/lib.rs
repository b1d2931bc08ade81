//! A wrapper that records a stream: one START, one END, and an aggregate of the items between them.
//!
//! [`Lifecycle`] configures the record, and [`Lifecycle::wrap`] puts it around any `Stream` of
//! `Result`s. Collectors receive every item, a finalizer makes one aggregate, and sanitizers decide
//! which data the END event contains. However the stream ends, subscribers receive exactly one END.
//!
//! ```
//! use stream_lifecycle::{Lifecycle, TextCollector};
//! use tokio_stream::StreamExt;
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let (send, ends) = std::sync::mpsc::channel();
//! let items = ["Hello", " world"].map(|item| Ok::<_, std::io::Error>(item.to_owned()));
//! let mut stream = Lifecycle::new("call-1")
//!     .collect_with(TextCollector::default())
//!     .subscriber_fn(move |event| {
//!         if let Some(end) = event.end() {
//!             let _ = send.send((end.ending.name(), end.data.clone()));
//!         }
//!     })
//!     .wrap(tokio_stream::iter(items));
//! stream.next().await;
//! drop(stream);
//! assert_eq!(ends.recv(), Ok(("dropped", Some("Hello".into()))));
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Where to start
//!
//! | task | type |
//! |---|---|
//! | aggregate items | [`Collector`] ([`Refused`]), [`TextCollector`], [`Lifecycle::collect`] |
//! | change, hold or refuse items | [`Guardrail`], [`Window`] for an asynchronous check |
//! | keep data out of the record | [`Sanitizer`] |
//! | receive events | [`Subscriber`], [`Queue`] for a slow one |
//! | run user code in a span or a scope | [`Context`], [`ContextHandle`] |
//! | describe the call and its items | [`CallInfo`], [`ItemInfo`], [`ResponseInfo`], [`TryItem`], [`Codec`] |
//! | read events | [`LifecycleEvent`]: [`StartEvent`], [`MarkEvent`], [`EndEvent`] with [`Times`], [`RejectedEvent`] |
//! | learn why data is missing | [`Omission`], [`OmittedWhy`], [`Subject`] for a sanitizer |
//! | name what failed | [`Ending`], [`ComponentFault`] with its [`Component`], [`LateClose`] |
//! | check windows of text | [`Windows`]: [`WindowUnit`], [`CheckDelivery`] |
//! | deliver from a queue | [`Inbox`], [`Flush`], [`Overflow`] |
//! | export to OpenTelemetry | `GenAiSpan` (features `tracing` and `gen-ai`) |
//!
//! # Properties
//!
//! - The crate spawns nothing and reads no clock except the one the caller provides.
//! - User code runs inside the configured [`Context`], on the thread that polls or drops the
//!   stream.
//! - Only guardrails change the items of the consumer. Sanitizers change the record.
//! - An item costs one virtual call, or two with a context. It costs no lock, clone or allocation.
//! - A pipeline may have several wrappers, such as before and after a guard. They share an id, have
//!   different [taps](Lifecycle::tap), and send one END each.
//! - A panic in a finalizer, sanitizer, codec or subscriber is a [`ComponentFault`] of the END
//!   event, and the stream continues. A panic in upstream, a guardrail or a collector ends the
//!   stream as [`Ending::Panicked`] and continues after END, unless [`Lifecycle::cut_error`] turns
//!   it into an error. No panic leaves a drop.
#![doc = include_str!("../CONTRACT.md")]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![warn(unnameable_types, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod budget;
mod builder;
mod clock;
mod close;
mod collector;
mod context;
mod ending;
mod event;
#[cfg(feature = "gen-ai")]
mod gen_ai;
mod guardrail;
mod hooks;
mod limits;
mod live;
mod metadata;
mod observed;
mod passages;
mod queue;
mod rails;
mod reporter;
mod sanitize;
#[cfg(feature = "tracing")]
mod span;
mod started;
mod stream;
mod subscribe;
mod text;
mod unwind;
mod window;

pub use budget::ByteBudget;
pub use builder::Lifecycle;
pub use clock::{Clock, Stamp, SystemClock, Times};
pub use close::CloseError;
pub use collector::{Collector, FinishInfo, Refused};
pub use context::{Context, ContextHandle};
pub use ending::{
    Component, ComponentFault, Ending, ErrorInfo, LateClose, LimitHit, Progress, UpstreamEnd,
    WithheldInfo,
};
pub use event::{
    CallInfo, EndEvent, ItemInfo, LifecycleEvent, MarkEvent, Omission, OmittedWhy, RejectedEvent,
    ResponseInfo, StartEvent,
};
pub use guardrail::{Decision, Guardrail, GuardrailOutput};
pub use observed::Observed;
pub use passages::{CheckDelivery, Passage, WindowUnit, Windows};
pub use queue::{Flush, Inbox, Overflow, Queue};
pub use reporter::Marks;
pub use sanitize::{Sanitizer, SanitizerVerdict, Subject};
#[cfg(all(feature = "tracing", feature = "gen-ai"))]
pub use span::GenAiSpan;
pub use started::Started;
pub use stream::TryItem;
pub use subscribe::{Codec, Subscriber};
pub use text::TextCollector;
pub use window::Window;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
