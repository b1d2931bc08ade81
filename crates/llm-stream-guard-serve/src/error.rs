//! What goes wrong, before it takes the form of a dialect.

use std::fmt;

use axum::http::{HeaderValue, StatusCode};

/// Why a request was not answered, or an answer broke off.
///
/// The message of a [`Kind::Upstream`] is upstream's own, which may repeat what a user or a model
/// wrote: it is for the client, not for a log. Other messages are written here; of the request they
/// hold at most the start of a model's id.
#[derive(Debug, Clone)]
pub struct Fault {
    /// What kind.
    pub kind: Kind,
    /// The status, where one can still be sent.
    pub status: StatusCode,
    /// In words, for the client.
    pub message: String,
    /// The field of the request at fault.
    pub field: Option<String>,
    /// When upstream says to try again.
    pub retry_after: Option<HeaderValue>,
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The request cannot be read or asks for too much.
    Request,
    /// No family is known for the model, and none is to be guessed.
    Model,
    /// No connection to upstream.
    Unreachable,
    /// Upstream takes too long.
    Timeout,
    /// Upstream broke off, or sent what is no answer.
    Broken,
    /// A limit was hit in the answer.
    Limit,
    /// Upstream said itself that it failed.
    Upstream,
}

impl Kind {
    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "invalid_request",
            Self::Model => "model_unknown",
            Self::Unreachable => "upstream_unreachable",
            Self::Timeout => "upstream_timeout",
            Self::Broken => "upstream_broken",
            Self::Limit => "limit_exceeded",
            Self::Upstream => "upstream_error",
        }
    }

    const fn status(self) -> StatusCode {
        match self {
            Self::Request => StatusCode::BAD_REQUEST,
            Self::Model => StatusCode::NOT_FOUND,
            Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Self::Unreachable | Self::Broken | Self::Limit | Self::Upstream => {
                StatusCode::BAD_GATEWAY
            }
        }
    }
}

impl Fault {
    /// A fault with the status of its kind.
    pub fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            status: kind.status(),
            message: message.to_string(),
            field: None,
            retry_after: None,
        }
    }

    /// The same at a field of the request.
    #[must_use]
    pub fn at(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// The same with another status.
    #[must_use]
    pub fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
