//! Likely causes of faults, found while a message streams. The kinds are those of
//! [`crate::explain::Finding`].
//!
//! ```text
//! "functions.tide:0{\"port\": \"Bergen\"}"   no opener came: `stripped_markers`
//! "<|channel|>analysis"                      markup of another family: `wrong_family`
//! {"tool_calls": [..]}                       the server's own parser is on: `native_fields`
//! ```

use std::sync::Arc;

use jail_match::{MarkerSet, MarkerSetBuilder, Matcher, MatcherEvent};
use toolcall_parsers::{Outcome, Tools};

use super::Stats;
use crate::limits::MAX_SOUGHT_NAMES;

/// The beginning of a call's JSON.
const JSON: &str = "{\"";

/// Facts about a message that suggest causes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Causes {
    stripped: Option<StrippedCalls>,
    content: bool,
    reasoning: bool,
    calls: bool,
    runs: bool,
    malformed: bool,
    cut: bool,
    native: bool,
    foreign: bool,
}

impl Causes {
    /// Also searches content for calls without their markers.
    pub(crate) fn of_stripped(mut self, stripped: StrippedCalls) -> Self {
        self.stripped = Some(stripped);
        self
    }

    pub(crate) fn content(&mut self, text: &str) {
        self.content |= !text.trim_ascii().is_empty();
        if let Some(stripped) = self.stripped.as_mut().filter(|_| !self.calls) {
            stripped.see(text);
        }
    }

    pub(crate) fn reasoning(&mut self) {
        self.reasoning = true;
    }

    pub(crate) fn call_started(&mut self) {
        self.calls = true;
    }

    pub(crate) fn call_ended(&mut self, outcome: Outcome) {
        match outcome {
            outcome if outcome.runs() => self.runs = true,
            Outcome::Malformed => self.malformed = true,
            _ => self.cut = true,
        }
    }

    /// Records a call that is not in the family's syntax.
    pub(crate) fn foreign_call(&mut self) {
        self.foreign = true;
    }

    /// Records a call or reasoning that the server separated.
    pub(crate) fn native(&mut self) {
        self.native = true;
    }

    /// Returns the names of the causes of a message that ended with these counts.
    pub(crate) fn at_end(&mut self, stats: &Stats) -> impl Iterator<Item = &'static str> {
        let foreign = !stats.foreign.is_empty();
        let stripped = stats.candidates == 0 && !self.calls;
        let stripped = self
            .stripped
            .as_mut()
            .is_some_and(|search| self.foreign || stripped && search.is_found());
        let causes = [
            ("wrong_family", foreign && !self.runs),
            ("stripped_markers", stripped),
            ("native_fields", self.native),
            ("malformed_call", self.malformed),
            ("truncated_call", self.cut),
            ("no_answer", self.reasoning && !self.content && !self.calls),
            ("opener_in_prose", stats.candidates_refuted > 0),
            ("foreign_markup", foreign && self.runs || self.foreign && self.stripped.is_none()),
        ];
        causes.into_iter().filter_map(|(name, found)| found.then_some(name))
    }

    pub(crate) fn reset(&mut self) {
        let stripped = self.stripped.take().map(StrippedCalls::reset);
        *self = Self { stripped, ..Self::default() };
    }
}

/// A search for what may be a call's JSON in content, with a declared tool's name if any are
/// declared. The families' markers are special tokens, which servers leave out unless asked.
#[derive(Debug, Clone)]
pub(crate) struct StrippedCalls {
    matcher: Matcher,
    json: bool,
    named: bool,
    /// Whether no tool is declared.
    unnamed: bool,
}

impl StrippedCalls {
    /// Creates a search for calls of these tools.
    pub(crate) fn new(tools: &Tools) -> Self {
        let mut set = MarkerSetBuilder::new();
        set.marker(JSON, false, 1);
        let mut unnamed = true;
        for tool in tools.iter().take(MAX_SOUGHT_NAMES) {
            set.marker(&tool.name, false, 1);
            unnamed = false;
        }
        let set: Arc<MarkerSet> = Arc::new(set.build());
        Self { matcher: Matcher::with_set(set), json: false, named: unnamed, unnamed }
    }

    fn see(&mut self, text: &str) {
        let Self { matcher, json, named, .. } = self;
        if !(*json && *named) {
            matcher.push(text, |found| mark(&found, json, named));
        }
    }

    fn is_found(&mut self) -> bool {
        let Self { matcher, json, named, .. } = self;
        matcher.finish(|found| mark(&found, json, named));
        *json && *named
    }

    fn reset(mut self) -> Self {
        self.matcher.reset();
        Self { json: false, named: self.unnamed, ..self }
    }
}

fn mark(found: &MatcherEvent<'_>, json: &mut bool, named: &mut bool) {
    if let MatcherEvent::Marker { id, .. } = found {
        *(if *id == 0 { json } else { named }) = true;
    }
}
