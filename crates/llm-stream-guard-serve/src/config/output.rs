//! How answers are written.

use serde::{Deserialize, Serialize};

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// The name of the field reasoning stands in.
    pub reasoning: ReasoningName,
    /// How arguments of calls come.
    pub calls: CallDelivery,
    /// What becomes of calls that broke or were cut.
    pub broken_calls: BrokenCalls,
}

/// The names of the field for reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningName {
    /// What most clients know.
    ReasoningContent,
    /// What newer servers write.
    Reasoning,
}

/// How arguments of calls come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallDelivery {
    /// As the model writes them.
    Streaming,
    /// Together, when the call ended.
    Atomic,
}

/// What becomes of broken calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokenCalls {
    /// Kept in streams, text in whole responses.
    Auto,
    /// They come out as far as they go.
    Keep,
    /// They are dropped; with `calls = "atomic"` none comes out.
    Drop,
    /// They are text.
    Release,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            reasoning: ReasoningName::ReasoningContent,
            calls: CallDelivery::Streaming,
            broken_calls: BrokenCalls::Auto,
        }
    }
}
