//! The message: a fold over the regions that closed.

use alloc::{string::String, vec::Vec};
use core::fmt;

use crate::{
    json::{Object, Value},
    malformed::Malformed,
    template::Template,
};

/// A region that closed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Region {
    /// The name of its field.
    pub field: String,
    /// Its text, untouched.
    pub raw: String,
    /// What became of it.
    pub value: Result<Value, Malformed>,
    /// Whether it began in the prompt.
    pub in_prompt: bool,
}

/// Fields that are not optional and are not in the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Their names, in order of writing.
    pub fields: Vec<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the message has no {}", self.fields.join(", "))
    }
}

impl core::error::Error for Missing {}

/// Why a parser has no message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageError {
    /// [`Settings::keep_regions`](crate::Settings::keep_regions) is off: the regions that closed
    /// are gone.
    RegionsNotKept,
    /// Fields that are not optional are missing.
    Missing(Missing),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RegionsNotKept => {
                f.write_str("the parser kept no regions: expected `Settings::keep_regions`")
            }
            Self::Missing(missing) => missing.fmt(f),
        }
    }
}

impl core::error::Error for MessageError {}

impl From<Missing> for MessageError {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

/// The message that `regions` make: of the regions of a field the last counts, unless the field
/// repeats; then they are a list, or one text. Regions without a value are left out, and so are
/// values that are empty, unless they have a default.
///
/// # Errors
/// Fields that are not optional and are missing.
pub fn message(template: &Template, regions: &[Region]) -> Result<Object, Missing> {
    let inner = &template.inner;
    let mut message = inner.defaults.clone();
    for region in regions {
        let (Ok(value), Some(field)) =
            (&region.value, inner.fields.iter().find(|field| field.name == region.field))
        else {
            continue;
        };
        let known = message.get_mut(&field.name);
        match (&field.join, known, value) {
            (Some(join), Some(Value::String(text)), Value::String(more)) => {
                text.push_str(join);
                text.push_str(more);
            }
            (None, Some(Value::Array(items)), value) if field.repeats => items.push(value.clone()),
            (None, _, value) if field.repeats => {
                message.set(field.name.as_str(), Value::Array(Vec::from([value.clone()])));
            }
            (_, _, value) => message.set(field.name.as_str(), value.clone()),
        }
    }
    let missing = inner.fields.iter().filter(|field| !field.optional);
    let missing = missing.filter(|field| message.get(&field.name).is_none());
    let fields: Vec<String> = missing.map(|field| field.name.clone()).collect();
    if !fields.is_empty() {
        return Err(Missing { fields });
    }
    Ok(message.filtered(|key, value| inner.defaults.get(key).is_some() || !value.is_empty()))
}
