//! The cleanup of a producer when its stream is closed.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use crate::{ending::ErrorInfo, unwind::Payload};

type PollClose<S> = dyn FnMut(Pin<&mut S>, &mut Context<'_>) -> Poll<Result<(), CloseError>> + Send;

/// The function that stops a producer.
pub(crate) struct Closer<S>(pub(crate) Box<PollClose<S>>);

/// The error of a producer's cleanup.
#[derive(Debug, Clone)]
pub struct CloseError(Arc<dyn Error + Send + Sync>);

impl CloseError {
    /// Wraps the error of the cleanup.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }

    pub(crate) fn panicked(payload: &Payload) -> Self {
        Self::new(format!("cleanup panicked: {}", payload.message()))
    }

    pub(crate) fn info(&self) -> ErrorInfo {
        ErrorInfo { class: "CloseError".into(), message: Some(self.to_string()) }
    }
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for CloseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
