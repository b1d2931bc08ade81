//! Guardrail for plain text.

use stream_lifecycle::{Decision, Guardrail, GuardrailOutput, UpstreamEnd, WithheldInfo};

use super::{Redacted, Redactor, decision};
use crate::record::withheld;

/// A guardrail that redacts a stream of text.
#[derive(Debug, Clone)]
pub struct RedactText {
    redactor: Redactor,
}

impl RedactText {
    /// Creates a guardrail for text.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor }
    }
}

impl<T: AsRef<str> + From<String>> Guardrail<T> for RedactText {
    fn push(&mut self, item: T, out: &mut GuardrailOutput<T>) -> Decision {
        let (passed, result) = self.redactor.pass(item.as_ref());
        match passed {
            Redacted::Unchanged => out.put(item),
            Redacted::Changed(text) => out.put(text.into()),
            Redacted::Held => {}
        }
        decision(result)
    }

    fn finish(&mut self, _: UpstreamEnd, out: &mut GuardrailOutput<T>) -> Decision {
        if let Some(rest) = self.redactor.rest() {
            out.put(rest.into());
        }
        Decision::Continue
    }

    fn held(&self) -> WithheldInfo {
        withheld(self.redactor.held())
    }
}
