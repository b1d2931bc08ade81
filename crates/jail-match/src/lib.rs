//! Streaming marker matching: one cursor over text that arrives in arbitrary pieces.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod body;
mod channel;
mod code;
mod driver;
mod edge;
mod jail;
mod limits;
mod marker;
mod matcher;
mod sink;
mod space;
mod table;

pub use body::{Bodies, End, Feed, NoBodies, Opener, Resume, Tail};
pub use channel::{Channel, ChannelMask};
pub use driver::{Counters, Driver, Held, HeldKind, Settings};
pub use edge::{Anchor, Bind, BodyId, Case, Edge, InCode, Newlines, OnCommit, Then, Uses};
pub use jail::{Jail, JailBuilder, JailError, JailEvent, JailSink, Jailed};
pub use limits::{LimitError, LimitPolicy, Limits, ZeroLimit};
pub use marker::{Class, MAX_CLASSES, MarkerSet, MarkerSetBuilder, Probe};
pub use matcher::{Found, Matcher};
pub use sink::{Notice, NoticeKind, Sink, Span, SpanKind};
pub use space::Whitespace;
pub use table::{Table, TableError};
