//! Jailed streams of chat-completion chunks.

use futures_core::Stream;

use super::{JailedStream, JailedStreamBuilder};
use crate::chat::{
    Annotations, ChatGuard, ChatItem, ChatOptions, ChatStream, Emission, guard_chunks,
};

impl JailedStreamBuilder {
    /// Sets how choices share the chunks of [`JailedStream::apply`].
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

    /// Sets how [`JailedStream::apply`] writes chunks, including the emission.
    #[must_use]
    pub fn chat(mut self, chat: ChatOptions) -> Self {
        self.chat = chat;
        self
    }
}

impl JailedStream {
    /// Applies the jail to a stream of chat-completion chunks, with or without annotations. A jail
    /// may be applied any number of times.
    pub fn apply<S>(&self, inner: S) -> ChatStream<S>
    where
        S: Stream<Item: ChatItem>,
    {
        guard_chunks(inner, self.chat_guard()).annotations(self.annotations)
    }

    /// Returns the chat guard of the jail, without a stream.
    #[must_use]
    pub fn chat_guard(&self) -> ChatGuard {
        ChatGuard::new(self.guard.clone(), self.chat.clone())
    }
}
