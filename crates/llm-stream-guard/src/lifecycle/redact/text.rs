//! A guardrail over plain text.

use stream_lifecycle::{Decision, Guardrail, Output, UpstreamEnd, Withheld};

use super::{Passed, Redactor, decision};
use crate::record::withheld;

/// Redacts a stream of text.
#[derive(Debug, Clone)]
pub struct RedactText {
    redactor: Redactor,
}

impl RedactText {
    /// A guardrail over text.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor }
    }
}

impl<T: AsRef<str> + From<String>> Guardrail<T> for RedactText {
    fn push(&mut self, item: T, out: &mut Output<T>) -> Decision {
        let (passed, result) = self.redactor.pass(item.as_ref());
        match passed {
            Passed::Unchanged => out.put(item),
            Passed::Changed(text) => out.put(text.into()),
            Passed::Held => {}
        }
        decision(result)
    }

    fn finish(&mut self, _: UpstreamEnd, out: &mut Output<T>) -> Decision {
        if let Some(rest) = self.redactor.rest() {
            out.put(rest.into());
        }
        Decision::Continue
    }

    fn held(&self) -> Withheld {
        withheld(self.redactor.held())
    }
}
