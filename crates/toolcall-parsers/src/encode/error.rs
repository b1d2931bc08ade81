//! The error of a call that cannot be written in a family's syntax.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
};
use core::fmt;

/// The error of [`encode`](crate::encode()): a call is invalid, or the family cannot express it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeError {
    family: String,
    call: usize,
    name: String,
    fault: EncodeFault,
}

/// The part of a call that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// The arguments are not the text of one JSON object.
    Arguments,
    /// The name of the tool.
    Name,
    /// The id of the refused call.
    Id,
    /// The name of an argument.
    Key,
    /// The value of an argument.
    Value,
    /// This call together with the calls before it.
    Several,
    /// The written text did not read back as the same call.
    NotReadBack,
    /// Any call, because the grammar lacks a template or key.
    Grammar,
}

impl EncodeErrorKind {
    const fn what(self) -> &'static str {
        match self {
            Self::Arguments => "its arguments",
            Self::Name => "its name",
            Self::Id => "its id",
            Self::Key => "the argument name",
            Self::Value => "the value of argument",
            Self::Several => "a further call",
            Self::NotReadBack => "the call",
            Self::Grammar => "any call",
        }
    }
}

/// A fault without its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EncodeFault {
    pub(crate) kind: EncodeErrorKind,
    pub(crate) why: &'static str,
    pub(crate) key: Option<String>,
    pub(crate) at: Option<usize>,
}

impl EncodeFault {
    pub(crate) fn new(kind: EncodeErrorKind, why: &'static str) -> Self {
        Self { kind, why, key: None, at: None }
    }

    pub(crate) fn at(self, at: usize) -> Self {
        Self { at: Some(at), ..self }
    }

    pub(crate) fn for_key(self, key: &str) -> Self {
        Self { key: Some(short(key)), ..self }
    }

    pub(crate) fn in_call(self, family: &str, call: usize, name: &str) -> EncodeError {
        EncodeError { family: family.to_owned(), call, name: short(name), fault: self }
    }
}

impl EncodeError {
    /// Returns the part that cannot be written.
    #[must_use]
    pub fn kind(&self) -> EncodeErrorKind {
        self.fault.kind
    }

    /// Returns the index of the call, from 0.
    #[must_use]
    pub fn call(&self) -> usize {
        self.call
    }

    /// Returns the name of the faulty argument, if it is one. A long name is cut.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.fault.key.as_deref()
    }

    /// Returns the byte offset of the fault in the arguments, name, id or value, if there is one.
    #[must_use]
    pub fn at(&self) -> Option<usize> {
        self.fault.at
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, call, name, fault } = self;
        write!(f, "{family}: call {call} ({name:?}): cannot write {}", fault.kind.what())?;
        if let Some(key) = &fault.key {
            write!(f, " {key:?}")?;
        }
        if let Some(at) = fault.at {
            write!(f, ", byte {at}")?;
        }
        write!(f, ": {}", fault.why)
    }
}

impl core::error::Error for EncodeError {}

/// Returns the start of a text, for error messages.
fn short(text: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 32;
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => [&text[..end], "..."].concat(),
        None => text.to_string(),
    }
}
