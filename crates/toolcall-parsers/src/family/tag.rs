//! Families of which only the tag before the first call is known.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Value, json};

use super::{Family, FamilyError};

impl Family {
    /// Returns the family `ollama_generic` for a tag. The tag is the text that the model's chat
    /// template writes before its first call, up to a brace. An empty tag means `{`.
    ///
    /// Names must be declared ([`crate::Tools`]). After the tag, a call may be
    ///
    /// - a JSON object or a list of them, with keys for name and arguments, or with the name as the
    ///   key,
    /// - text with a declared name, followed by a JSON object with the arguments.
    ///
    /// Closing brackets after a call are markup, and so is the closing form of the tag. With the
    /// tags `{` and `[` calls have no marker, and are read only before all visible text.
    ///
    /// # Errors
    /// The tag cannot be written in a template.
    pub fn from_tag(tag: &str) -> Result<Self, FamilyError> {
        let tag = tag.trim();
        let end = closing(tag);
        let text = escaped(tag);
        let (marked, ends): (bool, Vec<String>) = match tag {
            "" | "{" | "[" => (false, Vec::new()),
            _ => (true, end.iter().map(|end| escaped(end)).collect()),
        };
        let block = |call: &str| match (tag, ends.first()) {
            ("[", _) => json!({"section": "[{calls:, }]", "call": call}),
            (_, Some(end)) => {
                json!({"call": [format!("{text}{call}{end}"), format!("{text}{call}")]})
            }
            _ if marked => json!({"call": format!("{text}{call}")}),
            _ => json!({ "call": call }),
        };
        let form = |call: &str, keys: Value| {
            let mut form = block(call);
            form["commit_on"] = "declared_name".into();
            form["keys"] = keys;
            if !marked {
                form["at"] = "lead".into();
            }
            form
        };
        let keys = json!({"wrapper": ["function"], "list": ["tool_calls"]});
        // Objects with the name as the key are tried first.
        let mut calls = Vec::from([form("{object}", json!("name_is_key")), form("{object}", keys)]);
        let mut erase = Vec::new();
        if marked {
            let mut loose = form("{name:declared}{arguments}", Value::Null);
            if let Some(map) = loose.as_object_mut() {
                map.remove("keys");
            }
            calls.push(loose);
            let brackets = [")", "]", "}"].map(ToString::to_string);
            let texts = brackets.into_iter().chain(end);
            erase.extend(texts.map(|text| json!({"text": text, "at": "after_call"})));
        }
        Self::from_value(&json!({
            "name": "ollama_generic",
            "about": "any model whose chat template begins with a tag",
            "calls": calls,
            "erase": erase,
            "write": {"form": 2},
        }))
    }
}

/// Returns the closing form of a tag: `</x>` for `<x>`, `[/x]` for `[x]`.
fn closing(tag: &str) -> Option<String> {
    let (open, close) = [("<", ">"), ("[", "]")]
        .into_iter()
        .find(|(open, close)| tag.len() > 2 && tag.starts_with(open) && tag.ends_with(close))?;
    let name = &tag[1..tag.len() - 1];
    let word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    word.then(|| format!("{open}/{name}{close}"))
}

/// Returns `text` with the escapes of a template's literal.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('{', "{{").replace('}', "}}")
}
