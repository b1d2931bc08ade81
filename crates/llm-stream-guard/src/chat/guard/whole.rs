//! Guarding of whole responses.

use std::sync::Arc;

use crate::chat::{
    aggregate::Aggregator,
    error::ChatError,
    guard::ChatGuard,
    model::{chunk::Chunk, completion::Completion},
    note::{ChatNote, ChatSink},
    step::ChatStep,
    tokens::marker_ids::TokenReader,
};

impl ChatGuard {
    /// Guards a whole response as a stream of one chunk, with a reset clone of this guard, and
    /// joins the result.
    ///
    /// # Errors
    /// As [`ChatGuard::push`] and [`ChatGuard::end`]. A response that has a choice without a finish
    /// reason was cut. A dropped payload of a choice is also an error, where a stream has a note
    /// ([`crate::chat::Note::Rejected`]).
    pub fn complete(&self, response: Completion) -> Result<Completion, ChatError> {
        self.complete_noting(response, |_| {})
    }

    /// Guards a whole response and calls `on_note` with diagnostics and the outcome of each call.
    ///
    /// # Errors
    /// As [`ChatGuard::complete`].
    pub fn complete_noting(
        &self,
        response: Completion,
        on_note: impl FnMut(ChatNote),
    ) -> Result<Completion, ChatError> {
        self.complete_reporting(response, on_note).map(|(whole, _)| whole)
    }

    /// Guards a whole response as [`ChatGuard::complete_noting`] does, and also returns the guard
    /// that read it, for its reports ([`ChatGuard::uncalled`], [`ChatGuard::stats`]).
    ///
    /// # Errors
    /// As [`ChatGuard::complete`].
    pub fn complete_reporting(
        &self,
        response: Completion,
        on_note: impl FnMut(ChatNote),
    ) -> Result<(Completion, Self), ChatError> {
        let object = response.fields.get("object").cloned();
        let mut sink = Whole { chunks: Vec::new(), on_note };
        let guard = self.complete_into(response, &mut sink)?;
        let mut whole = Aggregator::default();
        sink.chunks.iter().for_each(|chunk| whole.push(chunk));
        let mut response = whole.finish();
        if let Some(object) = object {
            response.fields.insert("object".into(), object);
        }
        Ok((response, guard))
    }

    /// Guards a whole response and writes the result to `sink`, for a form other than that of chat
    /// completions. Returns the guard that read it. Each call's [`crate::chat::Delta::CallEnd`] has its
    /// outcome.
    ///
    /// # Errors
    /// As [`ChatGuard::complete`]. What was written before is not the whole response.
    pub fn complete_into<S: ChatSink + ?Sized>(
        &self,
        response: Completion,
        sink: &mut S,
    ) -> Result<Self, ChatError> {
        let mut guard = Self::new(self.prototype.clone(), self.options.clone());
        guard.take_back = guard.options.prepare(&mut guard.prototype, true);
        guard.whole = true;
        guard.token_reader = self.token_reader.clone().map(|mut reader| {
            let TokenReader { guard, .. } = Arc::make_mut(&mut reader);
            self.options.prepare(guard, true);
            reader
        });
        guard.push(response.into_chunk(), sink)?;
        guard.end(sink)?;
        match guard.choices.iter().find_map(|state| state.state.rejected) {
            Some(rejected) => Err(ChatError::Rejected(rejected)),
            None => Ok(guard),
        }
    }
}

/// Collects the chunks of a whole response.
struct Whole<F> {
    chunks: Vec<Chunk>,
    on_note: F,
}

impl<F: FnMut(ChatNote)> ChatSink for Whole<F> {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, _| self.chunks.push(chunk));
    }

    fn note(&mut self, note: ChatNote) {
        (self.on_note)(note);
    }
}
