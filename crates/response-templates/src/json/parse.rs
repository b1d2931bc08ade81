//! The value of a complete JSON text.

use alloc::{string::String, vec::Vec};

use super::{
    Container, Integer, JsonObject, JsonTree, NotJson, Scanner, Token, TokenKind, number::decimal,
};
use crate::limits::MAX_DIGITS;

/// An open container, and the name of its member that is being read.
struct Open {
    value: JsonTree,
    key: String,
}

/// Reads a complete JSON text.
pub(crate) fn parse(text: &str) -> Result<JsonTree, NotJson> {
    let (mut open, mut done, mut bad) = (Vec::<Open>::new(), None, None);
    let mut on = |token: Token| {
        let slice = &text[token.start..token.end];
        let value = match token.kind {
            TokenKind::Lone => return,
            TokenKind::Open(container) => {
                let value = match container {
                    Container::Object => JsonTree::Object(JsonObject::default()),
                    Container::Array => JsonTree::Array(Vec::new()),
                };
                return open.push(Open { value, key: String::new() });
            }
            TokenKind::Key => {
                if let Some(inner) = open.last_mut() {
                    inner.key = decode(slice);
                }
                return;
            }
            TokenKind::Close => match open.pop() {
                Some(inner) => inner.value,
                None => return,
            },
            TokenKind::String => JsonTree::String(decode(slice)),
            TokenKind::Number => match number(slice) {
                Some(value) => value,
                None => return bad = Some(NotJson { at: token.start }),
            },
            TokenKind::Word => word(slice),
        };
        match open.last_mut() {
            None => done = Some(value),
            Some(Open { value: JsonTree::Array(items), .. }) => items.push(value),
            Some(Open { value: JsonTree::Object(object), key }) => {
                object.set(core::mem::take(key), value);
            }
            Some(_) => {}
        }
    };
    let mut scanner = Scanner::default();
    scanner.feed(text, &mut on)?;
    scanner.end(&mut on)?;
    match (bad, done) {
        (None, Some(value)) => Ok(value),
        (bad, _) => Err(bad.unwrap_or(NotJson { at: text.len() })),
    }
}

fn word(text: &str) -> JsonTree {
    match text {
        "true" => JsonTree::Bool(true),
        "false" => JsonTree::Bool(false),
        "NaN" => JsonTree::Float(f64::NAN),
        "Infinity" => JsonTree::Float(f64::INFINITY),
        "-Infinity" => JsonTree::Float(f64::NEG_INFINITY),
        _ => JsonTree::Null,
    }
}

/// Parses a number. Returns `None` for an integer with too many digits.
fn number(text: &str) -> Option<JsonTree> {
    if text.contains(['.', 'e', 'E']) {
        return decimal(text).map(JsonTree::Float);
    }
    let digits = text.len() - usize::from(text.starts_with('-'));
    (digits <= MAX_DIGITS).then(|| JsonTree::Int(Integer::from_digits(text)))
}

/// Decodes a scanned JSON string with its quotes. An unpaired surrogate becomes U+FFFD.
pub(crate) fn decode(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    decode_into(quoted, &mut text);
    text
}

/// Decodes like [`decode`] and appends the result to `text`.
pub(crate) fn decode_into(quoted: &str, text: &mut String) {
    let inside = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
    let mut from = 0;
    for (at, scalar, len) in escapes(inside) {
        text.push_str(inside.get(from..at).unwrap_or(""));
        text.push(scalar.unwrap_or(char::REPLACEMENT_CHARACTER));
        from = at.saturating_add(len);
    }
    text.push_str(inside.get(from..).unwrap_or(""));
}

/// Returns the offsets of unpaired surrogates in a part of a scanned string. The part must not cut
/// an escape.
pub(super) fn lone(text: &str) -> impl Iterator<Item = usize> {
    escapes(text).filter_map(|(at, scalar, _)| scalar.is_none().then_some(at))
}

/// Returns the offset, the character and the length of each escape in a part of a scanned string.
/// The character is `None` for an unpaired surrogate. The part must not cut an escape.
fn escapes(text: &str) -> impl Iterator<Item = (usize, Option<char>, usize)> {
    let mut from = 0_usize;
    core::iter::from_fn(move || {
        let at = from.saturating_add(text.get(from..)?.find('\\')?);
        let escape = text.get(at..)?;
        let (scalar, len) = match escape.as_bytes().get(1)? {
            b'u' => unicode(escape),
            b'b' => (Some('\x08'), 2),
            b'f' => (Some('\x0c'), 2),
            b'n' => (Some('\n'), 2),
            b'r' => (Some('\r'), 2),
            b't' => (Some('\t'), 2),
            other => (Some(char::from(*other)), 2),
        };
        from = at.saturating_add(len);
        Some((at, scalar, len))
    })
}

/// Returns the character of the escape at the start of `text`, and the length of the escape.
fn unicode(text: &str) -> (Option<char>, usize) {
    let code = |at: usize| {
        let escape = text.get(at..at + 6).filter(|escape| escape.starts_with("\\u"))?;
        u32::from_str_radix(&escape[2..], 16).ok()
    };
    let first = code(0).unwrap_or(0xFFFD);
    if let (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) = (first, code(6)) {
        return (char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)), 12);
    }
    (char::from_u32(first), 6)
}
