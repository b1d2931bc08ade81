//! Why a chat guard could not go on.

use std::fmt;

use jail_match::LimitError;

use crate::guard::Rejected;

/// Why a chat guard could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatError {
    /// More choices than [`super::ChatLimits::choices`].
    TooManyChoices,
    /// A limit of a choice's guard was hit, and its policy is to fail.
    Limit(LimitError),
    /// The payload of a choice was not calls; see [`crate::BadPayload::Reject`].
    Rejected(Rejected),
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyChoices => f.write_str("the stream has more choices than allowed"),
            Self::Limit(error) => error.fmt(f),
            Self::Rejected(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChatError {}
