//! `families --resolve` and `--show`: the family of a model, and the content of its file.

use std::io::{BufRead, Write};

use llm_stream_guard::{ModelMatch, UnknownModel, profile, resolve_model};
use serde_json::{Value, json};

use crate::{
    args::FamiliesArgs,
    error::{Error, misuse},
    lookup,
};
use llm_stream_guard::family_file;

/// Writes each id with its profile. A `-` among the ids is replaced by the lines of `input`.
///
/// # Errors
/// The input cannot be read, or the output cannot be written.
pub(super) fn resolve(
    args: &FamiliesArgs,
    input: impl BufRead,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut lines = input.lines();
    for id in &args.resolve {
        if id != "-" {
            write_match(args, id, out)?;
            continue;
        }
        for line in lines.by_ref() {
            let id = line.map_err(|error| misuse(format!("standard input: {error}")))?;
            write_match(args, &id, out)?;
        }
    }
    Ok(())
}

fn write_match(args: &FamiliesArgs, id: &str, out: &mut dyn Write) -> Result<(), Error> {
    let found = resolve_model(id);
    if args.json {
        writeln!(out, "{}", as_json(id, found.as_ref()))?;
    } else {
        writeln!(out, "{id}\t{}", found.as_ref().map_or("-", |found| &found.profile.name))?;
    }
    Ok(())
}

fn as_json(id: &str, found: Result<&ModelMatch, &UnknownModel>) -> Value {
    match found {
        Ok(found) => json!({
            "id": id, "profile": found.profile.name, "pattern": found.pattern,
            "variant": found.variant_pattern, "start": found.profile.start,
            "switch": found.profile.switch,
        }),
        Err(error) => json!({"id": id, "profile": null, "nearest": error.nearest()}),
    }
}

/// Writes the family with this name or alias as JSON that `parse --grammar FILE.json` reads.
///
/// # Errors
/// No family has that name, or the output cannot be written.
pub(super) fn show(name: &str, out: &mut dyn Write) -> Result<(), Error> {
    let meant = lookup::family(name).map_err(|error| misuse(format!("--show: {error}")))?;
    // An engine's name is one for calls or for reasoning.
    let own = profile(&meant.name).map(|profile| profile.name).ok();
    let of_calls = meant.tools.as_deref().and_then(|name| toolcall_parsers::family(name).ok());
    let of_calls = of_calls.map(|family| family.name.clone());
    let of_reasoning = || {
        let format = llm_stream_guard::reasoning(meant.reasoning.as_deref()?).ok()?;
        Some(format.name().to_owned())
    };
    let found = own.or(of_calls).or_else(of_reasoning).unwrap_or_default();
    let file =
        family_file(&found).ok_or_else(|| misuse(format!("--show: `{name}` has no file")))?;
    writeln!(out, "{file:#}")?;
    Ok(())
}
