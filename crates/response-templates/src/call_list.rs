//! Lists of calls in the syntax of Python: the content parser `python-call-list`.
//!
//! ```text
//! [get_weather(city="Paris", days=[1, 2])]
//! [{"name": "get_weather", "arguments": {"city": "Paris", "days": [1, 2]}}]
//! ```
//!
//! The grammar is stricter than Python's: only keyword arguments, no trailing commas, no repeated
//! names, and integers that a double can hold.

use alloc::{string::String, vec::Vec};

use crate::{
    json::{Integer, JsonObject, JsonTree, parse_float},
    limits::{MAX_CALL_LIST_DEPTH, MAX_CALL_LIST_INTEGER_CHARS},
};

/// Largest integer of the grammar, 2^53 - 1.
const LARGEST: u64 = (1 << 53) - 1;

/// A reader of a list of calls. A method returns `None` if the text is not of the grammar.
struct CallList<'t> {
    /// The text that was not read yet.
    rest: &'t str,
}

/// Returns the list of calls in `text`, or `None` if the text is not of the grammar.
pub(crate) fn parse(text: &str) -> Option<JsonTree> {
    let mut list = CallList { rest: text };
    list.expect('[')?;
    let calls = list.items(']', CallList::call)?;
    list.skip_blanks();
    list.rest.is_empty().then_some(JsonTree::Array(calls))
}

impl<'t> CallList<'t> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Reads `wanted`, with blanks before it, if it is next.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn expect(&mut self, wanted: char) -> Option<()> {
        self.take(wanted).then_some(())
    }

    /// Reads items up to `close`, with a comma between two.
    fn items<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if self.take(close) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(close) {
                return Some(items);
            }
            self.expect(',')?;
        }
    }

    fn call(&mut self) -> Option<JsonTree> {
        let name = self.name()?;
        self.expect('(')?;
        let arguments = self.items(')', |list| {
            let name = list.name()?;
            list.expect('=')?;
            Some((String::from(name), list.value(0)?))
        })?;
        let mut call = JsonObject::default();
        call.set("name", name.into());
        call.set("arguments", unique(arguments)?);
        Some(JsonTree::Object(call))
    }

    /// Reads words of ASCII letters, digits and `_` with single dashes or dots between them.
    fn name(&mut self) -> Option<&'t str> {
        self.skip_blanks();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end_of_word = |text: &str| text.find(|c: char| !is_word(c)).unwrap_or(text.len());
        let mut end = end_of_word(self.rest);
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) || end == 0 {
            return None;
        }
        while let Some(more) = self.rest[end..].strip_prefix(['-', '.']) {
            match end_of_word(more) {
                0 => break,
                len => end += 1 + len,
            }
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(name)
    }

    /// Reads a value inside `depth` lists and dictionaries.
    fn value(&mut self, depth: usize) -> Option<JsonTree> {
        self.skip_blanks();
        match self.rest.chars().next()? {
            '\'' | '"' => self.string().map(JsonTree::String),
            '[' | '{' if depth >= MAX_CALL_LIST_DEPTH => None,
            '[' => {
                self.expect('[')?;
                self.items(']', |list| list.value(depth + 1)).map(JsonTree::Array)
            }
            '{' => {
                self.expect('{')?;
                let members = self.items('}', |list| {
                    list.skip_blanks();
                    let key = list.string()?;
                    list.expect(':')?;
                    Some((key, list.value(depth + 1)?))
                });
                unique(members?)
            }
            '-' | '0'..='9' => self.number(),
            _ => Some(match self.name()? {
                "True" | "true" => JsonTree::Bool(true),
                "False" | "false" => JsonTree::Bool(false),
                "None" | "null" => JsonTree::Null,
                _ => return None,
            }),
        }
    }

    /// Reads a number in the syntax of JSON.
    fn number(&mut self) -> Option<JsonTree> {
        let text = self.rest;
        let digits = |at: usize| {
            let rest = text.get(at..).unwrap_or_default();
            rest.bytes().take_while(u8::is_ascii_digit).count()
        };
        let sign = usize::from(text.starts_with('-'));
        let whole = match digits(sign) {
            0 => return None,
            _ if text[sign..].starts_with('0') => sign + 1,
            count => sign + count,
        };
        let mut end = whole;
        if text[end..].starts_with('.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if let Some(exponent) = text[end..].strip_prefix(['e', 'E']) {
            let sign = usize::from(exponent.starts_with(['+', '-']));
            let count = digits(end + 1 + sign);
            end += if count > 0 { 1 + sign + count } else { 0 };
        }
        let (number, rest) = text.split_at(end);
        self.rest = rest;
        if end > whole {
            return parse_float(number).filter(|value| value.is_finite()).map(JsonTree::Float);
        }
        if number.len() > MAX_CALL_LIST_INTEGER_CHARS {
            return None;
        }
        let size: u64 = number.trim_start_matches('-').parse().ok()?;
        let number = if size == 0 { "0" } else { number };
        (size <= LARGEST).then(|| JsonTree::Int(Integer::from_digits(number)))
    }

    /// Reads a string in single or double quotes, with the escapes of JSON and `\'`.
    fn string(&mut self) -> Option<String> {
        let mut chars = self.rest.chars();
        let quote = chars.next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut string = String::new();
        loop {
            match chars.next()? {
                '\n' | '\r' => return None,
                '\\' => {
                    let escape = chars.next()?;
                    let code = |chars: &mut core::str::Chars<'_>| {
                        let digits = chars.as_str().get(..4)?;
                        let good = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                        *chars = chars.as_str().get(4..)?.chars();
                        u32::from_str_radix(digits, 16).ok().filter(|_| good)
                    };
                    string.push(match escape {
                        '\\' | '\'' | '"' | '/' => escape,
                        'b' => '\x08',
                        'f' => '\x0c',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'u' => match code(&mut chars)? {
                            high @ 0xD800..=0xDBFF => {
                                chars = chars.as_str().strip_prefix("\\u")?.chars();
                                let low =
                                    code(&mut chars).filter(|it| (0xDC00..=0xDFFF).contains(it))?;
                                char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))?
                            }
                            code => char::from_u32(code)?,
                        },
                        _ => return None,
                    });
                }
                c if c == quote => {
                    self.rest = chars.as_str();
                    return Some(string);
                }
                c => string.push(c),
            }
        }
    }
}

/// Returns an object with these members, unless two have one name.
fn unique(members: Vec<(String, JsonTree)>) -> Option<JsonTree> {
    let mut object = JsonObject::default();
    for (key, value) in members {
        if object.get(&key).is_some() {
            return None;
        }
        object.set(&key, value);
    }
    Some(JsonTree::Object(object))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::parse;

    #[test]
    fn calls_are_read_with_all_kinds_of_values() {
        for (text, calls) in [
            ("[]", "[]"),
            (" [ f ( ) ]\n", r#"[{"name": "f", "arguments": {}}]"#),
            (
                "[get-it.now(city='Pa\\'ris', n=-1, x=1.50, y=2e3, z=-0)]",
                r#"[{"name": "get-it.now", "arguments": {"city": "Pa'ris", "n": -1, "x": 1.5, "y": 2000.0, "z": 0}}]"#,
            ),
            (
                r#"[f(a=[True, false, None, null], b={"k": {'l': []}}), g(s="\u0041\ud83d\uDE00\/")]"#,
                r#"[{"name": "f", "arguments": {"a": [true, false, null, null], "b": {"k": {"l": []}}}}, {"name": "g", "arguments": {"s": "A😀/"}}]"#,
            ),
            ("[f(n=9007199254740991)]", r#"[{"name": "f", "arguments": {"n": 9007199254740991}}]"#),
        ] {
            assert_eq!(parse(text).map(|it| it.to_string()).as_deref(), Some(calls), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "f()",
            "[f()",
            "[f(),]",
            "[f(1)]",
            "[f(a=1,)]",
            "[f(a=1, a=2)]",
            "[f(a={'b': 1, 'b': 2})]",
            "[f(a={b: 1})]",
            "[f(a=01)]",
            "[f(a=+1)]",
            "[f(a=1.)]",
            "[f(a=.5)]",
            "[f(a=1e400)]",
            "[f(a=9007199254740992)]",
            "[f(a=123456789012345678)]",
            "[f(a=x)]",
            "[f(a='x)]",
            "[f(a='x\ny')]",
            r"[f(a='\x41')]",
            r"[f(a='\ud800')]",
            r"[f(a='\udc00')]",
            r"[f(a='\u12')]",
            "[f-(a=1)]",
            "[1f()]",
            "[f()] x",
            "[é()]",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        let nested = |depth: usize| {
            let text = ["[f(a=", &"[".repeat(depth), &"]".repeat(depth), ")]"].concat();
            parse(&text).is_some()
        };
        assert_eq!([100, 101].map(nested), [true, false]);
    }
}
