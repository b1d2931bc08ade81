//! The proof of a derived family: it writes what the template renders, and reads it back.

use serde_json::Value;
use toolcall_parsers::{EncodeCall, Family, Grammar, Outcome, Tools, encode};

use super::{
    DeriveError,
    bodies::Bodies,
    renderings::{Renderings, Wire},
    samples::{ONE, Sample, TWO_CALLS, TWO_KEYS, spaced},
};
use crate::{End, Guard, Message, Profile, Reasoning, ReasoningOptions, Start};

/// The name of a derived family.
pub(super) const NAME: &str = "derived";

fn refused(error: &dyn std::fmt::Display) -> DeriveError {
    DeriveError::new(format!("its file is refused: {error}"))
}

/// Compiles the calls of a file.
pub(super) fn grammar_of(file: &str) -> Result<Grammar, DeriveError> {
    let family = Family::from_toml(NAME, file).map_err(|error| refused(&error))?;
    Grammar::new(family).map_err(|error| refused(&error))
}

/// Compiles the profile of a file.
pub(super) fn profile_of(file: &str) -> Result<Profile, DeriveError> {
    Profile::from_family_toml(NAME, file).map_err(|error| refused(&error))
}

/// The comparison of an encoder with a template.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Number of samples that are written as the template renders them.
    pub(super) equal: usize,
    /// The differences, each with the template's text and the encoder's.
    pub(super) differences: Vec<[String; 2]>,
    /// Whether the calls that show the family's texts are written equally.
    pub(super) sound: bool,
}

/// The calls of a sample, as the encoder takes them.
fn calls_of(sample: &Sample) -> Vec<EncodeCall<'_>> {
    sample.calls.iter().map(|call| EncodeCall::new(call.name, &call.arguments)).collect()
}

/// Compares the encoder with the renderings whose index is below `count`. `ends` is the text after
/// calls that ends the turn.
///
/// # Errors
/// A call cannot be written at all.
pub(super) fn written(
    renderings: &Renderings<'_>,
    bodies: &Bodies,
    grammar: &Grammar,
    (ends, count): (&str, usize),
) -> Result<Written, DeriveError> {
    let mut found = Written::default();
    let mut equal: Vec<usize> = Vec::new();
    for (n, (sample, wire)) in renderings.wires.iter().enumerate().take(count) {
        if sample.calls.is_empty() || wire.is_err() {
            continue;
        }
        let body = bodies.body(n)?.trim_end();
        let body = body.strip_suffix(ends).unwrap_or(body);
        let with_ids = sample.calls.iter().all(|call| body.contains(&call.id));
        let mut calls = calls_of(sample);
        for (encoded, call) in calls.iter_mut().zip(&sample.calls).filter(|_| with_ids) {
            *encoded = encoded.with_id(&call.id);
        }
        let text = match encode(grammar, &calls, &Tools::implied_by(&calls)) {
            Ok(text) => text,
            Err(error) if n == ONE || n == TWO_CALLS => {
                return Err(DeriveError::new(format!("the language cannot write a call: {error}"))
                    .with([body, &error.to_string()]));
            }
            Err(error) => {
                found.differences.push([body.to_owned(), error.to_string()]);
                continue;
            }
        };
        // Some templates write content after calls.
        let led = sample.content.is_empty() || body.find(sample.content) < body.find("zfunc");
        let ends = |body: &str| match led {
            true => body.trim_end().ends_with(text.trim_end()),
            false => body.contains(text.trim()),
        };
        let same = ends(body);
        if same || ends(&objects(body, sample)) {
            equal.push(n);
        }
        match same {
            true => found.equal += 1,
            false => found.differences.push([body.to_owned(), text]),
        }
    }
    let is_equal = |n: usize| equal.contains(&n);
    let calls = is_equal(TWO_CALLS) || renderings.one_call && is_equal(ONE);
    // A template that leaves a section open after one call does so after two keys, too.
    found.sound = calls && (is_equal(TWO_KEYS) || !is_equal(ONE));
    Ok(found)
}

/// Returns a body in which arguments that are a string of JSON are the object in the string.
fn objects(body: &str, sample: &Sample) -> String {
    sample.calls.iter().fold(body.to_owned(), |body, call| {
        let text = spaced(&value_of(&call.arguments));
        [&text, &call.arguments].into_iter().fold(body, |body, inside| {
            body.replace(&Value::from(inside.as_str()).to_string(), &text)
        })
    })
}

/// A profile that must read samples.
pub(super) struct ProofReader<'p> {
    profile: &'p Profile,
    reasoning: Option<Reasoning>,
    /// The text before content next to calls, if the template writes it as a thought.
    pub(super) thought: Option<String>,
}

impl<'p> ProofReader<'p> {
    /// Creates a reader. Checks that the profile begins where the prompt ends.
    ///
    /// # Errors
    /// The prompt opens or closes a thought otherwise than the file says.
    pub(super) fn new(
        profile: &'p Profile,
        renderings: &Renderings<'_>,
    ) -> Result<Self, DeriveError> {
        let reasoning = profile.reasoning_format().ok().flatten();
        let reader = Self { profile, reasoning, thought: renderings.content_as_thought() };
        let start = reader.start_after(&renderings.prompt);
        let switched = profile.switch.values().any(|on| *on == (start == Start::Reasoning));
        if start == profile.start || switched {
            return Ok(reader);
        }
        let why = format!("the prompt ends in {start:?}, and the file says {:?}", profile.start);
        Err(DeriveError::new(why).with([&renderings.prompt, ""]))
    }

    /// Returns where a text after a prompt begins.
    fn start_after(&self, prompt: &str) -> Start {
        self.reasoning.as_ref().map_or(Start::Content, |it| it.start_after(prompt))
    }

    /// Checks that a guard reads each sample, whole and at the cuts.
    ///
    /// # Errors
    /// A sample is read differently. The refusal has the wire and the result.
    pub(super) fn reads(
        &self,
        samples: &[(Sample, Result<Wire, String>)],
        cuts: Cuts,
    ) -> Result<(), DeriveError> {
        for (sample, wire) in samples {
            let Ok(wire) = wire else { continue };
            let calls = calls_of(sample);
            let start = Some(self.start_after(&wire.before));
            let options = ReasoningOptions { start, ..ReasoningOptions::default() };
            let guard = Guard::builder(self.profile)
                .tools(Tools::implied_by(&calls))
                .reasoning(options)
                .build()
                .map_err(|error| refused(&error))?;
            let shown = ShownParts::new(sample, &wire.text, self.thought.as_deref());
            fits(&shown, &wire.text, &guard, cuts)?;
        }
        Ok(())
    }
}

/// The parts of a sample that its rendering shows.
struct ShownParts<'s> {
    sample: &'s Sample,
    arguments: Vec<Value>,
    content: &'s str,
    reasoning: &'s str,
}

impl<'s> ShownParts<'s> {
    fn new(sample: &'s Sample, wire: &str, thought: Option<&str>) -> Self {
        // Some templates leave out content next to calls, and members that are `null`.
        let shown = |text: &'s str| if wire.contains(text) { text } else { "" };
        let (mut content, mut reasoning) = (shown(sample.content), shown(sample.reasoning));
        if !content.is_empty()
            && !sample.calls.is_empty()
            && reasoning.is_empty()
            && thought.is_some_and(|thought| wire.starts_with(&format!("{thought}{content}")))
        {
            (content, reasoning) = ("", content);
        }
        let arguments = sample.calls.iter().map(|call| {
            let mut value = value_of(&call.arguments);
            if let Some(members) = value.as_object_mut() {
                members.retain(|key, value| !value.is_null() || wire.contains(key.as_str()));
            }
            value
        });
        Self { sample, arguments: arguments.collect(), content, reasoning }
    }
}

fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The places at which a wire is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cuts {
    /// The text is read whole.
    None,
    /// Before every character of the text.
    All,
}

/// Reads a rendering, whole and at the cuts.
fn fits(
    expected: &ShownParts<'_>,
    wire: &str,
    guard: &Guard,
    cuts: Cuts,
) -> Result<(), DeriveError> {
    let differs = |what: &str, found: String| {
        Err(DeriveError::new(format!("the parser reads {what} differently")).with([wire, &found]))
    };
    let whole = guard.parse(wire, End::Stop).unwrap_or_default();
    if whole.calls.len() != expected.sample.calls.len() {
        return differs("the calls", shown(&whole));
    }
    let calls = expected.sample.calls.iter().zip(&expected.arguments);
    for (call, (written, arguments)) in whole.calls.iter().zip(calls) {
        let same = call.name == written.name
            && value_of(&call.arguments) == *arguments
            && call.outcome == Some(Outcome::Complete);
        if !same {
            return differs("a call", format!("{} {}", call.name, call.arguments));
        }
    }
    if whole.content.trim() != expected.content {
        return differs("the content", shown(&whole));
    }
    if whole.reasoning.trim() != expected.reasoning {
        return differs("the reasoning", shown(&whole));
    }
    if cuts == Cuts::None {
        return Ok(());
    }
    for at in (1..wire.len()).filter(|&at| wire.is_char_boundary(at)) {
        let (mut guard, mut message) = (guard.clone(), Message::default());
        let mut sink = |event: crate::Event<'_>| message.collect(event);
        let (head, tail) = wire.split_at(at);
        let fed = guard.push(head, &mut sink).and_then(|()| guard.push(tail, &mut sink));
        let fed = fed.and_then(|()| guard.finish(End::Stop, &mut sink));
        // Generated ids differ.
        let seen = |message: &Message| {
            let calls = message.calls.iter();
            let calls = calls.map(|it| (it.name.clone(), it.arguments.clone(), it.outcome));
            (calls.collect::<Vec<_>>(), message.content.clone(), message.reasoning.clone())
        };
        if fed.is_err() || seen(&message) != seen(&whole) {
            return differs(&format!("a cut at byte {at}"), shown(&message));
        }
    }
    Ok(())
}

fn shown(message: &Message) -> String {
    let calls = message.calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
    let calls: Vec<String> = calls.collect();
    format!("content {:?}, reasoning {:?}, calls {calls:?}", message.content, message.reasoning)
}
