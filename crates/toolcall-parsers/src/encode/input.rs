//! Parsing of the arguments to encode. Strict JSON. Numbers are kept as text, so that none is
//! rounded.

use alloc::{string::String, vec::Vec};

use crate::{
    limits::MAX_ARGUMENT_DEPTH,
    value::{Escape, Flavor, is_lone, unescape},
};

/// A JSON value. Numbers are equal if their spelling is, and objects only if the order of their
/// members is. This is stricter than JSON, and holds for everything that the encoder writes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonNode<'t> {
    Null,
    Bool(bool),
    Number(&'t str),
    String(String),
    Array(Vec<Self>),
    Object(Members<'t>),
}

impl JsonNode<'_> {
    /// Returns the JSON name of the node's type.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

/// The members of an object, in order.
pub(crate) type Members<'t> = Vec<(String, JsonNode<'t>)>;

/// A fault in JSON text, with its offset and what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson {
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
}

/// Parses a text that must be exactly one JSON object.
pub(crate) fn read_object(text: &str) -> Result<Members<'_>, NotJson> {
    let mut reader = JsonReader { text, at: 0 };
    reader.blanks();
    if reader.peek() != Some(b'{') {
        return Err(reader.expected("an object"));
    }
    let members = reader.object(1)?;
    reader.blanks();
    if reader.at == text.len() { Ok(members) } else { Err(reader.expected("the end")) }
}

/// Returns the first key that an object has twice, at any level.
pub(crate) fn repeated<'m>(members: &'m [(String, JsonNode<'_>)]) -> Option<&'m str> {
    let mut seen = alloc::collections::BTreeSet::new();
    let mut inner = members.iter().map(|(_, value)| value);
    let twice = members.iter().map(|(key, _)| key.as_str()).find(|key| !seen.insert(*key));
    twice.or_else(|| inner.find_map(repeated_in))
}

/// Returns the first key that an object inside `value` has twice.
fn repeated_in<'m>(value: &'m JsonNode<'_>) -> Option<&'m str> {
    match value {
        JsonNode::Object(members) => repeated(members),
        JsonNode::Array(items) => items.iter().find_map(repeated_in),
        _ => None,
    }
}

struct JsonReader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> JsonReader<'t> {
    fn expected(&self, expected: &'static str) -> NotJson {
        NotJson { at: self.at, expected }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, byte: u8, expected: &'static str) -> Result<(), NotJson> {
        if self.skip(byte) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn value(&mut self, depth: usize) -> Result<JsonNode<'t>, NotJson> {
        match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_ARGUMENT_DEPTH => {
                Err(self.expected("no more than 128 levels of nesting"))
            }
            Some(b'{') => Ok(JsonNode::Object(self.object(depth + 1)?)),
            Some(b'[') => Ok(JsonNode::Array(self.array(depth + 1)?)),
            Some(b'"') => Ok(JsonNode::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(JsonNode::Number(self.number()?)),
            _ => {
                const WORDS: [(&str, JsonNode<'static>); 3] = [
                    ("null", JsonNode::Null),
                    ("true", JsonNode::Bool(true)),
                    ("false", JsonNode::Bool(false)),
                ];
                let rest = &self.text[self.at..];
                let Some((word, node)) = WORDS.into_iter().find(|(word, _)| rest.starts_with(word))
                else {
                    return Err(self.expected("a value"));
                };
                self.at += word.len();
                Ok(node)
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Members<'t>, NotJson> {
        let mut members = Vec::new();
        self.need(b'{', "an object")?;
        self.blanks();
        while !self.skip(b'}') {
            if !members.is_empty() {
                self.need(b',', "a comma or a closing brace")?;
                self.blanks();
            }
            let key = self.string()?;
            self.blanks();
            self.need(b':', "a colon")?;
            self.blanks();
            members.push((key, self.value(depth)?));
            self.blanks();
        }
        Ok(members)
    }

    fn array(&mut self, depth: usize) -> Result<Vec<JsonNode<'t>>, NotJson> {
        let mut elements = Vec::new();
        self.need(b'[', "an array")?;
        self.blanks();
        while !self.skip(b']') {
            if !elements.is_empty() {
                self.need(b',', "a comma or a closing bracket")?;
                self.blanks();
            }
            elements.push(self.value(depth)?);
            self.blanks();
        }
        Ok(elements)
    }

    fn string(&mut self) -> Result<String, NotJson> {
        self.need(b'"', "a string")?;
        let mut string = String::new();
        loop {
            let rest = &self.text[self.at..];
            let stop = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\');
            let len = stop.unwrap_or(rest.len());
            string.push_str(&rest[..len]);
            self.at += len;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => self.escape(&mut string)?,
                Some(_) => return Err(self.expected("an escape for a control character")),
                None => return Err(self.expected("a closing quote")),
            }
        }
    }

    fn escape(&mut self, string: &mut String) -> Result<(), NotJson> {
        let bytes = &self.text.as_bytes()[self.at..];
        let Escape::Is(scalar, len) = unescape(bytes, Flavor::Json) else {
            return Err(self.expected("an escape"));
        };
        if is_lone(&bytes[..len], scalar) {
            return Err(self.expected("the other half of a surrogate pair"));
        }
        string.push(scalar);
        self.at += len;
        Ok(())
    }

    fn number(&mut self) -> Result<&'t str, NotJson> {
        let from = self.at;
        self.skip(b'-');
        let zero = self.skip(b'0');
        if !zero {
            self.digits()?;
        }
        if self.skip(b'.') {
            self.digits()?;
        }
        if self.skip(b'e') || self.skip(b'E') {
            if !self.skip(b'+') {
                self.skip(b'-');
            }
            self.digits()?;
        }
        Ok(&self.text[from..self.at])
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.expected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::{JsonNode, read_object};

    #[test]
    fn objects_keep_number_spelling_and_member_order() {
        let members = read_object(" {\"b\": [1.50, -0, 1E+400], \"a\\u00e9\\ud83d\\ude00\": {}} ");
        let numbers = ["1.50", "-0", "1E+400"].map(JsonNode::Number);
        let expected = vec![
            ("b".into(), JsonNode::Array(numbers.to_vec())),
            ("aé😀".into(), JsonNode::Object(vec![])),
        ];
        assert_eq!(members, Ok(expected));
    }

    #[test]
    fn malformed_object_is_refused_at_the_faulty_byte() {
        let rows = [
            ("", 0),
            ("[]", 0),
            ("null", 0),
            ("{", 1),
            ("{\"a\" 1}", 5),
            ("{\"a\": 01}", 7),
            ("{\"a\": 1.}", 8),
            ("{\"a\": 1,}", 8),
            ("{,}", 1),
            ("{\"a\": 'b'}", 6),
            ("{\"a\": \"\n\"}", 7),
            ("{\"a\": \"\\ud83d\"}", 7),
            ("{\"a\": \"\\x\"}", 7),
            ("{\"a\": NaN}", 6),
            ("{} {}", 3),
        ];
        for (text, at) in rows {
            assert_eq!(read_object(text).map_err(|no| no.at), Err(at), "{text:?}");
        }
    }
}
