//! How answers are written.

use serde::{Deserialize, Serialize};

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Name of the field for reasoning.
    pub reasoning: ReasoningName,
    /// How arguments of calls come.
    pub calls: CallDelivery,
    /// Policy for calls that were malformed or cut.
    pub broken_calls: BrokenCalls,
    /// Who counts the reasoning tokens that usage reports.
    pub reasoning_tokens: ReasoningCount,
}

/// The names of the field for reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningName {
    /// The name that most clients know.
    ReasoningContent,
    /// The name that newer servers write.
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

/// Policy for calls that are malformed or were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokenCalls {
    /// Kept in streams; in whole responses malformed ones are text.
    Auto,
    /// Emits them as far as they go.
    Keep,
    /// Drops them. Each call is delivered at its end.
    Drop,
    /// Emits them as text, or drops them after a whole call of their block. Each call is delivered
    /// at its end.
    Release,
}

/// Who counts the reasoning tokens that usage reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningCount {
    /// The proxy, where the server reports none although there was reasoning.
    Counted,
    /// The server alone counts.
    Upstream,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            reasoning: ReasoningName::ReasoningContent,
            calls: CallDelivery::Streaming,
            broken_calls: BrokenCalls::Auto,
            reasoning_tokens: ReasoningCount::Counted,
        }
    }
}
