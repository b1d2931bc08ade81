//! Errors that end a command.

use std::{fmt, io};

/// The reason why a command did not run to its end. Text of a model is never such a reason.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum Error {
    /// The command was called wrongly, or its input cannot be read.
    Misuse(String),
    /// The output cannot be written.
    Output(io::Error),
}

impl Error {
    /// Returns whether the reader of the output closed it. This is not reported as an error.
    #[must_use]
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misuse(problem) => f.write_str(problem),
            Self::Output(error) => write!(f, "output: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Creates an error about wrong use of the command.
pub(crate) fn misuse(problem: impl fmt::Display) -> Error {
    Error::Misuse(problem.to_string())
}
