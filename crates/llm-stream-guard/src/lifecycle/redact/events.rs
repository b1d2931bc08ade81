//! Guardrail for a guard's events.

use jail_match::HeldKind;
use stream_lifecycle::{Decision, Guardrail, GuardrailOutput, UpstreamEnd, WithheldInfo};
use toolcall_parsers::OwnedEvent;

use super::{Redacted, Redactor, decision, json};
use crate::record::withheld;

/// A guardrail that redacts content and reasoning while they stream. On request, strings in a
/// call's arguments are also redacted, and are then held until the call ends.
///
/// A match lies within one run of content or of reasoning: any other event but a diagnostic
/// ends the run.
#[derive(Debug, Clone)]
pub struct RedactEvents {
    redactor: Redactor,
    channel: Channel,
    arguments: Arguments,
}

/// The channel that the redactor's current text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Content,
    Reasoning,
}

impl Channel {
    fn event(self, text: String) -> OwnedEvent {
        match self {
            Self::Content => OwnedEvent::Content(text),
            Self::Reasoning => OwnedEvent::Reasoning(text),
        }
    }
}

#[derive(Debug, Clone)]
enum Arguments {
    Pass,
    Redact { limit: usize, call: u32, text: String },
}

impl RedactEvents {
    /// Creates a guardrail for content and reasoning. Calls pass unchanged.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor, channel: Channel::Content, arguments: Arguments::Pass }
    }

    /// Also redacts the arguments of calls. At most `limit` bytes of them are held, and a call with
    /// more ends the stream.
    #[must_use]
    pub fn arguments(self, limit: usize) -> Self {
        Self { arguments: Arguments::Redact { limit, call: 0, text: String::new() }, ..self }
    }

    fn text(
        &mut self,
        channel: Channel,
        text: String,
        out: &mut GuardrailOutput<OwnedEvent>,
    ) -> Decision {
        if channel != self.channel {
            self.end_run(out);
            self.channel = channel;
        }
        let (passed, result) = self.redactor.pass(&text);
        match passed {
            Redacted::Unchanged => out.put(channel.event(text)),
            Redacted::Changed(text) => out.put(channel.event(text)),
            Redacted::Held => {}
        }
        decision(result)
    }

    /// Emits the held part of a run of text.
    fn end_run(&mut self, out: &mut GuardrailOutput<OwnedEvent>) {
        if let Some(rest) = self.redactor.rest() {
            out.put(self.channel.event(rest));
        }
    }

    /// Emits the held arguments of a call.
    fn end_arguments(&mut self, out: &mut GuardrailOutput<OwnedEvent>) -> Decision {
        let Arguments::Redact { call, text, .. } = &mut self.arguments else {
            return Decision::Continue;
        };
        let held = std::mem::take(text);
        if held.is_empty() {
            return Decision::Continue;
        }
        let mut fragment = String::new();
        let redacted = json::redact(&mut self.redactor, &held, &mut fragment);
        out.put(OwnedEvent::CallArguments { index: *call, fragment });
        decision(redacted)
    }
}

impl Guardrail<OwnedEvent> for RedactEvents {
    fn push(&mut self, item: OwnedEvent, out: &mut GuardrailOutput<OwnedEvent>) -> Decision {
        match item {
            OwnedEvent::Content(text) => return self.text(Channel::Content, text, out),
            OwnedEvent::Reasoning(text) => return self.text(Channel::Reasoning, text, out),
            OwnedEvent::CallArguments { index, fragment } => match &mut self.arguments {
                Arguments::Redact { limit, text, .. }
                    if text.len().saturating_add(fragment.len()) > *limit =>
                {
                    text.clear();
                    return Decision::End("arguments_limit".into());
                }
                Arguments::Redact { call, text, .. } => {
                    *call = index;
                    text.push_str(&fragment);
                }
                Arguments::Pass => out.put(OwnedEvent::CallArguments { index, fragment }),
            },
            OwnedEvent::CallEnd { .. } => {
                let decision = self.end_arguments(out);
                out.put(item);
                return decision;
            }
            OwnedEvent::Diagnostic(_) => out.put(item),
            _ => {
                self.end_run(out);
                out.put(item);
            }
        }
        Decision::Continue
    }

    fn finish(&mut self, _: UpstreamEnd, out: &mut GuardrailOutput<OwnedEvent>) -> Decision {
        self.end_run(out);
        self.end_arguments(out)
    }

    fn held(&self) -> WithheldInfo {
        let arguments = match &self.arguments {
            Arguments::Redact { text, .. } => text.len(),
            Arguments::Pass => 0,
        };
        let arguments = WithheldInfo::bytes(arguments, HeldKind::Call.name());
        withheld(self.redactor.held()).and(arguments)
    }
}
