//! Whole messages, collected from events.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

pub use jail_match::{Diagnostic, DiagnosticKind, Event, Outcome, OwnedEvent, Sink};

/// A whole message, as [`crate::parse`] and [`Message::collect`] return it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Message {
    /// All visible text, including the channels that the caller defined.
    pub content: String,
    /// Text of all reasoning.
    pub reasoning: String,
    /// The calls, in order, complete or not.
    pub calls: Vec<Call>,
    /// Diagnostics, in order.
    pub diagnostics: Vec<Diagnostic>,
}

/// A call of a [`Message`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The id from the wire, or a generated one.
    pub id: String,
    /// The name of the called tool.
    pub name: String,
    /// The JSON text of the arguments. A prefix of it unless the outcome is complete or repaired.
    pub arguments: String,
    /// How the call ended, or `None` while it is open.
    pub outcome: Option<Outcome>,
}

impl Message {
    /// Adds an event to the message.
    pub fn collect(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) | Event::Other(_, text) => self.content.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::CallStart { id, name, .. } => self.calls.push(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: String::new(),
                outcome: None,
            }),
            Event::CallArguments { index, fragment } => {
                if let Some(call) = self.calls.get_mut(index as usize) {
                    call.arguments.push_str(fragment);
                }
            }
            Event::CallId { index, id, .. } => {
                if let Some(call) = self.calls.get_mut(index as usize) {
                    id.clone_into(&mut call.id);
                }
            }
            Event::CallEnd { index, outcome } => {
                if let Some(call) = self.calls.get_mut(index as usize) {
                    call.outcome = Some(outcome);
                }
            }
            Event::Diagnostic(diagnostic) => self.diagnostics.push(diagnostic),
            _ => {}
        }
    }
}
