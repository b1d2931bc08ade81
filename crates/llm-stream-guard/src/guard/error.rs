//! Errors of building a guard.

use std::fmt;

use jail_match::{EdgeError, ZeroLimit};
use toolcall_parsers::UnknownName;

use super::RequestError;
use crate::stop::EmptyStop;

/// An error of building a guard, caused by the caller's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A name is not registered.
    Unknown(UnknownName),
    /// A marker is invalid.
    Table(EdgeError),
    /// A limit is set to zero.
    Limit(ZeroLimit),
    /// Reasoning is marked by the messages of one family, and calls belong to another.
    TwoGrammars {
        /// The family of the messages.
        reasoning: String,
        /// The tool-call family.
        tools: String,
    },
    /// A stop string is empty.
    Stop(EmptyStop),
    /// The request is malformed.
    Request(RequestError),
    /// Tools are declared and the model may choose, but the profile has no grammar of calls.
    NoToolGrammar {
        /// The profile without calls.
        profile: String,
    },
    /// An option is set that has no effect with a response template.
    NotWithTemplate {
        /// Name of the refused option.
        option: &'static str,
    },
    /// An option about reasoning tags is set, but the profile has none.
    NoTags {
        /// Name of the refused option.
        option: &'static str,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::Table(error) => error.fmt(f),
            Self::Limit(error) => error.fmt(f),
            Self::TwoGrammars { reasoning, tools } => write!(
                f,
                "reasoning format `{reasoning}` needs tool-call family `{reasoning}` or none, \
                 found `{tools}`"
            ),
            Self::Stop(error) => error.fmt(f),
            Self::Request(error) => error.fmt(f),
            Self::NoToolGrammar { profile } => write!(
                f,
                "tools are declared, but profile `{profile}` reads no calls; take a \
                 profile with a tool-call family, or give a grammar"
            ),
            Self::NotWithTemplate { option } => {
                write!(f, "`{option}` does nothing where a response template reads the message")
            }
            Self::NoTags { option } => write!(
                f,
                "`{option}` is about tags of reasoning, and there are none; take a profile with a \
                 reasoning format, or give one"
            ),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<UnknownName> for BuildError {
    fn from(error: UnknownName) -> Self {
        Self::Unknown(error)
    }
}

impl From<EdgeError> for BuildError {
    fn from(error: EdgeError) -> Self {
        Self::Table(error)
    }
}

impl From<ZeroLimit> for BuildError {
    fn from(error: ZeroLimit) -> Self {
        Self::Limit(error)
    }
}

impl From<EmptyStop> for BuildError {
    fn from(error: EmptyStop) -> Self {
        Self::Stop(error)
    }
}
