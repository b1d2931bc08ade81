//! The members of call objects.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    DeriveError,
    align::{Aligned, Style, align},
    samples::SampleCall,
    templates::quoted,
};

/// The table `keys` of a family's file.
pub(super) struct KeysFound {
    /// The table, written in TOML.
    pub(super) table: String,
    /// Whether the object has the index of the call as its id.
    pub(super) counted: bool,
}

/// Returns the table `keys` of the object in the wire of one call.
///
/// # Errors
/// The object has members that the language cannot write.
pub(super) fn keys(
    body: &str,
    calls: &[SampleCall],
    two: Option<Aligned>,
    python: bool,
) -> Result<KeysFound, DeriveError> {
    let style = if python { Style::PythonObject } else { Style::Object };
    let lost = || DeriveError::new("its objects cannot be read");
    let call = calls.first().ok_or_else(lost)?;
    let aligned = align(body, calls, style).ok_or_else(lost)?;
    let at = aligned.literals.first().map_or(0, String::len);
    let end = body.len() - aligned.literals.last().map_or(0, String::len);
    let text = body.get(at..end).unwrap_or_default();
    // The samples have no quotes, so that Python's notation differs by its quotes only.
    let json = if python { text.replace('\'', "\"") } else { text.to_owned() };
    let object: Value = serde_json::from_str(&json)
        .map_err(|error| DeriveError::new(format!("its object is not JSON: {error}")))?;
    let mut members = object.as_object().cloned().unwrap_or_default();
    if members.contains_key(call.name) && members.len() == 1 {
        return Ok(KeysFound { table: "'name_is_key'".to_owned(), counted: false });
    }
    let mut table = String::new();
    let (mut order, mut counted) = (Vec::new(), false);
    // An object inside an object.
    let inside = members.iter().find_map(|(key, value)| {
        let object = value.as_object()?;
        let named = object.values().any(|value| value.as_str() == Some(call.name));
        named.then(|| (key.clone(), object.clone()))
    });
    if let Some((wrapper, inner)) = inside {
        let _ = write!(table, "wrapper = [{}], ", quoted(&wrapper));
        members.remove(&wrapper);
        members.extend(inner);
    }
    for (key, value) in &members {
        let role = match value {
            Value::String(text) if text == call.name => "name",
            Value::String(text) if *text == call.id => "id",
            Value::Object(_) => "arguments",
            Value::String(text) if text.contains("zkeyaz") => "arguments",
            Value::String(text) if text == "0" && two.is_some() => {
                counted = true;
                "id"
            }
            _ => {
                let why =
                    format!("its objects have a member `{key}`, which the language cannot write");
                return Err(DeriveError::new(why).with([body, &call.arguments]));
            }
        };
        order.push(role);
        let _ = write!(table, "{role} = [{}], ", quoted(key));
    }
    let missing = ["name", "arguments", "id"].into_iter().filter(|role| !order.contains(role));
    let missing: Vec<&str> = missing.collect();
    order.extend(missing);
    let order: Vec<_> = order.iter().map(|role| format!("\"{role}\"")).collect();
    Ok(KeysFound { table: format!("{{ {table}order = [{}] }}", order.join(", ")), counted })
}
