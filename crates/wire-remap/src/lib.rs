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
//! | `<tool_call>`, quoted | `[[~~CALL]]` | user or tool text under [`Policy::EscapeLiteral`] |
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
//! A [`Regime`] holds the table, the scope and the policies, and drives both directions:
//! [`Regime::request`] rewrites request bodies, [`Regime::response`] what comes back, and
//! [`CapabilityTable`] picks the regime of a route. Each turn is derived from the canonical
//! history anew, so a conversation may switch models at any time.
//!
//! ```
//! use serde_json::json;
//! use wire_remap::{CapabilityTable, OpenAiChat};
//!
//! let regime = CapabilityTable::hermes_families().regime("vllm", "Qwen3-32B");
//! let transcript = json!([{"role": "user", "content": "What does <tool_call> do?"}]);
//! let mut body = json!({"model": "Qwen3-32B", "messages": transcript});
//! regime.request().apply(&mut body, &OpenAiChat)?;
//! assert_eq!(body["messages"][0]["content"], "What does [[CALL]] do?");
//!
//! let mut answer = json!({"choices": [{"message": {"content": "`[[CALL]]` begins a call."}}]});
//! regime.response().body(&mut answer, &OpenAiChat)?;
//! assert_eq!(answer["choices"][0]["message"]["content"], "`<tool_call>` begins a call.");
//! # Ok::<(), wire_remap::BodyError>(())
//! ```
//!
//! # Features
//!
//! - `toml`: reading capability tables from TOML, `CapabilityTable::from_toml`.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

mod bit;
mod builder;
mod cache;
mod capability;
#[cfg(feature = "toml")]
mod capability_file;
mod collapse;
mod decode;
mod encode;
mod error;
mod glob;
mod json_text;
mod piece;
mod place;
mod regime;
mod request;
mod response;
mod rules;
mod scan;
mod shape;
mod spelling;
mod table;
mod tally;
mod watch;
mod words;

pub use crate::{
    builder::RemapTableBuilder,
    cache::cache_key,
    capability::{CapabilityError, CapabilityTable},
    collapse::{
        Collapse, CollapseAction, CollapseDetector, CollapseLimits, Repeated, Verdict,
    },
    decode::StreamDecoder,
    encode::StreamEncoder,
    error::{Problem, TableError},
    glob::Glob,
    json_text::Syntax,
    piece::{Detection, Form, InText, Marker, Piece, Suspect},
    place::Place,
    regime::{Policy, Provenance, Regime, Scope},
    request::RequestRemap,
    response::ResponseRemap,
    shape::{
        AnthropicMessages, BodyError, BodyShape, Field, Happening, OpenAiChat, OpenAiResponses,
        Slot, Spot,
    },
    table::{Mode, Pair, RemapTable, Role, Truncated},
    tally::{Location, RemapReport, Tally},
};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
