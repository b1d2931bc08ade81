//! Exact remapping of reserved delimiters between a transcript and the wire to a model.
//!
//! Some tokenizers reserve `<tool_call>` and `</tool_call>` as single special tokens. If a prompt
//! mentions these strings, the model sees its reserved token in places where training never had it,
//! and may answer with nothing but repetitions of it. This crate writes other markers to the
//! *wire*, `[[CALL]]` and `[[/CALL]]`, and decodes them before other code reads the answer.
//! Transcripts, tools and parsers keep the *canonical* markers.
//!
//! ```
//! use wire_remap::CapabilityTable;
//!
//! let regime = CapabilityTable::hermes_families().regime("vllm", "Qwen3-32B");
//! assert_eq!(regime.encode("What does <tool_call> do?"), "What does [[CALL]] do?");
//! assert_eq!(regime.decode("`[[CALL]]` begins a call."), "`<tool_call>` begins a call.");
//! ```
//!
//! # The wire form
//!
//! | in the transcript | on the wire | reason |
//! |---|---|---|
//! | `<tool_call>` | `[[CALL]]` | the wire marker |
//! | `</tool_call>` | `[[/CALL]]` | |
//! | `<toolcall>` | `[[TOOLCALL]]` | the compact spelling has a separate marker |
//! | `[[CALL]]` | `[[~CALL]]` | someone typed it: literal text, escaped |
//! | `<tool_call>`, quoted | `[[~~CALL]]` | user or tool text under [`MarkerPolicy::EscapeLiteral`] |
//! | `[[~CALL]]` | `[[~~~CALL]]` | someone typed an escape: two more |
//! | `[[CALLER]`, `[[a]]`, `~` | the same | other text is unchanged |
//!
//! # Guarantees
//!
//! - `decode(encode(x)) == x` for every text `x`, in [`Mode::Exact`] (the default).
//! - `encode(x)` contains no canonical marker.
//! - `decode(x) == x` if `x` contains neither wire markers nor escapes.
//! - Streams give the same output at every chunk boundary. They hold back only a possible marker,
//!   at most [`RemapTable::max_held`] bytes, and their work is linear in the input.
//!
//! The first two follow from one rule, which is checked when a table is built: no marker contains
//! another, and the end of no marker is the beginning of one. Markers in a text then never overlap,
//! and a replacement cannot form another marker with its neighbours.
//!
//! # Where to start
//!
//! | task | type |
//! |---|---|
//! | select a remap by provider and model | [`CapabilityTable`] |
//! | remap one request and its response | [`Regime`] |
//! | remap request and response bodies | `bodies` (feature `json`) |
//! | encode and decode text | [`RemapTable`], [`StreamEncoder`], [`StreamDecoder`] |
//! | declare your own markers | [`RemapTableBuilder`], [`MarkerPair`], [`Truncated`] |
//! | notice a model that repeats openers | [`CollapseDetector`] |
//!
//! | task | types |
//! |---|---|
//! | read what happened | [`RemapReport`]: a [`Tally`] for each [`Location`], [`MarkerDetection`] with its [`MarkerForm`] |
//! | react to a repetition | [`CollapseLimits`], [`CollapseAction`]; a [`Collapse`] has its [`CollapseKind`] |
//! | find out why a table is refused | [`RemapTableError`], [`Problem`] |
//! Each request is derived from the canonical transcript, so a conversation may switch models at
//! any time. A session [nonce](RemapTableBuilder::nonce) makes wire markers unforgeable.
//!
//! # Features
//!
//! - `json`: bodies of requests and responses, in the shapes of four APIs.
//! - `cache-key`: SHA-256 keys of canonical requests, `Regime::cache_key`.
//! - `toml`: capability tables from TOML, `CapabilityTable::from_toml`.
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
mod limits;
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

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
