//! The error of a request whose tools cannot be moved into the prompt.

use std::fmt;

use toolcall_parsers::{DeclareError, UnknownName};

use crate::guard::RequestError;

/// The error of [`move_tools_to_prompt`](crate::move_tools_to_prompt).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PromptToolsError {
    /// A field of the request is malformed.
    Request(RequestError),
    /// The profile with this name reads no calls.
    NoCalls(String),
    /// The profile names an unknown family of calls.
    Family(UnknownName),
    /// The family cannot declare the tools.
    Declare(DeclareError),
}

impl fmt::Display for PromptToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::NoCalls(profile) => write!(
                f,
                "the models of `{profile}` write no calls. What to do: name a family that does, \
                 such as `json_in_tags`"
            ),
            Self::Family(error) => error.fmt(f),
            Self::Declare(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PromptToolsError {}
