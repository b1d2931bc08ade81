//! Readings: a text as each family reads it.

use std::collections::BTreeMap;

use serde_json::Value;
use toolcall_parsers::{DiagnosticKind, Outcome};

use super::markup::{Mark, marks};
use crate::{End, Guard, Message, Profile, Tools, profile::profiles};

/// A family with its guard and profile.
pub(super) struct Reader {
    pub(super) profile: Profile,
    guard: Guard,
}

/// The result of reading texts as one family.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reading {
    /// The part of the result that distinguishes this reading from others.
    pub(super) made: Made,
    /// Number of complete calls.
    pub(super) complete: usize,
    /// Whether a call has arguments, complete or begun.
    pub(super) has_arguments: bool,
    /// Marks that are markup to the family, once each, in order of appearance.
    pub(super) explained: Vec<String>,
    /// Marks that are ordinary text to the family, once each.
    pub(super) left: Vec<String>,
    /// Number of marks that are ordinary text, with repetitions.
    pub(super) left_count: usize,
    /// Whether one of the leftover marks is a special token.
    pub(super) left_special: bool,
    /// Whether reasoning was closed that nothing had opened.
    pub(super) orphan: bool,
}

/// Content, reasoning and calls of texts, without white space and without the types of untyped
/// values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Made {
    /// Words of the answer and of the reasoning, per text.
    texts: Vec<[String; 2]>,
    /// Calls by name and arguments.
    pub(super) calls: Vec<(String, Value)>,
    pub(super) broken: usize,
}

impl Made {
    /// Whether any text has reasoning.
    pub(super) fn has_reasoning(&self) -> bool {
        self.texts.iter().any(|[_, reasoning]| !reasoning.is_empty())
    }

    /// Whether any text has content next to calls.
    pub(super) fn has_text(&self) -> bool {
        self.texts.iter().flatten().any(|text| !text.is_empty())
    }
}

/// Returns every family, with the declared tools and the suffix of tags, if any.
pub(super) fn readers(tools: &Tools, suffix: Option<&str>) -> Vec<Reader> {
    let all = profiles()
        .into_iter()
        .filter(|profile| profile.tools.is_some() || profile.reasoning.is_some());
    // A test checks that every registered profile makes a guard.
    let made = all.filter_map(|mut profile| {
        profile.token_suffix = suffix.map(str::to_owned);
        let guard = Guard::builder(&profile).tools(tools.clone()).build().ok()?;
        Some(Reader { profile, guard })
    });
    made.collect()
}

/// Returns calls by name and JSON arguments, in the form of [`Made`].
pub(super) fn calls_of<'c>(
    calls: impl Iterator<Item = (&'c str, &'c str)>,
) -> Vec<(String, Value)> {
    let value = |text| untyped(serde_json::from_str(text).unwrap_or_default());
    calls.map(|(name, arguments)| (name.to_owned(), value(arguments))).collect()
}

impl Reader {
    /// Reads whole texts, each as one message.
    pub(super) fn read(&self, texts: &[&str]) -> Reading {
        let mut reading = Reading::default();
        for text in texts {
            // The default limits release text, so that reading never fails.
            let message = self.guard.parse(text, End::Stop).unwrap_or_default();
            reading.add(text, &message);
        }
        reading
    }
}

impl Reading {
    fn add(&mut self, text: &str, message: &Message) {
        self.made.texts.push([&message.content, &message.reasoning].map(|text| words(text)));
        for call in &message.calls {
            let complete = call.outcome == Some(Outcome::Complete);
            self.complete += usize::from(complete);
            // Some families' arguments begin where their header ends.
            self.has_arguments |= complete || call.arguments.len() > "{".len();
            self.made.broken += usize::from(!complete);
            let arguments = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
            self.made.calls.push((call.name.clone(), untyped(arguments)));
        }
        let orphan = |kind| kind == DiagnosticKind::OrphanCloser;
        self.orphan |= message.diagnostics.iter().any(|diagnostic| orphan(diagnostic.kind));
        let mut out: BTreeMap<Mark<'_>, usize> = BTreeMap::new();
        for mark in [&message.content, &message.reasoning].into_iter().flat_map(|text| marks(text))
        {
            *out.entry(mark).or_default() += 1;
            self.left_count += 1;
            self.left_special |= mark.special;
            once(&mut self.left, mark.text);
        }
        for call in &message.calls {
            for mark in marks(&call.arguments) {
                *out.entry(mark).or_default() += 1;
            }
        }
        for mark in marks(text) {
            match out.get_mut(&mark) {
                Some(count) if *count > 0 => *count -= 1,
                _ => once(&mut self.explained, mark.text),
            }
        }
    }
}

fn once(marks: &mut Vec<String>, mark: &str) {
    if !marks.iter().any(|seen| seen == mark) {
        marks.push(mark.to_owned());
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Decodes a string that spells JSON: without schemas, families differ in whether they decode it.
fn untyped(value: Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value,
            Ok(value @ (Value::Array(_) | Value::Object(_))) => value,
            _ => Value::String(words(&text)),
        },
        Value::Array(items) => items.into_iter().map(untyped).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, untyped(value))).collect()
        }
        value => value,
    }
}
