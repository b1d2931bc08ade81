//! A strict JSON reader, which defines "the arguments are a JSON object" and "equal as JSON" for
//! the laws.
//!
//! Numbers are compared by value without rounding (`1000.0` equals `1e3`). The order of keys does
//! not matter, and the last of several equal keys counts.

use core::fmt;
use std::collections::BTreeMap;

/// The maximum nesting. Deeper values are refused, so that hostile input cannot exhaust the stack.
pub const MAX_NESTING: usize = 512;

/// A JSON value whose equality is equality of JSON values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonValue {
    /// The JSON literal `null`.
    Null,
    /// The value `true` or `false`.
    Bool(bool),
    /// A number, compared by value.
    Number(Number),
    /// A string, unescaped.
    String(String),
    /// An array of JSON values.
    Array(Vec<Self>),
    /// An object, without the order of its keys.
    Object(BTreeMap<String, Self>),
}

impl JsonValue {
    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns the truth of a boolean.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }
}

/// A decimal number in normal form: `0.digits × 10^exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// An error: a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// The byte offset of the first fault.
    pub at: usize,
    /// The text that was expected there.
    pub expected: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: expected {}", self.at, self.expected)
    }
}

impl core::error::Error for JsonError {}

/// Reads exactly one JSON value.
///
/// # Errors
/// Returns an error for text that RFC 8259 does not allow, a lone surrogate, or nesting beyond
/// [`MAX_NESTING`].
pub fn parse(text: &str) -> Result<JsonValue, JsonError> {
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at == text.len() { Ok(value) } else { Err(reader.expected("the end")) }
}

/// Reads exactly one JSON object.
///
/// # Errors
/// See [`parse`], and for any value that is not an object.
pub fn parse_object(text: &str) -> Result<JsonValue, JsonError> {
    match parse(text)? {
        object @ JsonValue::Object(_) => Ok(object),
        _ => Err(JsonError { at: 0, expected: "an object" }),
    }
}

/// Returns the members of one JSON object in the order written, each value as the text that wrote
/// it.
///
/// For readers that need duplicate keys, or that pass a value on without reading it.
///
/// # Errors
/// See [`parse_object`].
pub fn members(text: &str) -> Result<Vec<(String, &str)>, JsonError> {
    parse_object(text)?;
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    reader.need("{", "an object")?;
    let mut members = Vec::new();
    reader.blanks();
    while !reader.skip("}") {
        reader.skip(",");
        reader.blanks();
        let key = reader.string()?;
        reader.blanks();
        reader.need(":", "a colon")?;
        members.push((key, reader.raw()?));
    }
    Ok(members)
}

/// Returns the elements of one JSON array, each as the text that wrote it.
///
/// # Errors
/// See [`parse`], and for any value that is not an array.
pub fn elements(text: &str) -> Result<Vec<&str>, JsonError> {
    parse(text)?;
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    reader.need("[", "an array")?;
    let mut elements = Vec::new();
    reader.blanks();
    while !reader.skip("]") {
        reader.skip(",");
        elements.push(reader.raw()?);
    }
    Ok(elements)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

type Read<T> = Result<T, JsonError>;

impl<'t> Reader<'t> {
    fn value(&mut self, depth: usize) -> Read<JsonValue> {
        if depth == MAX_NESTING {
            return Err(self.expected("less nesting"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(JsonValue::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(JsonValue::Number(self.number()?)),
            _ if self.skip("true") => Ok(JsonValue::Bool(true)),
            _ if self.skip("false") => Ok(JsonValue::Bool(false)),
            _ if self.skip("null") => Ok(JsonValue::Null),
            _ => Err(self.expected("a value")),
        }
    }

    /// Returns the text of the next value, and skips the blanks around it.
    fn raw(&mut self) -> Read<&'t str> {
        self.blanks();
        let start = self.at;
        self.value(0)?;
        let raw = &self.text[start..self.at];
        self.blanks();
        Ok(raw)
    }

    fn object(&mut self, depth: usize) -> Read<JsonValue> {
        self.need("{", "an object")?;
        let mut members = BTreeMap::new();
        self.blanks();
        if self.skip("}") {
            return Ok(JsonValue::Object(members));
        }
        loop {
            self.blanks();
            let key = self.string()?;
            self.blanks();
            self.need(":", "a colon")?;
            self.blanks();
            members.insert(key, self.value(depth + 1)?);
            self.blanks();
            if self.skip("}") {
                return Ok(JsonValue::Object(members));
            }
            self.need(",", "a comma or the end of the object")?;
        }
    }

    fn array(&mut self, depth: usize) -> Read<JsonValue> {
        self.need("[", "an array")?;
        let mut items = Vec::new();
        self.blanks();
        if self.skip("]") {
            return Ok(JsonValue::Array(items));
        }
        loop {
            self.blanks();
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.skip("]") {
                return Ok(JsonValue::Array(items));
            }
            self.need(",", "a comma or the end of the array")?;
        }
    }

    fn string(&mut self) -> Read<String> {
        self.need("\"", "a string")?;
        let mut value = String::new();
        loop {
            let Some(next) = self.text[self.at..].chars().next() else {
                return Err(self.expected("the end of the string"));
            };
            match next {
                '"' => {
                    self.at += 1;
                    return Ok(value);
                }
                '\\' => {
                    self.at += 1;
                    value.push(self.escape()?);
                }
                '\0'..='\x1f' => return Err(self.expected("an escaped control character")),
                _ => {
                    self.at += next.len_utf8();
                    value.push(next);
                }
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let letter = self.peek();
        self.at += usize::from(letter.is_some_and(|byte| byte.is_ascii()));
        Ok(match letter {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let mut code = self.four_digits()?;
                if (0xD800..0xDC00).contains(&code) {
                    self.need("\\u", "the second half of a surrogate pair")?;
                    let low = self.four_digits()?.wrapping_sub(0xDC00);
                    if low >= 0x400 {
                        return Err(self.expected("the second half of a surrogate pair"));
                    }
                    code = 0x1_0000 + ((code - 0xD800) << 10) + low;
                }
                char::from_u32(code).ok_or_else(|| self.expected("a scalar value"))?
            }
            _ => return Err(self.expected("an escape")),
        })
    }

    fn four_digits(&mut self) -> Read<u32> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|text| u32::from_str_radix(text, 16).ok());
        let code = code.ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self) -> Read<Number> {
        let negative = self.skip("-");
        let whole = self.digits()?;
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(self.expected("no leading zero"));
        }
        let fraction = if self.skip(".") { self.digits()? } else { "" };
        let mut exponent = 0_i64;
        if self.skip("e") || self.skip("E") {
            let minus = self.skip("-");
            let _plus = !minus && self.skip("+");
            let size = self.digits()?.parse().unwrap_or(i64::MAX / 2);
            exponent = if minus { -size } else { size };
        }
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let zeros = (all.len() - significant.len()) as i64;
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Ok(Number { negative: false, digits, exponent: 0 });
        }
        Ok(Number { negative, digits, exponent: exponent + whole.len() as i64 - zeros })
    }

    fn digits(&mut self) -> Read<&'t str> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        if len == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += len;
        Ok(&rest[..len])
    }

    fn blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(token.as_bytes());
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn need(&mut self, token: &str, expected: &'static str) -> Read<()> {
        if self.skip(token) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn expected(&self, expected: &'static str) -> JsonError {
        JsonError { at: self.at, expected }
    }
}
