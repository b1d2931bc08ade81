//! Requests that demand a call: which, and the JSON that holds servers to it.

use serde_json::{Map, Value, json};

/// A demand for a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forced {
    /// Tools of which one must be called: names, and what their arguments may be.
    tools: Vec<(String, Value)>,
    /// The request names one tool: the answer is its arguments alone.
    named: bool,
    parallel: bool,
}

impl Forced {
    /// Returns the demand of a chat completion for a call, if it has one.
    pub(crate) fn of(body: &Value) -> Option<Self> {
        let choice = body.get("tool_choice")?;
        let kind = choice.as_str().or_else(|| choice.get("type")?.as_str())?;
        let mut tools = declared(body);
        let named = match kind {
            "required" | "any" => false,
            "function" | "tool" => {
                let wanted = name(choice)?;
                tools.retain(|(known, _)| known == wanted);
                true
            }
            "allowed_tools" => {
                let allowed = choice.get("allowed_tools").unwrap_or(choice);
                if allowed.get("mode")?.as_str()? != "required" {
                    return None;
                }
                let names: Vec<&str> =
                    allowed.get("tools")?.as_array()?.iter().filter_map(name).collect();
                tools.retain(|(known, _)| names.contains(&known.as_str()));
                false
            }
            _ => return None,
        };
        let parallel = body.get("parallel_tool_calls") != Some(&Value::Bool(false));
        Some(Self { tools, named, parallel })
    }

    /// The schema of an answer that gives what is demanded; `None` if no tool is declared that could.
    pub(crate) fn schema(&self) -> Option<Value> {
        if self.named {
            return self.tools.first().map(|(_, parameters)| parameters.clone());
        }
        let mut shared = Map::new();
        let call = |(name, parameters): &(String, Value)| {
            let mut parameters = parameters.clone();
            // References are looked for at the root.
            if let Some(Value::Object(own)) =
                parameters.as_object_mut().and_then(|it| it.shift_remove("$defs"))
            {
                shared.extend(own);
            }
            json!({
                "type": "object",
                "properties": {"name": {"enum": [name]}, "parameters": parameters},
                "required": ["name", "parameters"],
            })
        };
        let calls: Vec<Value> = self.tools.iter().map(call).collect();
        if calls.is_empty() {
            return None;
        }
        let mut schema = Map::new();
        schema.insert("type".into(), "array".into());
        schema.insert("minItems".into(), 1.into());
        if !self.parallel {
            schema.insert("maxItems".into(), 1.into());
        }
        schema.insert("items".into(), json!({"anyOf": calls}));
        if !shared.is_empty() {
            schema.insert("$defs".into(), shared.into());
        }
        Some(schema.into())
    }
}

/// The functions that a request declares.
fn declared(body: &Value) -> Vec<(String, Value)> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let function = |tool: &Value| {
        let function = tool.get("function")?;
        let parameters = function.get("parameters").filter(|it| it.is_object()).cloned();
        let name = function.get("name")?.as_str()?.to_owned();
        Some((name, parameters.unwrap_or_else(|| json!({"type": "object"}))))
    };
    tools.filter_map(function).collect()
}

fn name(choice: &Value) -> Option<&str> {
    choice.get("function").unwrap_or(choice).get("name")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Forced;

    fn schema(choice: Value, more: Value) -> Option<Value> {
        let tool = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
        let with = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}});
        let mut body =
            json!({"tools": [tool("f", with), tool("g", Value::Null)], "tool_choice": choice});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Forced::of(&body)?.schema()
    }

    #[test]
    fn one_of_several_calls_is_a_list_of_them() {
        let all = schema(json!("required"), json!({})).unwrap();
        assert_eq!(all["items"]["anyOf"].as_array().unwrap().len(), 2);
        assert_eq!(all["$defs"]["A"]["type"], "string");
        assert_eq!(all["items"]["anyOf"][1]["properties"]["parameters"], json!({"type": "object"}));
        assert!(all.get("maxItems").is_none());
        let one = schema(json!({"type": "any"}), json!({"parallel_tool_calls": false})).unwrap();
        assert_eq!(one["maxItems"], 1);
        let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required",
            "tools": [{"type": "function", "function": {"name": "g"}}]}});
        assert_eq!(
            schema(allowed, json!({})).unwrap()["items"]["anyOf"].as_array().unwrap().len(),
            1
        );
    }

    #[test]
    fn a_named_tool_is_its_arguments_and_no_demand_is_none() {
        let named = json!({"type": "function", "function": {"name": "g"}});
        assert_eq!(schema(named, json!({})), Some(json!({"type": "object"})));
        for choice in
            [json!("auto"), json!("none"), json!({"type": "function", "function": {"name": "h"}})]
        {
            assert_eq!(schema(choice, json!({})), None);
        }
    }
}
