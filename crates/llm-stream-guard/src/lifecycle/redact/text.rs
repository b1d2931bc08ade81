//! A guardrail over plain text.

use jail_match::End;

use super::{
    super::{
        ending::Withheld,
        guardrail::{Flow, Guardrail, Outlet},
    },
    MatchTooLong, Redactor,
};

/// Redacts a stream of text.
#[derive(Debug, Clone)]
pub struct RedactText {
    redactor: Redactor,
    seen: String,
}

impl RedactText {
    /// A guardrail over text.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor, seen: String::new() }
    }
}

impl<T: AsRef<str> + From<String>> Guardrail<T> for RedactText {
    fn push(&mut self, item: T, out: &mut Outlet<T>) -> Flow {
        self.seen.clear();
        let pushed = self.redactor.push(item.as_ref(), &mut self.seen);
        if self.seen == item.as_ref() {
            out.put(item);
        } else if !self.seen.is_empty() {
            out.put(self.seen.clone().into());
        }
        flow(pushed)
    }

    fn finish(&mut self, _: End, out: &mut Outlet<T>) -> Flow {
        let mut rest = String::new();
        self.redactor.finish(&mut rest);
        if !rest.is_empty() {
            out.put(rest.into());
        }
        Flow::Continue
    }

    fn held(&self) -> Withheld {
        self.redactor.held().into()
    }
}

/// A match that is too long ends the stream: its rest must not be seen.
pub(super) fn flow(result: Result<(), MatchTooLong>) -> Flow {
    match result {
        Ok(()) => Flow::Continue,
        Err(MatchTooLong) => Flow::End("redaction_limit".into()),
    }
}
