//! Faults of requests, independent of the dialect.

use std::fmt;

use http::{HeaderValue, StatusCode};
use llm_stream_guard::chat::{ChatError, ChatSseError};
use serde_json::Value;

/// The reason why a request was not answered, or an answer broke off.
///
/// The message of a [`Kind::Upstream`] comes from upstream and may repeat text of a user or a
/// model. It is for the client, not for a log. The proxy writes all other messages; of the request
/// they hold at most the start of a model's id.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: Kind,
    /// The HTTP status, if it can still be sent.
    pub status: StatusCode,
    /// The message for the client.
    pub message: String,
    /// The field of the request at fault.
    pub field: Option<String>,
    /// The `retry-after` header of upstream.
    pub retry_after: Option<HeaderValue>,
    /// Further fields of upstream's error.
    pub reported: Option<Box<Reported>>,
}

/// The fields of an error that upstream reported.
#[derive(Debug, Clone, Default)]
pub struct Reported {
    /// The type of the error.
    pub kind: Option<String>,
    /// The error's code: text or a number.
    pub code: Option<Value>,
}

/// The kind of a [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The request cannot be read or asks for too much.
    Request,
    /// No family is known for the model, and the configuration refuses such models.
    Model,
    /// The proxy has no room for the request, or is shutting down.
    Busy,
    /// No connection to upstream.
    Unreachable,
    /// Upstream takes too long.
    Timeout,
    /// Upstream broke off, or sent something that is not an answer.
    Broken,
    /// A limit was hit in the answer.
    Limit,
    /// Upstream reported an error.
    Upstream,
}

impl Kind {
    /// Returns a short, stable name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "invalid_request",
            Self::Model => "model_unknown",
            Self::Busy => "overloaded",
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
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Self::Unreachable | Self::Broken | Self::Limit | Self::Upstream => {
                StatusCode::BAD_GATEWAY
            }
        }
    }
}

impl Fault {
    /// Creates a fault with the status of its kind.
    pub fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            status: kind.status(),
            message: message.to_string(),
            field: None,
            retry_after: None,
            reported: None,
        }
    }

    /// Reads the fault that upstream reports in `said`: an error object, alone or as the field
    /// `error`.
    pub(crate) fn reported(said: &Value) -> Self {
        let error = said.get("error").unwrap_or(said);
        let messages = ["/error/message", "/message", "/detail", "/error"];
        let message = messages.iter().find_map(|path| said.pointer(path)?.as_str());
        let code = error.get("code").filter(|code| code.is_string() || code.is_number());
        let reported = Reported {
            kind: error.get("type").and_then(Value::as_str).map(str::to_owned),
            code: code.cloned(),
        };
        Self {
            reported: Some(Box::new(reported)),
            ..Self::new(Kind::Upstream, message.unwrap_or("upstream gave no reason"))
        }
    }

    /// Returns the type of the error, if upstream reported one.
    pub(crate) fn error_type(&self) -> Option<&str> {
        self.reported.as_ref()?.kind.as_deref()
    }

    /// Returns the code of the error, if upstream reported one.
    pub(crate) fn error_code(&self) -> Option<&Value> {
        self.reported.as_ref()?.code.as_ref()
    }

    /// Converts the error of a guarded stream.
    pub(crate) fn of_stream(error: ChatSseError) -> Self {
        match error {
            ChatSseError::Chat(ChatError::Unfinished) => {
                Self::new(Kind::Broken, format!("upstream broke off: {error}"))
            }
            error => Self::new(Kind::Limit, error),
        }
    }

    /// Returns the fault with the field of the request that caused it.
    #[must_use]
    pub fn at(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// Returns the fault with another status.
    #[must_use]
    pub fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

/// Returns the fault of a request whose `field` is not `what`.
pub(crate) fn expected(field: &str, what: &str) -> Fault {
    Fault::new(Kind::Request, format!("expected {what}")).at(field)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
