//! Numbers in text, by the rules of Python. Digits may be of any script, with single `_` between
//! them. White space may be around them, except for U+001C to U+001F.

use alloc::{format, string::String};

use super::{Integer, JsonTree};
use crate::chars;
use crate::limits::MAX_DIGITS;

/// Parses an integer of any size.
pub(crate) fn parse_int(text: &str) -> Option<Integer> {
    let plain = plain(text.trim())?;
    let digits = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    let good = !digits.is_empty()
        && digits.len() <= MAX_DIGITS
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    good.then(|| Integer::from_digits(&plain))
}

/// Parses a number, including `inf` and `nan`.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let plain = plain(text.trim())?;
    let (negative, size) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let is = |word: &str| size.eq_ignore_ascii_case(word);
    let value = if is("inf") || is("infinity") {
        f64::INFINITY
    } else if is("nan") {
        f64::NAN
    } else if size.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        decimal(size)?
    } else {
        return None;
    };
    Some(if negative { -value } else { value })
}

/// Parses a number of ASCII digits with a point and an exponent.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Converts a whole number to an integer, exactly.
pub(crate) fn whole(number: f64) -> Option<JsonTree> {
    if !number.is_finite() {
        return None;
    }
    // Printing is exact, so a whole number has no decimal point.
    let text = format!("{number}");
    (!text.contains('.')).then(|| JsonTree::Int(Integer::from_digits(&text)))
}

/// Converts digits to ASCII and removes `_` between digits; `None` if a `_` is elsewhere.
fn plain(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let digit = chars::digit(c);
        if c == '_' {
            let between =
                before.is_some() && chars.peek().copied().and_then(chars::digit).is_some();
            if !between {
                return None;
            }
            before = None;
            continue;
        }
        before = digit;
        plain.push(match digit {
            Some(digit) => char::from(b'0' + digit),
            None => c,
        });
    }
    Some(plain)
}
