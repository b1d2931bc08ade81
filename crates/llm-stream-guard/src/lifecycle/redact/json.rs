//! Redaction of JSON text. Only strings change; every other byte is kept.
//!
//! ```text
//! {"to": "a\u0040b.org", "n": 1}   becomes {"to": "[email]", "n": 1}
//! ```

use super::{MatchTooLong, Redactor};
use crate::json::StringTracker;

/// Redacts every string in `json`, including keys, and appends the result to `out`. Strings are
/// decoded before the search and escaped after a change, so that the result is JSON. The readable
/// part of malformed or cut JSON is redacted.
pub(super) fn redact(
    redactor: &mut Redactor,
    json: &str,
    out: &mut String,
) -> Result<(), MatchTooLong> {
    let mut result = Ok(());
    let mut rest = json;
    while let Some(quote) = rest.find('"') {
        out.push_str(&rest[..quote]);
        rest = &rest[quote..];
        let end = string_end(rest);
        result = result.and(redact_string(redactor, &rest[..end], out));
        rest = &rest[end..];
    }
    out.push_str(rest);
    result
}

/// Returns the length of the string at the beginning of `text`, including its quotation marks.
fn string_end(text: &str) -> usize {
    let mut strings = StringTracker::default();
    let end = text.bytes().position(|byte| {
        strings.take(byte);
        !strings.is_open()
    });
    end.map_or(text.len(), |at| at + 1)
}

fn redact_string(
    redactor: &mut Redactor,
    literal: &str,
    out: &mut String,
) -> Result<(), MatchTooLong> {
    let (decoded, rest) = decoded(literal);
    let text = decoded.as_deref().unwrap_or(literal);
    let mut seen = String::new();
    let result = redactor.redact(text, &mut seen);
    if seen == text {
        out.push_str(literal);
    } else if decoded.is_some() {
        let escaped = serde_json::Value::String(seen).to_string();
        let open = escaped.strip_suffix('"').unwrap_or(&escaped);
        let closed = if rest.is_some() { open } else { &escaped };
        out.push_str(closed);
        out.push_str(rest.unwrap_or(""));
    } else {
        out.push_str(&seen);
    }
    result
}

/// Returns the text of a string, if it can be read. For a string that was cut inside an escape, the
/// beginning of the escape is also returned.
fn decoded(literal: &str) -> (Option<String>, Option<&str>) {
    if let Ok(text) = serde_json::from_str(literal) {
        return (Some(text), None);
    }
    // The longest cut escape is a high surrogate and most of a low one.
    let cuts = (literal.len().saturating_sub(11)..=literal.len()).rev();
    let mut cuts = cuts.filter(|&at| literal.is_char_boundary(at));
    let cut = cuts.find_map(|at| {
        let closed = format!("{}\"", &literal[..at]);
        Some((serde_json::from_str(&closed).ok()?, &literal[at..]))
    });
    cut.map_or((None, None), |(text, rest)| (Some(text), Some(rest)))
}

#[cfg(test)]
mod tests {
    use super::redact;
    use crate::{jail_match::Jail, lifecycle::Redactor};

    fn redacted(json: &str) -> String {
        let jail = Jail::builder().start("<").end(">").build().unwrap();
        let mut out = String::new();
        redact(&mut Redactor::new(jail, "\"x\""), json, &mut out).unwrap();
        out
    }

    #[test]
    fn only_matching_json_strings_are_redacted() {
        let json = r#"{"a" : [1.50, 1e999, "\u00e9 kept"], "b\"<k>": "p <s\u003e q"}"#;
        let expected = r#"{"a" : [1.50, 1e999, "\u00e9 kept"], "b\"\"x\"": "p \"x\" q"}"#;
        assert_eq!(redacted(json), expected);
    }

    #[test]
    fn truncated_json_string_is_redacted_without_its_closing_quote() {
        assert_eq!(redacted(r#"{"a": "open <secret"#), r#"{"a": "open \"x\""#);
        assert_eq!(redacted(r#"{"a": "\u003cs> \u00"#), r#"{"a": "\"x\" \u00"#);
    }
}
