//! Tools and results as text of a prompt, for models whose chat template writes neither.
//!
//! ```text
//! {"name": "tide", "parameters": {..}}  ->  You can call tools. ... <tool_call>...</tool_call> ...
//! "High at 5."                          ->  <tool_response>\nHigh at 5.\n</tool_response>
//! ```

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value};

use crate::{
    compiled::Grammar,
    encode::{EncodeCall, EncodeError, encode},
    family::DeclareAs,
    template::Hole,
    tools::{Tool, Tools, ToolsError},
};

/// The result of a call, for [`ToolResult::to_prompt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolResult<'r> {
    /// The name of the called tool, if it is known.
    pub name: Option<&'r str>,
    /// The id of the call, if it is known.
    pub id: Option<&'r str>,
    /// The text of the result.
    pub text: &'r str,
}

impl ToolResult<'_> {
    /// Returns the result as a prompt shows it to models of the family.
    ///
    /// ```
    /// use toolcall_parsers::{ToolResult, grammar};
    /// let result = ToolResult { name: Some("tide"), id: None, text: "High at 5." };
    /// let text = result.to_prompt(&grammar("hermes")?);
    /// assert_eq!(text, "<tool_response>\nHigh at 5.\n</tool_response>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_prompt(&self, grammar: &Grammar) -> String {
        grammar.family().prompt.result.filled(&|hole| match hole {
            Hole::Text => Some(self.text),
            Hole::Name => self.name,
            Hole::Id(_) => self.id,
            _ => None,
        })
    }
}

/// The error of [`declare_tools`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeclareError {
    /// The value is not a list of tools.
    Tools(ToolsError),
    /// The family cannot write a call of the first tool.
    Example(EncodeError),
}

impl core::fmt::Display for DeclareError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Tools(error) => error.fmt(f),
            Self::Example(error) => write!(f, "no example of a call can be written: {error}"),
        }
    }
}

impl core::error::Error for DeclareError {}

/// Returns the text for a system prompt that declares `tools`, a list as in [`Tools::from_json`],
/// and shows how the family calls them. An empty list gives an empty text.
///
/// The example in the text is a call of the first tool, written by [`encode`].
///
/// ```
/// use serde_json::json;
/// use toolcall_parsers::{declare_tools, grammar};
/// let schema = json!({"properties": {"port": {"type": "string"}}});
/// let text = declare_tools(&grammar("hermes")?, &json!([{"name": "tide", "parameters": schema}]))?;
/// assert!(text.contains(r#"{"name": "tide", "parameters": {"properties":{"port":{"type":"string"}}}}"#));
/// assert!(text.contains(r#"{"name": "tide", "arguments": {"port": "text"}}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The value is not a list of tools, or the family cannot write a call of the first one.
pub fn declare_tools(grammar: &Grammar, tools: &Value) -> Result<String, DeclareError> {
    let list = Tools::from_json(tools).map_err(DeclareError::Tools)?;
    let Some(first) = list.iter().next() else { return Ok(String::new()) };
    let sample = Value::Object(sample_arguments(&first.parameters)).to_string();
    let call = |arguments| encode(grammar, &[EncodeCall::new(&first.name, arguments)], &list);
    // A family may have no place for arguments of such a type.
    let call = call(&sample).or_else(|error| call("{}").map_err(|_| error));
    let call = call.map_err(DeclareError::Example)?;
    let prompt = &grammar.family().prompt;
    let entries = tools.as_array().into_iter().flatten();
    let declared = list.iter().zip(entries).map(|(tool, entry)| {
        let description = entry.get("function").unwrap_or(entry).get("description");
        match prompt.declare {
            DeclareAs::Json => as_json(tool, description),
            DeclareAs::Xml => as_xml(tool, description),
        }
    });
    let declared = declared.collect::<Vec<_>>().join("\n");
    Ok(prompt.tools.filled(&|hole| match hole {
        Hole::Text => Some(&declared),
        Hole::Name => Some(&first.name),
        Hole::Call => Some(&call),
        _ => None,
    }))
}

/// Returns a declaration as a line of JSON, whose members have a fixed order.
fn as_json(tool: &Tool, description: Option<&Value>) -> String {
    let mut json = format!("{{\"name\": {}", Value::from(tool.name.as_str()));
    for (key, value) in [("description", description), ("parameters", Some(&tool.parameters))] {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            json += &format!(", \"{key}\": {value}");
        }
    }
    json + "}"
}

/// Returns a declaration as an XML element. A schema with more than properties is one element,
/// because its parts may refer to each other.
fn as_xml(tool: &Tool, description: Option<&Value>) -> String {
    let mut xml = format!("<tool name={}>", quoted(&tool.name));
    if let Some(text) = description.and_then(Value::as_str) {
        xml += &format!("\n<description>{text}</description>");
    }
    let is_plain = |key: &String| {
        let plain = ["type", "properties", "required", "additionalProperties", "$schema", "title"];
        plain.contains(&key.as_str())
    };
    match tool.parameters.as_object() {
        Some(schema) if schema.keys().all(is_plain) => {
            let required = required(schema);
            for (key, value) in properties(schema) {
                let flag = if required.contains(&key.as_str()) { " required=\"true\"" } else { "" };
                xml += &format!("\n<parameter name={}{flag}>{value}</parameter>", quoted(key));
            }
        }
        Some(schema) => xml += &format!("\n<schema>{}</schema>", Value::from(schema.clone())),
        None => {}
    }
    xml + "\n</tool>"
}

/// Returns a text as the value of an XML attribute.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "&quot;"))
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn required(schema: &Map<String, Value>) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Returns arguments for an example: those that are required, or all if none is.
fn sample_arguments(schema: &Value) -> Map<String, Value> {
    let Some(schema) = schema.as_object() else { return Map::new() };
    let required = required(schema);
    let is_shown = |key: &str| required.is_empty() || required.contains(&key);
    let shown = properties(schema).filter(|(key, _)| is_shown(key));
    shown.map(|(key, value)| (key.to_owned(), sample(value))).collect()
}

/// Returns a value that a schema admits, as far as its own type and listed values say.
fn sample(schema: &Value) -> Value {
    let listed = schema.pointer("/enum/0").or_else(|| schema.get("const"));
    if let Some(listed) = listed {
        return listed.clone();
    }
    let kind = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind));
    match kind.and_then(Value::as_str) {
        Some("integer") => 1.into(),
        Some("number") => 1.5.into(),
        Some("boolean") => true.into(),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => Map::new().into(),
        Some("null") => Value::Null,
        _ => "text".to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ToolResult, declare_tools};
    use crate::{End, Parser, grammar, parse, registry::families, tools::Tools};

    #[test]
    fn example_of_every_family_reads_back_as_a_call() {
        let schema = json!({"type": "object", "required": ["port"], "properties": {
            "port": {"type": "string"}, "day": {"type": "integer"},
        }});
        let tools =
            json!([{"type": "function", "function": {"name": "tide", "parameters": schema}}]);
        let mut declared = 0;
        for family in families() {
            let grammar = grammar(family.name).unwrap();
            let Ok(text) = declare_tools(&grammar, &tools) else { continue };
            declared += 1;
            let example = text.split("This calls `tide`:\n").nth(1);
            let example = example.and_then(|rest| rest.rsplit_once("\nWrite your message"));
            let Some((example, _)) = example else { panic!("{}: {text}", family.name) };
            let parser = Parser::builder(grammar).tools(Tools::from_json(&tools).unwrap());
            let message = parse(&parser.build().unwrap(), example, End::Stop).unwrap();
            let call = message.calls.first().unwrap_or_else(|| panic!("{}: {text}", family.name));
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            let expected = ("tide", json!({"port": "text"}));
            assert_eq!((&*call.name, arguments), expected, "{}", family.name);
        }
        assert!(declared > 60, "{declared}");
    }

    #[test]
    fn tools_are_xml_elements_where_the_family_says_so() {
        let tools = json!([
            {"name": "tide", "description": "Tide at a port", "parameters": {
                "type": "object", "required": ["port"],
                "properties": {"port": {"type": "string"}, "day": {"type": "integer"}},
            }},
            {"name": "quote\"d", "parameters": {"$defs": {}}},
            {"name": "ping"},
        ]);
        let text = declare_tools(&grammar("xml_calls").unwrap(), &tools).unwrap();
        for wanted in [
            "<tools>\n<tool name=\"tide\">\n<description>Tide at a port</description>\n",
            "\n<parameter name=\"port\" required=\"true\">{\"type\":\"string\"}</parameter>\n",
            "\n<parameter name=\"day\">{\"type\":\"integer\"}</parameter>\n",
            "\n</tool>\n<tool name=\"quote&quot;d\">\n<schema>{\"$defs\":{}}</schema>\n</tool>\n",
            "\n<tool name=\"ping\">\n</tool>\n</tools>",
            "`tide`:\n<call name=\"tide\">\n<parameter name=\"port\">text</parameter>\n</call>\n",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }

    #[test]
    fn no_tools_give_no_text_and_results_are_shown_between_tags() {
        let hermes = grammar("hermes").unwrap();
        assert_eq!(declare_tools(&hermes, &json!([])).as_deref(), Ok(""));
        assert!(declare_tools(&hermes, &json!({})).is_err());
        assert!(declare_tools(&hermes, &json!([{"type": "function"}])).is_err());
        let result = ToolResult { name: None, id: None, text: "5" };
        assert_eq!(result.to_prompt(&hermes), "<tool_response>\n5\n</tool_response>");
    }
}
