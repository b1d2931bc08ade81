//! A guardrail over a guard's events.

use jail_match::End;
use toolcall_parsers::OwnedEvent;

use super::{
    super::{
        ending::Withheld,
        guardrail::{Flow, Guardrail, Outlet},
    },
    Redactor, json,
    text::flow,
};

/// Redacts content and reasoning while they stream, and on request the strings in a call's
/// arguments, which are then held until the call ends.
///
/// A match lies within one run of content or of reasoning: any other event but a diagnostic
/// ends the run.
#[derive(Debug, Clone)]
pub struct RedactEvents {
    redactor: Redactor,
    lane: Lane,
    seen: String,
    arguments: Arguments,
}

/// What the text in the redactor belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Content,
    Reasoning,
}

impl Lane {
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
    /// A guardrail over content and reasoning. Calls pass as they are.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor, lane: Lane::Content, seen: String::new(), arguments: Arguments::Pass }
    }

    /// Redacts the arguments of calls, too. At most `limit` bytes of them are held; a call with
    /// more ends the stream.
    #[must_use]
    pub fn arguments(self, limit: usize) -> Self {
        Self { arguments: Arguments::Redact { limit, call: 0, text: String::new() }, ..self }
    }

    fn text(&mut self, lane: Lane, text: String, out: &mut Outlet<OwnedEvent>) -> Flow {
        if lane != self.lane {
            self.end_run(out);
            self.lane = lane;
        }
        self.seen.clear();
        let pushed = self.redactor.push(&text, &mut self.seen);
        if self.seen == text {
            out.put(lane.event(text));
        } else if !self.seen.is_empty() {
            out.put(lane.event(self.seen.clone()));
        }
        flow(pushed)
    }

    /// Lets out what is held of a run of text.
    fn end_run(&mut self, out: &mut Outlet<OwnedEvent>) {
        self.seen.clear();
        self.redactor.finish(&mut self.seen);
        if !self.seen.is_empty() {
            out.put(self.lane.event(self.seen.clone()));
        }
    }

    /// Lets out what is held of a call.
    fn end_arguments(&mut self, out: &mut Outlet<OwnedEvent>) -> Flow {
        let Arguments::Redact { call, text, .. } = &mut self.arguments else {
            return Flow::Continue;
        };
        let held = std::mem::take(text);
        if held.is_empty() {
            return Flow::Continue;
        }
        let mut fragment = String::new();
        let redacted = json::redact(&mut self.redactor, &held, &mut fragment);
        out.put(OwnedEvent::CallArguments { index: *call, fragment });
        flow(redacted)
    }
}

impl Guardrail<OwnedEvent> for RedactEvents {
    fn push(&mut self, item: OwnedEvent, out: &mut Outlet<OwnedEvent>) -> Flow {
        match item {
            OwnedEvent::Content(text) => return self.text(Lane::Content, text, out),
            OwnedEvent::Reasoning(text) => return self.text(Lane::Reasoning, text, out),
            OwnedEvent::CallArguments { index, fragment } => match &mut self.arguments {
                Arguments::Redact { limit, text, .. } if text.len() + fragment.len() > *limit => {
                    text.clear();
                    return Flow::End("arguments_limit".into());
                }
                Arguments::Redact { call, text, .. } => {
                    *call = index;
                    text.push_str(&fragment);
                }
                Arguments::Pass => out.put(OwnedEvent::CallArguments { index, fragment }),
            },
            OwnedEvent::CallEnd { .. } => {
                let flow = self.end_arguments(out);
                out.put(item);
                return flow;
            }
            OwnedEvent::Diagnostic(_) => out.put(item),
            _ => {
                self.end_run(out);
                out.put(item);
            }
        }
        Flow::Continue
    }

    fn finish(&mut self, _: End, out: &mut Outlet<OwnedEvent>) -> Flow {
        self.end_run(out);
        self.end_arguments(out)
    }

    fn held(&self) -> Withheld {
        let arguments = match &self.arguments {
            Arguments::Redact { text, .. } => text.len(),
            Arguments::Pass => 0,
        };
        let arguments = Withheld { bytes: arguments, kind: jail_match::HeldKind::Call, items: 0 };
        Withheld::from(self.redactor.held()).and(arguments)
    }
}
