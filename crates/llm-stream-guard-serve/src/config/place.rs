//! Reading TOML with faults that name line, column and field.

use std::path::Path;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::check::{BadValue, Checked};

/// Reads a file of TOML and checks its values.
pub(super) fn read<T: DeserializeOwned + Checked>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&text).map_err(|problem| format!("{}, {problem}", path.display()))
}

/// Reads TOML and checks its values.
pub(super) fn parse<T: DeserializeOwned + Checked>(text: &str) -> Result<T, String> {
    let fault = |field: &str, error: &toml::de::Error| {
        located(text, error.span().map(|span| span.start), field, error.message())
    };
    let toml = toml::Deserializer::parse(text).map_err(|error| fault("", &error))?;
    let read: T = serde_path_to_error::deserialize(toml)
        .map_err(|error| fault(&error.path().to_string(), error.inner()))?;
    read.check()
        .map_err(|bad| located(text, offset(text, &bad), &bad.path.join("."), &bad.expected))?;
    Ok(read)
}

/// Returns the offset of an invalid value's key, or of the nearest table around it.
fn offset(text: &str, bad: &BadValue) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut table = root.get_ref();
    let mut found = None;
    for name in &bad.path {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { break };
        found = Some(key.span().start);
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    found
}

fn located(text: &str, offset: Option<usize>, field: &str, message: &str) -> String {
    let before = offset.and_then(|offset| text.get(..offset));
    let place = before.map_or_else(Default::default, |before| {
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("line {line}, column {column}: ")
    });
    let field =
        if field.is_empty() || field == "." { String::new() } else { format!("`{field}`: ") };
    format!("{place}{field}{message}")
}
