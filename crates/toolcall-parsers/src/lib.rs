//! Streaming tool-call parsers for open-weight model families.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod bodies;
mod calls;
mod encode;
mod engine;
mod event;
mod families;
pub mod family;
pub mod grammar;
mod ids;
mod json;
mod machine;
mod options;
mod parser;
mod partial;
mod registry;
pub mod template;
mod tools;
mod typing;

pub use bodies::{InReasoning, ToolCallParser, edges};
pub use encode::{EncodeCall, EncodeError, EncodeErrorKind, encode, encode_as};
pub use event::{Call, Diagnostic, DiagnosticKind, Event, Message, Outcome, OwnedEvent, Sink};
pub use families::template_grammar;
pub use grammar::Grammar;
pub use ids::{IdSource, Ids};
pub use options::{CallLimits, Options, Parallel, Repair, StopAfter, UnknownTools, Wanted};
pub use parser::{Parser, ParserBuilder, held, parse};
pub use partial::PartialArguments;
pub use registry::{aliases, grammar, grammars};
pub use tools::{Tool, Tools, ToolsError};

/// What is shared with every stage: the driver's vocabulary.
pub use jail_match::{
    End, Held, HeldKind, LimitError, LimitPolicy, Limits, UnknownName, Whitespace, same_name,
};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
