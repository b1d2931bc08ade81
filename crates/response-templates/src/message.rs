//! The message, built from the closed regions.

use alloc::{string::String, vec::Vec};
use core::fmt;

use crate::{
    json::{JsonObject, JsonTree},
    malformed::Malformed,
    template::ResponseTemplate,
};

/// A closed region of a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FieldRegion {
    /// The name of the region's field.
    pub field: String,
    /// The text of the region, unchanged.
    pub raw: String,
    /// The value, or the reason why there is none.
    pub value: Result<JsonTree, Malformed>,
    /// Whether the region began in the prompt.
    pub in_prompt: bool,
}

/// An error: a message lacks required fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFields {
    /// The names of the fields, in the order of the template.
    pub fields: Vec<String>,
}

impl fmt::Display for MissingFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the message has no {}", self.fields.join(", "))
    }
}

impl core::error::Error for MissingFields {}

/// The reason why a parser has no message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageError {
    /// [`TemplateSettings::keep_regions`](crate::TemplateSettings::keep_regions) is off, so the
    /// regions were not kept.
    RegionsNotKept,
    /// Required fields are missing.
    Missing(MissingFields),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RegionsNotKept => {
                f.write_str("the parser kept no regions: expected `TemplateSettings::keep_regions`")
            }
            Self::Missing(missing) => missing.fmt(f),
        }
    }
}

impl core::error::Error for MessageError {}

impl From<MissingFields> for MessageError {
    fn from(missing: MissingFields) -> Self {
        Self::Missing(missing)
    }
}

/// Builds the message of `regions`.
///
/// The last region of a field counts. If the field repeats, all its regions count, as a list or as
/// one text. Regions without a value are left out, and so are empty values without a default.
///
/// # Errors
/// Returns an error if required fields are missing.
pub(crate) fn message(
    template: &ResponseTemplate,
    regions: &[FieldRegion],
) -> Result<JsonObject, MissingFields> {
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
            (Some(join), Some(JsonTree::String(text)), JsonTree::String(more)) => {
                text.push_str(join);
                text.push_str(more);
            }
            (None, Some(JsonTree::Array(items)), value) if field.repeats => {
                items.push(value.clone());
            }
            (None, _, value) if field.repeats => {
                message.set(field.name.as_str(), JsonTree::Array(Vec::from([value.clone()])));
            }
            (_, _, value) => message.set(field.name.as_str(), value.clone()),
        }
    }
    let missing = inner.fields.iter().filter(|field| !field.optional);
    let missing = missing.filter(|field| message.get(&field.name).is_none());
    let fields: Vec<String> = missing.map(|field| field.name.clone()).collect();
    if !fields.is_empty() {
        return Err(MissingFields { fields });
    }
    Ok(message.filtered(|key, value| inner.defaults.get(key).is_some() || !value.is_empty()))
}
