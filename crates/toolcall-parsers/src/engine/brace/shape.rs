//! The shape of brace calls, as data.

use serde::{Deserialize, Serialize};

use crate::{
    engine::frame::Closing,
    grammar::{List, Text},
};

/// A name, then an object with bare keys: `call:f{key:<q>text<q>,other:[1,2]}`.
///
/// A value is an object, a list, a string between quotes that hold anything but themselves, or a
/// bare scalar up to `,` `}` or `]`. Whitespace may stand between any two of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BraceShape {
    /// Literals between the opener and a call's name.
    #[serde(default)]
    pub prefix: List<Text>,
    /// What begins and ends a string or a key that is not bare.
    pub quote: Text,
    /// What says of which type a value is.
    #[serde(default)]
    pub types: BraceTypes,
    /// Bare words other than `null` that mean the same.
    #[serde(default)]
    pub null_words: List<Text>,
    /// End markers, any of which closes; whitespace may stand before it.
    #[serde(default)]
    pub closers: List<Text>,
    /// Whether an end marker is expected.
    #[serde(default)]
    pub closing: Closing,
}

/// What says of which type a value of a brace call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BraceTypes {
    /// The wire: what is quoted is a string, what is bare is the JSON it spells, else a string.
    #[default]
    Wire,
    /// The schema, for quoted and bare values alike; where it does not say, the value is the
    /// JSON it spells, else a string.
    Schema,
}
