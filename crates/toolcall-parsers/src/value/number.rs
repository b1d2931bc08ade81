//! Conversion of Python numbers to JSON by their digits, without rounding.
//!
//! ```text
//! +007    7          1_000   1000        .5   0.5
//! 0x1F    31         2j      JSON has no imaginary numbers
//! ```

use alloc::{format, string::String};

/// The reason why a text cannot become a JSON number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberFault {
    /// The text is not a number.
    NotOne,
    /// A number that JSON cannot express.
    Inexpressible,
}

/// Returns whether `byte` may continue the number `so_far`.
pub(super) fn continues(so_far: &str, byte: u8) -> bool {
    let signed =
        matches!(byte, b'+' | b'-') && so_far.ends_with(['e', 'E']) && !so_far.contains(['x', 'X']);
    signed || byte == b'.' || byte == b'_' || byte.is_ascii_alphanumeric()
}

/// Returns `text` in JSON's spelling: without plus sign and leading zeros, and with digits on both
/// sides of a point.
pub(super) fn to_json(text: &str) -> Result<String, NumberFault> {
    let (sign, text) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    if let Some(radix) = radix(text) {
        return based(sign, &text[2..], radix);
    }
    if let Some(imaginary) = text.strip_suffix(['j', 'J']) {
        return Err(to_json(imaginary).map_or(NumberFault::NotOne, |_| NumberFault::Inexpressible));
    }
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], &text[at..]),
        None => (text, ""),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let power = exponent.get(1..).unwrap_or("");
    let power = power.strip_prefix(['+', '-']).unwrap_or(power);
    let optional = |digits: &str| digits.is_empty() || is_digits(digits);
    let sound = optional(whole)
        && fraction.is_none_or(optional)
        && !(whole.is_empty() && fraction.is_none_or(str::is_empty))
        && (exponent.is_empty() || is_digits(power));
    if !sound {
        return Err(NumberFault::NotOne);
    }
    let mut json = String::from(sign);
    let significant = whole.trim_start_matches(['0', '_']);
    push_digits(&mut json, if significant.is_empty() { "0" } else { significant });
    if let Some(fraction) = fraction {
        json.push('.');
        push_digits(&mut json, if fraction.is_empty() { "0" } else { fraction });
    }
    push_digits(&mut json, exponent);
    Ok(json)
}

fn radix(text: &str) -> Option<u32> {
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => Some(16),
        [b'0', b'o' | b'O', ..] => Some(8),
        [b'0', b'b' | b'B', ..] => Some(2),
        _ => None,
    }
}

/// Returns the decimal spelling of an integer in another base. Fails if it needs more than 128
/// bits.
fn based(sign: &str, digits: &str, radix: u32) -> Result<String, NumberFault> {
    let digits = digits.strip_prefix('_').unwrap_or(digits);
    let mut value: u128 = 0;
    let mut fits = true;
    for (i, byte) in digits.bytes().enumerate() {
        if byte == b'_' && i > 0 {
            continue;
        }
        let digit = char::from(byte).to_digit(radix).ok_or(NumberFault::NotOne)?;
        match value.checked_mul(radix.into()).and_then(|v| v.checked_add(digit.into())) {
            Some(next) => value = next,
            None => fits = false,
        }
    }
    match digits {
        "" => Err(NumberFault::NotOne),
        _ if fits => Ok(format!("{sign}{value}")),
        _ => Err(NumberFault::Inexpressible),
    }
}

/// Returns whether `text` consists of digits, optionally with single `_` between them.
fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.split('_').all(is_plain_digits)
}

fn is_plain_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn push_digits(json: &mut String, digits: &str) {
    json.extend(digits.chars().filter(|&c| c != '_'));
}

#[cfg(test)]
mod tests {
    use super::{NumberFault, to_json};

    #[test]
    fn python_numbers_are_converted_without_losing_digits() {
        for (python, json) in [
            ("0", "0"),
            ("+2", "2"),
            ("-5", "-5"),
            ("007", "7"),
            ("-00", "-0"),
            ("1_000", "1000"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            (".5", "0.5"),
            ("-.5e-3", "-0.5e-3"),
            ("1.", "1.0"),
            ("1.e5", "1.0e5"),
            ("3.140", "3.140"),
            ("1E+5", "1E+5"),
            ("1e3", "1e3"),
            ("0x1F", "31"),
            ("-0b1_01", "-5"),
            ("0o17", "15"),
        ] {
            assert_eq!(to_json(python).as_deref(), Ok(json), "{python}");
        }
    }

    #[test]
    fn malformed_numbers_differ_from_numbers_json_lacks() {
        for text in
            ["1x", "1__0", "1_", ".", "-.", "1.2.3", "1e", "1ee5", "0x", "0xg", "e5", "--1", "1j2"]
        {
            assert_eq!(to_json(text), Err(NumberFault::NotOne), "{text}");
        }
        for text in ["2j", "1.5J", "0xfffffffffffffffffffffffffffffffff"] {
            assert_eq!(to_json(text), Err(NumberFault::Inexpressible), "{text}");
        }
    }
}
