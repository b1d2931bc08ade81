//! Reading of escapes in strings of several syntaxes.
//!
//! ```text
//! \n                Is('\n', 2)
//! \ud83e\udd80      Is('🦀', 12): two escapes are one character
//! \ud8              Cut: more text is needed
//! \d                Verbatim(1) in Python and scripts
//! ```

#![expect(
    clippy::indexing_slicing,
    reason = "an escape is read after the bytes that show its kind, and digits are counted before \
              they are read"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "an escape has a few bytes: at most eight hexadecimal or three octal digits, or two \
              halves of a surrogate pair"
)]

/// The syntax whose escapes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavor {
    /// JSON. Any other backslash is [`Escape::Verbatim`].
    Json,
    /// Python. A backslash that does not begin an escape is itself. So are `\x`, `\u` and `\U`
    /// without digits.
    Python,
    /// JavaScript, where `\u` may have braces. Unlike there, a backslash that does not begin an
    /// escape is kept: models write regular expressions such as `\w` in strings.
    Script,
}

/// The meaning of a backslash and the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// A character, from this number of bytes.
    Is(char, usize),
    /// A line continuation of this number of bytes, which yields no text.
    Nothing(usize),
    /// Not an escape. This number of bytes are data.
    Verbatim(usize),
    /// The text ends inside the escape.
    Cut,
    /// A character by its name (`\N{DASH}`), which is not supported.
    Named,
}

/// Reads the escape at the start of `bytes`, which begins with the backslash. The two escapes of a
/// surrogate pair are one character. A lone surrogate is U+FFFD.
pub(crate) fn unescape(bytes: &[u8], flavor: Flavor) -> Escape {
    let Some(&kind) = bytes.get(1) else { return Escape::Cut };
    match flavor {
        Flavor::Json => match kind {
            b'/' => return Escape::Is('/', 2),
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' | b'u' => {}
            _ => return Escape::Verbatim(1),
        },
        Flavor::Python => {}
        Flavor::Script => match kind {
            b'u' if bytes.get(2) == Some(&b'{') => return braced(bytes),
            b'0' => return Escape::Is('\0', 2),
            b'`' | b'/' => return Escape::Is(char::from(kind), 2),
            b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'x' | b'u' | b'\n' | b'\r' => {}
            b'\\' | b'\'' | b'"' => {}
            _ => return Escape::Verbatim(1),
        },
    }
    let scalar = match kind {
        b'\n' => return Escape::Nothing(2),
        b'\r' => {
            return match bytes.get(2) {
                None => Escape::Cut,
                Some(b'\n') => Escape::Nothing(3),
                Some(_) => Escape::Nothing(2),
            };
        }
        b'\\' | b'\'' | b'"' => char::from(kind),
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\u{b}',
        b'0'..=b'7' => return octal(bytes),
        b'x' => return hex(bytes, 2),
        b'u' => return hex(bytes, 4),
        b'U' => return hex(bytes, 8),
        b'N' => {
            return match bytes.get(2) {
                None => Escape::Cut,
                Some(b'{') => Escape::Named,
                Some(_) => Escape::Verbatim(2),
            };
        }
        // The character after the backslash may be longer than a byte, so only the backslash is
        // read.
        _ => return Escape::Verbatim(1),
    };
    Escape::Is(scalar, 2)
}

/// Returns whether `escape`, which was read as `scalar`, is a lone surrogate.
pub(crate) fn is_lone(escape: &[u8], scalar: char) -> bool {
    scalar == char::REPLACEMENT_CHARACTER && !escape.eq_ignore_ascii_case(b"\\ufffd")
}

/// Reads an escape with braces, such as `\u{1F331}`, with one to six digits.
fn braced(bytes: &[u8]) -> Escape {
    let digits = bytes[3..].iter().take(6).take_while(|b| b.is_ascii_hexdigit()).count();
    match bytes.get(3 + digits) {
        None => Escape::Cut,
        Some(b'}') if digits > 0 => {
            let digits = &bytes[3..3 + digits];
            let add = |value, b: &u8| value * 16 + char::from(*b).to_digit(16).unwrap_or(0);
            let value: u32 = digits.iter().fold(0, add);
            let scalar = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            Escape::Is(scalar, digits.len() + 4)
        }
        Some(_) => Escape::Verbatim(2),
    }
}

/// Reads an escape of one to three octal digits.
fn octal(bytes: &[u8]) -> Escape {
    let digits = &bytes[1..bytes.len().min(4)];
    let n = digits.iter().take_while(|b| matches!(b, b'0'..=b'7')).count();
    if n == digits.len() && n < 3 {
        return Escape::Cut;
    }
    let value = digits[..n].iter().fold(0, |value, b| value * 8 + u32::from(b - b'0'));
    Escape::Is(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER), n + 1)
}

fn hex(bytes: &[u8], digits: usize) -> Escape {
    let value = match code(&bytes[2..], digits) {
        Code::Is(value) => value,
        Code::Cut => return Escape::Cut,
        Code::None => return Escape::Verbatim(2),
    };
    let len = 2 + digits;
    if !(0xD800..0xDC00).contains(&value) {
        return Escape::Is(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER), len);
    }
    let lone = Escape::Is(char::REPLACEMENT_CHARACTER, len);
    let low = match &bytes[len..] {
        [] | [b'\\'] => return Escape::Cut,
        [b'\\', b'u', rest @ ..] => code(rest, 4),
        _ => return lone,
    };
    match low {
        Code::Cut => Escape::Cut,
        Code::Is(low @ 0xDC00..0xE000) => {
            let scalar = 0x10000 + (((value - 0xD800) << 10) | (low - 0xDC00));
            char::from_u32(scalar).map_or(lone, |scalar| Escape::Is(scalar, len + 6))
        }
        Code::Is(_) | Code::None => lone,
    }
}

enum Code {
    Is(u32),
    Cut,
    None,
}

fn code(bytes: &[u8], digits: usize) -> Code {
    let head = &bytes[..bytes.len().min(digits)];
    let mut value: u32 = 0;
    for &byte in head {
        match char::from(byte).to_digit(16) {
            Some(digit) => value = (value << 4) | digit,
            None => return Code::None,
        }
    }
    if head.len() == digits { Code::Is(value) } else { Code::Cut }
}

#[cfg(test)]
mod tests {
    use super::{Escape, Flavor, unescape};

    #[test]
    fn escapes_are_read_or_wait_for_more_input() {
        use Escape::{Cut, Is, Named, Nothing, Verbatim};
        for (text, read) in [
            ("\\", Cut),
            ("\\n", Is('\n', 2)),
            ("\\'x", Is('\'', 2)),
            ("\\\n", Nothing(2)),
            ("\\\r", Cut),
            ("\\\r\n", Nothing(3)),
            ("\\0", Cut),
            ("\\0x", Is('\0', 2)),
            ("\\1019", Is('A', 4)),
            ("\\x4", Cut),
            ("\\x41", Is('A', 4)),
            ("\\xzz", Verbatim(2)),
            ("\\u00e9", Is('é', 6)),
            ("\\users", Verbatim(2)),
            ("\\U0001F980", Is('🦀', 10)),
            ("\\UFFFFFFFF", Is('\u{FFFD}', 10)),
            ("\\ud83e", Cut),
            ("\\ud83e\\udd", Cut),
            ("\\ud83e\\udd80", Is('🦀', 12)),
            ("\\ud83ex", Is('\u{FFFD}', 6)),
            ("\\udd80", Is('\u{FFFD}', 6)),
            ("\\N", Cut),
            ("\\N{DASH}", Named),
            ("\\No", Verbatim(2)),
            ("\\d", Verbatim(1)),
            ("\\é", Verbatim(1)),
        ] {
            assert_eq!(unescape(text.as_bytes(), Flavor::Python), read, "{text}");
        }
    }

    #[test]
    fn unknown_script_escapes_keep_their_backslash() {
        use Escape::{Cut, Is, Verbatim};
        for (text, read) in [
            ("\\`", Is('`', 2)),
            ("\\/", Is('/', 2)),
            ("\\n", Is('\n', 2)),
            ("\\d", Verbatim(1)),
            ("\\.", Verbatim(1)),
            ("\\1", Verbatim(1)),
            ("\\a", Verbatim(1)),
            ("\\é", Verbatim(1)),
            ("\\'", Is('\'', 2)),
            ("\\0", Is('\0', 2)),
            ("\\u00e9", Is('é', 6)),
            ("\\u{1F980}", Is('🦀', 9)),
            ("\\u{1F9", Cut),
            ("\\u{}", Verbatim(2)),
            ("\\u{110000}", Is('\u{FFFD}', 10)),
        ] {
            assert_eq!(unescape(text.as_bytes(), Flavor::Script), read, "{text}");
        }
    }
}
