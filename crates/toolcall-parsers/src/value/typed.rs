//! Conversion of a parameter's text to a JSON value of its declared type.
//!
//! ```text
//! integer:            " +07 " becomes 7        "seven" becomes "seven" (Fit::No)
//! integer or string:  "7" becomes 7            " +07 " becomes " +07 "
//! ```

use alloc::string::String;

use super::{
    JsonScan, Scanned, Syntax, ValueDialect, ValueKind, ValueReader, escape,
    mend::{Mended, mend},
};
use crate::{options::CallLimits, typing::TypeSet};

/// Whether a text fits its declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Fit {
    /// The text fits the declared type.
    Yes,
    /// The text fits after it was mended.
    Mended,
    /// The text does not fit and was written as a string.
    No,
    /// The text begins as an object or a list of the declared type, but is none. It was written as
    /// a string.
    Broken,
}

/// Accepted spellings of `null`.
const NULLS: [&str; 4] = ["null", "None", "NULL", "nil"];
const TRUES: [&str; 2] = ["true", "True"];
const FALSES: [&str; 2] = ["false", "False"];

/// Writes `text` as a value of one of `types`, or else as a string. Python's spellings are
/// accepted.
///
/// If strings are also admitted, another type needs its exact spelling. Otherwise surrounding white
/// space, `TRUE` and `Null` are accepted, and numbers lose a leading `+` and leading zeros. The
/// rest of a number's spelling is kept.
pub(crate) fn typed(text: &str, types: TypeSet, mut out: impl FnMut(&str)) -> Fit {
    let strict = types.has(TypeSet::STRING);
    let value = if strict { text } else { text.trim_ascii() };
    let same = |word: &&str| if strict { value == *word } else { value.eq_ignore_ascii_case(word) };
    if types.has(TypeSet::NULL) && NULLS.iter().any(same) {
        out("null");
    } else if types.has(TypeSet::BOOLEAN) && TRUES.iter().any(same) {
        out("true");
    } else if types.has(TypeSet::BOOLEAN) && FALSES.iter().any(same) {
        out("false");
    } else if types.has(TypeSet::INTEGER)
        && let (sign, digits) = if strict { ("", value) } else { without_zeros(value) }
        && let Some(number) = NumberParts::parse(digits)
        && (number.integral || types.has(TypeSet::NUMBER))
    {
        out(sign);
        out(digits);
    } else if begins_container(value, types) {
        return match container(value, &mut out) {
            Fit::Broken => {
                string(text, &mut out);
                if strict { Fit::Yes } else { Fit::Broken }
            }
            fit => fit,
        };
    } else {
        string(text, &mut out);
        return if strict { Fit::Yes } else { Fit::No };
    }
    Fit::Yes
}

/// Returns whether `text` is exactly the JSON of a number, a boolean or `null` of one of `types`.
pub(crate) fn is_scalar(text: &str, types: TypeSet) -> bool {
    match text {
        "null" => types.has(TypeSet::NULL),
        "true" | "false" => types.has(TypeSet::BOOLEAN),
        _ => {
            types.has(TypeSet::INTEGER) && {
                let number = NumberParts::parse(text);
                number.is_some_and(|number| number.integral || types.has(TypeSet::NUMBER))
            }
        }
    }
}

/// Returns whether a spelling of null begins with `text`.
pub(crate) fn may_be_null(text: &str) -> bool {
    NULLS.iter().any(|null| null.starts_with(text))
}

/// Returns the sign of a number, and its digits without leading zeros.
fn without_zeros(text: &str) -> (&'static str, &str) {
    let (sign, mut rest) = match text.as_bytes() {
        [b'-', b'0'..=b'9', ..] => ("-", &text[1..]),
        [b'+', b'0'..=b'9', ..] => ("", &text[1..]),
        _ => ("", text),
    };
    while let [b'0', b'0'..=b'9', ..] = rest.as_bytes() {
        rest = &rest[1..];
    }
    (sign, rest)
}

/// Returns whether `text` begins with a bracket of an object or array that `types` admit.
fn begins_container(text: &str, types: TypeSet) -> bool {
    types.has(TypeSet::OBJECT) && text.starts_with('{')
        || types.has(TypeSet::ARRAY) && text.starts_with(['[', '('])
}

/// Writes `text` as an object or array, if it is one or can be mended. Otherwise returns
/// [`Fit::Broken`] and writes nothing.
fn container(text: &str, out: &mut impl FnMut(&str)) -> Fit {
    if is_whole(text) {
        let _ = JsonScan::new().feed(text, out);
        Fit::Yes
    } else {
        match mend(text, out) {
            Mended::Yes => Fit::Mended,
            Mended::No if python(text, out) => Fit::Mended,
            Mended::No | Mended::TwoGuesses => Fit::Broken,
        }
    }
}

/// Writes a Python dict, list or tuple as JSON. Returns whether `text` is exactly one.
fn python(text: &str, out: &mut impl FnMut(&str)) -> bool {
    let dialect = ValueDialect::new(Syntax::Python, CallLimits::default());
    let (mut reader, mut json, mut at) = (ValueReader::new(ValueKind::Value), String::new(), 0);
    loop {
        match reader.feed(&dialect, &text[at..], &mut |piece| json.push_str(piece)) {
            Scanned::Noted { used, .. } => at = at.saturating_add(used),
            Scanned::End { used } if at.saturating_add(used) == text.len() => break,
            Scanned::End { .. } | Scanned::More { .. } | Scanned::Bad { .. } => return false,
        }
    }
    // A parenthesis may also enclose a scalar.
    let whole = json.starts_with(['{', '[']);
    if whole {
        out(&json);
    }
    whole
}

/// Writes `text` as JSON, as the wire declares it. A text without a bracket may be a string.
pub(crate) fn json(text: &str, mut out: impl FnMut(&str)) -> Fit {
    let value = text.trim_ascii();
    if !value.starts_with(['{', '[']) {
        return json_or_string(text, out);
    }
    match container(value, &mut out) {
        Fit::Broken => {
            string(text, &mut out);
            Fit::Broken
        }
        fit => fit,
    }
}

/// Writes `text` unchanged if it is JSON, or else as a string.
pub(crate) fn json_or_string(text: &str, mut out: impl FnMut(&str)) -> Fit {
    let value = text.trim_ascii();
    if matches!(value, "null" | "true" | "false") || NumberParts::parse(value).is_some() {
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

/// Returns whether `text` is exactly one JSON string.
pub(crate) fn is_string_literal(text: &str) -> bool {
    text.starts_with('"') && is_whole(text)
}

/// Returns whether `text`, without surrounding white space, is exactly one JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    let text = text.trim_ascii();
    text.starts_with('{') && is_whole(text)
}

/// Returns whether `text` is exactly one JSON string, array or object.
fn is_whole(text: &str) -> bool {
    JsonScan::new().feed(text, |_| {}) == Scanned::End { used: text.len() }
}

/// The properties of a JSON number.
struct NumberParts {
    /// Whether the value is an integer.
    integral: bool,
}

impl NumberParts {
    fn parse(text: &str) -> Option<Self> {
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
