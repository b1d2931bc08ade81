//! The progress of chat streams, for lifecycle records.

use futures_core::Stream;
use sse_events::{Limit, TooLong};
use stream_lifecycle::{ErrorInfo, LimitHit, Progress, TryItem, WithheldInfo};

use crate::{
    chat::{
        error::ChatError,
        guard::ChatGuard,
        sse::{ChatSseError, stream::SseStream},
        stream::ChatStream,
    },
    record::{limit_hit, withheld},
};

impl ChatGuard {
    /// Returns the bytes that all choices hold, with the reason of the first that holds any.
    fn withheld(&self) -> WithheldInfo {
        let held = self.choices.iter().map(|choice| withheld(choice.guard.held()));
        held.fold(WithheldInfo::NOTHING, WithheldInfo::and)
    }

    /// Returns the limit that ended the stream with `error`, or that ended a choice without an
    /// error.
    fn limit(&self, error: Option<ChatError>) -> Option<LimitHit> {
        match error {
            Some(ChatError::Limit(error)) => Some(limit_hit(error)),
            Some(ChatError::TooManyChoices) => {
                Some(LimitHit::new("choices", self.options.limits.choices as u64))
            }
            Some(ChatError::Rejected(rejected)) => {
                Some(LimitHit::new("rejected_payload", rejected.at))
            }
            Some(ChatError::Unfinished) => None,
            None => self.choices.iter().find_map(|choice| choice.state.ended_by).map(limit_hit),
        }
    }
}

impl<S: Stream> ChatStream<S> {
    /// Returns the progress of the stream: the bytes its choices hold, the number of items ready to
    /// be read, and the limit that ended it, including a collapse. For
    /// [`stream_lifecycle::Observed::probe`].
    pub fn progress(&self) -> Progress {
        let withheld = self.guard().withheld().items(self.queued());
        Progress::new(withheld, self.guard().limit(self.error()))
    }
}

impl<S: TryItem> SseStream<S> {
    /// Returns the progress of the stream: the bytes that its choices and an unfinished event hold,
    /// whether bytes are ready to be read, and the limit or the written error that ended it. For
    /// [`stream_lifecycle::Observed::probe`].
    pub fn progress(&self) -> Progress {
        let machine = self.machine();
        let event = WithheldInfo::bytes(machine.held(), "event");
        let withheld = machine.guard().withheld().and(event).items(usize::from(self.has_bytes()));
        let limit = match self.error() {
            Some(ChatSseError::Event(TooLong { limit: Limit::Line, at, .. })) => {
                Some(LimitHit::new("event_line", at))
            }
            Some(ChatSseError::Event(TooLong { at, .. })) => Some(LimitHit::new("event", at)),
            Some(ChatSseError::Chat(error)) => machine.guard().limit(Some(error)),
            None => machine.guard().limit(None),
        };
        let progress = Progress::new(withheld, limit);
        match self.upstream_error() {
            Some(_) => progress.failed(ErrorInfo::class(std::any::type_name::<S::Error>())),
            None => progress,
        }
    }
}
