//! The conversations that a template renders for a derivation.
//!
//! Names, keys and values are words that occur nowhere else, so that their places show.

use serde_json::{Value, json};

/// The content and the reasoning of samples that have one.
pub(super) const CONTENT: &str = "Zcontentz said.";
pub(super) const REASONING: &str = "Zreasonz thought.";

/// A call of a sample: name, arguments and id.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SampleCall {
    pub(super) name: &'static str,
    pub(super) arguments: String,
    pub(super) id: String,
}

/// A turn of the assistant.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sample {
    pub(super) calls: Vec<SampleCall>,
    pub(super) content: &'static str,
    pub(super) reasoning: &'static str,
}

pub(super) fn call(name: &'static str, arguments: &Value, id: &str) -> SampleCall {
    SampleCall { name, arguments: arguments.to_string(), id: id.to_owned() }
}

/// Indices of the samples with a part in the alignment.
pub(super) const EMPTY: usize = 0;
pub(super) const ONE: usize = 1;
pub(super) const TWO_KEYS: usize = 2;
pub(super) const TWO_CALLS: usize = 3;
pub(super) const TYPED: usize = 4;
pub(super) const ANSWER: usize = 5;
pub(super) const THOUGHT: usize = 6;
pub(super) const LED: usize = 7;
pub(super) const THOUGHT_CALL: usize = 8;

/// Returns the samples. Those after the named ones only prove.
pub(super) fn samples() -> Vec<Sample> {
    let of = |calls: Vec<SampleCall>| Sample { calls, ..Sample::default() };
    let one = || call("zfuncaz", &json!({"zkeyaz": "Zvalaz"}), "Zidaz0001");
    vec![
        of(vec![call("zfuncaz", &json!({}), "Zidaz0001")]),
        of(vec![one()]),
        of(vec![call("zfuncaz", &json!({"zkeyaz": "Zvalaz", "zkeybz": "Zvalbz"}), "Zidaz0001")]),
        of(vec![one(), call("zfuncbz", &json!({"zkeybz": "Zvalbz"}), "Zidbz0002")]),
        of(vec![call(
            "zfuncaz",
            &json!({"zkeyaz": 4177, "zkeybz": true, "zkeycz": null, "zkeydz": [1, "b"],
                "zkeyez": {"c": false}}),
            "Zidaz0001",
        )]),
        Sample { content: CONTENT, ..Sample::default() },
        Sample { content: CONTENT, reasoning: REASONING, ..Sample::default() },
        Sample { content: CONTENT, ..of(vec![one()]) },
        Sample { reasoning: REASONING, ..of(vec![one()]) },
        of(vec![call(
            "look_up",
            &json!({"query": "a \"b\" 'c' & d\n\te\\n é", "limit": -2.5}),
            "Qr7tY2uI9",
        )]),
        of(vec![
            call("ring", &json!({}), "Ab3dE5gH7"),
            call("look_up", &json!({"query": "x", "tags": ["a", "ü"]}), "Kl9mN1pQ3"),
            call("ring", &json!({"times": 3}), "Wx2yZ4aB6"),
        ]),
    ]
}

/// Returns the JSON that templates write for a value: with blanks after colons and commas.
pub(super) fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), spaced(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns declarations of the tools that the samples call, with the types of their arguments.
pub(super) fn tools(samples: &[Sample]) -> Value {
    let mut tools: Vec<(&str, Value)> = Vec::new();
    for call in samples.iter().flat_map(|sample| &sample.calls) {
        let n = tools.iter().position(|(name, _)| *name == call.name).unwrap_or_else(|| {
            tools.push((call.name, json!({})));
            tools.len().saturating_sub(1)
        });
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let Some((_, properties)) = tools.get_mut(n) else { continue };
        for (key, value) in arguments.as_object().into_iter().flatten() {
            let kind = match value {
                Value::Null => continue,
                Value::String(_) => "string",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::Bool(_) => "boolean",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            properties[key] = json!({"type": kind, "description": "A part."});
            if kind == "array" {
                properties[key]["items"] = json!({"type": "string"});
            }
        }
    }
    let tool = |(name, properties)| {
        json!({"type": "function", "function": {"name": name, "description": "A tool.",
            "parameters": {"type": "object", "properties": properties, "required": []}}})
    };
    tools.into_iter().map(tool).collect()
}
