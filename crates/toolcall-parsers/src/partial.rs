//! A call's arguments before they are whole.

use alloc::string::String;

use serde_json::Value;

use crate::value::{JsonPlace, JsonScan};

/// The arguments of a call so far, as JSON that parses, for showing them while they arrive.
///
/// Fed with the fragments of [`crate::Event::CallArguments`]; a fragment costs its own length, a
/// view the length of all. Nothing is guessed: a string shows as far as it came, while a key
/// without a value, an unfinished number or word and half an escape are left out.
///
/// ```
/// use toolcall_parsers::PartialArguments;
/// let mut arguments = PartialArguments::new();
/// for fragment in ["{\"city\": \"Par", "is\", \"da", "ys\": 1", "2}"] {
///     arguments.push(fragment);
/// }
/// assert_eq!(arguments.json(), "{\"city\": \"Paris\", \"days\": 12}");
/// ```
#[derive(Debug, Clone, Default)]
pub struct PartialArguments {
    text: String,
    scan: JsonScan,
    /// How much of the text was scanned.
    read: usize,
    /// Up to here the text is JSON but for the brackets that are open.
    whole: usize,
    /// Whether the text is malformed from `read` on.
    broken: bool,
}

impl PartialArguments {
    /// Creates empty arguments.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All fragments so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds the next fragment.
    pub fn push(&mut self, fragment: &str) {
        self.text.push_str(fragment);
        while !self.broken && self.read_on() {}
    }

    /// Scans on by one step; whether there was any.
    fn read_on(&mut self) -> bool {
        let rest = self.text.get(self.read..).unwrap_or_default();
        if !rest.is_empty() && self.scan.number_ends_before(rest) {
            self.whole = self.read;
        }
        let step = self.scan.step(rest);
        self.broken = step.is_err();
        let used = step.unwrap_or(0);
        self.read = self.read.saturating_add(used);
        if self.scan.place() == JsonPlace::Whole {
            self.whole = self.read;
        }
        used > 0
    }

    /// The JSON of what is certain so far; `{}` at the beginning.
    #[must_use]
    pub fn json(&self) -> String {
        let (end, quote) = match self.scan.place() {
            JsonPlace::String => (self.read, "\""),
            _ => (self.whole, ""),
        };
        let mut json = String::from(self.text.get(..end).unwrap_or_default());
        json.push_str(quote);
        self.scan.write_brackets(&mut json);
        if json.trim_ascii().is_empty() { String::from("{}") } else { json }
    }

    /// The same as a value; `None` if the fragments were not a call's.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.json()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::PartialArguments;

    #[test]
    fn every_prefix_shows_what_is_certain() {
        let whole = r#"{"a": "x\"\ud83c\udf31é", "b\n": [1, {"c": true, "d": []}], "e": -1.5}"#;
        let mut arguments = PartialArguments::new();
        assert_eq!(arguments.json(), "{}");
        let mut seen = alloc::vec::Vec::new();
        for (at, scalar) in whole.char_indices() {
            arguments.push(scalar.encode_utf8(&mut [0; 4]));
            let json = arguments.json();
            assert!(arguments.value().is_some(), "{json} of {:?}", &whole[..=at]);
            if seen.last() != Some(&json) {
                seen.push(json);
            }
        }
        assert_eq!(arguments.json(), whole);
        for shown in [
            r#"{"a": "x"}"#,
            r#"{"a": "x\""}"#,
            r#"{"a": "x\"\ud83c\udf31"}"#,
            r#"{"a": "x\"\ud83c\udf31é"}"#,
            r#"{"a": "x\"\ud83c\udf31é", "b\n": []}"#,
            r#"{"a": "x\"\ud83c\udf31é", "b\n": [1]}"#,
            r#"{"a": "x\"\ud83c\udf31é", "b\n": [1, {}]}"#,
            r#"{"a": "x\"\ud83c\udf31é", "b\n": [1, {"c": true}]}"#,
            r#"{"a": "x\"\ud83c\udf31é", "b\n": [1, {"c": true, "d": []}]}"#,
        ] {
            assert!(seen.iter().any(|json| json == shown), "{shown} in {seen:#?}");
        }
        assert!(!seen.iter().any(|json| json.contains("tr}") || json.ends_with("-1}")));
    }

    #[test]
    fn what_is_no_json_does_no_harm() {
        for text in ["]}", "\"", "\"\\", "{\"a\\", "é", "{]", "{{{,,,:", "\u{0}"] {
            let mut arguments = PartialArguments::new();
            arguments.push(text);
            let _ = (arguments.json(), arguments.value());
        }
    }
}
