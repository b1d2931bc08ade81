//! The form that a request sets for its answer, in the spelling of each server.
//!
//! ```text
//! {"response_format": {"type": "json_schema", "json_schema": {"schema": {..}}}}   all servers
//! {"structured_outputs": {"choice": ["yes", "no"]}}, {"guided_regex": "a+"}        vLLM
//! {"ebnf": "root ::= .."}, {"regex": "a+"}                                         SGLang
//! {"grammar": "root ::= .."}, {"json_schema": {..}}                                llama.cpp
//! ```

use serde_json::{Value, json};

use crate::ExportError;

/// Fields by which a request itself sets the form of its answer.
pub const OWN_FORMAT: [&str; 11] = [
    "ebnf",
    "grammar",
    "guided_choice",
    "guided_grammar",
    "guided_json",
    "guided_regex",
    "json_schema",
    "regex",
    "response_format",
    "structural_tag",
    "structured_outputs",
];

/// The form that a request sets for its answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AnswerFormat {
    /// JSON that follows this schema.
    Json(Value),
    /// One of several texts, chosen by the model.
    Choice(Vec<String>),
    /// A text that a regular expression matches as a whole.
    Regex(String),
    /// A text of a grammar in GBNF, whose first rule is `root`.
    Grammar(String),
    /// A format of XGrammar's structural tags.
    Tag(Value),
}

/// Returns whether a request sets the form of its answer. The form `text` admits any answer.
#[must_use]
pub fn sets_format(body: &Value) -> bool {
    OWN_FORMAT.iter().any(|name| body.get(name).is_some_and(|value| is_format(name, value)))
}

fn is_format(name: &str, value: &Value) -> bool {
    let is_text = name == "response_format" && value["type"] == "text";
    !value.is_null() && !is_text
}

impl AnswerFormat {
    /// Returns the form that a request sets. Call it if [`sets_format`] holds.
    ///
    /// # Errors
    /// The request sets several forms, or one that is malformed or unknown.
    pub(crate) fn read(body: &Value) -> Result<Self, ExportError> {
        let mut all = Vec::new();
        for name in OWN_FORMAT {
            let Some(value) = body.get(name).filter(|value| is_format(name, value)) else {
                continue;
            };
            let read = match name {
                "response_format" => response_format(value),
                "structured_outputs" => structured_outputs(value, &mut all),
                name => Self::field(name.trim_start_matches("guided_"), value),
            };
            all.extend(read.map_err(|what| ExportError::new(format!("`{name}` {what}")))?);
        }
        match <[Self; 1]>::try_from(all) {
            Ok([only]) => Ok(only),
            Err(_) => Err(ExportError::new("the request does not set exactly one form")),
        }
    }

    /// Reads one field of vLLM, SGLang or llama.cpp.
    fn field(name: &str, value: &Value) -> Result<Option<Self>, &'static str> {
        let text = || value.as_str().map(str::to_owned).ok_or("is not a text");
        match name {
            "json" | "json_schema" => schema(value).map(|schema| Some(Self::Json(schema))),
            "json_object" => Ok((*value == json!(true)).then(any_object)),
            "regex" => Ok(Some(Self::Regex(text()?))),
            "choice" => {
                let texts = value.as_array().into_iter().flatten();
                let texts: Option<Vec<_>> =
                    texts.map(|it| it.as_str().map(str::to_owned)).collect();
                let texts = texts.filter(|texts| !texts.is_empty());
                texts.map(|texts| Some(Self::Choice(texts))).ok_or("is not a list of texts")
            }
            "grammar" | "ebnf" => {
                let text = text()?;
                // Without the sign of EBNF, vLLM reads the text as Lark.
                match text.contains("::=") {
                    true => Ok(Some(Self::Grammar(text))),
                    false => Err("is not in GBNF"),
                }
            }
            "structural_tag" => {
                let read = value.as_str().and_then(|text| serde_json::from_str(text).ok());
                tag(&read.unwrap_or_else(|| value.clone()))
            }
            _ => Err("is unknown"),
        }
    }
}

/// Reads the form of OpenAI's API, and llama.cpp's schema beside `json_object`.
fn response_format(format: &Value) -> Result<Option<AnswerFormat>, &'static str> {
    match format["type"].as_str() {
        Some("json_object") => match format.get("schema") {
            None | Some(Value::Null) => Ok(Some(any_object())),
            Some(value) => schema(value).map(|schema| Some(AnswerFormat::Json(schema))),
        },
        Some("json_schema") => {
            let value = format.pointer("/json_schema/schema").or_else(|| format.get("schema"));
            let value = value.ok_or("has no schema")?;
            schema(value).map(|schema| Some(AnswerFormat::Json(schema)))
        }
        Some("structural_tag") => tag(format),
        _ => Err("has an unknown type"),
    }
}

/// Settings of vLLM that a structural tag cannot express.
const SETTINGS: [&str; 3] =
    ["disable_additional_properties", "disable_any_whitespace", "whitespace_pattern"];

/// Reads vLLM's object of alternatives.
fn structured_outputs(
    outputs: &Value,
    all: &mut Vec<AnswerFormat>,
) -> Result<Option<AnswerFormat>, &'static str> {
    let is_set = |name: &&str| {
        outputs.get(name).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    };
    if SETTINGS.iter().any(is_set) {
        return Err("has settings of its own");
    }
    for name in ["json", "json_object", "regex", "choice", "grammar", "structural_tag"] {
        if let Some(value) = outputs.get(name).filter(|value| !value.is_null()) {
            all.extend(AnswerFormat::field(name, value)?);
        }
    }
    Ok(None)
}

fn any_object() -> AnswerFormat {
    AnswerFormat::Json(json!({"type": "object"}))
}

/// Returns a schema, which some clients write as text.
fn schema(value: &Value) -> Result<Value, &'static str> {
    let read = value.as_str().map(serde_json::from_str::<Value>);
    let schema = match read {
        Some(read) => read.map_err(|_| "is not JSON")?,
        None => value.clone(),
    };
    match schema.is_object() {
        true => Ok(schema),
        false => Err("is not a schema"),
    }
}

/// Returns the format of a structural tag. The earlier form, with triggers, admits other text.
fn tag(tag: &Value) -> Result<Option<AnswerFormat>, &'static str> {
    let format = tag.get("format").filter(|format| format.is_object());
    format.map(|format| Some(AnswerFormat::Tag(format.clone()))).ok_or("has no format")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{AnswerFormat, sets_format};

    #[test]
    fn formats_are_read_in_the_spelling_of_each_server() {
        let schema = json!({"type": "array"});
        let is_json = |body: Value, expected: &Value| {
            assert!(sets_format(&body), "{body}");
            assert_eq!(AnswerFormat::read(&body), Ok(AnswerFormat::Json(expected.clone())));
        };
        let object = json!({"type": "object"});
        is_json(json!({"response_format": {"type": "json_object"}}), &object);
        let inner = json!({"schema": schema});
        is_json(json!({"response_format": {"type": "json_schema", "json_schema": inner}}), &schema);
        is_json(json!({"response_format": {"type": "json_object", "schema": schema}}), &schema);
        is_json(json!({"guided_json": schema.to_string()}), &schema);
        is_json(json!({"json_schema": schema}), &schema);
        is_json(json!({"structured_outputs": {"json": schema, "regex": null}}), &schema);
        is_json(json!({"structured_outputs": {"json_object": true}}), &object);
        let read = |body: Value| AnswerFormat::read(&body);
        let regex = Ok(AnswerFormat::Regex("a+".into()));
        for body in [
            json!({"regex": "a+"}),
            json!({"guided_regex": "a+"}),
            json!({"structured_outputs": {"regex": "a+"}}),
        ] {
            assert_eq!(read(body), regex);
        }
        let grammar = Ok(AnswerFormat::Grammar("root ::= \"a\"".into()));
        for name in ["grammar", "ebnf", "guided_grammar"] {
            assert_eq!(read(json!({name: "root ::= \"a\""})), grammar);
        }
        let choice = Ok(AnswerFormat::Choice(vec!["a".into(), "b".into()]));
        assert_eq!(read(json!({"guided_choice": ["a", "b"]})), choice);
    }

    #[test]
    fn malformed_unknown_and_several_formats_are_refused() {
        for (body, reason) in [
            (json!({"grammar": "start: \"a\""}), "`grammar` is not in GBNF"),
            (json!({"response_format": {"type": "x"}}), "`response_format` has an unknown type"),
            (json!({"structural_tag": "{\"triggers\": []}"}), "`structural_tag` has no format"),
            (json!({"guided_choice": []}), "`guided_choice` is not a list of texts"),
            (json!({"regex": "a", "ebnf": "root ::= \"a\""}), "the request does not set"),
            (
                json!({"structured_outputs": {"regex": "a", "whitespace_pattern": " "}}),
                "`structured_outputs` has settings of its own",
            ),
            (json!({"guided_json": 1}), "`guided_json` is not a schema"),
        ] {
            let error = AnswerFormat::read(&body).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
        assert!(!sets_format(&json!({"response_format": {"type": "text"}, "grammar": null})));
    }
}
