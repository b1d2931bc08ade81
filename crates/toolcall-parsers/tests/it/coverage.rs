//! Coverage: the inputs that every family's vectors must include.

use stream_laws::{
    json::JsonValue,
    vector::{CaseFinish, VectorCase},
};
use toolcall_parsers::{
    EncodeCall, Family, Grammar, InReasoning, Tools, encode, families,
    family::Form,
    grammars,
    template::{Part, Template},
};

use crate::support::{
    families::{object_keys, tags, texts},
    profile_cases, vectors_if_any,
};

/// A check whether a vector is an input of some kind.
type Shows<'g> = Box<dyn Fn(&VectorCase) -> bool + 'g>;

/// Returns the kinds of input that the family's vectors must include, if the family can express
/// them.
fn wanted(grammar: &Grammar) -> Vec<(&'static str, Shows<'_>)> {
    let complete = |case: &VectorCase| !case.expect.calls.is_empty();
    let cut = |case: &VectorCase| case.finish == CaseFinish::Length;
    let mut wanted: Vec<(&str, Shows<'_>)> = vec![
        ("one call", Box::new(|case| case.expect.calls.len() == 1)),
        ("text around", Box::new(move |c| complete(c) && !c.expect.content.trim().is_empty())),
        (
            "no arguments",
            Box::new(|case| case.expect.calls.iter().any(|call| call.arguments == nothing())),
        ),
        ("wide characters", Box::new(|case| strings(case).any(|text| !text.is_ascii()))),
        (
            "a marker inside a value",
            Box::new(|case| {
                let markup = markup(grammar);
                strings(case).any(|text| markup.iter().any(|marker| text.contains(marker)))
            }),
        ),
        (
            "cut before the name is certain",
            Box::new(move |c| cut(c) && !complete(c) && c.expect.incomplete.is_none()),
        ),
        ("cut in the arguments", Box::new(|case| case.expect.incomplete.is_some())),
        (
            "no call",
            Box::new(move |c| !complete(c) && !c.wire.is_empty() && c.expect.content == c.wire),
        ),
    ];
    if can_write(grammar, 2) {
        wanted.push(("several calls", Box::new(|case| case.expect.calls.len() > 1)));
    }
    if has_end(grammar) {
        wanted.push((
            "cut before the end",
            Box::new(move |case| cut(case) && (complete(case) || case.expect.incomplete.is_some())),
        ));
    }
    if let Some(keys) = object_keys(grammar.family()).next() {
        wanted.push((
            "arguments before the name",
            Box::new(move |case| complete(case) && first(case, &keys.arguments, &keys.name)),
        ));
    }
    wanted
}

/// Returns the value of `{}`.
fn nothing() -> JsonValue {
    JsonValue::Object(Default::default())
}

fn can_write(grammar: &Grammar, calls: usize) -> bool {
    encode(grammar, &vec![EncodeCall::new("f", "{}"); calls], &Tools::none()).is_ok()
}

/// Returns whether a call ends with markup after its arguments.
fn has_end(grammar: &Grammar) -> bool {
    let wire = encode(grammar, &[EncodeCall::new("f", "{}")], &Tools::none());
    wire.is_ok_and(|wire| wire.trim_end().ends_with(['>', ']', '`', '|', '!']))
}

/// Returns whether one of the keys `early` precedes all of the keys `late` on the wire.
fn first(case: &VectorCase, early: &[String], late: &[String]) -> bool {
    let place = |keys: &[String]| {
        let quoted = keys.iter().flat_map(|key| [format!("\"{key}\""), format!("'{key}'")]);
        quoted.filter_map(|key| case.wire.find(&key)).min()
    };
    matches!((place(early), place(late)), (Some(early), Some(late)) if early < late)
}

/// Returns the family's texts with punctuation, and the brackets of JSON and Python.
fn markup(grammar: &Grammar) -> Vec<String> {
    let mut found = texts(grammar.family());
    found.extend(grammar.openers().map(String::from));
    found.retain(|text| text.contains(|c: char| c.is_ascii_punctuation()));
    found.extend(found.clone().iter().flat_map(|text| tags(text)).map(String::from));
    found.extend(["}}", "]", ")]", "}"].map(String::from));
    found
}

/// Returns every string in the arguments of complete calls.
fn strings(case: &VectorCase) -> impl Iterator<Item = &str> {
    let (mut found, mut values) = (Vec::new(), Vec::new());
    values.extend(case.expect.calls.iter().map(|call| &call.arguments));
    while let Some(value) = values.pop() {
        match value {
            JsonValue::Object(members) => values.extend(members.values()),
            JsonValue::Array(elements) => values.extend(elements),
            JsonValue::String(text) => found.push(text.as_str()),
            _ => {}
        }
    }
    found.into_iter()
}

/// Returns the vectors of the family, and of families with equal forms.
fn cases(grammar: &Grammar) -> Vec<VectorCase> {
    let alike = |name: &str| {
        let other = toolcall_parsers::family(name).expect("a registered family");
        // Calls in reasoning are tested by other vectors.
        let forms = |family: &Family| -> Vec<Form> {
            let plain = |form: &Form| {
                let mut form = form.clone();
                form.in_reasoning = InReasoning::Literal;
                form.between.clear();
                form.calls = form.calls.iter().map(unspaced).collect();
                form
            };
            family.forms.iter().map(plain).collect()
        };
        forms(&other) == forms(grammar.family()) && other.messages == grammar.family().messages
    };
    let names = families().map(|summary| summary.name).filter(|name| alike(name));
    names.flat_map(|name| vectors_if_any(name).into_iter().chain(profile_cases(name))).collect()
}

/// Returns the template without the white space that only the encoder writes.
fn unspaced(template: &Template) -> Template {
    let mut template = template.clone();
    for part in &mut template.parts {
        if let Part::Literal(text) = part {
            *text = text.trim().to_owned();
        }
    }
    template
}

#[test]
fn every_family_has_vectors_of_every_required_input() {
    let mut missing = Vec::new();
    for grammar in grammars() {
        let cases = cases(&grammar);
        for (what, shows) in wanted(&grammar) {
            if !cases.iter().any(shows) {
                missing.push(format!("{}: {what}", grammar.name()));
            }
        }
    }
    assert!(missing.is_empty(), "{} missing\n{}", missing.len(), missing.join("\n"));
}
