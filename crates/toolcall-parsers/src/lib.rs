//! Streaming tool-call parsers for open-weight model families.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;

mod calls;
mod compiled;
mod cursor;
mod decoded;
mod echo;
mod encode;
mod event;
pub mod family;
pub mod guided;
mod ids;
mod limits;
mod machine;
mod options;
mod parser;
mod registry;
pub mod template;
mod texts;
mod tool_call_parser;
mod tools;
mod typing;
mod used_ids;
// Unchecked indices and sums are refused where every byte of a value passes.
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
mod value;

pub use calls::Calls;
pub use compiled::{Grammar, edges};
pub use encode::{EncodeCall, EncodeError, EncodeErrorKind, encode, encode_form};
pub use event::{Call, Diagnostic, DiagnosticKind, Event, Message, Outcome, OwnedEvent, Sink};
pub use family::{Family, InReasoning};
pub use ids::{IdSource, Ids};
pub use machine::compile::CompileError;
pub use options::{
    CallLimits, LateIds, Options, Parallel, Repair, StopAfter, Tolerance, UnknownTools, Wanted,
};
pub use parser::{Parser, ParserBuilder, held, parse};
pub use registry::{
    Summary, aliases, families, family, family_variant, family_variants, grammar, grammar_variant,
    grammars,
};
pub use tool_call_parser::{Snapshot, ToolCallParser};
pub use tools::{Tool, Tools, ToolsError};
pub use used_ids::{Claim, UsedIds};
pub use value::{JsonPlace, JsonScan};

/// The vocabulary of the driver, which all stages share.
pub use jail_match::{
    Dangling, End, Held, HeldKind, LimitError, LimitPolicy, Limits, UnknownName, Whitespace,
    same_name,
};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
