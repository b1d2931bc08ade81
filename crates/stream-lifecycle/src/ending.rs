//! The ending of a stream: its reason, the component that failed, and the data that was withheld.

use std::borrow::Cow;

use serde::Serialize;

use crate::limits::MAX_FAULTS;
use crate::unwind::{Payload, catch};

/// The way in which a stream ended, with the component that ended it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// Upstream was exhausted, or the consumer left after the answer was complete ([`LateClose`]).
    Complete,
    /// An error or a refusal ended the stream.
    Failed {
        /// The component that failed.
        who: Component,
        /// Class and text of the error.
        error: ErrorInfo,
    },
    /// The consumer dropped the stream.
    Dropped,
    /// The consumer closed the stream.
    Closed,
    /// The stream reached a limit.
    Limit {
        /// Name of the reached limit.
        what: &'static str,
        /// The allowed value, or the stream offset at which the limit was reached.
        at: u64,
    },
    /// The timer of the stream fired.
    TimedOut,
    /// User code panicked, and the panic was caught.
    Panicked {
        /// The component that panicked.
        who: Component,
        /// Message of the panic.
        message: String,
    },
}

impl Ending {
    /// Returns a short, stable name.
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

    /// Returns `ok`, `cancelled` (at the consumer's wish) or `error`.
    #[must_use]
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Complete => "ok",
            Self::Dropped | Self::Closed => "cancelled",
            _ => "error",
        }
    }

    /// Returns whether the wrapper itself cut the stream.
    pub(crate) const fn is_cut(&self) -> bool {
        match self {
            Self::Complete | Self::Dropped | Self::Closed => false,
            Self::Failed { who, .. } => matches!(who, Component::Guardrail),
            Self::Limit { .. } | Self::TimedOut | Self::Panicked { .. } => true,
        }
    }

    pub(crate) fn panicked(who: Component, payload: &Payload) -> Self {
        Self::Panicked { who, message: payload.message() }
    }
}

impl From<LimitHit> for Ending {
    fn from(LimitHit { what, at }: LimitHit) -> Self {
        Self::Limit { what, at }
    }
}

/// A part of the pipeline that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Component {
    /// The function that creates upstream.
    Producer,
    /// The stream inside the wrapper.
    Upstream,
    /// A guardrail on items.
    Guardrail,
    /// A collector while it observes items.
    Collector,
    /// A collector or finalizer while it makes its aggregate.
    Finalizer,
    /// A sanitizer, or the function that lists sanitizers.
    Sanitizer,
    /// The codec of the aggregate.
    Codec,
    /// A subscriber of events.
    Subscriber,
    /// The context of user code.
    Context,
    /// The clock of the record.
    Clock,
    /// The future of the timeout.
    Timer,
    /// The function that stops the producer on close.
    Closer,
    /// The function that describes errors, or the one that makes them.
    ErrorHook,
}

/// A description of an error. The text is missing unless the caller asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct ErrorInfo {
    /// Class of the error: its type's name, unless the caller sets another.
    pub class: Cow<'static, str>,
    /// Text of the error, if the caller added it.
    pub message: Option<String>,
}

impl ErrorInfo {
    /// Creates the description of an error of a class, without text.
    pub fn class(class: impl Into<Cow<'static, str>>) -> Self {
        Self { class: class.into(), message: None }
    }

    /// Adds the text of the error.
    #[must_use]
    pub fn text(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }
}

/// A fault that did not end the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ComponentFault {
    /// The component that failed.
    pub who: Component,
    /// Message of the panic or error.
    pub message: String,
}

/// The first faults of a stream, and the number of further ones.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) kept: Vec<ComponentFault>,
    pub(crate) more: u64,
}

impl Faults {
    pub(crate) fn add(&mut self, who: Component, message: String) {
        if self.kept.len() < MAX_FAULTS {
            self.kept.push(ComponentFault { who, message });
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Drops a value of the caller, and records a panic of the drop.
    pub(crate) fn drop_caught<V>(&mut self, who: Component, value: V) {
        let _ = self.take(who, catch(|| drop(value)));
    }

    /// Records the panic, if there was one.
    pub(crate) fn take<R>(&mut self, who: Component, result: Result<R, Payload>) -> Option<R> {
        result.map_err(|payload| self.add(who, payload.message())).ok()
    }
}

/// The size of data that was received and did not reach the consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WithheldInfo {
    /// Bytes held by a component.
    pub bytes: usize,
    /// The reason why the last of these bytes were held, as the component names it.
    pub kind: &'static str,
    /// Whole items that were not fetched.
    pub items: usize,
}

impl WithheldInfo {
    /// No data was withheld.
    pub const NOTHING: Self = Self { bytes: 0, kind: "nothing", items: 0 };

    /// Creates the description of held bytes and their reason.
    #[must_use]
    pub const fn bytes(bytes: usize, kind: &'static str) -> Self {
        Self { bytes, kind, items: 0 }
    }

    /// Sets the number of whole items.
    #[must_use]
    pub const fn items(self, items: usize) -> Self {
        Self { items, ..self }
    }

    /// Returns whether nothing was withheld.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.bytes == 0 && self.items == 0
    }

    /// Returns the sum of both sizes. The reason is that of `self` if it has bytes.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        let kind = if self.bytes > 0 { self.kind } else { other.kind };
        let bytes = self.bytes.saturating_add(other.bytes);
        Self { bytes, kind, items: self.items.saturating_add(other.items) }
    }
}

impl Default for WithheldInfo {
    fn default() -> Self {
        Self::NOTHING
    }
}

/// State of an inner stream when its wrapper ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Data the inner stream still holds.
    pub withheld: WithheldInfo,
    /// The limit that ended the inner stream, if it just stopped at a limit.
    pub limit: Option<LimitHit>,
    /// The error that ended the inner stream, if its items carry the error.
    pub error: Option<ErrorInfo>,
}

impl Progress {
    /// Creates the state of a stream that holds `withheld` and was ended by `limit`, if any.
    #[must_use]
    pub const fn new(withheld: WithheldInfo, limit: Option<LimitHit>) -> Self {
        Self { withheld, limit, error: None }
    }

    /// Sets the error that ended the stream.
    #[must_use]
    pub fn failed(self, error: ErrorInfo) -> Self {
        Self { error: Some(error), ..self }
    }

    /// Returns the ending, if an error or a limit ended the stream.
    pub(crate) fn ending(self) -> Option<Ending> {
        let failed = |error| Ending::Failed { who: Component::Upstream, error };
        self.error.map(failed).or_else(|| self.limit.map(Ending::from))
    }
}

/// A limit that ended a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitHit {
    /// Name of the reached limit.
    pub what: &'static str,
    /// Stream offset at which the limit was reached.
    pub at: u64,
}

impl LimitHit {
    /// Creates a limit by its name and stream offset.
    #[must_use]
    pub const fn new(what: &'static str, at: u64) -> Self {
        Self { what, at }
    }
}

/// The way in which the input of a guardrail ended. The input is upstream with the guardrails
/// before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamEnd {
    /// The input was complete.
    Exhausted,
    /// An error or a limit cut the input.
    Cut,
    /// An earlier guardrail ended the stream.
    Refused,
}

/// Meaning of a drop or close after the complete answer arrived, but before upstream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LateClose {
    /// The stream counts as complete.
    #[default]
    Complete,
    /// The stream counts as dropped or closed.
    AsItEnded,
}
