//! The machines that can guard a choice.

use jail_match::{Channel, End, LimitError};
use toolcall_parsers::{CallSink, Event};

use crate::{guard::Guard, jailed::JailMachine, stream::Stage};

/// A machine that can guard a choice: a [`Guard`], or what is inside a
/// [`crate::JailedStream`].
pub trait ChoiceMachine: Clone + Send + 'static + sealed::Sealed {
    /// Feeds the next piece of the choice's text.
    #[doc(hidden)]
    fn feed<S: CallSink + ?Sized>(&mut self, text: &str, sink: &mut S) -> Result<(), LimitError>;

    /// Ends the choice's text.
    #[doc(hidden)]
    fn end<S: CallSink + ?Sized>(&mut self, end: End, sink: &mut S) -> Result<(), LimitError>;

    /// Makes the machine as new.
    #[doc(hidden)]
    fn renew(&mut self);

    /// The guard, if calls are parsed.
    #[doc(hidden)]
    fn parser(&self) -> Option<&Guard>;

    /// Bytes of text that are held.
    #[doc(hidden)]
    fn holds(&self) -> usize;

    /// Live bytes in buffers.
    #[doc(hidden)]
    fn keeps(&self) -> usize;

    /// Whether a call that began is kept back until it ends.
    #[doc(hidden)]
    fn withholds(&self) -> bool;

    /// Makes ids from `seed`, unless they come from a source of the caller's.
    #[doc(hidden)]
    fn seed(&mut self, seed: u64);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::guard::Guard {}
    impl Sealed for crate::jailed::JailMachine {}
}

impl ChoiceMachine for Guard {
    #[inline]
    fn feed<S: CallSink + ?Sized>(&mut self, text: &str, sink: &mut S) -> Result<(), LimitError> {
        self.push(text, sink)
    }

    fn end<S: CallSink + ?Sized>(&mut self, end: End, sink: &mut S) -> Result<(), LimitError> {
        self.finish(end, sink)
    }

    fn renew(&mut self) {
        self.reset();
    }

    fn parser(&self) -> Option<&Guard> {
        Some(self)
    }

    fn holds(&self) -> usize {
        self.held().bytes
    }

    fn keeps(&self) -> usize {
        self.buffered()
    }

    fn withholds(&self) -> bool {
        self.withholds_call()
    }

    fn seed(&mut self, seed: u64) {
        self.seed_ids(seed);
    }
}

impl ChoiceMachine for JailMachine {
    fn feed<S: CallSink + ?Sized>(&mut self, text: &str, sink: &mut S) -> Result<(), LimitError> {
        match self {
            Self::Parsed(guard) => guard.push(text, sink),
            Self::Plain(_) => self.push(text, |event| forward(event, sink)),
        }
    }

    fn end<S: CallSink + ?Sized>(&mut self, end: End, sink: &mut S) -> Result<(), LimitError> {
        match self {
            Self::Parsed(guard) => guard.end(end, sink),
            Self::Plain(_) => self.finish(end, |event| forward(event, sink)),
        }
    }

    fn renew(&mut self) {
        match self {
            Self::Parsed(guard) => guard.reset(),
            Self::Plain(jail) => jail.reset(),
        }
    }

    fn parser(&self) -> Option<&Guard> {
        match self {
            Self::Parsed(guard) => Some(guard),
            Self::Plain(_) => None,
        }
    }

    fn holds(&self) -> usize {
        match self {
            Self::Parsed(guard) => guard.holds(),
            Self::Plain(jail) => jail.held().bytes,
        }
    }

    fn keeps(&self) -> usize {
        match self {
            Self::Parsed(guard) => guard.keeps(),
            Self::Plain(jail) => jail.held().bytes,
        }
    }

    fn withholds(&self) -> bool {
        match self {
            Self::Parsed(guard) => guard.withholds(),
            Self::Plain(_) => false,
        }
    }

    fn seed(&mut self, seed: u64) {
        if let Self::Parsed(guard) = self {
            guard.seed(seed);
        }
    }
}

/// An event of a jail without a parser: text, as a rule.
fn forward<S: CallSink + ?Sized>(event: Event<'_>, sink: &mut S) {
    match event {
        Event::Content(text) => sink.text(Channel::CONTENT, text),
        Event::Reasoning(text) => sink.text(Channel::REASONING, text),
        Event::CallStart { index, id, name } => sink.call_start(index, id, name),
        Event::CallArguments { index, fragment } => sink.call_arguments(index, fragment),
        Event::CallEnd { index, outcome } => sink.call_end(index, outcome),
        Event::Diagnostic(diagnostic) => sink.diagnostic(diagnostic),
        _ => {}
    }
}
