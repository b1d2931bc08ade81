//! Writes a model family in the languages of other projects.
//!
//! An export has two steps. First, `outline` describes the markup of a family as a tree of
//! expressions. Then a writer renders the tree in the language of a target. [`response_template()`]
//! is such a writer.
//!
//! Grammars for constrained decoding ([`call_grammar`]) have another source. They describe the
//! texts that the encoder writes for the schemas of tools, while the outline describes the texts
//! that a parser reads. [`GuardBuilder::rules`](llm_stream_guard::GuardBuilder::rules) returns the
//! rules of a request for both a grammar and a guard.
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
//! or [`LazyGbnf`]; [`raw_request`] writes it into a request ([`AnswerDemand`], [`GrammarFields`]). A family that a target cannot express is an [`ExportError`].
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod answer_format;
mod expr;
mod grammar;
mod limits;
mod outline;
mod request;
mod response_template;

use core::fmt;

pub use answer_format::{OWN_FORMAT, sets_format};
pub use grammar::{CallGrammar, LazyGbnf, call_grammar};
pub use request::{AnswerDemand, GrammarFields, demands_call, raw_request, takes_grammar};
pub use response_template::{Exported, response_template};

/// Returns whether a response template of a checkpoint reads the answers, so that the family does not
/// count.
fn has_response_template(profile: &llm_stream_guard::Profile) -> bool {
    #[cfg(feature = "response-templates")]
    return profile.response_template.is_some();
    #[cfg(not(feature = "response-templates"))]
    return {
        let _ = profile;
        false
    };
}

/// An error: a family cannot be written in the target's language.
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
