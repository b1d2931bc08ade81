//! How a stream ended, who is to blame, and what it still had.

use std::borrow::Cow;

use jail_match::{Held, HeldKind, LimitError};
use serde::{Serialize, Serializer};

use super::unwind::{Payload, message};

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// Upstream was exhausted; or the consumer left when nothing could follow any more
    /// ([`AfterWhole`]).
    Complete,
    /// An error or a refusal ended it.
    Failed {
        /// Whose.
        who: Party,
        /// What kind of error.
        error: ErrorInfo,
    },
    /// The consumer dropped the stream.
    Dropped,
    /// The consumer closed the stream.
    Closed,
    /// A limit was hit.
    Limit {
        /// Which.
        what: &'static str,
        /// The value that was allowed, or the stream offset where the limit fell.
        at: u64,
    },
    /// The timer fired.
    TimedOut,
    /// User code panicked.
    Panicked {
        /// Whose.
        who: Party,
        /// The panic's message.
        message: String,
    },
}

impl Ending {
    /// A short, stable name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed { .. } => "failed",
            Self::Dropped => "dropped",
            Self::Closed => "closed",
            Self::Limit { .. } => "limit",
            Self::TimedOut => "timed_out",
            Self::Panicked { .. } => "panicked",
        }
    }

    /// `ok`, `cancelled` (the consumer's wish), or `error`.
    #[must_use]
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Complete => "ok",
            Self::Dropped | Self::Closed => "cancelled",
            _ => "error",
        }
    }

    pub(super) fn panicked(who: Party, payload: &Payload) -> Self {
        Self::Panicked { who, message: message(payload) }
    }

    pub(super) fn hit(limit: LimitError) -> Self {
        Self::Limit { what: limit.kind.name(), at: limit.at }
    }
}

/// A part of the pipeline that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Party {
    /// What creates the upstream.
    Producer,
    /// The stream that is wrapped.
    Upstream,
    /// The item guardrail.
    Guardrail,
    /// The collector, while it looks at items.
    Collector,
    /// The collector, when it makes the aggregate.
    Finalizer,
    /// A response sanitizer, or what lists them.
    Sanitizer,
    /// The response codec.
    Codec,
    /// A subscriber.
    Subscriber,
    /// The context.
    Context,
    /// The clock.
    Clock,
    /// The timer.
    Timer,
    /// What stops the producer when the stream is closed.
    Closer,
    /// What describes errors, or makes them.
    ErrorHook,
}

/// What is told of an error. Never its text, unless the caller asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ErrorInfo {
    /// Its class: the type's name unless the caller says otherwise.
    pub class: Cow<'static, str>,
    /// Its text.
    pub message: Option<String>,
}

impl ErrorInfo {
    /// An error of a class, without text.
    pub fn class(class: impl Into<Cow<'static, str>>) -> Self {
        Self { class: class.into(), message: None }
    }
}

/// A fault that did not end the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Whose.
    pub who: Party,
    /// What it said.
    pub message: String,
}

/// Faults, the first of them kept.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) kept: Vec<Fault>,
    pub(super) more: u64,
}

impl Faults {
    const KEPT: usize = 16;

    pub(super) fn add(&mut self, who: Party, message: String) {
        if self.kept.len() < Self::KEPT {
            self.kept.push(Fault { who, message });
        } else {
            self.more += 1;
        }
    }

    /// Notes the panic, if there was one.
    pub(super) fn take<R>(&mut self, who: Party, result: Result<R, Payload>) -> Option<R> {
        result.map_err(|payload| self.add(who, message(&payload))).ok()
    }
}

/// What was received and never reached the consumer. Sizes, no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Withheld {
    /// Bytes held by a machine.
    pub bytes: usize,
    /// Why the last of them were held.
    #[serde(serialize_with = "name")]
    pub kind: HeldKind,
    /// Whole items that waited to be fetched.
    pub items: usize,
}

impl Withheld {
    /// Nothing.
    pub const NOTHING: Self = Self { bytes: 0, kind: HeldKind::Nothing, items: 0 };

    /// Whether nothing was withheld.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.bytes == 0 && self.items == 0
    }

    /// Both together; the reason is that of `self` where it holds anything.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        let kind = if self.bytes > 0 { self.kind } else { other.kind };
        Self { bytes: self.bytes + other.bytes, kind, items: self.items + other.items }
    }
}

impl From<Held> for Withheld {
    fn from(Held { bytes, kind }: Held) -> Self {
        Self { bytes, kind, items: 0 }
    }
}

fn name<S: Serializer>(kind: &HeldKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// How an inner stream stands, asked when the wrapper ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// What it still has.
    pub withheld: Withheld,
    /// The limit that ended it early, though it just stopped.
    pub limit: Option<LimitError>,
}

/// What it means that the consumer leaves when the answer is whole: everything has arrived that
/// matters, only upstream's end has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterWhole {
    /// The stream counts as complete.
    #[default]
    Complete,
    /// It counts as dropped or closed.
    AsItEnded,
}
