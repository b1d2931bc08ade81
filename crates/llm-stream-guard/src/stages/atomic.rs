//! Atomic delivery: a call's events are emitted together, at its end.

use jail_match::{Diagnostic, DiagnosticKind, Event, Sink};

use super::OutputStage;

/// A stage that holds an open call until it ends.
#[derive(Debug, Clone)]
pub(crate) struct Atomic {
    call: Option<Started>,
    arguments: String,
    /// Maximum bytes of arguments that are held. A longer call is streamed from that point.
    limit: usize,
}

#[derive(Debug, Clone)]
struct Started {
    index: u32,
    id: String,
    name: String,
}

impl Atomic {
    pub(crate) fn new(limit: usize) -> Self {
        Self { call: None, arguments: String::new(), limit }
    }

    pub(crate) fn reset(&mut self) {
        self.call = None;
        self.arguments.clear();
    }

    /// Whether a call that began is held.
    pub(crate) fn is_open(&self) -> bool {
        self.call.is_some()
    }

    pub(crate) fn held(&self) -> usize {
        self.arguments.len()
    }

    fn release<S: Sink + ?Sized>(&mut self, next: &mut S) {
        let Some(Started { index, id, name }) = self.call.take() else { return };
        next.event(Event::CallStart { index, id: &id, name: &name });
        if !self.arguments.is_empty() {
            next.event(Event::CallArguments { index, fragment: &self.arguments });
            self.arguments.clear();
        }
    }
}

impl<S: Sink + ?Sized> OutputStage<S> for Atomic {
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        match event {
            Event::CallStart { index, id, name } => {
                self.call = Some(Started { index, id: id.to_owned(), name: name.to_owned() });
            }
            Event::CallArguments { fragment, .. } if self.is_open() => {
                self.arguments.push_str(fragment);
                if self.arguments.len() > self.limit {
                    self.release(next);
                }
            }
            Event::CallId { index, id, at } => match &mut self.call {
                Some(call) => call.id = id.to_owned(),
                // The call is already streamed, so that the id arrived too late.
                None => {
                    let late = Diagnostic::new(DiagnosticKind::LateId, at, 0).about(Some(index));
                    next.event(late.into());
                }
            },
            Event::CallEnd { .. } => {
                self.release(next);
                next.event(event);
            }
            event => next.event(event),
        }
    }
}
