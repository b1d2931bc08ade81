//! How a stream ended, who is to blame, and what it still had.

use std::borrow::Cow;

use serde::Serialize;

use crate::unwind::{Payload, catch};

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// Upstream was exhausted; or the consumer left when nothing could follow any more
    /// ([`LateClose`]).
    Complete,
    /// An error or a refusal ended it.
    Failed {
        /// The component that failed.
        who: Component,
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
        /// The component that failed.
        who: Component,
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

    /// Whether the wrapper itself cut the stream.
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
    /// What creates the upstream.
    Producer,
    /// The stream that is wrapped.
    Upstream,
    /// A guardrail on items.
    Guardrail,
    /// A collector, while it looks at items.
    Collector,
    /// A collector, when it makes its aggregate.
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
#[non_exhaustive]
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

    /// The same with the error's text.
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
    /// What it said.
    pub message: String,
}

/// Faults, the first of them kept.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) kept: Vec<ComponentFault>,
    pub(crate) more: u64,
}

impl Faults {
    const KEPT: usize = 16;

    pub(crate) fn add(&mut self, who: Component, message: String) {
        if self.kept.len() < Self::KEPT {
            self.kept.push(ComponentFault { who, message });
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Lets go of a value of the caller's, whose drop may panic.
    pub(crate) fn drop_caught<V>(&mut self, who: Component, value: V) {
        let _ = self.take(who, catch(|| drop(value)));
    }

    /// Notes the panic, if there was one.
    pub(crate) fn take<R>(&mut self, who: Component, result: Result<R, Payload>) -> Option<R> {
        result.map_err(|payload| self.add(who, payload.message())).ok()
    }
}

/// What was received and never reached the consumer. Sizes, no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WithheldInfo {
    /// Bytes held by a machine.
    pub bytes: usize,
    /// Why the last of them were held, in the machine's word.
    pub kind: &'static str,
    /// Whole items that waited to be fetched.
    pub items: usize,
}

impl WithheldInfo {
    /// Nothing.
    pub const NOTHING: Self = Self { bytes: 0, kind: "nothing", items: 0 };

    /// Bytes that a machine holds, and why.
    #[must_use]
    pub const fn bytes(bytes: usize, kind: &'static str) -> Self {
        Self { bytes, kind, items: 0 }
    }

    /// The same with as many whole items.
    #[must_use]
    pub const fn items(self, items: usize) -> Self {
        Self { items, ..self }
    }

    /// Whether nothing was withheld.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.bytes == 0 && self.items == 0
    }

    /// Both together; the reason is that of `self` where it holds anything.
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

/// How far an inner stream is, asked when the wrapper ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// What it still has.
    pub withheld: WithheldInfo,
    /// The limit that ended it early, though it just stopped.
    pub limit: Option<LimitHit>,
    /// The error that ended it, if its items tell of that instead of an error.
    pub error: Option<ErrorInfo>,
}

impl Progress {
    /// A stream that holds `withheld`, and was ended by `limit` if there is one.
    #[must_use]
    pub const fn new(withheld: WithheldInfo, limit: Option<LimitHit>) -> Self {
        Self { withheld, limit, error: None }
    }

    /// The same for a stream that `error` ended.
    #[must_use]
    pub fn failed(self, error: ErrorInfo) -> Self {
        Self { error: Some(error), ..self }
    }

    /// How the stream ended, if it did not just stop.
    pub(crate) fn ending(self) -> Option<Ending> {
        let failed = |error| Ending::Failed { who: Component::Upstream, error };
        self.error.map(failed).or_else(|| self.limit.map(Ending::from))
    }
}

/// A limit that ended a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitHit {
    /// Which.
    pub what: &'static str,
    /// The stream offset where it fell.
    pub at: u64,
}

impl LimitHit {
    /// The limit of that name, hit at that stream offset.
    #[must_use]
    pub const fn new(what: &'static str, at: u64) -> Self {
        Self { what, at }
    }
}

/// Whether upstream, with the guardrails in front, said all it had to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamEnd {
    /// It was exhausted.
    Exhausted,
    /// An error or a limit cut it.
    Cut,
    /// A guardrail in front ended the stream.
    Refused,
}

/// What it means that the consumer leaves when the answer is whole: everything has arrived that
/// matters, only upstream's end has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LateClose {
    /// The stream counts as complete.
    #[default]
    Complete,
    /// It counts as dropped or closed.
    AsItEnded,
}
