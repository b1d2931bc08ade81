//! Texts that read back as a value, where the wire does not express its type.

use alloc::{borrow::Cow, string::String};

use super::{json, python};
use crate::{
    encode::{EncodeErrorKind, error::EncodeFault, input::JsonNode},
    family::{Form, Spacing, Types as DecidedBy, Undeclared, Words, Write},
    typing::TypeSet,
    value::{json_or_string, typed},
};

/// How a text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The text reads back as a string.
    String,
    /// The text reads back as one of these types, or as a string.
    Typed(TypeSet),
    /// The text reads back as the JSON it spells, or as a string.
    Json,
}

impl Reading {
    /// Returns how a text is read back. `declared` are the types that the schema admits, if it
    /// restricts them, and `said` whether the wire marks strings.
    pub(super) fn of(form: &Form, declared: Option<TypeSet>, said: Option<bool>) -> Self {
        let by_schema = form.types == DecidedBy::Schema;
        match (declared.filter(|_| by_schema), said) {
            (Some(TypeSet::ALL), _) | (None, Some(true)) => Self::String,
            (Some(types), _) if types.only_string() => Self::String,
            (Some(types), _) => Self::Typed(types),
            (None, Some(false)) => Self::Json,
            (None, None) => match form.undeclared {
                Some(Undeclared::Text) => Self::String,
                None if by_schema => Self::String,
                Some(Undeclared::Json) | None => Self::Json,
            },
        }
    }

    /// The JSON that this text becomes.
    pub(super) fn read(self, text: &str) -> String {
        let mut read = String::new();
        let put = |piece: &str| read.push_str(piece);
        let _ = match self {
            Self::String => typed(text, TypeSet::STRING, put),
            Self::Typed(types) => typed(text, types, put),
            Self::Json => json_or_string(text, put),
        };
        read
    }
}

/// The text that `read` makes this value of: the first that does of its plain spelling, JSON in
/// the place of the family's words, and JSON with strings in quotes.
pub(super) fn text<'v>(
    value: &'v JsonNode<'_>,
    write: Write,
    read: impl Fn(&str) -> String,
) -> Result<Cow<'v, str>, EncodeFault> {
    let plain: Cow<'v, str> = match (value, write.words) {
        (JsonNode::String(text), _) => text.as_str().into(),
        (JsonNode::Bool(_) | JsonNode::Null, Words::Python) | (_, Words::Repr) => {
            python::text(value)?.into()
        }
        _ => json::text(value, write.json).into(),
    };
    let same = |text: &str| {
        let read = read(text);
        // White space is not part of a value; strings have no other spelling.
        read == json::text(value, write.json) || read == json::text(value, Spacing::Compact)
    };
    if same(&plain) {
        return Ok(plain);
    }
    let json = json::text(value, write.json);
    if same(&json) {
        return Ok(json.into());
    }
    Err(EncodeFault::new(
        EncodeErrorKind::Value,
        match value {
            JsonNode::String(_) => "its schema would make something other than a string of it",
            _ => "it would be read back as a string: no schema says otherwise",
        },
    ))
}
