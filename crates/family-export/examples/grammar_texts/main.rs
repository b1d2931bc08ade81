//! Writes the grammars of all families with texts, and checks texts that other programs generated.
//!
//! `cargo xtask grammars` runs this twice, before and after the packages of the engines:
//!
//! ```text
//! grammar_texts write COUNT   a JSON object a line: a family, its grammars, texts they admit and refuse
//! grammar_texts check         reads {"family": .., "text": ..} a line: each must be valid calls
//! ```

#[path = "../../tests/it/law.rs"]
mod law;
#[path = "../../tests/it/schema.rs"]
mod schema;

use std::{
    collections::BTreeMap,
    error::Error,
    io::{BufRead as _, Write as _},
};

use family_export::{CallGrammar, call_grammar};
use llm_stream_guard::{
    AnswerRules, Profile, Tools, profile,
    toolcall_parsers::{EncodeCall, encode, families},
};
use serde_json::{Value, json};
use stream_laws::Random;

use crate::{
    law::{Law, tools},
    schema::sample,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", count] => write(count.parse()?),
        ["check"] => check(),
        _ => Err("expected `write COUNT` or `check`".into()),
    }
}

fn write(count: usize) -> Result<(), Box<dyn Error>> {
    let tools = tools();
    let declared = Tools::from_json(&tools)?;
    let mut out = std::io::stdout().lock();
    for family in families() {
        let profile = profile(family.name)?;
        let line = match call_grammar(&profile, &AnswerRules::required(&declared)) {
            Ok(grammar) => line(&profile, &grammar, (&tools, count))?,
            Err(error) => json!({"family": family.name, "error": error.to_string()}),
        };
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns the grammar in each target's language, with random texts, texts of the encoder, and
/// damaged ones that the grammar refuses.
fn line(
    profile: &Profile,
    grammar: &CallGrammar,
    (tools, count): (&Value, usize),
) -> Result<Value, Box<dyn Error>> {
    let mut random = Random::new(5);
    let (mut admitted, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let text = grammar.random_text(|bound| random.below(bound));
        let damaged = damaged(&text, &mut random);
        if !grammar.admits(&damaged) {
            refused.push(damaged);
        }
        admitted.push(text);
    }
    let special: Vec<&str> = grammar.special_tokens().iter().map(String::as_str).collect();
    Ok(json!({
        "family": profile.name, "special": special,
        "gbnf": grammar.gbnf(), "structural_tag": grammar.structural_tag(),
        "lark": grammar.lark(&[])?, "lark_special": grammar.lark(&special)?,
        "regex": grammar.regex().ok(), "admitted": admitted, "refused": refused,
        "encoded": encoded(profile, grammar, (tools, count))?,
    }))
}

fn damaged(text: &str, random: &mut Random) -> String {
    let mut damaged: Vec<char> = text.chars().collect();
    let at = random.below(damaged.len().max(1));
    match random.below(3) {
        0 if !damaged.is_empty() => drop(damaged.remove(at)),
        1 => damaged.insert(at, '<'),
        _ => damaged.truncate(at),
    }
    damaged.into_iter().collect()
}

/// Returns the encoder's texts for random valid calls without markup in their values.
fn encoded(
    profile: &Profile,
    grammar: &CallGrammar,
    (tools, count): (&Value, usize),
) -> Result<Vec<String>, Box<dyn Error>> {
    let declared = Tools::from_json(tools)?;
    let family = profile.grammar()?.ok_or("expected a family with calls")?;
    let tools = tools.as_array().ok_or("expected a list of tools")?;
    let (mut random, mut all) = (Random::new(3), Vec::new());
    for _ in 0..count {
        let tool = &tools[random.below(tools.len())];
        let schema = &tool["parameters"];
        let arguments = sample(schema, schema, 0, &mut random).to_string();
        let has_markup = grammar.markup().iter().any(|tag| {
            let quoted = Value::from(tag.as_str()).to_string();
            arguments.contains(quoted.trim_matches('"'))
        });
        let name = tool["name"].as_str().unwrap_or_default();
        let text = encode(&family, &[EncodeCall::new(name, &arguments)], &declared);
        all.extend(text.ok().filter(|_| !has_markup));
    }
    Ok(all)
}

/// A family with its grammar, and its texts so far.
struct Checked {
    profile: Profile,
    grammar: CallGrammar,
    texts: usize,
    faults: Vec<String>,
}

fn check() -> Result<(), Box<dyn Error>> {
    let tools = tools();
    let declared = Tools::from_json(&tools)?;
    let mut families: BTreeMap<String, Checked> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let (Some(family), Some(text)) = (line["family"].as_str(), line["text"].as_str()) else {
            return Err(format!("expected a family and a text: {line}").into());
        };
        if !families.contains_key(family) {
            let profile = profile(family)?;
            let grammar = call_grammar(&profile, &AnswerRules::required(&declared))?;
            let checked = Checked { profile, grammar, texts: 0, faults: Vec::new() };
            families.insert(family.to_owned(), checked);
        }
        let Some(checked) = families.get_mut(family) else { continue };
        checked.texts += 1;
        let Checked { profile, grammar, faults, .. } = checked;
        if !grammar.admits(text) {
            faults.push(format!("not a text of the grammar: {text:?}"));
        } else if let Some(why) = Law::required(profile, &tools).broken(grammar, text) {
            faults.push(format!("{why}\n  in {text:?}"));
        }
    }
    let least = families.values().map(|it| it.texts).min().unwrap_or_default();
    println!("{} families, at least {least} random texts each", families.len());
    let faults = families.iter().filter_map(|(name, it)| {
        let first = it.faults.first()?;
        Some(format!("{name}: {} of {} texts, such as {first}", it.faults.len(), it.texts))
    });
    let faults: Vec<_> = faults.collect();
    match faults.is_empty() {
        true => {
            println!("all are valid calls");
            Ok(())
        }
        false => Err(faults.join("\n").into()),
    }
}
