//! Options of the chat guard: policies that are the caller's.

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
    /// What becomes of calls that broke or were cut before any of them was written.
    pub broken_calls: BrokenCalls,
    /// Whether a completed call turns `stop` into `tool_calls`.
    pub stop: Stop,
    /// Whether finish reasons keep the words of upstream.
    pub finish_words: FinishWords,
    /// Whether calls are written at all.
    pub calls: Calls,
    /// What becomes of further fields beside the choices, by name, and of those that stand on every
    /// chunk unless said otherwise (`id`, `model`..): where a chunk is split, withheld, or made up.
    /// A field nothing is said of comes out once.
    pub fields: Vec<(String, FieldPolicy)>,
    /// Numeric fields that count something of their own chunk: those of withheld chunks are
    /// added to the next that comes out.
    pub counters: Vec<String>,
    /// Where a stream ends as soon as stop strings, or a collapse, ended so many choices and every
    /// other has its finish reason: the `n` of the request. Adapters then write what is due and
    /// drop upstream, without its usage. `None` reads on to the end.
    pub end_at_stop: Option<u32>,
    /// Whether usage says how many tokens were reasoning.
    pub reasoning_tokens: ReasoningTokens,
    /// Where the log probabilities of tokens go.
    pub logprobs: Logprobs,
    /// Bounds.
    pub limits: ChatLimits,
}

/// What becomes of a field that describes the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldPolicy {
    /// It stands on every chunk, as the latest that had it wrote it.
    Latest,
    /// It stands on every chunk, as the first that had it wrote it.
    First,
    /// It comes out nowhere.
    Drop,
}

/// How choices share chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Emission {
    /// What one chunk sets free of several choices comes in one chunk, each index at most once;
    /// what a choice has more to say follows in further chunks.
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
    /// In `reasoning`.
    Reasoning,
    /// In both.
    Both,
    /// Where upstream writes its own; in `reasoning_content` until it does.
    AsUpstream,
    /// In the content, as `<think>..</think>`.
    Inline,
    /// Nowhere: it is dropped, with its log probabilities and token ids and with what upstream
    /// says of it in other fields.
    Hidden,
}

/// When a finish reason that upstream did not send is written: `tool_calls` if a call completed,
/// else `stop`. Never behind an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Synthesis {
    /// Never.
    Off,
    /// Before the usage chunk that nothing of a choice follows, which only a server that is done
    /// sends, for every choice; at `[DONE]` for choices with a completed call; at any end for
    /// choices whose text a stop string ended. A stream that merely ceases was cut:
    /// [`ChatError::Unfinished`](super::ChatError::Unfinished).
    #[default]
    Proven,
    /// At any end, for every choice, for servers that never say that they are done: a stream that
    /// merely ceases counts as whole.
    Always,
}

/// Policy for calls that are malformed or were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BrokenCalls {
    /// [`BrokenCalls::Keep`] in a stream, because most of such a call is out when it breaks. In a
    /// whole response a malformed call is text or dropped, as under [`BrokenCalls::Release`]; a call
    /// that was cut is kept, as in a stream.
    #[default]
    Auto,
    /// They come out as far as they go.
    Keep,
    /// They are dropped and noted. Each call is delivered at its end, as under
    /// [`crate::Delivery::Atomic`]; one longer than [`crate::GuardBuilder::atomic_limit`] is kept.
    Drop,
    /// A block whose first call breaks is text, in its place, as
    /// [`crate::BrokenBlock::Text`] says. Calls that break after a whole one of their block, in a
    /// block that is too long, in one of a jail or by a response template are dropped, as under
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

/// What a completed call does to `stop`, and to other words that mean it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Stop {
    /// It becomes `tool_calls`, unless the request names the tool
    /// ([`crate::ToolChoice::Named`]).
    #[default]
    Convention,
    /// It becomes `tool_calls`.
    Rewrite,
    /// It stays.
    Keep,
}

/// Whether finish reasons keep the words of upstream. What they mean is understood either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FinishWords {
    /// They do.
    #[default]
    AsUpstream,
    /// Those that mean the same as one of OpenAI's become that: `eos`, `end_turn` and
    /// `stop_sequence` become `stop`, `max_tokens` becomes `length`, `tool_use` becomes
    /// `tool_calls`, `safety` becomes `content_filter`. Words nobody knows stay.
    OpenAi,
}

/// Whether calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Calls {
    /// They are, unless the request wants none ([`crate::ToolChoice::None`]).
    #[default]
    Write,
    /// They are recognised and dropped, upstream's own too; `tool_calls` becomes `stop`.
    Suppress,
}

/// Whether usage reports how many tokens were reasoning
/// (`completion_tokens_details.reasoning_tokens`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReasoningTokens {
    /// The guard's count, over all choices so far, where upstream reports nothing or 0 and there was
    /// reasoning. Tokens are counted if upstream sends log probabilities or token ids. Otherwise each
    /// delta with reasoning counts as one token, a whole response by its bytes
    /// ([`crate::GuardBuilder::token_estimate`]), and `reasoning_tokens_estimated` is `true` beside it.
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

/// Bounds on what grows with the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatLimits {
    /// Choices of a stream. Default 128; one more is an error.
    pub choices: usize,
    /// Calls of a choice, upstream's own included. Default 1024; more are dropped and noted. 1
    /// for requests that forbid parallel calls.
    pub calls: usize,
    /// Token entries and fields that wait for the text before them. Default 65536; more come out
    /// early, in order.
    pub waiting: usize,
}

impl Default for ChatLimits {
    fn default() -> Self {
        Self { choices: 128, calls: 1024, waiting: 65536 }
    }
}
