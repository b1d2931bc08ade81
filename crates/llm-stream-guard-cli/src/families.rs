//! `families`: lists the registered names as a table or as JSON.

mod grammar;
mod models;

use std::io::{self, Write};

use family_export::response_template;
use llm_stream_guard::{
    Guard, InReasoning, Profile, Reasoning, jail_match::same_name, profiles, reasoning_aliases,
    reasoning_formats, think_filter::Text,
};
use serde_json::{Value, json};
use toolcall_parsers::{aliases, grammars};

use crate::{
    args::FamiliesArgs,
    error::{Error, misuse},
    lookup,
};

/// Writes the registered names to `out`, or the requested family, template or grammar.
///
/// # Errors
/// The output cannot be written, a requested family is not registered, or ids cannot be read.
pub(crate) fn families(args: &FamiliesArgs, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(language) = args.grammar.grammar {
        grammar::write(&args.grammar, language, out)?;
    } else if let Some(name) = &args.export {
        write_exported(name, args.anchor.as_deref(), out)?;
    } else if let Some(name) = &args.show {
        models::show(name, out)?;
    } else if !args.resolve.is_empty() {
        models::resolve(args, io::stdin().lock(), out)?;
    } else if args.json {
        writeln!(out, "{:#}", as_json())?;
    } else {
        out.write_all(as_text().as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

/// The beginning of the assistant's turn in ChatML, the commonest form of prompts.
const CHATML: &str = "<|im_start|>assistant\n";

fn write_exported(name: &str, anchor: Option<&str>, out: &mut dyn Write) -> Result<(), Error> {
    let fault = |error: String| misuse(format!("--export {name}: {error}"));
    let profile = lookup::family(name).map_err(|error| fault(error.to_string()))?;
    let exported = response_template(&profile, anchor.unwrap_or(CHATML))
        .map_err(|error| fault(error.to_string()))?;
    writeln!(out, "{:#}", json!({"response_template": exported.template}))?;
    if anchor.is_none() {
        let note = "`start_anchor` is ChatML's; if the model's prompts begin the assistant's turn in \
                    another way, give that text with --anchor";
        // There is no other place to report a failure of standard error.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    for what in exported.lost {
        // A failure of standard error cannot be reported anywhere.
        let _ = writeln!(io::stderr(), "note: not in the template: {what}");
    }
    Ok(())
}

/// Returns whether some part of the profile requires that the server keeps special tokens.
fn needs_special_tokens(profile: &Profile) -> bool {
    Guard::builder(profile).build().map_or(profile.needs_special_tokens, |guard| {
        profile.needs_special_tokens || guard.needs_special_tokens()
    })
}

/// Returns the family's other names, sorted. Names in other projects are included.
fn aliases_of(family: &str) -> Vec<&'static str> {
    let others = aliases().filter(|alias| alias.of == family && !same_name(alias.name, family));
    let mut names: Vec<_> = others.map(|alias| alias.name).collect();
    names.sort_unstable();
    names.dedup_by(|a, b| same_name(a, b));
    names
}

/// Returns engines' names for the family's parser, as `engine:name`.
fn names_in_engines(family: &str) -> Vec<String> {
    let names = aliases().filter(|alias| alias.of == family && !alias.engine.is_empty());
    names.map(|alias| alias.to_string()).collect()
}

/// Returns engines' names for a reasoning format, if they differ from its name.
fn names_of(format: &str) -> Vec<String> {
    let others = reasoning_aliases().filter(|row| row.of == format && row.name != format);
    others.map(|row| row.to_string()).collect()
}

/// Returns the openers and closers of a reasoning format, and whether the server must keep special
/// tokens. Families that write in messages have headers in place of markers.
fn markers(reasoning: &Reasoning) -> (&[Text], &[Text], bool) {
    match reasoning {
        Reasoning::Format(format) => (&format.open, &format.close, format.special_tokens),
        Reasoning::Channels(family) => (&[], &[], family.family().special_tokens),
        _ => (&[], &[], false),
    }
}

fn as_json() -> Value {
    let tools: Vec<Value> = grammars()
        .map(|grammar| {
            json!({
                "name": grammar.name(), "aliases": aliases_of(grammar.name()),
                "about": grammar.family().about,
                "needs_special_tokens": grammar.family().special_tokens,
                "engines": names_in_engines(grammar.name()),
            })
        })
        .collect();
    let reasoning: Vec<Value> = reasoning_formats()
        .iter()
        .map(|format| {
            let (open, close, special) = markers(format);
            json!({
                "name": format.name(), "aliases": names_of(format.name()), "open": open,
                "close": close, "needs_special_tokens": special,
            })
        })
        .collect();
    let profiles: Vec<Value> = profiles()
        .into_iter()
        .map(|profile| {
            let special = needs_special_tokens(&profile);
            let mut object = serde_json::to_value(profile).unwrap_or_default();
            object["needs_special_tokens"] = special.into();
            object
        })
        .collect();
    json!({"tools": tools, "reasoning": reasoning, "profiles": profiles})
}

fn as_text() -> String {
    let mut text = String::new();
    let mut tools = vec![row(["tool-call family", "special tokens", "aliases", "models"])];
    tools.extend(grammars().map(|grammar| {
        let aliases = aliases_of(grammar.name()).join(", ");
        let family = grammar.family();
        row([grammar.name(), yes(family.special_tokens), &aliases, &family.about])
    }));
    add_table(&mut text, &tools);
    let mut formats =
        vec![row(["reasoning format", "special tokens", "opener", "closer", "engine:alias"])];
    formats.extend(reasoning_formats().iter().map(|format| {
        let (open, close, special) = markers(format);
        let names = names_of(format.name()).join(" ");
        row([format.name(), yes(special), &open.join(" | "), &close.join(" | "), &names])
    }));
    add_table(&mut text, &formats);
    let mut table = vec![row([
        "profile",
        "tools",
        "reasoning",
        "tool in reasoning",
        "special tokens",
        "whitespace",
        "aliases",
        "models",
    ])];
    table.extend(profiles().iter().map(|profile| {
        row([
            &profile.name,
            profile.tools.as_deref().unwrap_or("-"),
            profile.reasoning.as_deref().unwrap_or("-"),
            match profile.tool_in_reasoning {
                InReasoning::Literal => "literal",
                InReasoning::Suspend => "suspend",
                InReasoning::End => "end",
            },
            yes(needs_special_tokens(profile)),
            &profile.whitespace.to_string(),
            &profile.aliases.join(", "),
            &profile.models.join(", "),
        ])
    }));
    add_table(&mut text, &table);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn yes(truth: bool) -> &'static str {
    if truth { "needed" } else { "-" }
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(|cell| if cell.is_empty() { "-".to_owned() } else { cell.to_owned() }).to_vec()
}

/// Appends `rows` in columns, two spaces apart, and a blank line.
fn add_table(text: &mut String, rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            line.push_str(cell);
            let fill = width(column) + 2 - cell.chars().count();
            line.extend(std::iter::repeat_n(' ', fill));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
}
