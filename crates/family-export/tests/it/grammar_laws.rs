//! The laws of grammars: texts of a grammar parse to valid calls, and the encoder's texts for valid
//! calls are texts of the grammar.

use family_export::{CallGrammar, call_grammar};
use llm_stream_guard::{
    AnswerRules, Parallel, Profile, Start, ToolChoice, Tools, profile,
    think_filter::format,
    toolcall_parsers::{EncodeCall, encode, families},
};
use serde_json::{Value, json};
use stream_laws::Random;

use crate::{
    law::{Law, tools},
    schema::sample,
};

/// Returns the number of random texts for each family and request: `GRAMMAR_TEXTS`, or a few.
fn texts() -> usize {
    std::env::var("GRAMMAR_TEXTS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// Returns tools whose values are any JSON, or nest without end.
fn loose_tools() -> Value {
    json!([
        {"name": "store", "parameters": {"type": "object", "properties": {
            "key": {"type": "string"}, "value": {}, "more": {"type": "object"}}, "required": ["key"]}},
        {"name": "grow", "parameters": {"type": "object", "properties": {
            "tree": {"$ref": "#/$defs/tree"}}, "required": ["tree"], "$defs": {"tree": {
                "type": "object", "properties": {"leaf": {"type": "integer"},
                    "branches": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
                "required": ["leaf"]}}}}
    ])
}

/// Returns the profiles of the families with calls.
fn profiles() -> impl Iterator<Item = Profile> {
    families().map(|family| profile(family.name).unwrap())
}

/// Checks random texts of a grammar. Returns the first that breaks the law, with the reason.
fn check(law: &Law<'_>, grammar: &CallGrammar, texts: usize) -> Result<(), String> {
    let name = &law.profile.name;
    let mut random = Random::new(7);
    for _ in 0..texts {
        let text = grammar.random_text(|bound| random.below(bound));
        if !grammar.admits(&text) {
            return Err(format!("{name}: its own text is not admitted: {text:?}"));
        }
        if let Some(why) = law.broken(grammar, &text) {
            return Err(format!("{name}: {why}\n  in {text:?}"));
        }
    }
    Ok(())
}

fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

fn check_required(tools: &Value, texts: usize) -> Vec<String> {
    let declared = Tools::from_json(tools).unwrap();
    let mut failures = Vec::new();
    for profile in profiles() {
        let law = Law::required(&profile, tools);
        match call_grammar(&profile, &AnswerRules::required(&declared)) {
            Ok(grammar) => failures.extend(check(&law, &grammar, texts).err()),
            Err(error) => failures.push(format!("{}: {error}", profile.name)),
        }
    }
    failures
}

#[test]
fn texts_of_required_grammars_are_valid_calls() {
    assert_none(&check_required(&tools(), texts()));
}

#[test]
fn texts_of_loose_schemas_are_valid_calls() {
    assert_none(&check_required(&loose_tools(), texts()));
}

#[test]
fn grammar_of_a_named_tool_accepts_one_call_of_that_tool_only() {
    let (tools, mut failures) = (tools(), Vec::new());
    let declared = Tools::from_json(&tools).unwrap();
    let only = json!([tools[1]]);
    for profile in profiles() {
        let request = AnswerRules {
            choice: ToolChoice::Named("search_files".into()),
            ..AnswerRules::required(&declared)
        };
        let grammar = call_grammar(&profile, &request).unwrap();
        let law = Law { choice: request.choice.clone(), ..Law::required(&profile, &only) };
        failures.extend(check(&law, &grammar, 20).err());
        assert!(!grammar.admits("") && !grammar.admits("Hello"), "{}", profile.name);
        // Calls of other tools, and several calls, are refused.
        let mut random = Random::new(11);
        for name in ["get_weather", "set_value", "list_all"] {
            let request = AnswerRules { choice: ToolChoice::Named(name.into()), ..request.clone() };
            let other = call_grammar(&profile, &request).unwrap();
            for _ in 0..20 {
                let text = other.random_text(|bound| random.below(bound));
                assert!(!grammar.admits(&text), "{}: {text:?}", profile.name);
            }
        }
    }
    assert_none(&failures);
}

#[test]
fn texts_of_required_grammars_started_in_reasoning_first_end_the_reasoning() {
    let (tools, mut failures, mut seen) = (tools(), Vec::new(), 0);
    let declared = Tools::from_json(&tools).unwrap();
    for profile in profiles() {
        let start = Start::Reasoning;
        let request = AnswerRules { start, ..AnswerRules::required(&declared) };
        let Ok(grammar) = call_grammar(&profile, &request) else { continue };
        seen += 1;
        let law = Law { start, ..Law::required(&profile, &tools) };
        failures.extend(check(&law, &grammar, 50).err());
    }
    assert!(seen > 40, "{seen} families that reason");
    assert_none(&failures);
}

#[test]
fn texts_of_required_grammars_may_begin_with_a_thought() {
    let (tools, mut failures, mut seen) = (tools(), Vec::new(), 0);
    let declared = Tools::from_json(&tools).unwrap();
    for profile in profiles() {
        let at_once = call_grammar(&profile, &AnswerRules::required(&declared)).unwrap();
        let request = AnswerRules { may_think: true, ..AnswerRules::required(&declared) };
        let grammar = call_grammar(&profile, &request).unwrap();
        failures.extend(check(&Law::required(&profile, &tools), &grammar, 50).err());
        let mut random = Random::new(5);
        let call = at_once.random_text(|bound| random.below(bound));
        assert!(grammar.admits(&call), "{}: {call:?}", profile.name);
        let tags = profile.reasoning.as_deref().and_then(|name| format(name).ok());
        let tags = tags.filter(|it| it.answer.is_empty() && it.label.is_none());
        let Some((open, close)) =
            tags.and_then(|it| Some((it.open.into_iter().next()?, it.close.into_iter().next()?)))
        else {
            continue;
        };
        seen += 1;
        let thought = format!("{open}\nhm.\n{close}\n\n{call}");
        assert!(grammar.admits(&thought), "{}: {thought:?}", profile.name);
        assert!(!at_once.admits(&thought), "{}: {thought:?}", profile.name);
        assert!(!grammar.admits(&format!("Well. {call}")), "{}", profile.name);
    }
    assert!(seen > 40, "{seen} families that reason");
    assert_none(&failures);
}

#[test]
fn texts_of_optional_call_grammars_are_answers_or_valid_calls() {
    let (tools, mut failures, mut seen) = (tools(), Vec::new(), 0);
    let declared = Tools::from_json(&tools).unwrap();
    for choice in [ToolChoice::Auto, ToolChoice::None] {
        for profile in profiles() {
            let parallel = Parallel::One;
            let request = AnswerRules {
                choice: choice.clone(),
                parallel,
                ..AnswerRules::required(&declared)
            };
            let Ok(grammar) = call_grammar(&profile, &request) else { continue };
            seen += 1;
            let law =
                Law { may_answer: true, choice: choice.clone(), ..Law::required(&profile, &tools) };
            failures.extend(check(&law, &grammar, 50).err());
        }
    }
    assert!(seen > 120, "{seen} grammars");
    assert_none(&failures);
}

/// Returns texts of the encoder for random valid calls that the grammar refuses, at most one for
/// each family.
fn refused_writings(tools: &Value, texts: usize) -> Vec<String> {
    let declared = Tools::from_json(tools).unwrap();
    let mut failures = Vec::new();
    for profile in profiles() {
        let grammar = call_grammar(&profile, &AnswerRules::required(&declared)).unwrap();
        let family = profile.grammar().unwrap().unwrap();
        let (mut random, mut written) = (Random::new(3), 0);
        for _ in 0..texts {
            let calls: Vec<(String, String)> = (0..1 + random.below(2))
                .map(|_| {
                    let all = tools.as_array().unwrap();
                    let tool = &all[random.below(all.len())];
                    let schema = &tool["parameters"];
                    let arguments = sample(schema, schema, 0, &mut random);
                    (tool["name"].as_str().unwrap().to_owned(), arguments.to_string())
                })
                .collect();
            let has_markup = grammar.markup().iter().any(|tag| {
                let tag = serde_json::to_string(tag).unwrap();
                calls.iter().any(|(_, arguments)| arguments.contains(tag.trim_matches('"')))
            });
            let calls: Vec<_> =
                calls.iter().map(|(name, arguments)| EncodeCall::new(name, arguments)).collect();
            let Ok(text) = encode(&family, &calls, &declared) else { continue };
            written += 1;
            let has_elements = grammar.narrowed().iter().any(|it| it.starts_with("elements in"));
            let is_loose = has_elements && calls.iter().any(|call| call.name == "store");
            if !has_markup && !is_loose && !grammar.admits(&text) {
                failures.push(format!("{}: {text:?}", profile.name));
                break;
            }
        }
        if written < texts / 8 {
            failures.push(format!("{}: {written} of {texts} written", profile.name));
        }
    }
    failures
}

#[test]
fn encoded_valid_calls_match_the_grammar() {
    assert_none(&refused_writings(&tools(), texts()));
}

#[test]
fn encoded_calls_of_loose_schemas_match_the_grammar() {
    assert_none(&refused_writings(&loose_tools(), texts()));
}

/// Returns a tag that differs from the family's tag in one letter.
fn changed(tag: &str) -> Option<String> {
    let at = tag.find(|c: char| c.is_ascii_lowercase())?;
    let letter = if tag[at..].starts_with('z') { "y" } else { "z" };
    Some(format!("{}{letter}{}", &tag[..at], &tag[at + 1..]))
}

#[test]
fn texts_with_one_changed_tag_violate_the_laws() {
    let (tools, mut seen) = (tools(), 0);
    let declared = Tools::from_json(&tools).unwrap();
    let mut blind = Vec::new();
    for profile in profiles() {
        let grammar = call_grammar(&profile, &AnswerRules::required(&declared)).unwrap();
        let law = Law::required(&profile, &tools);
        let mut random = Random::new(5);
        let text = grammar.random_text(|bound| random.below(bound));
        // The marker of the calls, which the text begins with.
        let head =
            grammar.markup().iter().filter(|tag| text.trim_start().starts_with(tag.as_str()));
        let Some((tag, other)) = head.filter_map(|tag| Some((tag, changed(tag)?))).next() else {
            continue;
        };
        seen += 1;
        let text = text.replace(tag.as_str(), &other);
        if grammar.admits(&text) || law.broken(&grammar, &text).is_none() {
            blind.push(format!("{}: {text:?}", profile.name));
        }
    }
    assert!(seen > 60, "{seen} families with markers");
    // Calls that are certain without their section are read even if its tag is changed.
    assert!(blind.len() * 4 < seen, "{} of {seen}\n{}", blind.len(), blind.join("\n"));
}
