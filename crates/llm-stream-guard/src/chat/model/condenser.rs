//! The walk through a chunk or a whole response that condenses its heavy values.

use std::fmt;

use serde::{
    Deserializer as _,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    chat::{
        model::{
            condensed_string::{is_heavy, push_condensed},
            parsed_size::parsed_size,
        },
        tokens::token_ids::is_ids,
    },
    limits::MAX_PARSED_TOKEN_BYTES,
};

/// Memory of an entry of log probabilities besides its value, in bytes: its place in a queue.
const TOKEN_ENTRY: usize = 1024;

/// The text is not JSON.
#[derive(Debug, Clone, Copy)]
pub(in crate::chat) struct NotJson;

/// The place of a value in a chunk or in a whole response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValuePlace {
    Answer,
    Choices,
    Choice,
    Message,
    Calls,
    Call,
    Function,
    /// An error object of upstream.
    Error,
    Logprobs,
    Tokens,
    Token,
    /// A list of token ids, or an object that has one.
    Ids,
    /// A value that is read as it is.
    Read,
    /// A value that is only passed on.
    Opaque,
}

impl ValuePlace {
    /// Returns the place of an object's member.
    fn member(self, name: &str) -> Self {
        match (self, name) {
            (Self::Answer, "choices") => Self::Choices,
            (Self::Answer, "usage") => Self::Read,
            (Self::Answer, "error") => Self::Error,
            (Self::Error, "message" | "type" | "param" | "code") => Self::Read,
            (Self::Choice, "delta" | "message") => Self::Message,
            (Self::Choice, "logprobs") => Self::Logprobs,
            (Self::Message, "tool_calls") => Self::Calls,
            (Self::Call, "function") => Self::Function,
            (Self::Logprobs, "content" | "refusal") => Self::Tokens,
            (Self::Message, "content") | (Self::Function, "arguments") | (Self::Logprobs, _) => {
                Self::Read
            }
            (Self::Token, "token" | "bytes" | "id") => Self::Read,
            (Self::Answer | Self::Choice | Self::Message, name) if is_ids(name) => Self::Ids,
            _ => Self::Opaque,
        }
    }

    /// Returns the place of a list's entry.
    fn entry(self) -> Self {
        match self {
            Self::Choices => Self::Choice,
            Self::Calls => Self::Call,
            Self::Tokens => Self::Token,
            other => other,
        }
    }

    /// Whether the members of an object, or the entries of a list, are looked at one by one.
    fn is_walked(self, raw: &str) -> bool {
        match self {
            Self::Choices | Self::Calls | Self::Tokens => raw.starts_with('['),
            Self::Ids | Self::Read | Self::Opaque => false,
            _ => raw.starts_with('{'),
        }
    }
}

/// The state of condensing a text.
#[derive(Debug)]
pub(in crate::chat) struct Condenser {
    /// The condensed text so far.
    pub(in crate::chat) out: String,
    /// Estimated memory of the log probabilities and token ids that are read.
    pub(in crate::chat) tokens: usize,
    /// Entries of log probabilities so far.
    entries: usize,
}

impl Condenser {
    /// Condenses the text of a chunk or of a whole response.
    ///
    /// # Errors
    /// The text is not JSON.
    pub(in crate::chat) fn run(json: &str) -> Result<Self, NotJson> {
        let raw: &RawValue = serde_json::from_str(json).map_err(|_| NotJson)?;
        let mut condenser = Self { out: String::new(), tokens: 0, entries: 0 };
        condenser.value(raw.get(), ValuePlace::Answer)?;
        Ok(condenser)
    }

    fn value(&mut self, raw: &str, place: ValuePlace) -> Result<(), NotJson> {
        let (at, entries) = (self.out.len(), self.entries);
        if place.is_walked(raw) {
            self.walk(raw, place)?;
        } else if place != ValuePlace::Read && place != ValuePlace::Ids && is_heavy(raw) {
            push_condensed(raw, &mut self.out);
        } else {
            self.out.push_str(raw);
        }
        if matches!(place, ValuePlace::Logprobs | ValuePlace::Ids) {
            let written = self.out.get(at..).unwrap_or_default();
            let entries = self.entries.saturating_sub(entries).saturating_mul(TOKEN_ENTRY);
            let size = parsed_size(written).saturating_add(entries);
            let tokens = self.tokens.saturating_add(size);
            if tokens <= MAX_PARSED_TOKEN_BYTES {
                self.tokens = tokens;
            } else if raw.starts_with(['{', '[']) {
                self.out.truncate(at);
                push_condensed(raw, &mut self.out);
            }
        }
        Ok(())
    }

    fn walk(&mut self, raw: &str, place: ValuePlace) -> Result<(), NotJson> {
        let mut json = serde_json::Deserializer::from_str(raw);
        let walk = Walk { condenser: self, place };
        let read = match raw.starts_with('{') {
            true => json.deserialize_map(walk),
            false => json.deserialize_seq(walk),
        };
        read.map_err(|_| NotJson)
    }
}

/// A visitor of an object's members or of a list's entries.
struct Walk<'c> {
    condenser: &'c mut Condenser,
    place: ValuePlace,
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { condenser, place } = self;
        condenser.out.push('{');
        let mut is_first = true;
        while let Some((name, raw)) = members.next_entry::<String, &RawValue>()? {
            if !std::mem::take(&mut is_first) {
                condenser.out.push(',');
            }
            let key = serde_json::to_string(&name).map_err(serde::de::Error::custom)?;
            condenser.out.push_str(&key);
            condenser.out.push(':');
            let place = place.member(&name);
            condenser.value(raw.get(), place).map_err(|NotJson| not_json())?;
        }
        condenser.out.push('}');
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { condenser, place } = self;
        condenser.out.push('[');
        let mut is_first = true;
        while let Some(raw) = entries.next_element::<&RawValue>()? {
            if !std::mem::take(&mut is_first) {
                condenser.out.push(',');
            }
            let place = place.entry();
            condenser.entries =
                condenser.entries.saturating_add(usize::from(place == ValuePlace::Token));
            condenser.value(raw.get(), place).map_err(|NotJson| not_json())?;
        }
        condenser.out.push(']');
        Ok(())
    }
}

fn not_json<E: serde::de::Error>() -> E {
    E::custom("not JSON")
}
