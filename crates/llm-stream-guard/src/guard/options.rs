//! Options of a guard: policies for reasoning and calls, and the stages around the cursor.

use std::{fmt, sync::Arc};

use jail_match::{Dangling, InlineTags, ReasoningLimit};
use serde::{Deserialize, Serialize};
use think_filter::{Start, Unclosed};
use toolcall_parsers::{
    CallLimits, Ids, LateIds, Options, Parallel, Repair, StopAfter, Tolerance, UnknownTools,
};
use wire_remap::{CollapseLimits, Regime, RemapTable};

use super::{BadPayload, BrokenBlock, ToolChoice};
use crate::{jailer::Jailer, observe::Observer};

/// How the events of a call are delivered. Outcomes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Events are emitted as they arrive.
    #[default]
    Streaming,
    /// Events come together at the call's end, or stream beyond [`CallOptions::atomic_limit`].
    Atomic,
}

/// Policies for reasoning: where it begins, its limit, and when it becomes the answer.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReasoningOptions {
    /// Where the stream begins, in place of the profile's start and of the prompt. Without a start
    /// and a prompt, the first closer of reasoning that nothing opened ends reasoning that a prompt
    /// may have opened.
    pub start: Option<Start>,
    /// The maximum of reasoning in the message. No limit by default: reasoning is not kept.
    pub limit: Option<ReasoningLimit>,
    /// Emits the reasoning as content if the answer is empty: the stream stopped by itself
    /// without visible content and without a call.
    ///
    /// The same text never goes to two channels. Reasoning is therefore withheld until visible
    /// content or a call begins, or until it exceeds this number of bytes and stays reasoning. A
    /// stream cut by a length limit, and a message that a boundary ends, keep their reasoning.
    pub nonempty_content: Option<usize>,
    /// The policy for the last span of reasoning if the message ends inside it: the answer may be
    /// in the span, its closer forgotten. By default it is reasoning.
    ///
    /// Each span is withheld until its closer, a call, the end of the message, or more than this
    /// number of bytes, which make it reasoning. Spans are not withheld under
    /// [`Unclosed::Reasoning`]. Reasoning that a server separated is not affected.
    pub unclosed: Option<(Unclosed, usize)>,
    /// Whether openers of reasoning in the text count after a server has separated reasoning
    /// ([`crate::Guard::server_item`], which a chat guard calls). By default they count.
    pub inline_tags: InlineTags,
    /// The policy for a marker of reasoning or calls that a token limit cuts. By default it is
    /// text, except where only markup is possible.
    pub dangling: Dangling,
}

impl ReasoningOptions {
    /// An option that is set, and does nothing without tags of reasoning.
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
    /// Where ids come from when the wire has none.
    pub ids: Ids,
    /// Policy for a call that the end of the stream cuts.
    pub repair: Repair,
    /// Whether more than one call may be emitted.
    pub parallel: Parallel,
    /// Whether the message is read to its end.
    pub stop: StopAfter,
    /// Policy for names that are not declared.
    pub unknown_tools: UnknownTools,
    /// How far from JSON the JSON of calls may be.
    pub tolerance: Tolerance,
    /// Bounds inside a call.
    pub limits: CallLimits,
    /// Policy for a payload that is not calls where calls are required.
    pub bad_payload: BadPayload,
    /// Policy for a block of calls whose first call is malformed or cut.
    pub broken_block: BrokenBlock,
    /// Maximum bytes of arguments kept under atomic delivery. Default 1 MiB.
    pub atomic_limit: usize,
}

impl Default for CallOptions {
    fn default() -> Self {
        let Options { ids, repair, parallel, stop, unknown_tools, tolerance, limits, .. } =
            Options::default();
        Self {
            ids,
            repair,
            parallel,
            stop,
            unknown_tools,
            tolerance,
            limits,
            bad_payload: BadPayload::default(),
            broken_block: BrokenBlock::default(),
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
        options.wanted = choice.wanted();
        // Only who keeps a call can still put its id in.
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
    /// Delimiters are mapped back before recognition, stop strings included, and offsets are those
    /// of the text mapped back. A decoded marker acts like the canonical one in its place, unless
    /// [`Regime::with_detection`] binds it to places where a tool format puts it.
    /// A literal marker (`[[~CALL]]`) is never markup. Damaged and mixed forms are reported as
    /// diagnostics.
    Remap(Regime),
    /// A watch for a model that repeats its opener instead of making a call.
    ///
    /// Openers of the remapping in use count, or of [`RemapTable::hermes`] without one: canonical,
    /// as on the wire, and their fragments. [`crate::Guard::collapse`] returns the first collapse.
    /// A collapse that ends the stream ends the message as aborted after the opener that completed
    /// it. Under the error policy every later push fails, too.
    Collapse(CollapseLimits),
    /// A jail around content, without reasoning and calls: its marks are not searched in those, and
    /// none spans one. Offsets it reports count content.
    ///
    /// Its limit with the error policy ends the guard; content after it in the same chunk is
    /// not emitted.
    Jail(Box<Jailer>),
    /// An observer of events, with the counts of [`GuardStage::Stats`]. Clones of the guard report
    /// to the same observer.
    Observer(Arc<dyn Observer + Send + Sync>),
    /// Counts for [`crate::Guard::stats`]. Without them and an observer nothing is counted.
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
