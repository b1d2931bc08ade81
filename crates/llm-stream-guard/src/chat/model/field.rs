//! A field of a JSON object that knows whether it was missing or `null`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// A field that may be missing or `null`, which strict readers distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Field<T> {
    /// The object lacks the field.
    #[default]
    Missing,
    /// The field exists and is `null`.
    Null,
    /// The field with its value.
    Value(T),
}

impl<T> Field<T> {
    /// Whether the field is not in the object.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Returns the value, if there is one.
    #[must_use]
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::Null => None,
        }
    }

    /// Returns the owned value, if there is one.
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::Null => None,
        }
    }

    /// Removes and returns the field, which is then missing.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Missing)
    }
}

impl Field<String> {
    /// Appends text to the field's text.
    pub fn append(&mut self, text: &str) {
        match self {
            Self::Value(there) => there.push_str(text),
            none => *none = Self::Value(text.to_owned()),
        }
    }
}

/// Appends text to the text of an object's member.
pub(crate) fn append_to(members: &mut Map<String, Value>, name: &str, text: &str) {
    match members.get_mut(name) {
        Some(Value::String(there)) => there.push_str(text),
        _ => drop(members.insert(name.to_owned(), text.into())),
    }
}

impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Self::Value)
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}
