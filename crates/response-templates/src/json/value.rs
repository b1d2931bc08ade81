//! JSON values that distinguish integers from other numbers and keep the order of members.

use crate::limits::MAX_SEARCHED;
use alloc::{
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

/// A JSON value of a template or a message.
///
/// Values are equal if their kinds are: `1000` is not `1000.0`.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(clippy::exhaustive_enums, reason = "JSON gets no more kinds")]
pub enum JsonTree {
    /// The JSON value `null`.
    #[default]
    Null,
    /// The value `true` or `false`.
    Bool(bool),
    /// An integer of any size.
    Int(Integer),
    /// Any other number. Infinity and NaN are written as `null`.
    Float(f64),
    /// A string without its escapes.
    String(String),
    /// An array with its items.
    Array(Vec<Self>),
    /// An object with its members.
    Object(JsonObject),
}

impl JsonTree {
    /// Reads JSON, including `NaN`, `Infinity` and integers of any size.
    ///
    /// # Errors
    /// Returns an error with the offset from which the text is not JSON.
    pub fn from_json(text: &str) -> Result<Self, super::NotJson> {
        super::parse(text)
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns the items of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// Returns the members of an object.
    #[must_use]
    pub const fn as_object(&self) -> Option<&JsonObject> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// Returns the member of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Returns whether the value is null, or an empty string, array or object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::String(text) => text.is_empty(),
            Self::Array(items) => items.is_empty(),
            Self::Object(object) => object.is_empty(),
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => false,
        }
    }

    /// Returns whether a flag with this value is set. Null, `false`, zero and empty values are not
    /// set.
    pub(crate) fn truthy(&self) -> bool {
        match self {
            Self::Bool(truth) => *truth,
            Self::Int(number) => number.as_str() != "0",
            Self::Float(number) => *number != 0.0,
            other => !other.is_empty(),
        }
    }
}

impl From<&str> for JsonTree {
    fn from(text: &str) -> Self {
        Self::String(text.to_string())
    }
}

/// Writes a number as `Debug` does, which writes nothing in builds without it.
fn float(number: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let size = number.abs();
    match size >= 1e16 || (size != 0.0 && size < 1e-4) {
        true => write!(f, "{number:e}"),
        false if number % 1.0 == 0.0 => write!(f, "{number}.0"),
        false => write!(f, "{number}"),
    }
}

impl fmt::Display for JsonTree {
    /// Writes JSON in one line. An infinite number is written as `null`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Int(number) => f.write_str(number.as_str()),
            Self::Float(number) if number.is_finite() => float(*number, f),
            Self::Float(_) => f.write_str("null"),
            Self::String(text) => quoted(text, f),
            Self::Array(items) => {
                f.write_str("[")?;
                for (n, item) in items.iter().enumerate() {
                    f.write_str(if n == 0 { "" } else { ", " })?;
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
            Self::Object(object) => {
                f.write_str("{")?;
                for (n, (key, value)) in object.iter().enumerate() {
                    f.write_str(if n == 0 { "" } else { ", " })?;
                    quoted(key, f)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Writes `text` as a JSON string.
pub(crate) fn quoted(text: &str, f: &mut dyn fmt::Write) -> fmt::Result {
    f.write_char('"')?;
    escaped(text, f)?;
    f.write_char('"')
}

/// Writes `text` as the inside of a JSON string.
pub(crate) fn escaped(text: &str, f: &mut dyn fmt::Write) -> fmt::Result {
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    Ok(())
}

/// An integer of any size, as its shortest decimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer(Box<str>);

impl Integer {
    /// Creates an integer from ASCII digits with an optional sign. Leading zeros are dropped.
    pub(crate) fn from_digits(text: &str) -> Self {
        let (negative, digits) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let digits = digits.trim_start_matches('0');
        Self(match (digits.is_empty(), negative) {
            (true, _) => "0".into(),
            (false, true) => alloc::format!("-{digits}").into(),
            (false, false) => digits.into(),
        })
    }

    /// Returns the decimal digits, after a `-` if the integer is negative.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An object, with members in the order in which their names were first written.
#[derive(Debug, Clone, Default)]
pub struct JsonObject {
    members: Vec<(String, JsonTree)>,
    /// The index of each name, if there are more members than [`MAX_SEARCHED`].
    places: BTreeMap<String, usize>,
}

impl JsonObject {
    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether the object has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the members, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &JsonTree)> + Clone {
        self.members.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the member called `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&JsonTree> {
        self.members.get(self.place(key)?).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut JsonTree> {
        let at = self.place(key)?;
        self.members.get_mut(at).map(|(_, value)| value)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (&str, &mut JsonTree)> {
        self.members.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// Sets the member of this name, or adds it.
    pub fn set(&mut self, key: impl Into<String>, value: JsonTree) {
        let key = key.into();
        if let Some(known) = self.get_mut(&key) {
            *known = value;
            return;
        }
        if self.members.len() == MAX_SEARCHED {
            self.places =
                self.members.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        }
        if self.members.len() >= MAX_SEARCHED {
            self.places.insert(key.clone(), self.members.len());
        }
        self.members.push((key, value));
    }

    /// Returns the object with the members that `keep` accepts.
    pub(crate) fn filtered(self, keep: impl Fn(&str, &JsonTree) -> bool) -> Self {
        self.members.into_iter().filter(|(key, value)| keep(key, value)).collect()
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.members.len() > MAX_SEARCHED {
            return self.places.get(key).copied();
        }
        self.members.iter().position(|(known, _)| known == key)
    }
}

impl PartialEq for JsonObject {
    /// Compares members in any order.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl FromIterator<(String, JsonTree)> for JsonObject {
    fn from_iter<I: IntoIterator<Item = (String, JsonTree)>>(members: I) -> Self {
        let mut object = Self::default();
        members.into_iter().for_each(|(key, value)| object.set(key, value));
        object
    }
}
