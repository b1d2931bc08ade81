//! The jailed stream around chat-completion chunks.

use futures_core::Stream;

use super::{JailedStream, JailedStreamBuilder};
use crate::chat::{
    Annotations, ChatGuard, ChatItem, ChatOptions, ChatStream, Emission, guard_chunks,
};

impl JailedStreamBuilder {
    /// How choices share the chunks of [`JailedStream::apply`].
    #[must_use]
    pub fn emission(mut self, emission: Emission) -> Self {
        self.chat.emission = emission;
        self
    }

    /// Sets how [`JailedStream::apply`] treats annotations of withheld items.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// How [`JailedStream::apply`] writes chunks, the emission included.
    #[must_use]
    pub fn chat(mut self, chat: ChatOptions) -> Self {
        self.chat = chat;
        self
    }
}

impl JailedStream {
    /// Puts the jail around a stream of chat-completion chunks, bare or annotated. A jail may be
    /// applied any number of times.
    pub fn apply<S>(&self, inner: S) -> ChatStream<S>
    where
        S: Stream<Item: ChatItem>,
    {
        guard_chunks(inner, self.chat_guard()).annotations(self.annotations)
    }

    /// The jail for chat-completion chunks, without a stream around it.
    #[must_use]
    pub fn chat_guard(&self) -> ChatGuard {
        ChatGuard::new(self.guard.clone(), self.chat.clone())
    }
}
