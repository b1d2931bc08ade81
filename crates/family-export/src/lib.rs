//! Writes a model family in the languages of other projects.
//!
//! An export has two steps. `outline` walks over the family once and describes its markup as a tree of
//! expressions that belongs to no language. A writer renders this outline for one target.
//! [`response_template`] is its writer.
//!
//! Grammars for constrained decoding ([`call_grammar`]) are not made of the outline, which describes
//! what is read, but of what the encoder writes, and of the schemas of tools. A grammar is the
//! counterpart of a guard: [`GuardBuilder::rules`](llm_stream_guard::GuardBuilder::rules) returns the
//! rules of a request for both. The function is here and is not a method of the façade's `Profile`:
//! the façade reads streams and needs no writer.
//!
//! ```
//! use llm_stream_guard::profile;
//!
//! let exported = family_export::response_template(&profile("qwen3")?, "<|im_start|>assistant\n")?;
//! let calls = &exported.template["fields"]["tool_calls"];
//! assert_eq!(calls["open_pattern"], r"\s*<tool_call>\s*(?=\{)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! A template comes as [`Exported`], with the list of what it leaves out. A grammar comes as [`CallGrammar`]
//! or [`LazyGbnf`]. A family that a target cannot express is an [`ExportError`].
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod expr;
mod grammar;
mod outline;
mod response_template;

use core::fmt;

pub use grammar::{CallGrammar, LazyGbnf, call_grammar};
pub use response_template::{Exported, response_template};

/// The reason why a family cannot be written in the target's language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportError(String);

impl ExportError {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ExportError {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
