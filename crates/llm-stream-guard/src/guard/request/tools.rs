//! The tools a request declares.

use serde_json::Value;

use super::RequestError;

/// The tools of a request.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// Name and argument schema of each function that the model may call.
    pub(crate) functions: Vec<(String, Value)>,
    /// Other tools, unchanged.
    pub(crate) others: Vec<Value>,
}

impl Declared {
    pub(crate) fn read(body: &Value) -> Result<Self, RequestError> {
        let mut declared = Self::default();
        // Older requests have `functions` in place of `tools`.
        for key in ["tools", "functions"] {
            let entries = match body.get(key) {
                None | Some(Value::Null) => continue,
                Some(entries) => entries.as_array(),
            };
            let entries = entries.ok_or_else(|| RequestError::new(key, "a list of tools"))?;
            for (i, entry) in entries.iter().enumerate() {
                declared.add(entry, &format!("{key}[{i}]"))?;
            }
        }
        Ok(declared)
    }

    fn add(&mut self, entry: &Value, path: &str) -> Result<(), RequestError> {
        if !entry.is_object() {
            return Err(RequestError::new(path, "an object"));
        }
        if !is_function(entry) {
            self.others.push(entry.clone());
            return Ok(());
        }
        let Some(name) = name_of(entry) else {
            let inner = if entry.get("function").is_some() { ".function" } else { "" };
            return Err(RequestError::new(format!("{path}{inner}.name"), "a string"));
        };
        let function = entry.get("function").unwrap_or(entry);
        let schema = function.get("parameters").or_else(|| function.get("input_schema"));
        self.functions.push((name.to_owned(), schema.cloned().unwrap_or_default()));
        Ok(())
    }
}

/// Returns whether the declaration of a tool is one of a function.
pub(crate) fn is_function(entry: &Value) -> bool {
    match entry.get("type").and_then(Value::as_str) {
        None | Some("function") => true,
        // `custom` means a function in one API, and a tool without a schema in another.
        Some("custom") => entry.get("input_schema").is_some(),
        Some(_) => false,
    }
}

/// Returns the name of a tool, in its declaration or in a choice.
pub(crate) fn name_of(tool: &Value) -> Option<&str> {
    tool.get("function").unwrap_or(tool).get("name")?.as_str()
}
