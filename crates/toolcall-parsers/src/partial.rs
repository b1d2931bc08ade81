//! A call's arguments before they are whole.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "places in a text in memory, of which a byte is read; digits that are left are more \
              than one where one is taken off"
)]

use alloc::{string::String, vec::Vec};

use serde_json::Value;

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
    /// The brackets that are open, by what closes them.
    closers: Vec<u8>,
    /// Up to here the text is JSON but for those closers.
    whole: usize,
    at: At,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum At {
    /// Outside strings, before a value or a bracket.
    #[default]
    Between,
    /// Before a key or inside one, `true` for inside.
    Key(bool),
    /// Inside a string that is a value; it may end anywhere.
    Text,
    /// Inside a number or a word.
    Scalar,
    /// The string goes on behind an escape: so many bytes of it are missing.
    Escape { from: usize, rest: Rest, in_key: bool },
}

/// What is missing of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// The letter that says which.
    Kind,
    /// Hexadecimal digits, of which `value` was read; a low surrogate must follow `high`.
    Digits { left: u8, value: u16, high: bool },
    /// The backslash of a low surrogate.
    Low,
}

impl PartialArguments {
    /// None yet.
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
        let from = self.text.len();
        self.text.push_str(fragment);
        for (n, byte) in fragment.bytes().enumerate() {
            self.byte(byte, from + n);
        }
    }

    /// The JSON of what is certain so far; `{}` at the beginning.
    #[must_use]
    pub fn json(&self) -> String {
        let (end, quote) = match self.at {
            At::Text => (self.text.len(), "\""),
            At::Escape { from, in_key: false, .. } => (from, "\""),
            _ => (self.whole, ""),
        };
        let mut json = String::from(self.text.get(..end).unwrap_or(""));
        json.push_str(quote);
        json.extend(self.closers.iter().rev().map(|&closer| char::from(closer)));
        if json.trim_ascii().is_empty() { String::from("{}") } else { json }
    }

    /// The same as a value; `None` if the fragments were not a call's.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.json()).ok()
    }

    fn byte(&mut self, byte: u8, at: usize) {
        let in_object = self.closers.last() == Some(&b'}');
        match self.at {
            At::Key(true) => match byte {
                b'"' => self.at = At::Between,
                b'\\' => self.escape(at, true),
                _ => {}
            },
            At::Text => match byte {
                b'"' => (self.at, self.whole) = (At::Between, at + 1),
                b'\\' => self.escape(at, false),
                _ => {}
            },
            At::Escape { from, rest, in_key } => self.in_escape(byte, (from, rest, in_key)),
            At::Between | At::Scalar | At::Key(false) => match byte {
                b'"' if self.at == At::Key(false) => self.at = At::Key(true),
                b'"' => self.at = At::Text,
                b'{' | b'[' => {
                    let object = byte == b'{';
                    self.closers.push(if object { b'}' } else { b']' });
                    self.whole = at + 1;
                    self.at = if object { At::Key(false) } else { At::Between };
                }
                b'}' | b']' => {
                    self.closers.pop();
                    (self.at, self.whole) = (At::Between, at + 1);
                }
                b',' => {
                    self.whole = at;
                    self.at = if in_object { At::Key(false) } else { At::Between };
                }
                b':' => self.at = At::Between,
                _ if byte.is_ascii_whitespace() => {
                    if self.at == At::Scalar {
                        (self.at, self.whole) = (At::Between, at);
                    }
                }
                _ => self.at = At::Scalar,
            },
        }
    }

    fn escape(&mut self, from: usize, in_key: bool) {
        self.at = At::Escape { from, rest: Rest::Kind, in_key };
    }

    fn in_escape(&mut self, byte: u8, (from, rest, in_key): (usize, Rest, bool)) {
        let rest = match (rest, byte) {
            (Rest::Kind, b'u') => Some(Rest::Digits { left: 4, value: 0, high: false }),
            (Rest::Digits { left, value, high }, _) => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0) as u16;
                let value = (value << 4) | digit;
                match left {
                    1 if !high && (0xD800..0xDC00).contains(&value) => Some(Rest::Low),
                    1 => None,
                    _ => Some(Rest::Digits { left: left - 1, value, high }),
                }
            }
            (Rest::Low, b'u') => Some(Rest::Digits { left: 4, value: 0, high: true }),
            (Rest::Low, b'\\') => Some(Rest::Low),
            _ => None,
        };
        self.at = match rest {
            Some(rest) => At::Escape { from, rest, in_key },
            None if in_key => At::Key(true),
            None => At::Text,
        };
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
