//! Splits a streaming model answer into content and reasoning.
//!
//! A [`Format`] says how a family marks its reasoning; a [`ThinkFilter`] applies it to text that
//! arrives in arbitrary pieces. The result never depends on the pieces, nothing is lost or
//! added, and nothing is held back that cannot be (part of) a marker.
//!
//! Whole texts go through the same machine: [`ThinkFilter::split`], [`ThinkFilter::strip`],
//! [`ThinkFilter::has_visible_content`].
//!
//! What this crate does not do: it knows no tool calls. A `<think>` inside a call's arguments is
//! data; only the `llm-stream-guard` façade, which drives reasoning and calls with one cursor,
//! can tell. Formats made of channels (harmony and its kin) are there, too.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

extern crate alloc;

mod builder;
mod counts;
mod edges;
mod filter;
mod format;
mod pieces;
mod registry;
mod row;
mod rules;
mod start;
mod table;
mod unclosed;
mod whole;
mod withheld;

pub use builder::ThinkFilterBuilder;
pub use counts::{Counts, TokenEstimate, four_bytes_a_token};
pub use filter::ThinkFilter;
pub use format::Format;
pub use pieces::Piece;
pub use registry::{aliases, format, formats};
pub use rules::{
    BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, StripRemarks, Text,
    TokenSuffix, Wrapper,
};
pub use start::{Opening, Start, last_turn};
pub use unclosed::Unclosed;
pub use whole::Split;
pub use withheld::{Kept, Withheld};

/// What is shared with every stage: the driver's vocabulary.
pub use jail_match::{
    Alias, End, Held, HeldKind, InlineTags, LimitError, LimitPolicy, Limits, ReasoningLimit,
    UnknownName, Whitespace,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
