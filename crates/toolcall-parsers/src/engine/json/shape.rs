//! The data of JSON calls.

use serde::{Deserialize, Serialize};

use crate::{
    engine::frame::Closing,
    grammar::{List, Text},
};

/// Calls as JSON values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonShape {
    /// Literals between the opener and the value, in order; whitespace may stand before each.
    #[serde(default)]
    pub glue: List<Text>,
    /// What the value is.
    pub container: Container,
    /// How a call is written.
    pub item: Item,
    /// End markers, any of which closes; whitespace may stand before it.
    #[serde(default)]
    pub closers: List<Text>,
    /// Whether an end marker is expected.
    #[serde(default)]
    pub closing: Closing,
    /// Names that mean "no call".
    #[serde(default)]
    pub ignored_names: List<Text>,
}

/// What a JSON value behind an opener is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    /// One object: one call.
    Object,
    /// An array of calls.
    Array,
    /// Either of the two.
    ObjectOrArray,
    /// Objects one after the other, whitespace between, up to the end marker.
    Objects,
}

/// How a call is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// An object with these keys.
    Keys(Keys),
    /// An object whose key is the name and whose value is the arguments.
    NameIsKey,
    /// An object that is the arguments of a call of this name.
    Arguments(Text),
}

/// The keys of a call object. Others are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// The name.
    pub name: List<Text>,
    /// The arguments; of several present the first counts.
    pub arguments: List<Text>,
    /// The id.
    #[serde(default)]
    pub id: List<Text>,
    /// A nested object that holds keys of the call.
    #[serde(default)]
    pub wrap: List<Text>,
    /// An array of calls inside the outermost object.
    #[serde(default)]
    pub list: List<Text>,
    /// The keys that may stand beside these, if not any: another one refutes a call that is not
    /// certain yet.
    #[serde(default)]
    pub beside: Option<List<Text>>,
    /// An answer in the place of a call, in the outermost object: a string is visible text, any
    /// other value is visible as the JSON it is.
    #[serde(default)]
    pub answer: List<Text>,
}
