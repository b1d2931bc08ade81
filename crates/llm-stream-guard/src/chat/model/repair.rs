//! Repair of JSON that some servers write and strict readers refuse.
//!
//! ```text
//! "a\ud83d"    half a surrogate pair, where a token ends inside a character   "a\ufffd"
//! -Infinity    a logarithm of zero, as Python writes it       the least number there is
//! 1e400        a number that no machine number holds          the greatest
//! NaN                                                         null
//! ```

use std::fmt::Write as _;

/// Returns `data` as strict JSON, or `None` if it needs no change.
pub(in crate::chat) fn repaired(data: &str) -> Option<String> {
    let mut out = String::with_capacity(data.len());
    let mut rest = data;
    while let Some(at) = rest.find(|sign: char| matches!(sign, '"' | '-' | '0'..='9' | 'N' | 'I')) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        rest = match from.strip_prefix('"') {
            Some(string) => {
                out.push('"');
                self::string(string, &mut out)
            }
            None => word(from, &mut out),
        };
    }
    out.push_str(rest);
    (out != data).then_some(out)
}

/// Copies the rest of a string, and returns the text after it.
fn string<'d>(mut rest: &'d str, out: &mut String) -> &'d str {
    while let Some(at) = rest.find(|sign: char| sign == '"' || sign == '\\' || sign < ' ') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let escape = from.strip_prefix('\\');
        let len = match (escape, surrogate(from)) {
            (None, _) if from.starts_with('"') => {
                out.push('"');
                return from.get(1..).unwrap_or_default();
            }
            (None, _) => {
                let sign = from.chars().next().unwrap_or_default();
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(sign));
                1
            }
            (Some(_), Some(0xD800..=0xDBFF))
                if from.get(6..).and_then(surrogate).is_some_and(|low| low >= 0xDC00) =>
            {
                out.push_str(from.get(..12).unwrap_or_default());
                12
            }
            (Some(_), Some(_)) => {
                out.push_str("\\ufffd");
                6
            }
            (Some(escape), None) => {
                let len = escape.chars().next().map_or(0, char::len_utf8).saturating_add(1);
                out.push_str(from.get(..len).unwrap_or_default());
                len
            }
        };
        rest = from.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    ""
}

/// Returns the surrogate that an escape at the beginning of `text` encodes.
pub(in crate::chat) fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}

/// Copies a number, or Python's word for one (`NaN`, `Infinity`), and returns the text after it.
fn word<'d>(from: &'d str, out: &mut String) -> &'d str {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '-' | '.');
    let len = from.find(|sign| !is_part(sign)).unwrap_or(from.len());
    let (word, rest) = from.split_at(len);
    let greatest =
        if word.starts_with('-') { "-1.7976931348623157e+308" } else { "1.7976931348623157e+308" };
    let is_number = word.trim_start_matches('-').starts_with(|sign: char| sign.is_ascii_digit());
    out.push_str(match word {
        "NaN" => "null",
        "Infinity" | "-Infinity" => greatest,
        _ if is_number
            && !cfg!(feature = "exact-numbers")
            && word.parse::<f64>().is_ok_and(f64::is_infinite) =>
        {
            greatest
        }
        _ => word,
    });
    rest
}

#[cfg(test)]
mod tests {
    use super::repaired;

    #[test]
    fn repair_changes_only_json_that_strict_parsers_reject() {
        for (data, expected) in [
            (r#"{"a":"x\ud83d"}"#, Some(r#"{"a":"x\ufffd"}"#)),
            (
                r#"["\ude00\ud83d\ude00","\ud83d\ud83d\ude00"]"#,
                Some(r#"["\ufffd\ud83d\ude00","\ufffd\ud83d\ude00"]"#),
            ),
            (
                r#"{"p":[-Infinity,NaN,Infinity]}"#,
                Some(r#"{"p":[-1.7976931348623157e+308,null,1.7976931348623157e+308]}"#),
            ),
            ("[\"a\tb\"]", Some(r#"["a\u0009b"]"#)),
            (r#"{"NaN":"NaN \\ud83d \" -Infinity","n":-1.5e-7}"#, None),
            (r#"{"a":"\ud83d\ude00é"}"#, None),
            (r#"{"a":"\ud83"#, None),
            ("", None),
            ("\"\\", None),
        ] {
            assert_eq!(repaired(data).as_deref(), expected, "{data}");
        }
        if !cfg!(feature = "exact-numbers") {
            assert_eq!(repaired("[1e400]").as_deref(), Some("[1.7976931348623157e+308]"));
        }
    }
}
