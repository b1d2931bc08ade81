//! What a grammar says about calls in Python syntax.

use serde::{Deserialize, Serialize};

use crate::{
    engine::{frame::Closing, json::Keys},
    grammar::{List, Text},
};

/// Calls in Python syntax.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PythonShape {
    /// Literals between the opener and the calls, in order; whitespace may stand before each.
    #[serde(default)]
    pub glue: List<Text>,
    /// How calls stand together.
    pub container: PythonContainer,
    /// How a call is written.
    #[serde(default)]
    pub call: PythonCall,
    /// What ends a string.
    #[serde(default)]
    pub quotes: Quotes,
    /// Words other than `None` and `null` that mean the same.
    #[serde(default)]
    pub null_words: List<Text>,
    /// End markers, any of which closes; whitespace may stand before it.
    #[serde(default)]
    pub closers: List<Text>,
    /// Whether an end marker is expected.
    #[serde(default)]
    pub closing: Closing,
}

/// How calls in Python syntax stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PythonContainer {
    /// A list: `[f(a=1), g()]`.
    List,
    /// One call without a list around it.
    Call,
    /// Either of the two.
    ListOrCall,
    /// Calls one after the other, whitespace between, up to the end marker.
    Lines,
}

/// How a call in Python syntax is written.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PythonCall {
    /// A call with keyword arguments: `f(a=1)`.
    #[default]
    Call,
    /// A dict with these keys, of which `wrap` and `list` are not used:
    /// `{'name': 'f', 'arguments': {'a': 1}}`.
    Dict(Keys),
    /// A call with one object, as in JavaScript: `f({a: 1, 'b': "x"})`. Keys may be bare, strings
    /// may stand in backquotes, the parentheses may be missing.
    Object,
}

/// What ends a string in Python syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quotes {
    /// The next such quote, as in Python; a string directly behind another continues it.
    #[default]
    Strict,
    /// The next such quote behind which, after whitespace, stands `,`, `)`, `]`, `}` or `:`.
    /// Other such quotes belong to the string: `'sed -n '1,9p' f'`.
    Nested,
}
