//! Streaming marker matching: one cursor over text that arrives in arbitrary pieces.
//!
//! A [`Table`] of [`Edge`]s says what is recognised: a marker, the channels it is live in, where
//! it may stand, and what it does. A [`Driver`] scans a message with it:
//!
//! ```text
//!   chunks ──► [ cursor ] ── no marker ────────────────► Sink::text(channel, ..)
//!                  │
//!                  ├─ Erase, Enter, Leave, Switch ─────► Sink::account, another channel
//!                  │
//!                  └─ Body ─► candidate ── commits ────► Bodies::feed, up to its end
//!                                 └────── is refuted ──► text, in place, scanned again
//! ```
//!
//! [`Matcher`] is the search alone, [`Jail`] withholds blocks.
//!
//! ```
//! use jail_match::{
//!     Channel, Driver, Edge, End, NoBodies, Settings, Sink, Table, Then, Whitespace,
//! };
//!
//! #[derive(Default)]
//! struct Split {
//!     content: String,
//!     reasoning: String,
//! }
//!
//! impl Sink for Split {
//!     fn text(&mut self, channel: Channel, text: &str) {
//!         match channel {
//!             Channel::REASONING => self.reasoning.push_str(text),
//!             _ => self.content.push_str(text),
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let table = Table::new([
//!     Edge::new("<think>", Channel::CONTENT.mask(), Then::Enter(Channel::REASONING)),
//!     Edge::new("</think>", Channel::REASONING.mask(), Then::Leave),
//! ])?;
//! let mut driver = Driver::new(table, Settings::default().whitespace(Whitespace::Verbatim));
//! let mut split = Split::default();
//! for chunk in ["<thi", "nk>why", "</thi", "nk>because"] {
//!     driver.push(chunk, &mut NoBodies, &mut split)?;
//! }
//! driver.finish(End::Stop, &mut NoBodies, &mut split)?;
//! assert_eq!((split.reasoning.as_str(), split.content.as_str()), ("why", "because"));
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! * **Chunks do not matter.** Text, spans, notices and their offsets are the same for every cut.
//! * **Nothing is lost.** Each byte of input reaches [`Sink::text`] or one [`Sink::account`].
//! * **What is held**, see [`Driver::held`]: a proper prefix of a live marker (at most the longest
//!   marker less one byte) with the newlines that may bind to it (at most [`Newlines::MANY`]); a
//!   candidate ([`Limits::candidate`]); whitespace whose fate the next visible byte decides
//!   ([`Limits::whitespace`]); inside a body, what it did not use. Nothing else.
//! * **Cost.** Text without a marker's rarest byte costs one vectorised search. A refuted
//!   candidate is scanned again, each byte at most 16 times. Steady state allocates nothing.
//!
//! # What it does not do
//!
//! No regular expressions (but as marks of a [`Jail`], with the feature `regex`), no bytes that are not UTF-8, no knowledge of any model family, no
//! input or output, no clock.
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
mod names;
mod pending;
mod sink;
mod space;
mod table;

pub use body::{Bodies, End, Feed, NoBodies, Opener, Resume, Tail};
pub use channel::{Channel, ChannelMask};
pub use driver::{Counters, Driver, Held, HeldKind, Settings};
pub use edge::{Anchor, Bind, BodyId, Case, Edge, InCode, Newlines, OnCommit, Suffix, Then, Uses};
pub use jail::{
    At, Closed, Dropped, EndOrder, Flow, Inner, Jail, JailBuilder, JailCounters, JailError,
    JailEvent, JailSignal, Jailed, Mark, Nested, OnFail, Pair, Quote, Release,
};
pub use limits::{LimitError, LimitPolicy, Limits, ReasoningLimit, ZeroLimit};
pub use marker::{Class, MAX_CLASSES, MarkerSet, MarkerSetBuilder, Probe};
pub use matcher::{Found, Matcher};
pub use names::{Alias, UnknownName, resolve, same_name};
pub use sink::{Notice, NoticeKind, Sink, Span, SpanKind};
pub use space::Whitespace;
pub use table::{Table, TableError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
