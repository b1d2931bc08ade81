//! Streaming tool-call parsers for open-weight model families.
//!
//! Each model family writes tool calls in its own syntax. A [`Grammar`] describes one of them, and
//! a [`Parser`] turns its text into [`Event`]s while the text arrives:
//!
//! ```text
//! Hi.<tool_call>{"name": "ping", "arguments": {"n": 1}}</tool_call>
//!    Content("Hi.")
//!    CallStart { index: 0, name: "ping", .. }
//!    CallArguments { index: 0, fragment: "{\"n\": 1}" }
//!    CallEnd { index: 0, outcome: Complete }
//! ```
//!
//! - [`grammar`] finds a registered family by name. [`Family::from_json`] reads one of your own.
//! - [`Parser`] reads a stream. [`parse`] reads a whole text into a [`Message`].
//! - [`Options`] and [`Tools`] restrict which calls are emitted.
//! - [`encode()`] writes calls in a family's syntax, for the next turn of a conversation.
//!
//! ```
//! use toolcall_parsers::{End, Event, Outcome, Parser, grammar};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut parser = Parser::new(grammar("hermes")?)?;
//! let mut shown = String::new();
//! let mut sink = |event: Event<'_>| match event {
//!     Event::Content(text) => shown.push_str(text),
//!     Event::CallStart { name, .. } => shown.push_str(name),
//!     Event::CallArguments { fragment, .. } => shown.push_str(fragment),
//!     Event::CallEnd { outcome: Outcome::Complete, .. } => shown.push('.'),
//!     _ => {}
//! };
//! for chunk in ["One moment. <tool", "_call>{\"name\": \"find\", \"argu", "ments\": {}}</tool_call>"] {
//!     parser.push(chunk, &mut sink)?;
//! }
//! parser.finish(End::Stop, &mut sink)?;
//! assert_eq!(shown, "One moment. find{}.");
//! # Ok(())
//! # }
//! ```
//!
//! The result does not depend on the chunks. A call is safe to run when its [`Event::CallEnd`] says
//! [`Outcome::Complete`]: its arguments are then a JSON object.
//!
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | look up a family | [`family()`], [`families`], [`Summary`]; [`UnknownName`] |
//! | configure a parser | [`ParserBuilder`], [`Options`]: [`Tolerance`], [`Repair`], [`Parallel`], [`StopAfter`], [`UnknownTools`], [`Wanted`], [`BrokenBlock`], [`ArgumentTypes`], [`CallLimits`]; [`CompileError`] |
//! | declare the tools of a request | [`Tools`], [`Tool`], [`ToolsError`] |
//! | receive the result | [`Sink`], [`Event`], [`OwnedEvent`], [`Diagnostic`] with its [`DiagnosticKind`]; [`Message`] and its [`Call`]s for a whole text |
//! | write calls | [`EncodeCall`], [`EncodeError`], [`EncodeErrorKind`] |
//! | write tools and results into a prompt | [`declare_tools`], [`ToolResult`], [`DeclareError`] |
//! | make ids | [`Ids`], [`IdSource`], [`UsedIds`], [`Claim`] |
//! | define a family | [`family`](mod@family): `FamilyFile` (feature `toml`), [`Form`](family::Form), templates of [`template`] |
//! | require JSON in place of markup | [`guided::Payload`], [`guided::OwnCalls`], [`BadPayload`], [`Rejected`] |
//! | put calls into a cursor of your own | [`Grammar`], [`edges()`], [`ToolCallParser`], [`Calls`] |
//!
//! # Not for
//!
//! Reasoning, which `think-filter` reads, and both together, which `llm-stream-guard` reads with one
//! cursor. The crate knows no tokenizer, no schema validation and no HTTP.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;

mod block_reader;
mod calls;
mod compiled;
mod cursor;
mod declare;
mod decoded;
mod edges;
mod encode;
mod event;
mod event_log;
pub mod family;
mod for_tools;
pub mod guided;
mod ids;
mod limits;
mod machine;
mod options;
mod parser;
mod proof;
mod registry;
pub mod template;
mod texts;
mod tool_call_parser;
mod tools;
mod typing;
mod unique_keys;
mod used_ids;
// Every byte of a value passes through this module, so a panic here could be provoked by a model.
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
mod value;

pub use calls::Calls;
pub use compiled::Grammar;
pub use declare::{DeclareError, ToolResult, declare_tools};
pub use edges::edges;
pub use encode::{
    EncodeCall, EncodeError, EncodeErrorKind, encode, encode_dropping_ids, encode_form,
};
pub use event::{Call, Diagnostic, DiagnosticKind, Event, Message, Outcome, OwnedEvent, Sink};
pub use family::{Family, InReasoning};
pub use ids::{IdSource, Ids};
pub use machine::compile::CompileError;
pub use options::{
    ArgumentTypes, BadPayload, BrokenBlock, CallLimits, CallsInCode, LateIds, Options, Parallel,
    Repair, StopAfter, Tolerance, UnknownTools, Wanted,
};
pub use parser::{Parser, ParserBuilder, held, parse};
pub use registry::{
    Summary, aliases, families, family, family_variant, family_variants, grammar, grammar_variant,
    grammars,
};
pub use tool_call_parser::{Rejected, ToolCallParser};
pub use tools::{Tool, Tools, ToolsError};
pub use used_ids::{Claim, UsedIds};
pub use value::{JsonPlace, JsonScan};

/// Types of the driver that appear in this crate's interface.
pub use jail_match::{
    Dangling, End, Held, HeldKind, LimitError, LimitPolicy, Limits, UnknownName, Whitespace,
    same_name,
};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
