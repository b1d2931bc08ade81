//! Escapes of one character that a server divides between two events.
//!
//! ```text
//! {"delta": {"content": "a\ud83d"}}   the half is held, and "a" is read
//! {"delta": {"content": "\ude00b"}}   the whole pair is read: "\ud83d\ude00b"
//! ```

use crate::chat::model::repair::surrogate;

/// Names of members whose text continues in the same member of the next event.
const TEXTS: [&str; 5] = ["content", "reasoning_content", "reasoning", "text", "arguments"];

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// Joins halves of surrogate pairs: an escape at the end of a text with that at the start of the
/// next event's text.
///
/// ```
/// use llm_stream_guard::chat::SplitEscapes;
/// let mut split = SplitEscapes::default();
/// assert_eq!(split.join(r#"{"content":"a\ud83d"}"#).as_deref(), Some(r#"{"content":"a"}"#));
/// let whole = split.join(r#"{"content":"\ude00b"}"#);
/// assert_eq!(whole.as_deref(), Some(r#"{"content":"\ud83d\ude00b"}"#));
/// assert_eq!(split.join(r#"{"content":"c"}"#), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct SplitEscapes {
    /// The first half that waits in each member.
    waiting: [Option<[u8; ESCAPE]>; TEXTS.len()],
}

impl SplitEscapes {
    /// Whether a half waits for the next event.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting.iter().any(Option::is_some)
    }

    /// Returns an event's data with whole pairs, or `None` if it needs no change. A half whose other
    /// half does not follow becomes U+FFFD.
    pub fn join(&mut self, data: &str) -> Option<String> {
        if !self.is_waiting() && !data.contains("\\ud") && !data.contains("\\uD") {
            return None;
        }
        let (mut out, mut rest) = (String::with_capacity(data.len() + ESCAPE), data);
        let mut member: Option<usize> = None;
        while let Some((before, from)) = rest.split_once('"') {
            let string = JsonText::of(from);
            out.push_str(before);
            out.push('"');
            let behind = from.get(string.len..).unwrap_or_default();
            let is_name =
                behind.get(1..).is_some_and(|behind| behind.trim_start().starts_with(':'));
            let mut text = from.get(..string.len).unwrap_or_default();
            match member.filter(|_| !is_name).and_then(|at| self.waiting.get_mut(at)) {
                Some(waiting) if !text.is_empty() => {
                    if let Some(half) = waiting.take() {
                        let is_pair = surrogate(text).is_some_and(|low| low >= 0xDC00);
                        let half = std::str::from_utf8(&half).unwrap_or_default();
                        out.push_str(if is_pair { half } else { "\\ufffd" });
                    }
                    if let Some(at) = string.half {
                        let (start, half) = text.split_at(at);
                        *waiting = half.as_bytes().try_into().ok();
                        text = start;
                    }
                }
                _ => {}
            }
            member = if is_name { TEXTS.iter().position(|name| *name == text) } else { None };
            out.push_str(text);
            rest = behind;
            // The closing quotation mark, unless the data was cut.
            if let Some(behind) = rest.strip_prefix('"') {
                out.push('"');
                rest = behind;
            }
        }
        out.push_str(rest);
        (out != data).then_some(out)
    }
}

/// The extent of a JSON string without its quotation marks.
struct JsonText {
    len: usize,
    /// The place of the first half of a pair at the end.
    half: Option<usize>,
}

impl JsonText {
    /// Measures the string that begins with `text`.
    fn of(text: &str) -> Self {
        let (mut at, mut half) = (0, None);
        while let Some(found) = text.get(at..).and_then(|rest| rest.find(['"', '\\'])) {
            if found > 0 {
                half = None;
            }
            at += found;
            let rest = text.get(at..).unwrap_or_default();
            if rest.starts_with('"') {
                return Self { len: at, half };
            }
            half = match (surrogate(rest), half) {
                (Some(unit), _) if unit < 0xDC00 => Some(at),
                _ => None,
            };
            let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
            at += if surrogate(rest).is_some() { ESCAPE } else { 1 + escaped };
        }
        Self { len: text.len(), half: None }
    }
}

#[cfg(test)]
mod tests {
    use super::SplitEscapes;

    fn joined(events: &[&str]) -> Vec<String> {
        let mut split = SplitEscapes::default();
        events.iter().map(|it| split.join(it).unwrap_or_else(|| (*it).to_owned())).collect()
    }

    #[test]
    fn halves_in_consecutive_events_are_joined() {
        for (events, expected) in [
            (
                [r#"{"content":"\ud83d"}"#, r#"{"content":"\ude00"}"#],
                [r#"{"content":""}"#, r#"{"content":"\ud83d\ude00"}"#],
            ),
            (
                [r#"{"content":"\ud83d"}"#, r#"{"content":"x"}"#],
                [r#"{"content":""}"#, r#"{"content":"\ufffdx"}"#],
            ),
            (
                [r#"{"content":"\ud83d"}"#, r#"{"role":"\ude00","content":""}"#],
                [r#"{"content":""}"#, r#"{"role":"\ude00","content":""}"#],
            ),
            (
                [r#"{"arguments":"\\ud83d"}"#, r#"{"token":"\ud83d"}"#],
                [r#"{"arguments":"\\ud83d"}"#, r#"{"token":"\ud83d"}"#],
            ),
            (
                [r#"{"text":"\ud83d\ude00"}"#, r#"{"text":"\ud83da"}"#],
                [r#"{"text":"\ud83d\ude00"}"#, r#"{"text":"\ud83da"}"#],
            ),
            ([r#"{"text":"\ud83d"#, "\""], [r#"{"text":"\ud83d"#, "\""]),
        ] {
            assert_eq!(joined(&events), expected, "{events:?}");
        }
    }
}
