//! The life of a stream on record: a collector sees every item, a finalizer makes one aggregate,
//! sanitizers decide what of it may be told, subscribers are told once.
//!
//! [`Lifecycle`] sets it up; [`Lifecycle::wrap`] puts it around any `Stream` of `Result`s.
//! Nothing here spawns, and nothing reads a clock that was not handed in.
//!
//! - All of it runs inside the [`Context`] that was given, on whatever thread polls or drops.
//! - **Panics.** One in the finalizer, a sanitizer, the codec or a subscriber is a
//!   [`ComponentFault`] in the END event, and ends nothing else: a finalizer's aggregate is then null, a
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
//! The README has an example.
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

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
