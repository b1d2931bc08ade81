//! How a stream ends: by a stop string, by upstream's word, or cut.

use jail_match::End;

use super::{
    choice::GuardedChoice,
    error::ChatError,
    guard::{ChatGuard, Phase},
    note::ChatSink,
    options::Synthesis,
};

impl ChatGuard {
    /// Whether the chunks so far show that the answer is whole: each choice has its finish reason or
    /// a stop string ended it. Usage shows nothing: a server may send it with an answer it cut.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let over = |state: &GuardedChoice| state.lane.finished || state.is_stopped();
        !self.choices.is_empty() && self.choices.iter().all(over)
    }

    /// Ends the stream where upstream's chunks cease without a further word: as
    /// [`ChatGuard::finish`] with [`End::Stop`] if the answer is whole ([`ChatGuard::is_finished`])
    /// or any end counts as one ([`Synthesis::Always`]), else as [`ChatGuard::cut_off`].
    ///
    /// # Errors
    /// As [`ChatGuard::finish`] and [`ChatGuard::cut_off`].
    pub fn end<S: ChatSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), ChatError> {
        match self.is_finished() || self.options.synthesis == Synthesis::Always {
            true => self.finish(End::Stop, sink),
            false => self.cut_off(sink),
        }
    }

    /// Ends a stream that was cut: as [`ChatGuard::finish`] with [`End::Aborted`], but an error
    /// unless the stream had ended.
    ///
    /// # Errors
    /// [`ChatError::Unfinished`], or what ended the stream before.
    pub fn cut_off<S: ChatSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), ChatError> {
        if let Some(result) = self.phase.result() {
            return result;
        }
        self.finish(End::Aborted, sink)?;
        self.phase = Phase::Failed(ChatError::Unfinished);
        Err(ChatError::Unfinished)
    }

    /// How many choices have no call that completed, be it in the text or upstream's own.
    #[must_use]
    pub fn uncalled(&self) -> usize {
        self.choices.iter().filter(|state| !state.lane.called()).count()
    }

    /// Returns the number of choices that a stop string ended. If that is every choice, only usage
    /// is still emitted, and the stream may be left.
    #[must_use]
    pub fn stopped(&self) -> usize {
        self.choices.iter().filter(|state| state.lane.stopped.is_some()).count()
    }

    /// Whether a stop string, a collapse or its finish reason ended each choice so far, and not the
    /// latter all: generation may be cancelled if the request asked for no further choices.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let over = |state: &GuardedChoice| state.lane.finished || state.is_stopped();
        self.choices.iter().any(GuardedChoice::is_stopped) && self.choices.iter().all(over)
    }
}
