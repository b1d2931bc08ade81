//! How a message ended, and what was open then.
//!
//! ```text
//! <think>abc                       length   reasoning
//! <tool_call>{"name": "ring"       length   call
//! <think>hm</think>Hi.             stop     none
//! ```

use std::fmt;

use jail_match::{End, Event, Sink, Span, Trace};
use toolcall_parsers::Outcome;

use super::Guard;

/// The part of a message that was open at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OpenAtEnd {
    /// Nothing: all reasoning and all calls were closed.
    #[default]
    Nothing,
    /// Reasoning without its closer.
    Reasoning,
    /// A call, or the opener of one, without its end.
    Call,
}

impl OpenAtEnd {
    /// Returns a short, stable name: `none`, `reasoning` or `call`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Reasoning => "reasoning",
            Self::Call => "call",
        }
    }
}

/// How a message ended, as [`crate::Guard::message_end`] returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageEnd {
    /// The end that the caller gave, or that a stop string or a collapse made.
    pub end: End,
    /// The part of the message that was open.
    pub open: OpenAtEnd,
}

impl MessageEnd {
    /// Returns a short, stable name of the end: `stop`, `length` or `aborted`.
    #[must_use]
    pub const fn finish(self) -> &'static str {
        self.end.name()
    }

    /// Returns whether the model stopped on its own and left nothing open.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use llm_stream_guard::{End, Event, Guard, profile};
    /// let mut guard = Guard::builder(&profile("qwen3")?).build()?;
    /// let mut sink = |_: Event<'_>| {};
    /// guard.push("<think>abc", &mut sink)?;
    /// guard.finish(End::Length, &mut sink)?;
    /// let end = guard.message_end().expect("the message is over");
    /// assert_eq!((end.finish(), end.open.name(), end.is_whole()), ("length", "reasoning", false));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.end == End::Stop && self.open == OpenAtEnd::Nothing
    }
}

impl Guard {
    /// Returns how the message ended and what was open then, after [`Guard::finish`] or a stop
    /// string. Each reset forgets it.
    #[must_use]
    pub fn message_end(&self) -> Option<MessageEnd> {
        self.input.message_end()
    }
}

/// A sink that watches what the end of a message makes of the text held before it.
pub(super) struct EndWatch<'s> {
    sink: &'s mut dyn Sink,
    /// Whether the held text had begun a call.
    began_call: bool,
    /// The outcome of the call that ended last.
    outcome: Option<Outcome>,
    /// Whether held text was released as text.
    released: bool,
}

impl fmt::Debug for EndWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndWatch").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

impl<'s> EndWatch<'s> {
    /// Creates a watch over the end of a message. `began_call` is whether its held text has begun a
    /// call.
    pub(super) fn new(began_call: bool, sink: &'s mut dyn Sink) -> Self {
        Self { sink, began_call, outcome: None, released: false }
    }

    /// Returns how the message ended. `in_reasoning` is whether it ended in reasoning that is open.
    pub(super) fn message_end(&self, end: End, in_reasoning: bool) -> MessageEnd {
        let call = match self.outcome {
            Some(outcome) => matches!(outcome, Outcome::Incomplete | Outcome::Malformed),
            // A model that stopped after an opener and words wrote words.
            None => self.began_call && !(self.released && end == End::Stop),
        };
        let open = match call {
            true => OpenAtEnd::Call,
            false if in_reasoning => OpenAtEnd::Reasoning,
            false => OpenAtEnd::Nothing,
        };
        MessageEnd { end, open }
    }
}

impl Sink for EndWatch<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::CallEnd { outcome, .. } => self.outcome = Some(outcome),
            event => self.released |= event.as_text().is_some(),
        }
        self.sink.event(event);
    }

    fn account(&mut self, span: Span) {
        self.sink.account(span);
    }

    fn trace(&mut self, trace: Trace) {
        self.sink.trace(trace);
    }
}
