//! Fields around the choices: fields on every chunk, fields that come once, and usage.

use serde_json::{Map, Value};

use super::{
    chunk::Chunk,
    delta_part::says_nothing,
    entries::ReasoningCount,
    field::Field,
    options::Emission,
    step::{ChatStep, Released},
};

/// Fields that every chunk carries, in the order in which chunks that are made up have them.
const REPEATED: [&str; 7] =
    ["id", "object", "created", "model", "provider", "service_tier", "system_fingerprint"];

/// The member of usage that counts reasoning tokens.
const DETAILS: &str = "completion_tokens_details";
const REASONING_TOKENS: &str = "reasoning_tokens";
/// Whether that is an estimate: a field of our own.
const ESTIMATED: &str = "reasoning_tokens_estimated";

/// Padding some servers add to hide lengths: worth nothing without its chunk.
const PADDING: &str = "obfuscation";

#[derive(Debug, Clone, Default)]
pub(super) struct Envelope {
    /// The repeated fields of the last chunk that had them.
    repeated: Map<String, Value>,
    /// Upstream writes `usage: null`.
    null_usage: bool,
    /// The latest usage that came.
    latest: Option<Value>,
    /// The latest usage of chunks that were withheld whole.
    usage: Option<Value>,
}

impl Envelope {
    /// Remembers the fields that every chunk repeats.
    pub(super) fn learn(&mut self, chunk: &Chunk) {
        self.null_usage |= chunk.usage == Field::Null;
        if let Field::Value(usage) = &chunk.usage {
            self.latest = Some(usage.clone());
        }
        for name in REPEATED {
            if let Some(value) = chunk.fields.get(name)
                && self.repeated.get(name) != Some(value)
            {
                self.repeated.insert(name.to_owned(), value.clone());
            }
        }
    }

    /// The latest usage that came.
    pub(super) fn usage(&self) -> Option<&Value> {
        self.latest.as_ref()
    }

    /// Drops withheld usage, because a chunk with usage and without choices includes it.
    pub(super) fn supersede_usage(&mut self) {
        self.usage = None;
    }

    /// Whether nothing that was withheld is to go out with the next chunk.
    pub(super) fn owes_nothing(&self) -> bool {
        self.usage.is_none()
    }

    /// Withholds the fields of a chunk none of whose choices was emitted. Remaining fields are
    /// worth a chunk.
    pub(super) fn withhold(&mut self, rest: Chunk) -> Option<Chunk> {
        let Chunk { mut fields, usage, .. } = rest;
        if let Field::Value(usage) = usage {
            self.usage = Some(usage);
        }
        fields.retain(|name, value| {
            !self.repeated.contains_key(name) && name != PADDING && !says_nothing(value)
        });
        if fields.is_empty() {
            return None;
        }
        fields.extend(self.repeated.clone());
        Some(Chunk { fields, usage: self.no_usage(), ..Chunk::default() })
    }

    /// A chunk without choices.
    pub(super) fn blank(&self) -> Chunk {
        Chunk { fields: self.repeated.clone(), usage: self.no_usage(), ..Chunk::default() }
    }

    /// The last chunk of a stream that withheld usage to its end.
    pub(super) fn rest(&mut self) -> Option<Chunk> {
        let usage = Field::Value(self.usage.take()?);
        Some(Chunk { fields: self.repeated.clone(), usage, ..Chunk::default() })
    }

    fn no_usage(&self) -> Field<Value> {
        if self.null_usage { Field::Null } else { Field::Missing }
    }

    /// The step that released this, with the rest of its input.
    pub(super) fn step<'g>(
        &'g mut self,
        released: &'g mut Released,
        rest: Option<Chunk>,
        (emission, origin): (Emission, u64),
    ) -> ChatStep<'g> {
        let null = self.no_usage();
        let came = rest.as_ref().map_or(Field::Missing, |rest| rest.usage.clone());
        let no_usage = match came {
            Field::Missing if rest.is_some() => Field::Missing,
            Field::Null => Field::Null,
            _ => null,
        };
        let usage = match (came, released.parts.is_empty()) {
            (Field::Value(usage), _) => {
                self.usage = None;
                Field::Value(usage)
            }
            (_, true) => no_usage.clone(),
            (_, false) => self.usage.take().map_or_else(|| no_usage.clone(), Field::Value),
        };
        let (spare, fields) = match rest {
            Some(Chunk { choices, fields, .. }) => (choices, Some(fields)),
            None => (Vec::new(), None),
        };
        let repeated = &self.repeated;
        ChatStep { released, fields, repeated, usage, no_usage, emission, origin, spare }
    }

    /// The step that released a chunk without choices.
    pub(super) fn bare_step<'g>(
        &'g self,
        released: &'g mut Released,
        chunk: Chunk,
        origin: u64,
    ) -> ChatStep<'g> {
        let Chunk { choices: spare, usage, fields } = chunk;
        let (no_usage, emission) = (Field::Missing, Emission::default());
        let (fields, repeated) = (Some(fields), &self.repeated);
        ChatStep { released, fields, repeated, usage, no_usage, emission, origin, spare }
    }
}

/// Writes how many tokens were reasoning, unless upstream did or there was none.
pub(super) fn count_reasoning(
    usage: &mut Value,
    counts: impl Iterator<Item = ReasoningCount> + Clone,
) {
    let tokens = counts.clone().fold(0, |all, count| count.tokens.saturating_add(all));
    let estimated = counts.clone().any(|count| count.estimated);
    let completion = usage.get("completion_tokens").and_then(Value::as_u64);
    // An estimate must not exceed the number of all tokens.
    let tokens = match completion {
        Some(most @ 1..) if estimated => tokens.min(most),
        _ => tokens,
    };
    let Some(usage) = usage.as_object_mut().filter(|_| tokens > 0) else { return };
    let details = usage.entry(DETAILS).or_insert(Value::Null);
    if details.is_null() {
        *details = Value::Object(Map::new());
    }
    let Some(details) = details.as_object_mut() else { return };
    let known = details.get(REASONING_TOKENS).and_then(Value::as_u64);
    if known.is_none_or(|known| known == 0) {
        details.insert(REASONING_TOKENS.into(), tokens.into());
        if estimated {
            details.insert(ESTIMATED.into(), true.into());
        }
    }
}
