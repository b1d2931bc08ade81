//! Options of the chat guard.

use serde::{Deserialize, Serialize};

use toolcall_parsers::BrokenBlock;

use crate::guard::Guard;

/// Options for how a chat guard writes chunks.
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
    /// When calls are written.
    pub calls: CallForm,
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
    /// In the field that upstream uses, and in `reasoning_content` until upstream has written
    /// reasoning.
    AsUpstream,
    /// In the content, as `<think>..</think>`.
    Inline,
    /// Nowhere. Reasoning is dropped with its log probabilities, token ids and related fields.
    Hidden,
}

/// When to write a finish reason that upstream did not send: `tool_calls` if a call completed,
/// `stop` otherwise. After an error, none is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Synthesis {
    /// Never writes a finish reason.
    Off,
    /// Writes a finish reason where upstream ended the answer, for example with `[DONE]`. If a
    /// usage chunk is last, every choice gets one; otherwise only choices with a completed call do.
    /// A choice whose text a stop string ended always gets one. A stream that stops without an end
    /// was cut: [`ChatError::Unfinished`](super::ChatError::Unfinished).
    #[default]
    Proven,
    /// Writes a finish reason for every choice at any end, for servers that never signal their end.
    /// A stream that stops without an end counts as whole.
    Always,
}

/// Policy for calls that are malformed or were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokenCalls {
    /// [`BrokenCalls::Keep`] in a stream, because most of such a call was emitted before it broke.
    /// In a whole response, a malformed call is handled as under [`BrokenCalls::Release`], and a
    /// call that was cut is kept.
    #[default]
    Auto,
    /// Emits the part of the call that was read.
    Keep,
    /// Drops and notes such calls. Each call is delivered at its end, as under
    /// [`crate::Delivery::Atomic`]. A call longer than [`crate::CallOptions::atomic_limit`] is
    /// kept.
    Drop,
    /// Emits a block whose first call is broken as text in its place, as under
    /// [`crate::BrokenBlock::Text`]. Other broken calls are dropped, as under
    /// [`BrokenCalls::Drop`]: after a whole call of their block, in a block that is too long, in a
    /// jail, or under a response template.
    Release,
}

/// When calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallForm {
    /// As their text arrives. A client may see the beginning of a call that turns out malformed.
    #[default]
    #[serde(alias = "streaming")]
    Streamed,
    /// At their end, in one piece, as in a whole response: [`BrokenCalls::Auto`] then has the same
    /// meaning in streams and whole responses. Calls longer than
    /// [`crate::CallOptions::atomic_limit`] are streamed.
    #[serde(alias = "atomic")]
    Whole,
}

/// Which calls are removed when they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TakeBack {
    #[default]
    None,
    Malformed,
    /// Malformed calls, and calls that were cut.
    Broken,
}

impl ChatOptions {
    /// Configures `guard` for the policies about calls, and returns the calls to remove in a
    /// `whole` response or in a stream. Other options of `guard` are kept.
    pub(super) fn prepare(&self, guard: &mut Guard, whole: bool) -> TakeBack {
        if self.calls == CallForm::Whole {
            guard.deliver_at_end();
        }
        self.broken_calls.prepare(guard, whole || self.calls == CallForm::Whole)
    }
}

impl BrokenCalls {
    /// Configures `guard` for this policy, and returns the calls to remove where calls are `whole`,
    /// or where they are streamed. Other options of `guard` are kept.
    fn prepare(self, guard: &mut Guard, whole: bool) -> TakeBack {
        let take_back = match self {
            Self::Auto if whole => {
                guard.add_broken_block(BrokenBlock::TextIfMalformed);
                TakeBack::Malformed
            }
            Self::Auto | Self::Keep => return TakeBack::None,
            Self::Drop => TakeBack::Broken,
            Self::Release => {
                guard.add_broken_block(BrokenBlock::Text);
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
    /// Reports the guard's count over all choices so far, if there was reasoning and upstream
    /// reports no number or 0. Tokens are counted if upstream sends log probabilities or token ids.
    /// Otherwise the number is an estimate, and `reasoning_tokens_estimated` is `true`. The
    /// estimate is one token for each delta with reasoning, and by bytes for a whole response
    /// ([`crate::Guard::reasoning_tokens`]).
    #[default]
    Counted,
    /// Reports only upstream's count.
    Upstream,
}

/// Where the log probabilities of tokens go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Logprobs {
    /// Writes each entry to the list named after the field of the delta that has its text:
    /// `content`, `reasoning_content`, `reasoning` or `tool_calls`. An entry with visible text and
    /// markup is reduced to the visible text. Entries of markup alone are dropped. The tokens of
    /// the `content` list concatenate to the content, if upstream's do.
    #[default]
    OfText,
    /// Writes every entry to the `content` list unchanged, with the text after it.
    All,
}

/// Whether chunks keep the token ids that upstream sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TokenIds {
    /// Keeps ids where upstream writes them, except those of hidden reasoning.
    #[default]
    Keep,
    /// Removes ids, including those of the prompt, because the client did not ask for them.
    Remove,
    /// Removes ids and log probabilities, which the server was asked for only because they hold the
    /// ids.
    RemoveLogprobs,
}

/// Limits on memory that grows with the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatLimits {
    /// Maximum number of choices of a stream. Default 128; one more is an error.
    pub choices: usize,
    /// Maximum number of calls of a choice, including calls of upstream. Default 1024; more are
    /// dropped and noted. Use 1 for requests that forbid parallel calls.
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
