//! Exact remapping of reserved delimiters between a transcript and the wire to a model.
//!
//! Some tokenizers reserve `<tool_call>` and `</tool_call>` as single special tokens. An
//! application whose text protocol uses those strings throughout its prompts shows such a model
//! its own reserved token where it never stood in training, and the model may collapse into
//! repeating it. This crate writes other markers on the wire, `[[CALL]]` and `[[/CALL]]`, and
//! turns them back before anything else sees the answer. Transcripts, tools and parsers stay
//! canonical.
//!
//! # What the model sees
//!
//! | in the transcript | on the wire | why |
//! |---|---|---|
//! | `<tool_call>` | `[[CALL]]` | the wire marker |
//! | `</tool_call>` | `[[/CALL]]` | |
//! | `<toolcall>` | `[[TOOLCALL]]` | the compact spelling keeps its identity |
//! | `[[CALL]]` | `[[~CALL]]` | someone typed it: literal text, escaped |
//! | `<tool_call>`, quoted | `[[~~CALL]]` | user or tool text under [`MarkerPolicy::EscapeLiteral`] |
//! | `[[~CALL]]` | `[[~~~CALL]]` | an escape someone typed: two more |
//! | `[[CALLER]`, `[[a]]`, `~` | the same | nothing else is ever touched |
//!
//! # What holds
//!
//! - `decode(encode(x)) == x` for every text `x`, in [`Mode::Exact`] (the default).
//! - `encode(x)` contains no canonical marker.
//! - `decode(x) == x` if `x` holds neither wire markers nor escapes.
//! - Streams give the same output for every chunking, hold back only what may become a marker, at
//!   most [`RemapTable::max_held`] bytes, and do work linear in the input.
//!
//! The proof is one rule, checked when a table is built: no marker contains another, and none
//! ends as one begins. Then occurrences in any text are disjoint, and what replaces one cannot
//! form another with its neighbours.
//!
//! A per-session [nonce](RemapTableBuilder::nonce) makes wire markers unforgeable as well.
//!
//! # One regime per request
//!
//! A [`Regime`] holds the table, the scope and the policies, and drives both directions: with the
//! feature `json` its `request` rewrites request bodies and its `response` what comes back.
//! [`CapabilityTable`] picks the regime of a route. Each turn is derived from the canonical history
//! anew, so a conversation may switch models at any time.
//!
//! ```
//! use wire_remap::CapabilityTable;
//!
//! let regime = CapabilityTable::hermes_families().regime("vllm", "Qwen3-32B");
//! assert_eq!(regime.encode("What does <tool_call> do?"), "What does [[CALL]] do?");
//! assert_eq!(regime.decode("`[[CALL]]` begins a call."), "`<tool_call>` begins a call.");
//! ```
//!
//! # Features
//!
//! - `json`: bodies of requests and responses, in four APIs' shapes.
//! - `cache-key`: a SHA-256 key of a canonical request.
//! - `toml`: reading capability tables from TOML, `CapabilityTable::from_toml`.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

#[cfg(feature = "json")]
pub mod bodies;
mod builder;
#[cfg(feature = "cache-key")]
mod cache;
mod capability;
#[cfg(feature = "toml")]
mod capability_file;
mod collapse;
mod decode;
mod encode;
mod error;
mod fnv;
mod glob;
mod json_text;
mod pair;
mod piece;
mod place;
mod regime;
mod rules;
mod scan;
mod segment;
mod spelling;
mod table;
mod tally;
mod watch;
mod whole;
mod word;
mod words;

pub use crate::{
    builder::RemapTableBuilder,
    capability::{CapabilityError, CapabilityRow, CapabilityTable},
    collapse::{
        Collapse, CollapseAction, CollapseDetector, CollapseKind, CollapseLimits, CollapseVerdict,
    },
    decode::StreamDecoder,
    encode::StreamEncoder,
    error::{Problem, RemapTableError},
    pair::{MarkerPair, Mode, Role, Truncated},
    piece::{DecodedPiece, Marker, MarkerDetection, MarkerForm, Suspect},
    place::MarkerPlace,
    regime::{MarkerPolicy, Provenance, Regime, Scope},
    segment::Syntax,
    table::RemapTable,
    tally::{Location, RemapReport, Tally},
};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
