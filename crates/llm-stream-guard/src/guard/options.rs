//! Options of a guard: policies for reasoning and calls, and the stages around the cursor.

use std::{fmt, str::FromStr, sync::Arc};

use jail_match::{Dangling, InlineTags, ReasoningLimit, UnknownName, named};
use serde::{Deserialize, Serialize};
use think_filter::{Start, Unclosed};
use toolcall_parsers::{
    ArgumentTypes, BadPayload, BrokenBlock, CallLimits, CallsInCode, Ids, LateIds, Options,
    Parallel, Repair, StopAfter, Tolerance, UnknownTools,
};
use wire_remap::{CollapseLimits, Regime, RemapTable};

use super::ToolChoice;
use crate::{jailer::Jailer, observe::Observer};

/// How the events of a call are delivered. Outcomes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Emits events as soon as they are certain.
    #[default]
    Streaming,
    /// Emits all events of a call at its end. A call longer than [`CallOptions::atomic_limit`] is
    /// streamed.
    Atomic,
}

impl FromStr for Delivery {
    type Err = UnknownName;

    /// Reads `streaming` or `atomic`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("delivery", name, &[("streaming", Self::Streaming), ("atomic", Self::Atomic)])
    }
}

/// Policies for reasoning: where it begins, its limit, and when it becomes the answer.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReasoningOptions {
    /// Where the stream begins, in place of the profile's start and of the prompt. Without a start
    /// and a prompt, reasoning may have been opened by the prompt: a first closer without an opener
    /// ends such reasoning.
    pub start: Option<Start>,
    /// Maximum length of reasoning in the message. The default is unlimited, because reasoning is
    /// not buffered.
    pub limit: Option<ReasoningLimit>,
    /// Emits the reasoning as content if the answer is empty. An answer is empty if the stream
    /// ended normally without visible content and without a call.
    ///
    /// Text is never emitted in two channels. Reasoning is therefore withheld until visible content
    /// or a call begins. Reasoning longer than this number of bytes stays reasoning, as it does if
    /// a length limit cuts the stream or a boundary ends the message.
    pub nonempty_content: Option<usize>,
    /// The policy for reasoning that is open at the end of the message. The model may have
    /// forgotten the closer, so that the answer is inside. By default the text is reasoning.
    ///
    /// Each span of reasoning is withheld until its closer, a call, or the end of the message. A
    /// span longer than this number of bytes is reasoning. Spans are not withheld under
    /// [`Unclosed::Reasoning`]. Reasoning that a server separated is not affected.
    pub unclosed: Option<(Unclosed, usize)>,
    /// Whether openers of reasoning in the text count after a server has separated reasoning
    /// ([`crate::Guard::server_item`], which a chat guard calls). By default they count.
    pub inline_tags: InlineTags,
    /// The policy for a marker of reasoning or calls that a token limit cuts. By default the cut
    /// marker is text, except where only markup is possible.
    pub dangling: Dangling,
}

impl ReasoningOptions {
    /// Returns the name of an option that is set but has no effect without reasoning tags.
    pub(super) fn of_tags(&self) -> Option<&'static str> {
        let inline = self.inline_tags != InlineTags::default();
        let set = [("unclosed", self.unclosed.is_some()), ("inline_tags", inline)];
        set.into_iter().find_map(|(option, set)| set.then_some(option))
    }
}

/// Policies for calls of every family.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallOptions {
    /// The source of ids for calls without an id.
    pub ids: Ids,
    /// Policy for a call that the end of the stream cuts.
    pub repair: Repair,
    /// Whether more than one call may be emitted.
    pub parallel: Parallel,
    /// Whether the message is read to its end.
    pub stop: StopAfter,
    /// Policy for names that are not declared.
    pub unknown_tools: UnknownTools,
    /// Deviations from JSON that are accepted in calls.
    pub tolerance: Tolerance,
    /// Limits inside a call.
    pub limits: CallLimits,
    /// Policy for a payload that is not calls although calls are required.
    pub bad_payload: BadPayload,
    /// Policy for a block of calls whose first call is malformed or cut.
    pub broken_block: BrokenBlock,
    /// Policy for a block of calls inside code of the answer.
    pub in_code: CallsInCode,
    /// Policy for strings in arguments of calls whose schema declares another type.
    pub argument_types: ArgumentTypes,
    /// Maximum bytes of arguments kept under atomic delivery. Default 1 MiB.
    pub atomic_limit: usize,
}

impl Default for CallOptions {
    fn default() -> Self {
        let options = Options::default();
        Self {
            ids: options.ids,
            repair: options.repair,
            parallel: options.parallel,
            stop: options.stop,
            unknown_tools: options.unknown_tools,
            tolerance: options.tolerance,
            limits: options.limits,
            bad_payload: options.bad_payload,
            broken_block: options.broken_block,
            in_code: options.in_code,
            argument_types: options.argument_types,
            atomic_limit: 1 << 20,
        }
    }
}

impl CallOptions {
    /// Returns the options of the parser of calls.
    pub(super) fn of_parser(self, choice: &ToolChoice, delivery: Delivery) -> Options {
        let mut options = Options::default();
        options.ids = self.ids;
        options.repair = self.repair;
        options.parallel = self.parallel;
        options.stop = self.stop;
        options.unknown_tools = self.unknown_tools;
        options.tolerance = self.tolerance;
        options.limits = self.limits;
        options.bad_payload = self.bad_payload;
        options.broken_block = self.broken_block;
        options.in_code = self.in_code;
        options.argument_types = self.argument_types;
        options.wanted = choice.wanted();
        // An id can be added late only to a call that is still held.
        options.late_ids = match delivery {
            Delivery::Streaming => LateIds::Report,
            Delivery::Atomic => LateIds::Tell,
        };
        options
    }
}

/// A stage before or after the cursor of a guard; see [`crate::GuardBuilder::stage`].
#[derive(Clone)]
#[non_exhaustive]
pub enum GuardStage {
    /// Delimiters that the request was remapped to, in place of the profile's: a table, or the
    /// regime that rewrote the request.
    ///
    /// Delimiters are decoded before recognition and before the search for stop strings. Offsets
    /// refer to the decoded text. A decoded marker acts like the canonical marker, unless
    /// [`Regime::with_detection`] restricts it to the places where a tool format writes it. A
    /// literal marker (`[[~CALL]]`) is never markup. Damaged and mixed forms are reported as
    /// diagnostics.
    Remap(Regime),
    /// A watch for a model that repeats its opener instead of making a call.
    ///
    /// The watch counts the openers of the remapping in use, or those of [`RemapTable::hermes`]
    /// without one. Canonical openers, remapped openers and fragments of both count.
    /// [`crate::Guard::collapse`] returns the first collapse. A collapse that ends the stream ends
    /// the message as aborted after the opener that completed it. Under the error policy every
    /// later push fails, too.
    Collapse(CollapseLimits),
    /// A jail around content. Its marks are not searched in reasoning and calls, and no match spans
    /// them. The offsets that it reports count bytes of content.
    ///
    /// A limit of the jail with the error policy ends the guard. Content after it in the same chunk
    /// is not emitted.
    Jail(Box<Jailer>),
    /// An observer of events, with the counts of [`GuardStage::Stats`]. Clones of the guard report
    /// to the same observer.
    Observer(Arc<dyn Observer + Send + Sync>),
    /// Counters for [`crate::Guard::stats`]. Without this stage and without an observer, nothing is
    /// counted.
    Stats,
}

impl fmt::Debug for GuardStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Remap(_) => "Remap",
            Self::Collapse(_) => "Collapse",
            Self::Jail(_) => "Jail",
            Self::Observer(_) => "Observer",
            Self::Stats => "Stats",
        })
    }
}

impl From<Regime> for GuardStage {
    fn from(regime: Regime) -> Self {
        Self::Remap(regime)
    }
}

impl From<RemapTable> for GuardStage {
    fn from(table: RemapTable) -> Self {
        Self::Remap(table.into())
    }
}

impl From<CollapseLimits> for GuardStage {
    fn from(limits: CollapseLimits) -> Self {
        Self::Collapse(limits)
    }
}

impl From<Jailer> for GuardStage {
    fn from(jailer: Jailer) -> Self {
        Self::Jail(Box::new(jailer))
    }
}
