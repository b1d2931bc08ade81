//! Texts that a reader converts back to a given value, if the wire does not have its type.

use alloc::{borrow::Cow, string::String};

use super::{json, python};
use crate::{
    encode::{EncodeErrorKind, error::EncodeFault, input::JsonNode},
    family::{Form, Spacing, Types as DecidedBy, Undeclared, Words, Write},
    typing::TypeSet,
    value::{self, Fit, json_or_string, typed},
};

/// The conversion of a text to a value by a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The text reads back as a string.
    String,
    /// The text reads back as one of these types, or as a string.
    Typed(TypeSet),
    /// The text reads back as JSON, as the wire declares it.
    Json,
    /// The text reads back as JSON if it is valid JSON, or as a string.
    Guess,
}

impl Reading {
    /// Returns the conversion for a form. `declared` are the types that the schema admits, if it
    /// restricts them. `said` is the wire's mark of strings, if it has one.
    pub(super) fn new(form: &Form, declared: Option<TypeSet>, said: Option<bool>) -> Self {
        let by_schema = form.types == DecidedBy::Schema;
        match (declared.filter(|_| by_schema), said) {
            (Some(TypeSet::ALL), _) | (None, Some(true)) => Self::String,
            (Some(types), _) if types.only_string() => Self::String,
            (Some(types), _) => Self::Typed(types),
            (None, Some(false)) => Self::Json,
            (None, None) => match form.undeclared {
                Some(Undeclared::Text) => Self::String,
                None if by_schema => Self::String,
                Some(Undeclared::Json) | None => Self::Guess,
            },
        }
    }

    /// Returns the JSON that a reader makes of `text`, or nothing if `text` makes the call malformed.
    pub(super) fn to_json(self, text: &str) -> String {
        let mut read = String::new();
        let put = |piece: &str| read.push_str(piece);
        let fit = match self {
            Self::String => typed(text, TypeSet::STRING, put),
            Self::Typed(types) => typed(text, types, put),
            Self::Json => value::json(text, put),
            Self::Guess => json_or_string(text, put),
        };
        if fit == Fit::Broken {
            read.clear();
        }
        read
    }
}

/// Returns a text that `read` converts to `value`. Tries the family's spelling first, then JSON.
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
        // The spacing of JSON does not matter.
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
            JsonNode::String(_) => "its schema would convert it to another type",
            _ => "it would be read back as a string: no schema declares another type",
        },
    ))
}
