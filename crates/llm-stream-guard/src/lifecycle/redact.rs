//! Redaction: replacement of the text that a jail matches, however the stream is cut.
//!
//! ```text
//! "mail a@b"     "mail " is emitted; "a@b" is held: the address may continue
//! ".org now"     "[email] now" is emitted
//! ```

mod chunks;
mod events;
mod json;
mod lanes;
mod rules;
mod substitute;
mod text;
mod vault;

#[cfg(feature = "regex")]
mod recognisers;

use std::{fmt, sync::Arc};

pub use chunks::RedactChunks;
pub use events::RedactEvents;
use jail_match::{Dropped, Held, Jail, JailError, JailEvent, JailPair, JailSignal, Jailed, OnFail};
pub use rules::Recogniser;
use serde_json::{Map, Value};
pub use substitute::{Found, Substitute};
pub use text::RedactText;
pub use vault::Vault;

use rules::Rule;
use stream_lifecycle::{Decision, Sanitizer, SanitizerVerdict, Subject};

/// A filter that replaces the matches of a jail.
///
/// Only text that may become a match, and a match that has not ended, are held back.
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
    /// Substitutes of each pair. The last one is for all other pairs.
    rules: Arc<[Rule]>,
    state: RedactState,
    /// Number of the pair of the block that opened last.
    pair: usize,
    /// Output of the current piece, kept for its capacity.
    seen: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedactState {
    Open,
    /// A match exceeded its limit and is about to be handed over.
    Cut,
    /// No more of this text may be emitted.
    Spent,
}

/// The error for a match that exceeded a limit of the jail: the limit of a block, or the hold of an
/// expression. Later text may belong to the match, and is not written.
///
/// Under [`OnFail::Drop`] the match is followed to its end instead, without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchTooLong;

impl fmt::Display for MatchTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a match is longer than the jail's limit; the rest of the text was dropped")
    }
}

impl std::error::Error for MatchTooLong {}

impl Redactor {
    /// Creates a redactor that replaces matches of `jail` with `label`.
    ///
    /// Blocks that the jail hands over or drops are replaced. Blocks that it releases are not.
    pub fn new(jail: Jail, label: impl Into<Arc<str>>) -> Self {
        let name = label.into();
        let substitute = Substitute::label(Arc::clone(&name));
        Self::with_rules(jail, [Rule { name, substitute }])
    }

    /// Creates a redactor for the matches of these recognisers. Of several matches at one place,
    /// the longest counts; of equally long ones, the first in the list.
    ///
    /// # Errors
    /// Returns an error if the list is empty, or if a recogniser has an invalid mark.
    pub fn of(recognisers: impl IntoIterator<Item = Recogniser>) -> Result<Self, JailError> {
        let (mut jail, mut rules) = (Jail::builder(), Vec::new());
        for recogniser in recognisers {
            let (pair, rule) = recogniser.into_parts();
            jail = jail.rule(pair);
            rules.push(rule);
        }
        Ok(Self::with_rules(jail.build()?, rules))
    }

    /// Creates a redactor that replaces tokens of `vault` by their texts, in text, events or
    /// chunks. Only tokens that the vault has created so far are replaced.
    ///
    /// # Errors
    /// No error is known to occur, because every token is a valid mark.
    pub fn restoring(vault: &Vault) -> Result<Self, JailError> {
        // A token that is never created, for an empty vault.
        let none = || ("[nothing_0]".to_owned(), "[nothing_0]".to_owned());
        let (mut jail, mut rules) = (Jail::builder(), Vec::new());
        for (token, text) in vault.given().into_iter().chain([none()]) {
            let name = Arc::from(token.as_str());
            jail = jail.rule(JailPair::single(token));
            rules.push(Rule { name, substitute: Substitute::label(text) });
        }
        Ok(Self::with_rules(jail.build()?, rules))
    }

    fn with_rules(jail: Jail, rules: impl Into<Arc<[Rule]>>) -> Self {
        let (state, pair, seen) = (RedactState::Open, 0, String::new());
        Self { jail, rules: rules.into(), state, pair, seen }
    }

    /// Sets the replacement of every match.
    #[must_use]
    pub fn substitute(mut self, substitute: &Substitute) -> Self {
        let rules = self.rules.iter();
        let rules = rules.map(|rule| Rule { substitute: substitute.clone(), ..rule.clone() });
        self.rules = rules.collect();
        self
    }

    /// Reads the next piece of text and writes the redacted text.
    ///
    /// # Errors
    /// Returns an error if a match exceeds a limit, unless the jail drops the rest of the match
    /// ([`OnFail::Drop`]). The beginning of the match is replaced, and no later text is written.
    pub fn push(&mut self, text: &str, out: &mut String) -> Result<(), MatchTooLong> {
        let Self { jail, rules, state, pair, .. } = self;
        if *state == RedactState::Open {
            let mut writer = RedactWriter { rules, state, pair, out };
            // A failed push has reported the reason in an event.
            let _ = jail.push(text, |event| writer.event(event));
        }
        if *state == RedactState::Open { Ok(()) } else { Err(MatchTooLong) }
    }

    /// Ends the text, replaces a match that has not ended, and resets the redactor.
    pub fn finish(&mut self, out: &mut String) {
        let Self { jail, rules, state, pair, .. } = self;
        if *state == RedactState::Open {
            let mut writer = RedactWriter { rules, state, pair, out };
            // Under the error policy, held text is not written.
            let _ = jail.finish(|event| writer.event(event));
        }
        *state = RedactState::Open;
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

    /// Redacts the next piece.
    fn pass(&mut self, text: &str) -> (Redacted, Result<(), MatchTooLong>) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        let result = self.push(text, &mut seen);
        let passed = match seen.as_str() {
            same if same == text => Redacted::Unchanged,
            "" => Redacted::Held,
            other => Redacted::Changed(other.to_owned()),
        };
        self.seen = seen;
        (passed, result)
    }

    /// Returns the visible part of the held text after the end of the text, if any.
    fn rest(&mut self) -> Option<String> {
        let mut rest = String::new();
        self.finish(&mut rest);
        (!rest.is_empty()).then_some(rest)
    }

    /// Returns the held bytes and the reason why they are held.
    #[must_use]
    pub fn held(&self) -> Held {
        self.jail.held()
    }

    /// Returns a response sanitizer that redacts every string of the aggregate, including keys.
    /// Text that is itself JSON, such as arguments of calls, is read as JSON: its strings are
    /// decoded before the search. The sanitizer fails if a match exceeds a limit, and the aggregate
    /// is then left out.
    ///
    /// ```
    /// use llm_stream_guard::{jail_match::Jail, lifecycle::{Lifecycle, Redactor}};
    /// let keys = Jail::builder().start("<key>").end("</key>").build()?;
    /// let sanitizer = Redactor::new(keys, "[key]").sanitizer("keys", 0);
    /// let record = Lifecycle::<String, std::io::Error>::new("call-1").sanitizer(sanitizer);
    /// # drop(record);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sanitizer(
        self,
        name: impl Into<std::borrow::Cow<'static, str>>,
        priority: i32,
    ) -> Sanitizer {
        Sanitizer::new(name, priority, move |data: &Value, _: Subject<'_>| {
            let mut data = data.clone();
            match self.clone().redact_value(&mut data) {
                Ok(()) => SanitizerVerdict::Replace(data),
                Err(error) => SanitizerVerdict::Fail(error.to_string()),
            }
        })
    }

    /// Redacts every string in `value`, keys included.
    fn redact_value(&mut self, value: &mut Value) -> Result<(), MatchTooLong> {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.redact_value(item)),
            Value::Object(map) => {
                for (key, mut item) in std::mem::take(map) {
                    let mut seen = String::new();
                    self.redact(&key, &mut seen)?;
                    match &mut item {
                        Value::String(text) if key == "arguments" => self.redact_json(text)?,
                        item => self.redact_value(item)?,
                    }
                    insert(map, seen, item);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Redacts one whole text. JSON is searched as JSON first, so that text hidden by escapes is
    /// found.
    fn redact_text(&mut self, text: &mut String) -> Result<(), MatchTooLong> {
        let holds_json = text.trim_start().starts_with(['{', '[', '"'])
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if holds_json {
            self.redact_json(text)?;
        }
        let seen = std::mem::take(text);
        self.redact(&seen, text)
    }

    /// Redacts the strings of JSON text.
    fn redact_json(&mut self, text: &mut String) -> Result<(), MatchTooLong> {
        let json = std::mem::take(text);
        json::redact(self, &json, text)
    }
}

/// Inserts an item under its key, or under a longer key if redaction made two keys equal.
fn insert(map: &mut Map<String, Value>, mut key: String, item: Value) {
    while map.contains_key(&key) {
        key.push('\'');
    }
    map.insert(key, item);
}

/// The result of redacting a piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Redacted {
    /// The piece is emitted unchanged.
    Unchanged,
    /// This text is emitted in place of the piece.
    Changed(String),
    /// The piece is not emitted, or not yet.
    Held,
}

/// Converts a result into a decision. A match that is too long ends the stream, because its rest
/// must not be emitted.
fn decision(result: Result<(), MatchTooLong>) -> Decision {
    match result {
        Ok(()) => Decision::Continue,
        Err(MatchTooLong) => Decision::End("redaction_limit".into()),
    }
}

/// A writer of redacted text.
struct RedactWriter<'r> {
    rules: &'r [Rule],
    state: &'r mut RedactState,
    pair: &'r mut usize,
    out: &'r mut String,
}

impl<'r> RedactWriter<'r> {
    fn event(&mut self, event: JailEvent<'_>) {
        match (event, *self.state) {
            (JailEvent::Text(text), RedactState::Open) => self.out.push_str(text),
            (JailEvent::Jailed(block), RedactState::Open) => self.replace(block),
            (JailEvent::Jailed(_), RedactState::Cut) => {
                self.label();
                *self.state = RedactState::Spent;
            }
            (JailEvent::Signal(JailSignal::Opened { pair, depth: 1, .. }), _) => *self.pair = pair,
            (JailEvent::Signal(JailSignal::Dropped { why, .. }), RedactState::Open)
                if why != Dropped::Markup =>
            {
                self.label();
            }
            (JailEvent::Signal(JailSignal::Limit { then, .. }), RedactState::Open) => match then {
                OnFail::End => *self.state = RedactState::Cut,
                OnFail::Error => *self.state = RedactState::Spent,
                _ => {}
            },
            _ => {}
        }
    }

    fn rule(&self, pair: usize) -> Option<&'r Rule> {
        self.rules.get(pair).or(self.rules.last())
    }

    fn replace(&mut self, block: Jailed<'_>) {
        let Jailed { pair, start, body, end, .. } = block;
        let Some(Rule { name, substitute }) = self.rule(pair) else { return };
        let end = end.unwrap_or("");
        let seen = if body.is_empty() && end.is_empty() {
            substitute.put(Found { name, text: start })
        } else {
            substitute.put(Found { name, text: &[start, body, end].concat() })
        };
        self.out.push_str(&seen);
    }

    /// Writes the label of a match whose text was discarded.
    fn label(&mut self) {
        let Some(Rule { name, substitute }) = self.rule(*self.pair) else { return };
        let label = substitute.label_of(name);
        self.out.push_str(&label);
    }
}
