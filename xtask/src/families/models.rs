//! The check of patterns of model ids: each must match some id best, and no id may have two
//! families.

use std::{fs, path::Path};

use toolcall_parsers::family::{ModelId, ModelPattern};

use super::entry::Entry;

/// A pattern as its file has it, and the family.
type Of<'e> = (&'e str, &'e str);

/// The tables of ids: the project's own, with id, profile or `-`, and start; and ids that an engine
/// lists with the parser of their calls.
const TABLES: [&str; 2] = ["families/vectors/models.tsv", "families/vectors/engine_ids.tsv"];

pub(super) fn patterns(entries: &[Entry]) -> Vec<(ModelPattern, Of<'_>)> {
    let all = entries.iter().flat_map(|entry| {
        entry.head.models.iter().map(|pattern| (pattern.as_str(), entry.name.as_str()))
    });
    all.map(|of| (ModelPattern::new(of.0), of)).collect()
}

/// Calls `find` with the family, the field and the fault of each faulty pattern.
pub(super) fn check(entries: &[Entry], mut find: impl FnMut(&str, String, String)) {
    let patterns = patterns(entries);
    for (i, (pattern, (text, name))) in patterns.iter().enumerate() {
        if let Some((_, (_, first))) = patterns[..i].iter().find(|(other, _)| other == pattern) {
            find(name, "models".into(), format!("`{text}` is a pattern of `{first}`, too"));
            continue;
        }
        let tie = patterns[..i].iter().find(|(other, (_, of))| {
            of != name && other.literals() == pattern.literals() && other.meets(pattern)
        });
        if let Some((_, (other, of))) = tie {
            let problem = format!("some ids are of `{text}` and of `{other}` of `{of}`");
            find(name, "models".into(), problem);
        }
        if !examples(text).any(|id| winners(&id, &patterns).iter().any(|(_, of)| of == name)) {
            find(name, "models".into(), format!("`{text}` never counts: others are heavier"));
        }
    }
    for entry in entries {
        for (i, variant) in entry.variants.iter().enumerate() {
            for text in &variant.models {
                let own = |id: String| winners(&id, &patterns).iter().any(|of| of.1 == entry.name);
                if !examples(text).any(own) {
                    let problem = format!("`{text}` never counts: it is no id of this family");
                    find(&entry.name, format!("variant[{i}].models"), problem);
                }
            }
        }
    }
}

/// Returns ids that a pattern matches, with its stars empty and with text.
fn examples(pattern: &str) -> impl Iterator<Item = String> {
    ["", "1", "x", "x-1"].into_iter().map(|some| pattern.replace('*', some))
}

/// Returns the patterns that count for an id.
fn winners<'p, 'e>(id: &str, patterns: &'p [(ModelPattern, Of<'e>)]) -> Vec<&'p Of<'e>> {
    ModelId::new(id).find(patterns).map(|(_, heaviest)| heaviest).unwrap_or_default()
}

/// Returns a phrase for each table of ids, with the number of ids that have their profile.
///
/// # Errors
/// Returns the ids with another profile or with two, or an error if a table cannot be read.
pub(super) fn score(root: &Path, entries: &[Entry]) -> Result<String, String> {
    let scores = TABLES.map(|table| score_of(table, root, entries));
    let scores: Result<Vec<String>, String> = scores.into_iter().collect();
    scores.map(|scores| scores.join("\n"))
}

fn score_of(table: &str, root: &Path, entries: &[Entry]) -> Result<String, String> {
    let text = fs::read_to_string(root.join(table)).map_err(|error| format!("{table}: {error}"))?;
    let patterns = patterns(entries);
    let mut wrong = Vec::new();
    for line in text.lines() {
        let mut cells = line.split('\t');
        let (id, wanted) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let mut found: Vec<&str> = winners(id, &patterns).iter().map(|(_, name)| *name).collect();
        found.dedup();
        let found = if found.is_empty() { "-".to_owned() } else { found.join(" and ") };
        if found != wanted {
            wrong.push(format!("{table}: `{id}` is {found}, not {wanted}"));
        }
    }
    let all = text.lines().count();
    let right = all - wrong.len();
    let score = format!("{table}: {right} of {all} ids right, {} patterns", patterns.len());
    if wrong.is_empty() { Ok(score) } else { Err(format!("{}\n{score}", wrong.join("\n"))) }
}
