//! Token usage: where usage of the input is written in the output.
//!
//! ```text
//! with choices, some of which release something   on the last chunk of their step
//! with choices that release nothing               on the last chunk of a later step, or alone at the end
//! without choices, while choices are open         waits until choices follow or the stream ends
//! without choices, when all have finished         at once
//! ```
//!
//! Chunks after a waiting one wait with it: together they may be the tail of the stream.

use serde_json::{Map, Value};

use crate::{
    chat::{
        choice::entries::ReasoningCount,
        guard::ChatGuard,
        model::{chunk::Chunk, field::Field},
        note::ChatSink,
        options::ReasoningTokens,
        step::{BareChunk, ChatStep},
    },
    limits::MAX_TAIL_CHUNKS,
};

/// Member of usage that holds the number of reasoning tokens.
const DETAILS: &str = "completion_tokens_details";
const REASONING_TOKENS: &str = "reasoning_tokens";
/// Member, added by this crate, that is `true` if the number of reasoning tokens is an estimate.
const ESTIMATED: &str = "reasoning_tokens_estimated";

/// Usage that arrived, and usage that has not been written.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct UsageState {
    /// Whether upstream writes `usage: null`.
    null: bool,
    latest: Option<Value>,
    /// Usage of chunks that were withheld whole.
    withheld: Option<Value>,
    tail: Vec<BareChunk>,
}

impl UsageState {
    /// Remembers the usage of a chunk that arrived.
    pub(in crate::chat) fn learn(&mut self, usage: &Field<Value>) {
        self.null |= *usage == Field::Null;
        if let Field::Value(usage) = usage {
            self.latest = Some(usage.clone());
        }
    }

    /// Returns the usage field of a chunk that reports none.
    pub(in crate::chat) fn none(&self) -> Field<Value> {
        if self.null { Field::Null } else { Field::Missing }
    }

    /// Withholds the usage of a chunk that is not written.
    pub(in crate::chat) fn withhold(&mut self, usage: Field<Value>) {
        if let Field::Value(usage) = usage {
            self.withheld = Some(usage);
        }
    }

    /// Whether no usage is to be written with or before the next chunk.
    pub(in crate::chat) fn owes_nothing(&self) -> bool {
        self.withheld.is_none() && self.tail.is_empty()
    }

    /// Returns the usage of the last chunk of a step, and that of its other chunks. `came` is the
    /// usage of the input chunk.
    pub(in crate::chat) fn of_step(&mut self, came: Option<Field<Value>>) -> [Field<Value>; 2] {
        let others = match &came {
            Some(Field::Missing) => Field::Missing,
            Some(Field::Null) => Field::Null,
            Some(Field::Value(_)) | None => self.none(),
        };
        let withheld = self.withheld.take();
        let own = came.and_then(Field::into_value);
        [own.or(withheld).map_or_else(|| others.clone(), Field::Value), others]
    }

    /// Returns the numbers of the inputs that wait.
    pub(in crate::chat) fn waiting(&self) -> impl Iterator<Item = u64> + Clone {
        self.tail.iter().map(|bare| bare.seq)
    }

    /// Whether usage waits that no choice followed. Usage that was withheld before is part of it.
    pub(in crate::chat) fn ends_with_usage(&mut self) -> bool {
        let has_usage = self.tail.iter().any(|bare| bare.chunk.usage.value().is_some());
        if has_usage {
            self.withheld = None;
        }
        has_usage
    }
}

impl ChatGuard {
    /// Returns the latest usage that upstream sent.
    #[must_use]
    pub fn usage(&self) -> Option<&Value> {
        self.usage.latest.as_ref()
    }

    /// Handles a chunk without choices. While choices are open, a chunk that may be the tail of the
    /// stream waits, because some servers send usage whenever one of several choices ends.
    pub(in crate::chat) fn push_bare<S: ChatSink + ?Sized>(
        &mut self,
        bare: BareChunk,
        sink: &mut S,
    ) {
        let open = self.choices.iter().any(|state| !state.state.finished);
        let begins = bare.chunk.usage.value().is_some() && open;
        if !begins && self.usage.tail.is_empty() {
            return self.write_bare(bare, sink);
        }
        self.usage.tail.push(bare);
        if self.usage.tail.len() > MAX_TAIL_CHUNKS {
            self.release_tail(sink);
        }
    }

    /// Emits the waiting chunks, because choices follow or the stream ends.
    pub(in crate::chat) fn release_tail<S: ChatSink + ?Sized>(&mut self, sink: &mut S) {
        for bare in std::mem::take(&mut self.usage.tail) {
            self.write_bare(bare, sink);
        }
    }

    /// Emits waiting chunks and withheld usage at the end of the stream.
    pub(in crate::chat) fn release_usage<S: ChatSink + ?Sized>(&mut self, sink: &mut S) {
        self.release_tail(sink);
        if let Some(usage) = self.usage.withheld.take() {
            let chunk = Chunk { usage: Field::Value(usage), ..self.blank() };
            self.write_bare(BareChunk { chunk, seq: self.seq, event: None }, sink);
        }
    }

    fn write_bare<S: ChatSink + ?Sized>(&mut self, mut bare: BareChunk, sink: &mut S) {
        if bare.chunk.usage.value().is_some() {
            self.usage.withheld = None;
        }
        let counted = self.count_reasoning(&mut bare.chunk.usage);
        if let Some(event) = &mut bare.event {
            event.exact &= !counted;
        }
        let Self { repeated, released, .. } = self;
        sink.step(ChatStep::bare(bare, repeated.fields(), released));
    }

    /// Writes into `usage` how many tokens were reasoning, unless upstream did. Returns whether it
    /// changed.
    pub(in crate::chat) fn count_reasoning(&self, usage: &mut Field<Value>) -> bool {
        let counted = self.options.reasoning_tokens == ReasoningTokens::Counted;
        let Field::Value(usage) = usage else { return false };
        let counts = self.choices.iter().map(|state| state.reasoning_tokens(self.whole));
        counted && write_reasoning(usage, counts)
    }
}

/// Writes how many tokens were reasoning, unless upstream did or there was none. Returns whether
/// `usage` changed.
fn write_reasoning(
    usage: &mut Value,
    counts: impl Iterator<Item = ReasoningCount> + Clone,
) -> bool {
    let tokens = counts.clone().fold(0, |all, count| count.tokens.saturating_add(all));
    let estimated = counts.clone().any(|count| count.estimated);
    let completion = usage.get("completion_tokens").and_then(Value::as_u64);
    // An estimate must not exceed the number of all tokens.
    let tokens = match completion {
        Some(most @ 1..) if estimated => tokens.min(most),
        _ => tokens,
    };
    let Some(usage) = usage.as_object_mut().filter(|_| tokens > 0) else { return false };
    let details = usage.entry(DETAILS).or_insert(Value::Null);
    let is_new = details.is_null();
    if is_new {
        *details = Value::Object(Map::new());
    }
    let Some(details) = details.as_object_mut() else { return false };
    let known = details.get(REASONING_TOKENS).and_then(Value::as_u64);
    let counts = known.is_none_or(|known| known == 0);
    if counts {
        details.insert(REASONING_TOKENS.into(), tokens.into());
        if estimated {
            details.insert(ESTIMATED.into(), true.into());
        }
    }
    counts || is_new
}
