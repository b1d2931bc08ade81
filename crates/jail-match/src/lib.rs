//! Streaming marker matching: one cursor over text that arrives in arbitrary pieces.
//!
//! A [`Table`] of [`Edge`]s lists the markers, the channels in which each is live, the places where
//! it may act, and its effect. A [`Driver`] scans a message with the table:
//!
//! ```text
//!   chunks ──► [ cursor ] ── no marker ────────────────► Sink::event(Event::Content(..))
//!                  │
//!                  ├─ Erase, Enter, Leave, Switch ─────► Sink::account, another channel
//!                  │
//!                  └─ Body ─► candidate ── commits ────► BodyParsers::feed, up to its end
//!                                 └────── is refuted ──► text, in place, scanned again
//! ```
//!
//! [`Matcher`] offers the search alone, and [`Jail`] withholds blocks of text.
//!
//! ```
//! use jail_match::{
//!     Channel, Driver, Edge, End, Event, NoBodies, DriverSettings, Table, Then, Whitespace,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let table = Table::new([
//!     Edge::new("<think>", Channel::CONTENT.mask(), Then::Enter(Channel::REASONING)),
//!     Edge::new("</think>", Channel::REASONING.mask(), Then::Leave),
//! ])?;
//! let mut driver = Driver::new(table, DriverSettings::default().whitespace(Whitespace::Verbatim));
//! let (mut content, mut reasoning) = (String::new(), String::new());
//! let mut sink = |event: Event<'_>| match event {
//!     Event::Content(text) => content.push_str(text),
//!     Event::Reasoning(text) => reasoning.push_str(text),
//!     _ => {}
//! };
//! for chunk in ["<thi", "nk>why", "</thi", "nk>because"] {
//!     driver.push(chunk, &mut NoBodies, &mut sink)?;
//! }
//! driver.finish(End::Stop, &mut NoBodies, &mut sink)?;
//! assert_eq!((reasoning.as_str(), content.as_str()), ("why", "because"));
//! # Ok(())
//! # }
//! ```
//!
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | declare a marker | [`Edge`] with [`Then`]; its place ([`Anchor`]), spelling ([`LetterCase`], [`SuffixRule`], [`LearntSuffix`]), newlines ([`Newlines`], [`Bind`]), number of uses ([`Uses`]), code around it ([`InCode`], [`OpenCode`], [`CodeEnd`]); [`EdgeError`] if a table refuses it |
//! | treat a marker that the stream's end cuts | [`CutMarker`] for one edge, [`Dangling`] for the driver |
//! | configure a driver | [`DriverSettings`]: [`Limits`], [`LimitPolicy`] and [`LimitError`], [`ReasoningLimit`], [`Whitespace`], [`InlineTags`], [`EdgeEvents`] |
//! | read what a marker begins, such as a call | [`BodyParsers`]: [`BodyId`] and [`Opener`] in, [`Feed`] with its [`Verdict`], [`Refutation`] and [`Resume`] out; [`OnCommit`] for the channel around it |
//! | receive the result | [`Sink`]: [`Event`] ([`OwnedEvent`], [`Outcome`], [`Diagnostic`]), [`Span`] with its [`SpanKind`] and [`CallPart`], [`Trace`] |
//! | ask what is held, and how much was read | [`Held`] with its [`HeldKind`], [`Counters`] |
//! | withhold or change blocks | [`Jail`], [`JailBuilder`] and [`JailPair`]: [`BlockDelivery`], [`Release`], [`Nested`]; [`JailEvent`], [`JailSignal`] with [`Closed`] and [`Dropped`], [`JailCounters`]; [`ZeroLimit`] and [`JailError`] if it cannot be built |
//! | search without a driver | [`MarkerSetBuilder`], [`MarkerSet`]; a [`Haystack`] searched for some [`Classes`] (each a [`Class`]) gives a [`Search`] with a [`Match`] |
//! | tell tokens from text | [`MarkerTokens`], [`Reserved`] |
//! | report items that a server separated | [`ServerItem`] |
//! | look up registered names | [`resolve`], [`Alias`], [`UnknownName`] |
//! # Guarantees
//!
//! * **Chunks do not matter.** Text, spans, diagnostics and their offsets are the same for every
//!   cut.
//! * **Nothing is lost.** Each byte of input reaches [`Sink::event`] as text or one
//!   [`Sink::account`].
//! * **Held bytes**, see [`Driver::held`], are one of these, and nothing else: a proper prefix of a
//!   live marker (at most the longest marker less one byte) with the newlines that may bind to it
//!   (at most [`Newlines::MAX`]); a candidate ([`Limits::candidate`]); whitespace that the next
//!   visible byte decides about ([`Limits::whitespace`]); inside a body, the bytes that the body
//!   did not use.
//! * **Cost.** Text without a marker's rarest byte costs one vectorised search. The text of a
//!   refuted candidate is scanned again, each byte at most 16 times. The steady state does not
//!   allocate.
//!
//! # What it does not do
//!
//! No regular expressions (except as marks of a [`Jail`], with the feature `regex`), no bytes that
//! are not UTF-8, no knowledge of any model family, no input or output, no clock. To split the
//! output of language models into content, reasoning and tool calls, use `llm-stream-guard`, which
//! is built on the driver.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod body;
mod channel;
mod chars;
mod code;
mod diagnostic;
mod driver;
mod edge;
mod event;
mod jail;
mod limits;
mod marker;
mod marker_tokens;
mod matcher;
mod names;
mod pending;
mod sink;
mod stretch;
mod suffix;
mod table;
mod utf8;
mod whitespace;

pub use body::{BodyParsers, End, Feed, NoBodies, Opener, Refutation, Resume, Verdict};
pub use channel::{Channel, ChannelMask};
pub use code::{CodeEnd, OpenCode};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use driver::{
    Counters, Dangling, Driver, DriverSettings, EdgeEvents, Held, HeldKind, InlineTags, ServerItem,
};
pub use edge::{
    Anchor, Bind, BodyId, CutMarker, Edge, InCode, LetterCase, Newlines, OnCommit, Then, Uses,
};
pub use event::{Event, Outcome, OwnedEvent};
pub use jail::{
    BlockDelivery, Closed, Dropped, Inner, Jail, JailBuilder, JailCounters, JailError, JailEvent,
    JailPair, JailSignal, Jailed, Mark, MarkPosition, Nested, OnFail, Quote, Release,
};
pub use limits::{LimitError, LimitPolicy, Limits, ReasoningLimit, ZeroLimit};
pub use marker::{Class, Classes, Haystack, MarkerSet, MarkerSetBuilder, Match, Search};
pub use marker_tokens::{
    MarkerTokens, Reserved, escape_reserved, is_reserved, may_have_reserved, unescape_reserved,
};
pub use matcher::{Matcher, MatcherEvent};
pub use names::{Alias, UnknownName, named, resolve, same_name};
pub use sink::{ByRef, CallPart, Sink, Span, SpanKind, Trace};
pub use stretch::Stretch;
pub use suffix::{LearntSuffix, SuffixRule};
pub use table::{EdgeError, Table};
pub use utf8::Utf8;
pub use whitespace::Whitespace;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
