//! Splits a streaming model answer into content and reasoning.
//!
//! A [`Format`] describes how a family of models marks its reasoning. A [`ThinkFilter`] applies a
//! format to text that arrives in chunks of any size:
//!
//! ```
//! use think_filter::{End, Piece, ThinkFilter, format};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut filter = ThinkFilter::new(format("deepseek_r1")?)?;
//! let mut shown = String::new();
//! let mut on = |piece: Piece<'_>| match piece {
//!     Piece::Content(text) => shown.push_str(text),
//!     Piece::ReasoningStart => shown.push('['),
//!     Piece::Reasoning(text) => shown.push_str(text),
//!     Piece::ReasoningEnd => shown.push(']'),
//! };
//! for chunk in ["<th", "ink>6 * 7</thi", "nk>It is 42: see ", "<think> above."] {
//!     filter.push(chunk, &mut on)?;
//! }
//! filter.finish(End::Stop, &mut on)?;
//! assert_eq!(shown, "[6 * 7]It is 42: see <think> above.");
//! # Ok(())
//! # }
//! ```
//!
//! The result does not depend on the chunks, no text is lost or added, and only text that may be
//! part of a marker is held back.
//!
//! Whole texts use the same machine: [`ThinkFilter::split`], [`ThinkFilter::strip`],
//! [`ThinkFilter::has_visible_content`].
//!
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | describe how a model marks reasoning | [`Format`] of [`Text`]s: [`Openers`], [`Pairing`], [`StrayClose`], [`DupOpen`], [`Recur`], [`MarkerCase`], [`TokenSuffix`], [`BoundNewlines`], [`Wrapper`], [`StripRemarks`] |
//! | say where the answer begins | [`Start`]; [`last_turn`] and [`Opening`] read it from a prompt |
//! | configure a filter | [`ThinkFilterBuilder`]: [`Unclosed`], [`Whitespace`], [`Limits`], [`InlineTags`] |
//! | receive the result | [`Piece`], or [`Split`] for a whole text |
//! | count reasoning | [`Counts`], with a [`TokenEstimate`] if token ids are missing |
//! | hold reasoning until its end is known | [`Withheld`], which releases [`Kept`] parts |
//!
//! # Not for
//!
//! The crate does not read tool calls or message headers. It may take a `<think>` inside the
//! arguments of a call for a tag. If a model writes calls into its text, use the crate
//! `llm-stream-guard`, which reads reasoning and calls with one cursor. Families whose output has
//! several messages (harmony) are in that crate too.
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

/// Types of the driver, which all crates of the workspace share.
pub use jail_match::{
    Alias, End, Held, HeldKind, InlineTags, LimitError, LimitPolicy, Limits, ReasoningLimit,
    UnknownName, Whitespace,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
