//! The form of answers.

use llm_stream_guard::chat::{BrokenCalls, CallForm, ReasoningTokens};
use serde::{Deserialize, Serialize};

/// The form of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Name of the field for reasoning.
    pub reasoning: ReasoningName,
    /// When calls are sent.
    pub calls: CallForm,
    /// Policy for calls that were malformed or incomplete.
    pub broken_calls: BrokenCalls,
    /// Who counts the reasoning tokens that usage reports.
    pub reasoning_tokens: ReasoningTokens,
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

impl Default for Output {
    fn default() -> Self {
        Self {
            reasoning: ReasoningName::ReasoningContent,
            calls: CallForm::Streamed,
            broken_calls: BrokenCalls::Auto,
            reasoning_tokens: ReasoningTokens::Counted,
        }
    }
}
