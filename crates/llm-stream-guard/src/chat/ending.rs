//! The end of a stream: by a stop string, by a finish reason, or cut.

use jail_match::End;

use crate::chat::{
    choice::GuardedChoice,
    error::ChatError,
    guard::{ChatGuard, Phase},
    note::ChatSink,
    options::Synthesis,
};

impl ChatGuard {
    /// Whether the chunks so far show that the answer is whole: each choice has a finish reason, or
    /// a stop string ended it. Usage is ignored, because a server may send it with a cut answer.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let over = |guarded: &GuardedChoice| guarded.state.finished || guarded.is_stopped();
        !self.choices.is_empty() && self.choices.iter().all(over)
    }

    /// Ends the stream after the last chunk of upstream. The effect is that of
    /// [`ChatGuard::finish`] with [`End::Stop`] if the answer is whole ([`ChatGuard::is_finished`])
    /// or if any end counts as one ([`Synthesis::Always`]). Otherwise it is that of
    /// [`ChatGuard::cut_off`].
    ///
    /// # Errors
    /// As [`ChatGuard::finish`] and [`ChatGuard::cut_off`].
    pub fn end<S: ChatSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), ChatError> {
        match self.is_finished() || self.options.synthesis == Synthesis::Always {
            true => self.finish(End::Stop, sink),
            false => self.cut_off(sink),
        }
    }

    /// Ends a stream that was cut, as [`ChatGuard::finish`] with [`End::Aborted`] does. Returns an
    /// error unless the stream had ended before.
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

    /// Returns the number of choices without a completed call, in the text or from upstream.
    #[must_use]
    pub fn uncalled(&self) -> usize {
        self.choices.iter().filter(|guarded| !guarded.state.called()).count()
    }

    /// Returns the number of choices that a stop string ended. If that is every choice, only usage
    /// is still emitted, and the stream may be left.
    #[must_use]
    pub fn stopped(&self) -> usize {
        self.choices.iter().filter(|guarded| guarded.state.stopped.is_some()).count()
    }

    /// Whether every choice so far has ended, at least one of them by a stop string or a collapse.
    /// Generation may then be cancelled, unless the request asked for further choices.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let over = |guarded: &GuardedChoice| guarded.state.finished || guarded.is_stopped();
        self.choices.iter().any(GuardedChoice::is_stopped) && self.choices.iter().all(over)
    }
}
