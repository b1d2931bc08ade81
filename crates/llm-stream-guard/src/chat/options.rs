//! Options of the chat guard: policies that are the caller's.

use serde::{Deserialize, Serialize};

use crate::guard::{Guard, payload::TextBlocks};

/// How clean chunks are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ChatOptions {
    /// How choices share chunks.
    pub emission: Emission,
    /// Where reasoning is written; it is read under both names.
    pub reasoning: ReasoningField,
    /// When a finish reason that upstream did not send is written.
    pub synthesis: Synthesis,
    /// Policy for calls that were malformed or cut before any part of them was written.
    pub broken_calls: BrokenCalls,
    /// Whether a completed call turns `stop` into `tool_calls`.
    pub stop: Stop,
    /// Whether usage reports the number of reasoning tokens.
    pub reasoning_tokens: ReasoningTokens,
    /// Where the log probabilities of tokens go.
    pub logprobs: Logprobs,
    /// Whether token ids are written.
    pub token_ids: TokenIds,
    /// Limits of the chat guard.
    pub limits: ChatLimits,
}

/// How choices share chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Emission {
    /// The parts of several choices that one chunk releases share a chunk, with each index at most
    /// once. Further parts of a choice follow in further chunks.
    #[default]
    Packed,
    /// Each chunk holds one choice.
    SingleChoice,
}

/// Where reasoning is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ReasoningField {
    /// In `reasoning_content`, which more clients know.
    #[default]
    ReasoningContent,
    /// In the field `reasoning`.
    Reasoning,
    /// In both fields at once.
    Both,
    /// Where upstream writes its own; in `reasoning_content` until it does.
    AsUpstream,
    /// In the content, as `<think>..</think>`.
    Inline,
    /// Nowhere: reasoning is dropped, with its log probabilities, token ids and further fields
    /// about it.
    Hidden,
}

/// When to write a finish reason that upstream did not send: `tool_calls` if a call completed,
/// `stop` otherwise. After an error, none is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Synthesis {
    /// Never writes a finish reason.
    Off,
    /// Where upstream ended the answer, as `[DONE]` does: before a last usage chunk for every choice,
    /// and without one for choices with a completed call. At any end for choices whose text a stop
    /// string ended. A stream that merely ceases was cut, with usage or without:
    /// [`ChatError::Unfinished`](super::ChatError::Unfinished).
    #[default]
    Proven,
    /// At any end and for every choice, for servers that never signal their end. A stream that
    /// merely ceases counts as whole.
    Always,
}

/// Policy for calls that are malformed or were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokenCalls {
    /// [`BrokenCalls::Keep`] in a stream, because most of such a call is out when it breaks. In a
    /// whole response a malformed call is text or dropped, as under [`BrokenCalls::Release`]; a call
    /// that was cut is kept, as in a stream.
    #[default]
    Auto,
    /// Emits them as far as they go.
    Keep,
    /// Drops and notes them. Each call is delivered at its end, as under
    /// [`crate::Delivery::Atomic`]; a call longer than [`crate::CallOptions::atomic_limit`] is
    /// kept.
    Drop,
    /// A block whose first call is broken is text, in its place, as under
    /// [`crate::BrokenBlock::Text`]. Calls that break after a whole one of their block, in a block
    /// that is too long, in a jail or under a response template are dropped, as under
    /// [`BrokenCalls::Drop`].
    Release,
}

/// The calls that are taken back at their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TakeBack {
    #[default]
    None,
    Malformed,
    /// Malformed ones, and those that were cut.
    Broken,
}

impl BrokenCalls {
    /// The calls to take back, in a whole response or in a stream. Sets up `guard`, whose own options
    /// stay where nothing is asked of it.
    pub(super) fn prepare(self, guard: &mut Guard, whole: bool) -> TakeBack {
        let take_back = match self {
            Self::Auto if whole => {
                guard.add_text_blocks(TextBlocks::Malformed);
                TakeBack::Malformed
            }
            Self::Auto | Self::Keep => return TakeBack::None,
            Self::Drop => TakeBack::Broken,
            Self::Release => {
                guard.add_text_blocks(TextBlocks::Broken);
                TakeBack::Broken
            }
        };
        guard.deliver_at_end();
        take_back
    }
}

/// Effect of a completed call on `stop` and on other words with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Stop {
    /// The reason becomes `tool_calls`, unless the request names the tool
    /// ([`crate::ToolChoice::Named`]).
    #[default]
    Convention,
    /// The reason becomes `tool_calls`.
    Rewrite,
    /// Keeps the finish reason.
    Keep,
}

/// Whether usage reports how many tokens were reasoning
/// (`completion_tokens_details.reasoning_tokens`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningTokens {
    /// The guard's count, over all choices so far, where upstream reports nothing or 0 and there was
    /// reasoning. Tokens are counted if upstream sends log probabilities or token ids. Otherwise each
    /// delta with reasoning counts as one token, a whole response by its bytes
    /// ([`crate::Guard::reasoning_tokens`]), and `reasoning_tokens_estimated` is `true` beside it.
    #[default]
    Counted,
    /// Upstream's count alone.
    Upstream,
}

/// Where the log probabilities of tokens go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Logprobs {
    /// Each entry goes to the list named after the field of the delta that has its text: `content`,
    /// `reasoning_content` or `reasoning`, `tool_calls`. An entry with visible text and markup is
    /// narrowed to that text; entries of markup alone are dropped. The tokens of the `content` list
    /// concatenate to the content, if upstream's do.
    #[default]
    OfText,
    /// Every entry goes to the `content` list as it came, with the text after it.
    All,
}

/// Whether chunks keep the token ids that upstream sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TokenIds {
    /// Ids stay where upstream writes them, except those of hidden reasoning.
    #[default]
    Keep,
    /// Ids are removed, those of the prompt included: the client did not ask for them.
    Remove,
    /// Log probabilities are removed, too: the server was asked for them because they hold the ids.
    RemoveLogprobs,
}

/// Bounds on what grows with the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatLimits {
    /// Choices of a stream. Default 128; one more is an error.
    pub choices: usize,
    /// Calls of a choice, upstream's own included. Default 1024; more are dropped and noted. 1
    /// for requests that forbid parallel calls.
    pub calls: usize,
    /// Maximum number of token entries and fields that wait for the text before them. The default
    /// is 65536. Beyond it, they are emitted early, in order.
    pub waiting: usize,
}

impl Default for ChatLimits {
    fn default() -> Self {
        Self { choices: 128, calls: 1024, waiting: 65536 }
    }
}
