//! Bodies of requests. Only the fields that the proxy uses are parsed.
//!
//! A parsed value takes up to two hundred times the memory of its text, so parsing is limited. All
//! other fields stay text, in their original spelling and order.

mod list;

use std::fmt;

#[cfg(feature = "proxy")]
use family_export::OWN_FORMAT;
use http::StatusCode;
use llm_stream_guard::chat::parsed_size;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

use self::list::Skim;
pub(crate) use self::list::each;
use crate::error::{Fault, Kind};

/// Memory for parsed values, regardless of the length of their text.
const LEEWAY: usize = 48 << 20;
/// Additional memory for parsed values, for each byte of their text.
const PER_BYTE: usize = 2;
/// Maximum number of fields of a body.
const FIELDS: usize = 512;
/// Maximum number of earlier calls that are counted.
const CALLS: usize = 1 << 16;

/// Fields that decide how an answer is read, besides those that set its form.
const LOOKED_AT: [&str; 21] = [
    "chat_template_kwargs",
    "continue_final_message",
    "enable_thinking",
    "function_call",
    "functions",
    "include_stop_str_in_output",
    "logprobs",
    "model",
    "n",
    "n_probs",
    "parallel_tool_calls",
    "reasoning",
    "reasoning_effort",
    "return_token_ids",
    "stop",
    "stop_sequences",
    "stream",
    "think",
    "thinking",
    "tool_choice",
    "tools",
];

// Only the proxy decides how an answer is read.
#[cfg(not(feature = "proxy"))]
const OWN_FORMAT: [&str; 0] = [];

/// Returns the names of all fields that decide how an answer is read.
fn looked_at() -> impl Iterator<Item = &'static str> {
    LOOKED_AT.into_iter().chain(OWN_FORMAT)
}

/// The body of a request.
#[derive(Debug)]
pub(crate) struct Body {
    fields: Vec<(String, Box<RawValue>)>,
    /// Memory that further parsed values may take.
    left: usize,
}

impl Body {
    /// Reads the fields of an object.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let none =
            |error| Fault::new(Kind::Request, format!("the body is no JSON object: {error}"));
        let Fields(fields) = serde_json::from_slice(bytes).map_err(none)?;
        let left = LEEWAY.saturating_add(bytes.len().saturating_mul(PER_BYTE));
        Ok(Self { fields, left })
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|(known, _)| known == name)
    }

    /// Returns the names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the text of a field.
    pub(crate) fn text(&self, name: &str) -> Option<&RawValue> {
        let (_, raw) = self.fields.iter().find(|(known, _)| known == name)?;
        Some(raw)
    }

    /// Returns the string in a field, or an empty string.
    pub(crate) fn string(&self, name: &str) -> String {
        let string = self.text(name).and_then(|raw| serde_json::from_str(raw.get()).ok());
        string.unwrap_or_default()
    }

    /// Returns whether the text of a field equals `literal`.
    pub(crate) fn is(&self, name: &str, literal: &str) -> bool {
        self.text(name).is_some_and(|raw| raw.get() == literal)
    }

    /// Returns the value of a field, or `None` for `null` and missing fields.
    pub(crate) fn get(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        let Some((_, raw)) = self.fields.iter().find(|(known, _)| known == name) else {
            return Ok(None);
        };
        let size = parsed_size(raw.get());
        self.left = self.left.checked_sub(size).ok_or_else(|| too_much(name))?;
        parsed(raw).map(|value| Some(value).filter(|value| !value.is_null()))
    }

    /// Removes a field and returns its value, or `None` for `null` and missing fields.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        let value = self.get(name)?;
        drop(self.take_text(name));
        Ok(value)
    }

    /// Removes a field and returns its text.
    pub(crate) fn take_text(&mut self, name: &str) -> Option<Box<RawValue>> {
        self.at(name).map(|at| self.fields.remove(at).1)
    }

    /// Sets a field. An existing field keeps its position.
    pub(crate) fn set(&mut self, name: &str, value: &Value) {
        // Strings, numbers and maps with string keys are always valid JSON.
        if let Ok(raw) = serde_json::value::to_raw_value(value) {
            self.set_text(name, raw);
        }
    }

    pub(crate) fn set_text(&mut self, name: &str, raw: Box<RawValue>) {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = raw,
            None => self.fields.push((name.to_owned(), raw)),
        }
    }

    /// Renames a field, if it is present.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if let Some(raw) = self.take_text(from) {
            self.set_text(to, raw);
        }
    }

    /// Returns the fields that decide how the answer is read, with the number of calls in the
    /// messages, and the last message's text if the answer continues it.
    pub(crate) fn view(&mut self) -> Result<Value, Fault> {
        let mut view = Map::new();
        for name in looked_at() {
            if let Some(value) = self.get(name)? {
                view.insert(name.to_owned(), value);
            }
        }
        if let Some(prompt) = self.prompt()? {
            view.insert("prompt".into(), prompt.into());
        }
        if let Some(raw) = self.text("messages") {
            let (mut calls, mut last) = (0_usize, None);
            each(raw, "messages", &mut |_, message| {
                let skim = serde_json::from_str::<Skim<'_>>(message.get()).unwrap_or_default();
                calls = calls.saturating_add(skim.calls());
                last = skim.content.map(ToOwned::to_owned);
                Ok(())
            })?;
            let calls = vec![Value::Null; calls.min(CALLS)];
            let goes_on = self.is("continue_final_message", "true");
            let last = last.filter(|last| goes_on && last.get().starts_with('"'));
            let last = last.map(|last| parsed(&last)).transpose()?.unwrap_or_default();
            let messages = [("tool_calls", Value::from(calls)), ("content", last)];
            let one = |(name, value): (&str, Value)| Value::from_iter([(name.to_owned(), value)]);
            view.insert("messages".into(), messages.map(one).into_iter().collect());
        }
        Ok(view.into())
    }

    /// Returns the number of bytes of a view's fields, except messages.
    pub(crate) fn view_length(&self) -> usize {
        looked_at().filter_map(|name| self.text(name)).map(|raw| raw.get().len()).sum()
    }

    /// Writes the changes between two views into the body.
    pub(crate) fn apply(&mut self, before: &Value, after: &Value) {
        let (Some(before), Some(after)) = (before.as_object(), after.as_object()) else { return };
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            drop(self.take_text(name));
        }
        for (name, value) in after.iter().filter(|(name, _)| *name != "messages") {
            if before.get(name) != Some(value) {
                self.set(name, value);
            }
        }
    }

    /// Parses the whole body, lets `change` modify it, and writes its fields back.
    pub(crate) fn change_all<E: fmt::Display>(
        &mut self,
        change: impl FnOnce(&mut Value) -> Result<(), E>,
    ) -> Result<(), Fault> {
        let names: Vec<String> = self.fields.iter().map(|(name, _)| name.clone()).collect();
        let mut whole = Map::new();
        for name in &names {
            if let Some(value) = self.get(name)? {
                whole.insert(name.clone(), value);
            }
        }
        let before: Vec<String> = whole.keys().cloned().collect();
        let mut whole = Value::from(whole);
        change(&mut whole).map_err(|error| Fault::new(Kind::Request, error))?;
        for name in before.iter().filter(|name| whole.get(name.as_str()).is_none()) {
            drop(self.take_text(name));
        }
        whole.as_object().into_iter().flatten().for_each(|(name, value)| self.set(name, value));
        Ok(())
    }

    /// Returns the prompt of a text completion, if it is one text.
    fn prompt(&self) -> Result<Option<String>, Fault> {
        let text = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
        let Some(raw) = self.text("prompt") else { return Ok(None) };
        if !raw.get().starts_with('[') {
            return Ok(text(raw));
        }
        let mut first = None;
        each(raw, "prompt", &mut |n, prompt| {
            if n == 0 {
                first = text(prompt);
            }
            Ok(())
        })?;
        Ok(first)
    }

    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let length = |(name, raw): &(String, Box<RawValue>)| {
            name.len().saturating_add(raw.get().len()).saturating_add(8)
        };
        let length = self.fields.iter().map(length).fold(2, usize::saturating_add);
        let mut out = Vec::with_capacity(length);
        out.push(b'{');
        for (n, (name, raw)) in self.fields.iter().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            // A string is always JSON.
            let _ = serde_json::to_writer(&mut out, name);
            out.push(b':');
            out.extend_from_slice(raw.get().as_bytes());
        }
        out.push(b'}');
        out
    }
}

/// Parses a part of a body. The allowance is that of the part alone, because callers drop its value
/// before the next part.
pub(crate) fn part(raw: &RawValue, at: &str) -> Result<Value, Fault> {
    let most = LEEWAY.saturating_add(raw.get().len().saturating_mul(PER_BYTE));
    match parsed_size(raw.get()) <= most {
        true => parsed(raw),
        false => Err(too_much(at)),
    }
}

fn parsed(raw: &RawValue) -> Result<Value, Fault> {
    serde_json::from_str(raw.get()).map_err(|error| Fault::new(Kind::Request, error))
}

fn too_much(at: &str) -> Fault {
    Fault::new(Kind::Request, "too many small values").at(at).status(StatusCode::PAYLOAD_TOO_LARGE)
}

/// The fields of an object. A repeated field has its last value.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, raw)) = map.next_entry::<String, Box<RawValue>>()? {
                    if let Some((_, old)) = fields.iter_mut().find(|(known, _)| *known == name) {
                        *old = raw;
                    } else if fields.len() < FIELDS {
                        fields.push((name, raw));
                    } else {
                        return Err(A::Error::custom("it has too many fields"));
                    }
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Body, parsed_size};

    fn body(text: &str) -> Body {
        Body::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn unchanged_members_keep_their_spelling_and_order() {
        let mut it = body(r#"{ "z": 1.0e2, "a":[1,  2], "stop": "x", "a": {"b" :null}}"#);
        let before = it.view().unwrap();
        let mut after = before.clone();
        after["stop"] = "y".into();
        after["more"] = true.into();
        it.apply(&before, &after);
        let text = String::from_utf8(it.to_vec()).unwrap();
        assert_eq!(text, r#"{"z":1.0e2,"a":{"b" :null},"stop":"y","more":true}"#);
    }

    #[test]
    fn body_view_contains_calls_of_messages_and_continued_text() {
        let mut it = body(
            r#"{"continue_final_message": true, "messages": [
                {"role": "assistant", "tool_calls": [{}, {"a": [1]}]},
                {"content": [{"type": "tool_use"}, {"type": "text"}]},
                {"content": "So "}], "image": "kept"}"#,
        );
        let view = it.view().unwrap();
        assert_eq!(view["messages"][0]["tool_calls"].as_array().unwrap().len(), 3);
        assert_eq!(view["messages"][1]["content"], "So ");
        assert!(view.get("image").is_none());
    }

    #[test]
    fn body_of_many_small_values_is_not_parsed() {
        let many = format!("[{}0]", "{\"\":0},".repeat(600_000));
        assert!(parsed_size(&many) > 300 << 20);
        let mut it = body(&format!("{{\"tools\": {many}, \"other\": {many}}}"));
        assert_eq!(it.view().unwrap_err().status, 413);
        let mut it = body(&format!("{{\"other\": {many}, \"messages\": {many}}}"));
        assert_eq!(it.view().unwrap()["messages"][1]["content"], Value::Null);
        let fields: String = (0..600).map(|n| format!("\"{n}\": 0,")).collect();
        assert!(Body::read(format!("{{{fields}\"a\": 0}}").as_bytes()).is_err());
    }
}
