//! Writing a parameter's text as the JSON value it is.

use super::Types;
use crate::json::{
    escape::escape,
    scan::{JsonScan, Scanned},
};

/// Whether a text was what its type promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Fit {
    /// It was.
    Yes,
    /// It was not, and was written as a string.
    No,
}

/// Writes `text` as a value of one of `types`, else as a string.
///
/// Where a string is admitted too, another type is taken only for its exact JSON spelling;
/// elsewhere whitespace around it, `TRUE` and `Null` do not matter. Numbers keep their spelling.
pub(crate) fn typed(text: &str, types: Types, mut out: impl FnMut(&str)) -> Fit {
    let strict = types.has(Types::STRING);
    let value = if strict { text } else { text.trim_ascii() };
    let same = |word: &str| if strict { value == word } else { value.eq_ignore_ascii_case(word) };
    if types.has(Types::NULL) && same("null") {
        out("null");
    } else if types.has(Types::BOOLEAN) && same("true") {
        out("true");
    } else if types.has(Types::BOOLEAN) && same("false") {
        out("false");
    } else if types.has(Types::INTEGER)
        && let Some(number) = Number::of(value)
        && (number.integral || types.has(Types::NUMBER))
    {
        out(value);
    } else if (types.has(Types::OBJECT) && value.starts_with('{')
        || types.has(Types::ARRAY) && value.starts_with('['))
        && is_whole(value)
    {
        let _ = JsonScan::new().feed(value, out);
    } else {
        string(text, &mut out);
        return if strict { Fit::Yes } else { Fit::No };
    }
    Fit::Yes
}

/// Writes `text` as the JSON value it spells, else as a string.
pub(crate) fn json_or_string(text: &str, mut out: impl FnMut(&str)) -> Fit {
    let value = text.trim_ascii();
    if matches!(value, "null" | "true" | "false") || Number::of(value).is_some() {
        out(value);
    } else if value.starts_with(['{', '[', '"']) && is_whole(value) {
        let _ = JsonScan::new().feed(value, out);
    } else {
        string(text, &mut out);
        return Fit::No;
    }
    Fit::Yes
}

fn string(text: &str, out: &mut impl FnMut(&str)) {
    out("\"");
    escape(text, &mut *out);
    out("\"");
}

/// Whether `text` is one JSON string, array or object and nothing else.
fn is_whole(text: &str) -> bool {
    JsonScan::new().feed(text, |_| {}) == Scanned::End { used: text.len() }
}

/// A text that is a JSON number.
struct Number {
    /// Its value is a whole number.
    integral: bool,
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = text.strip_prefix('-').unwrap_or(text);
        let whole = digits(rest);
        if whole == 0 || whole > 1 && rest.starts_with('0') {
            return None;
        }
        let mut rest = &rest[whole..];
        let mut integral = true;
        if let Some(fraction) = rest.strip_prefix('.') {
            let len = digits(fraction);
            if len == 0 {
                return None;
            }
            integral = fraction[..len].bytes().all(|digit| digit == b'0');
            rest = &fraction[len..];
        }
        if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
            integral &= !exponent.starts_with('-');
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let len = digits(exponent);
            if len == 0 {
                return None;
            }
            rest = &exponent[len..];
        }
        rest.is_empty().then_some(Self { integral })
    }
}
