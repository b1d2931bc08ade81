//! Counts over rows, without their messages.

use std::collections::BTreeMap;

use serde::Serialize;
use toolcall_parsers::{Event, Outcome, Sink};

use super::RowError;
use crate::MessageEnd;

/// Counts over rows: how they ended, and how many calls and diagnostics they had.
///
/// Feed the events of each row, then end it.
///
/// ```
/// use llm_stream_guard::{Event, Outcome, RowCounts, RowError, Sink as _};
/// let mut counts = RowCounts::default();
/// counts.event(Event::CallEnd { index: 0, outcome: Outcome::Malformed });
/// counts.end_row(&Err(RowError::Utf8(0)), None);
/// assert_eq!((counts.rows, counts.errors, counts.calls["malformed"]), (1, 1, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct RowCounts {
    /// The number of all rows.
    pub rows: u64,
    /// Rows without a text.
    pub nulls: u64,
    /// Rows that have an error.
    pub errors: u64,
    /// Rows by the worst outcome of their calls.
    pub outcome: BTreeMap<&'static str, u64>,
    /// Rows by how they ended.
    pub finish: BTreeMap<&'static str, u64>,
    /// Rows by what was open at their end.
    pub open: BTreeMap<&'static str, u64>,
    /// Rows that name a family, by its name.
    pub family: BTreeMap<String, u64>,
    /// Calls by their outcome.
    pub calls: BTreeMap<&'static str, u64>,
    /// Diagnostics by their kind.
    pub diagnostics: BTreeMap<&'static str, u64>,
    /// The worst outcome of the current row's calls.
    #[serde(skip)]
    worst: Option<Outcome>,
}

impl RowCounts {
    /// Counts a row without a text.
    pub fn null(&mut self) {
        self.rows += 1;
        self.nulls += 1;
    }

    /// Ends a row of this family, if the row names one.
    pub fn end_row(&mut self, read: &Result<MessageEnd, RowError>, family: Option<&str>) {
        self.rows += 1;
        let worst = self.worst.take().unwrap_or(Outcome::Complete);
        let Ok(end) = read else {
            self.errors += 1;
            return;
        };
        add(&mut self.outcome, worst.name());
        add(&mut self.finish, end.finish());
        add(&mut self.open, end.open.name());
        if let Some(family) = family {
            // Only families that exist are read without an error.
            *self.family.entry(family.to_owned()).or_default() += 1;
        }
    }

    /// Adds the counts of other rows.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.nulls += other.nulls;
        self.errors += other.errors;
        for (mine, theirs) in [
            (&mut self.outcome, &other.outcome),
            (&mut self.finish, &other.finish),
            (&mut self.open, &other.open),
            (&mut self.calls, &other.calls),
            (&mut self.diagnostics, &other.diagnostics),
        ] {
            theirs.iter().for_each(|(name, count)| *mine.entry(name).or_default() += count);
        }
        for (name, count) in &other.family {
            *self.family.entry(name.clone()).or_default() += count;
        }
    }
}

fn add(counts: &mut BTreeMap<&'static str, u64>, name: &'static str) {
    *counts.entry(name).or_default() += 1;
}

impl Sink for RowCounts {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::CallEnd { outcome, .. } => {
                self.worst = Some(self.worst.unwrap_or(Outcome::Complete).worse(outcome));
                add(&mut self.calls, outcome.name());
            }
            Event::Diagnostic(diagnostic) => add(&mut self.diagnostics, diagnostic.kind.name()),
            _ => {}
        }
    }
}
