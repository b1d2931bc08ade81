//! The names that engines use for families. Each name of an engine must mean one family.

use toolcall_parsers::{
    UnknownName,
    family::{FamilyError, FamilyFile},
    same_name,
};

use super::{
    entry::{Entry, Names},
    models,
};

/// An engine, its name and ours.
pub(super) type AliasRow<'e> = (&'e str, &'e str, &'e str);

/// The engines, and `other` for names of ours.
const ENGINES: [&str; 10] = [
    "vllm",
    "vllm_rust",
    "sglang",
    "dynamo",
    "smg",
    "lmdeploy",
    "mlx_lm",
    "llama.cpp",
    "ollama",
    "other",
];

/// Names under an engine that is unknown.
pub(super) fn check_engines(names: &Names, path: &str) -> Result<(), FamilyError> {
    match names.keys().find(|engine| !ENGINES.contains(&engine.as_str())) {
        None => Ok(()),
        Some(engine) => {
            let unknown = UnknownName::new("engine", engine, ENGINES.into_iter());
            Err(FamilyError::new(format!("{path}.{engine}"), unknown))
        }
    }
}

/// Returns the names that engines give the families with tool calls.
pub(super) fn of_calls(entries: &[Entry]) -> Vec<AliasRow<'_>> {
    rows(entries.iter().filter(|entry| entry.has_calls()).map(|it| (it, &it.head.names)))
}

/// Returns the names that engines give the reasoning formats.
pub(super) fn of_reasoning(entries: &[Entry]) -> Vec<AliasRow<'_>> {
    rows(entries.iter().map(|it| (it, &it.reasoning_names)))
}

fn rows<'e>(entries: impl Iterator<Item = (&'e Entry, &'e Names)>) -> Vec<AliasRow<'e>> {
    let all = entries.flat_map(|(entry, names)| {
        names.iter().flat_map(move |(engine, names)| {
            let engine = if engine == "other" { "" } else { engine.as_str() };
            names.iter().map(move |name| (engine, name.as_str(), entry.name.as_str()))
        })
    });
    let mut all: Vec<_> = all.collect();
    all.sort_unstable();
    all
}

/// Names of one engine for two families, and patterns of two.
pub(super) fn check(entries: &[Entry], files: &[FamilyFile]) -> Vec<FamilyError> {
    let mut errors = Vec::new();
    let mut find = |of: &str, field: String, problem: String| {
        let file = files.iter().find(|file| file.name() == of);
        let error = FamilyError::new(field, problem);
        errors.push(file.map_or(error.clone(), |file| file.error(error)));
    };
    for (prefix, mut rows) in [("", of_calls(entries)), ("reasoning.", of_reasoning(entries))] {
        rows.sort_by_key(|&(.., of)| of);
        for (i, &(engine, name, of)) in rows.iter().enumerate() {
            let same = |row: &&AliasRow<'_>| row.0 == engine && same_name(row.1, name);
            if let Some((.., first)) = rows.iter().take(i).find(same) {
                let engine = if engine.is_empty() { "other" } else { engine };
                let engine =
                    if engine.contains('.') { format!("{engine:?}") } else { engine.into() };
                let problem = format!("`{name}` is `{first}`, too");
                find(of, format!("{prefix}names.{engine}"), problem);
            }
        }
    }
    models::check(entries, find);
    errors
}
