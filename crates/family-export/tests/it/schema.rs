//! A checker of values against schemas, for the keywords that grammars express.

use serde_json::{Map, Value, json};
use stream_laws::Random;

/// Returns why `value` does not satisfy `schema`, with its place.
pub(crate) fn violation(schema: &Value, value: &Value, has_lengths: bool) -> Option<String> {
    Checker { root: schema, has_lengths }.violation(schema, value, "arguments")
}

struct Checker<'s> {
    root: &'s Value,
    /// Whether the lengths of strings are checked.
    has_lengths: bool,
}

impl Checker<'_> {
    fn violation(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        if let Some(pointer) = schema["$ref"].as_str() {
            return self.violation(self.root.pointer(&pointer[1..])?, value, at);
        }
        let no = |what: &str| Some(format!("{at}: {value} is not {what} of {schema}"));
        if let Some(parts) = schema["anyOf"].as_array() {
            let fits = parts.iter().any(|part| self.violation(part, value, at).is_none());
            return if fits { None } else { no("one") };
        }
        if let Some(values) = schema["enum"].as_array()
            && !values.contains(value)
        {
            return no("in the values");
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is = |name: &str| match name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            // Integers of more than 20 digits are read as floats.
            "integer" => {
                let is_long = value.as_f64().is_some_and(|it| it.abs() > 1e18);
                value.is_number() && (is_long || !value.to_string().contains(['.', 'e', 'E']))
            }
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            _ => value.is_object(),
        };
        if !types.is_empty() && !types.iter().any(|name| is(name)) {
            return no("of the types");
        }
        match value {
            Value::Number(number) => {
                let number = number.as_f64()?;
                let least = schema["minimum"].as_f64().is_some_and(|least| number < least);
                let most = schema["maximum"].as_f64().is_some_and(|most| number > most);
                if least || most { no("between the bounds") } else { None }
            }
            Value::String(text) if self.has_lengths => {
                let length = text.chars().count() as u64;
                let least = schema["minLength"].as_u64().is_some_and(|least| length < least);
                let most = schema["maxLength"].as_u64().is_some_and(|most| length > most);
                if least || most { no("of the length") } else { None }
            }
            Value::Array(items) => {
                let length = items.len() as u64;
                if schema["minItems"].as_u64().is_some_and(|least| length < least)
                    || schema["maxItems"].as_u64().is_some_and(|most| length > most)
                {
                    return no("of the length");
                }
                items.iter().find_map(|it| self.violation(&schema["items"], it, &format!("{at}[]")))
            }
            Value::Object(members) => {
                let required = schema["required"].as_array().into_iter().flatten();
                for key in required.filter_map(Value::as_str) {
                    if !members.contains_key(key) {
                        return no(&format!("with `{key}`"));
                    }
                }
                members.iter().find_map(|(key, value)| match &schema["properties"][key] {
                    Value::Null if schema["properties"].is_object() => {
                        Some(format!("{at}: `{key}` is not declared"))
                    }
                    Value::Null => {
                        let rest = schema.get("additionalProperties")?;
                        self.violation(rest, value, &format!("{at}.{key}"))
                    }
                    schema => self.violation(schema, value, &format!("{at}.{key}")),
                })
            }
            _ => None,
        }
    }
}

/// Fragments of random strings.
const FRAGMENTS: [&str; 20] = [
    "a", "Brest", " ", "\n", "<", ">", "</", "<|", "]", "{", "\"", "'", "\\", "é", "😀", "null",
    "12", "\t", "&amp;", "]]>",
];

/// Returns a random value that satisfies a schema, members in the order of the schema.
pub(crate) fn sample(root: &Value, schema: &Value, depth: usize, random: &mut Random) -> Value {
    if let Some(pointer) = schema["$ref"].as_str() {
        let target = root.pointer(&pointer[1..]).unwrap();
        return sample(root, target, depth + 1, random);
    }
    if let Some(parts) = schema["anyOf"].as_array() {
        return sample(root, &parts[random.below(parts.len())], depth, random);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[random.below(values.len())].clone();
    }
    let name = match &schema["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => names[random.below(names.len())].as_str().unwrap(),
        _ => ["string", "integer", "boolean", "null", "array", "object"][random.below(6)],
    };
    let bound = |key: &str, other: u64| schema[key].as_u64().unwrap_or(other) as usize;
    match name {
        "null" => Value::Null,
        "boolean" => (random.below(2) == 0).into(),
        "integer" => {
            let least = schema["minimum"].as_i64().unwrap_or(-1000);
            let most = schema["maximum"].as_i64().unwrap_or(100_000);
            (least + random.below((most - least + 1) as usize) as i64).into()
        }
        "number" => json!((random.below(100_000) as f64 - 5e4) / 64.0),
        "string" => {
            let (least, most) = (bound("minLength", 0), bound("maxLength", 12));
            let wanted = least + random.below(most - least + 1);
            let mut text = String::new();
            while text.chars().count() < wanted {
                text.push_str(FRAGMENTS[random.below(FRAGMENTS.len())]);
            }
            text.chars().take(wanted).collect::<String>().into()
        }
        "array" => {
            let (least, most) = (bound("minItems", 0), bound("maxItems", 3));
            let most = if depth > 3 { least } else { most };
            let count = least + random.below(most - least + 1);
            (0..count).map(|_| sample(root, &schema["items"], depth + 1, random)).collect()
        }
        _ => {
            let mut members = Map::new();
            for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
                let required = schema["required"].as_array().into_iter().flatten();
                if required.into_iter().any(|name| name == key) || random.below(2) == 0 {
                    members.insert(key.clone(), sample(root, inner, depth + 1, random));
                }
            }
            if !schema["properties"].is_object() && depth < 3 {
                for n in 0..random.below(3) {
                    members.insert(format!("k{n}"), sample(root, &json!({}), depth + 1, random));
                }
            }
            members.into()
        }
    }
}
