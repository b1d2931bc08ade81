//! Why a chat guard could not go on.

use std::fmt;

use jail_match::LimitError;
use serde_json::{Value, json};
use toolcall_parsers::Rejected;

/// Policy for an error that ends the stream early: a limit, or an error of upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Failures {
    /// The error is returned or kept, and the stream ends.
    #[default]
    Returned,
    /// The stream also reports the error, because the status of the response was already sent.
    /// Bytes end with an event that holds OpenAI's error object, and `[DONE]`. Streams of chunks
    /// end with an item that holds the object ([`super::FailureItem`]).
    Written,
}

/// Returns OpenAI's error object with `message`.
pub(super) fn error_object(message: &str) -> Value {
    json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}})
}

/// Why a chat guard could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatError {
    /// The stream has more choices than [`super::ChatLimits::choices`].
    TooManyChoices,
    /// A limit of a choice's guard was hit, and its policy is to fail.
    Limit(LimitError),
    /// The answer was cut. The stream ended without a finish reason, `[DONE]` or an error, or a
    /// whole response has a choice without a finish reason. [`super::Synthesis::Always`] accepts
    /// servers that never send one.
    Unfinished,
    /// The payload of a choice was not calls; see [`crate::BadPayload::Reject`].
    Rejected(Rejected),
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyChoices => f.write_str("the stream has more choices than allowed"),
            Self::Limit(error) => error.fmt(f),
            Self::Unfinished => f.write_str(
                "the answer was cut: no finish reason came and nothing else that ends it",
            ),
            Self::Rejected(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChatError {}
