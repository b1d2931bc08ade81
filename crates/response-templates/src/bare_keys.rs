//! Quotes around bare names of members.
//!
//! ```text
//! {city : "a,b:1", n:2}    becomes    {"city" : "a,b:1", "n":2}
//! ```

use alloc::string::String;

use crate::chars::{is_blank, is_word};

/// A writer that puts quotes around bare names: words between `{` or `,` and `:`, with blanks around
/// them. Text in JSON strings stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct BareKeys {
    /// Whether bare names get quotes. Otherwise the text is only followed.
    names: bool,
    /// Whether the text is in a JSON string, and whether a backslash there was the last character.
    quoted: bool,
    escape: bool,
    /// Whether only blanks and one word came after the last brace or comma.
    in_key: bool,
    /// The word, and the blanks after it.
    key: String,
    gap: String,
}

impl BareKeys {
    /// Creates a writer at the start of a text. Without `names`, it writes the text unchanged.
    pub(crate) fn new(names: bool) -> Self {
        Self { names, ..Self::default() }
    }

    /// Writes `text` to `json`, except for a word at its end that may be a name.
    pub(crate) fn push(&mut self, text: &str, json: &mut String) {
        for c in text.chars() {
            if self.quoted {
                json.push(c);
                self.quoted = self.escape || c != '"';
                self.escape = c == '\\' && !self.escape;
            } else if self.in_key && self.gap.is_empty() && is_word(c) {
                self.key.push(c);
            } else if self.in_key && is_blank(c) {
                if self.key.is_empty() { json.push(c) } else { self.gap.push(c) }
            } else {
                let quote = if c == ':' && !self.key.is_empty() { "\"" } else { "" };
                self.write(quote, json);
                json.push(c);
                self.in_key = self.names && matches!(c, '{' | ',');
                self.quoted = c == '"';
            }
        }
    }

    /// Writes the word that may be a name, unchanged: the text ends, or goes on without a colon.
    pub(crate) fn end(&mut self, json: &mut String) {
        self.write("", json);
    }

    /// Writes the word between two `quote`s, and the blanks after it.
    fn write(&mut self, quote: &str, json: &mut String) {
        for part in [quote, &self.key, quote, &self.gap] {
            json.push_str(part);
        }
        self.key.clear();
        self.gap.clear();
        self.in_key = false;
    }

    /// Returns whether the text is in a JSON string.
    pub(crate) fn is_quoted(&self) -> bool {
        self.quoted
    }

    /// Returns the number of bytes that were read and not written.
    pub(crate) fn held(&self) -> usize {
        self.key.len().saturating_add(self.gap.len())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::BareKeys;

    #[test]
    fn bare_names_get_quotes_outside_of_strings_at_every_cut() {
        for (text, written) in [
            ("{a:1}", r#"{"a":1}"#),
            ("{ a : 1,\n b2\t:[{é:2}]}", "{ \"a\" : 1,\n \"b2\"\t:[{\"é\":2}]}"),
            (r#"{"a": "x,b:1", c:2}"#, r#"{"a": "x,b:1", "c":2}"#),
            (r#"{a:"\",b:\\",c:3}"#, r#"{"a":"\",b:\\","c":3}"#),
            ("{a b:1, true, c}", "{a b:1, true, c}"),
            ("{a:b:c}", r#"{"a":b:c}"#),
            ("a:1 {a", "a:1 {a"),
            ("{:1, :2}", "{:1, :2}"),
        ] {
            for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                let (mut keys, mut json) = (BareKeys::new(true), String::new());
                for part in [&text[..at], &text[at..]] {
                    keys.push(part, &mut json);
                }
                keys.end(&mut json);
                assert_eq!(json, written, "{at}");
                assert_eq!(keys.held(), 0);
            }
        }
    }
}
