//! Splits a streaming model answer into content and reasoning.
//!
//! A [`Format`] says how a family marks its reasoning; a [`ThinkFilter`] applies it to text that
//! arrives in arbitrary pieces. The result never depends on the pieces, nothing is lost or
//! added, and nothing is held back that cannot be (part of) a marker.
//!
//! What this crate does not do: it knows no tool calls. A `<think>` inside a call's arguments is
//! data; only the `llm-stream-guard` façade, which drives reasoning and calls with one cursor,
//! can tell. Formats made of channels (harmony and its kin) are there, too.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod filter;
mod format;
mod formats;

use alloc::vec::Vec;

pub use filter::{Piece, Split, Start, ThinkFilter, ThinkFilterBuilder, split};
pub use format::{
    BoundNewlines, DupOpen, Format, MarkerCase, Openers, Recur, StrayClose, StripRemarks, Text,
    TokenSuffix, Wrapper,
};
pub use formats::formats;

/// What is shared with every stage: the driver's vocabulary.
pub use jail_match::{Held, HeldKind, Limits, Suffix, Whitespace};

/// The registered format called `name`; ASCII case does not count, and `-` equals `_`.
#[must_use]
pub fn format(name: &str) -> Option<Format> {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    let wanted: Vec<u8> = name.bytes().map(fold).collect();
    formats().into_iter().find(|format| format.name.bytes().map(fold).eq(wanted.iter().copied()))
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
