//! Redaction: text that a jail catches is replaced, wherever the stream was cut.

mod chunks;
mod events;
mod json;
mod text;

use std::{fmt, sync::Arc};

pub use chunks::RedactChunks;
pub use events::RedactEvents;
use jail_match::{Dropped, Held, Jail, JailEvent, JailSignal, OnFail};
use serde_json::Value;
pub use text::RedactText;

use stream_lifecycle::{Decision, Sanitizer, Subject, Verdict};

/// Replaces what a jail catches.
///
/// What is held back is what the jail holds: text that may become a match, and a match that has
/// not ended.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{jail_match::Jail, lifecycle::Redactor};
/// let keys = Jail::builder().start("<key>").end("</key>").build()?;
/// let mut redactor = Redactor::new(keys, "[key]");
/// let mut seen = String::new();
/// for piece in ["use <k", "ey>hunter2</ke", "y>, then go"] {
///     redactor.push(piece, &mut seen)?;
/// }
/// redactor.finish(&mut seen);
/// assert_eq!(seen, "use [key], then go");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Redactor {
    jail: Jail,
    replacement: Arc<str>,
    state: State,
    /// What may be seen of a piece; kept for its capacity.
    seen: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// A match outgrew its limit and is about to be handed over.
    Cut,
    /// Nothing more of this text may be seen.
    Spent,
}

/// A match outgrew the jail's limit: what follows in the text would escape redaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchTooLong;

impl fmt::Display for MatchTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a match is longer than the jail's limit; the rest of the text was dropped")
    }
}

impl std::error::Error for MatchTooLong {}

impl Redactor {
    /// A redactor that puts `replacement` where `jail` catches something.
    ///
    /// Blocks that the jail hands over or drops are replaced; what it is told to release is not.
    pub fn new(jail: Jail, replacement: impl Into<Arc<str>>) -> Self {
        Self { jail, replacement: replacement.into(), state: State::Open, seen: String::new() }
    }

    /// Takes the next piece of text and writes what may be seen.
    ///
    /// # Errors
    /// If a match outgrows the jail's limit, and the jail does not drop the rest of it by itself
    /// ([`OnFail::Drop`]). It is replaced as far as it went, and nothing that follows is written,
    /// in later pieces neither.
    pub fn push(&mut self, text: &str, out: &mut String) -> Result<(), MatchTooLong> {
        let Self { jail, replacement, state, .. } = self;
        if *state == State::Open {
            // A failed push has said why in an event.
            let _ = jail.push(text, |event| write(event, replacement, state, out));
        }
        if *state == State::Open { Ok(()) } else { Err(MatchTooLong) }
    }

    /// Ends the text: a match that has not ended is replaced. The redactor is as new.
    pub fn finish(&mut self, out: &mut String) {
        let Self { jail, replacement, state, .. } = self;
        if *state == State::Open {
            // Under the error policy what is held is not written.
            let _ = jail.finish(|event| write(event, replacement, state, out));
        }
        *state = State::Open;
        jail.reset();
    }

    /// Redacts a whole text.
    ///
    /// # Errors
    /// As [`Redactor::push`].
    pub fn redact(&mut self, text: &str, out: &mut String) -> Result<(), MatchTooLong> {
        let result = self.push(text, out);
        self.finish(out);
        result
    }

    /// What becomes of the next piece.
    fn pass(&mut self, text: &str) -> (Passed, Result<(), MatchTooLong>) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        let result = self.push(text, &mut seen);
        let passed = match seen.as_str() {
            same if same == text => Passed::Unchanged,
            "" => Passed::Held,
            other => Passed::Changed(other.to_owned()),
        };
        self.seen = seen;
        (passed, result)
    }

    /// What is seen of the text now that it has ended, if that is anything.
    fn rest(&mut self) -> Option<String> {
        let mut rest = String::new();
        self.finish(&mut rest);
        (!rest.is_empty()).then_some(rest)
    }

    /// What is held, and why.
    #[must_use]
    pub fn held(&self) -> Held {
        self.jail.held()
    }

    /// A response sanitizer that redacts every string of the aggregate; fails, so that the
    /// aggregate is left out, if a match outgrows the jail's limit.
    #[must_use]
    pub fn sanitizer(
        self,
        name: impl Into<std::borrow::Cow<'static, str>>,
        priority: i32,
    ) -> Sanitizer {
        Sanitizer::new(name, priority, move |data: &Value, _: Subject<'_>| {
            let mut data = data.clone();
            match self.clone().redact_value(&mut data) {
                Ok(()) => Verdict::Replace(data),
                Err(error) => Verdict::Fail(error.to_string()),
            }
        })
    }

    fn redact_value(&mut self, value: &mut Value) -> Result<(), MatchTooLong> {
        match value {
            Value::String(text) => {
                let seen = std::mem::take(text);
                self.redact(&seen, text)
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.redact_value(item)),
            Value::Object(map) => map.values_mut().try_for_each(|item| self.redact_value(item)),
            _ => Ok(()),
        }
    }
}

/// What becomes of a piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Passed {
    /// It is seen as it is.
    Unchanged,
    /// This is seen in its place.
    Changed(String),
    /// Nothing of it is seen, at least not yet.
    Held,
}

/// A match that is too long ends the stream: its rest must not be seen.
fn decision(result: Result<(), MatchTooLong>) -> Decision {
    match result {
        Ok(()) => Decision::Continue,
        Err(MatchTooLong) => Decision::End("redaction_limit".into()),
    }
}

/// Writes what may be seen.
fn write(event: JailEvent<'_>, replacement: &str, state: &mut State, out: &mut String) {
    match (event, *state) {
        (JailEvent::Text(text), State::Open) => out.push_str(text),
        (JailEvent::Jailed(_), State::Open) => out.push_str(replacement),
        (JailEvent::Jailed(_), State::Cut) => {
            out.push_str(replacement);
            *state = State::Spent;
        }
        (JailEvent::Signal(JailSignal::Dropped { why, .. }), State::Open)
            if why != Dropped::Markup =>
        {
            out.push_str(replacement);
        }
        (JailEvent::Signal(JailSignal::Limit { then, .. }), State::Open) => match then {
            OnFail::End => *state = State::Cut,
            OnFail::Error => *state = State::Spent,
            _ => {}
        },
        _ => {}
    }
}
