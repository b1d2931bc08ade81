//! Reading a text as each family would.

use std::collections::BTreeMap;

use serde_json::Value;
use toolcall_parsers::{DiagnosticKind, Outcome};

use super::markup::{Mark, marks};
use crate::{End, Guard, Message, Profile, Tools, profile::profiles};

/// A family that reads.
pub(super) struct Reader {
    pub(super) profile: Profile,
    guard: Guard,
}

/// What a family makes of texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reading {
    /// What tells this reading from others.
    pub(super) made: Made,
    /// How many calls are complete.
    pub(super) complete: usize,
    /// Whether a call has arguments, or the beginning of some.
    pub(super) has_arguments: bool,
    /// Marks that are markup to the family, in order of appearance, once each.
    pub(super) explained: Vec<String>,
    /// Marks that came out as text, once each.
    pub(super) left: Vec<String>,
    /// How many marks came out as text.
    pub(super) left_count: usize,
    /// Whether one of those is nothing but markup.
    pub(super) left_special: bool,
    /// Whether reasoning was closed that nothing had opened.
    pub(super) orphan: bool,
}

/// What was made of texts, whitespace and the types of untyped values aside.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Made {
    /// Words of the answer and of the reasoning, of each text.
    texts: Vec<[String; 2]>,
    /// Calls, and how many of them broke.
    pub(super) calls: Vec<(String, Value)>,
    pub(super) broken: usize,
}

impl Made {
    /// Whether there is reasoning.
    pub(super) fn has_reasoning(&self) -> bool {
        self.texts.iter().any(|[_, reasoning]| !reasoning.is_empty())
    }

    /// Whether there is text beside calls.
    pub(super) fn has_text(&self) -> bool {
        self.texts.iter().flatten().any(|text| !text.is_empty())
    }
}

/// All families, with the tools that were declared and the suffix of tags, if there is one.
pub(super) fn readers(tools: &Tools, suffix: Option<&str>) -> Vec<Reader> {
    let all = profiles()
        .into_iter()
        .filter(|profile| profile.tools.is_some() || profile.reasoning.is_some());
    // A registered profile makes a guard, as a test holds.
    let made = all.filter_map(|profile| {
        let mut builder = Guard::builder(&profile).tools(tools.clone());
        if let Some(suffix) = suffix {
            builder = builder.token_suffix(suffix);
        }
        let guard = builder.build().ok()?;
        Some(Reader { profile, guard })
    });
    made.collect()
}

/// Calls by name and JSON arguments, as they stand in [`Made`].
pub(super) fn calls_of<'c>(
    calls: impl Iterator<Item = (&'c str, &'c str)>,
) -> Vec<(String, Value)> {
    let value = |text| untyped(serde_json::from_str(text).unwrap_or_default());
    calls.map(|(name, arguments)| (name.to_owned(), value(arguments))).collect()
}

impl Reader {
    /// Reads whole texts, each a message.
    pub(super) fn read(&self, texts: &[&str]) -> Reading {
        let mut reading = Reading::default();
        for text in texts {
            // The default limits release what hits them: no text fails.
            let message = self.guard.parse(text, End::Stop).unwrap_or_default();
            reading.add(text, &message);
        }
        reading
    }
}

impl Reading {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts calls and marks of a text in memory, and takes one off only what is \
                  above zero"
    )]
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

/// A value in which a string that spells JSON is that: without schemas families differ in it.
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
