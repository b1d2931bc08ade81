//! Detection of the input's format.

use crate::args::InputKind;
use crate::limits::MAX_FORMAT_HEAD;

/// Whether to wait for more lines after one suggests `jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Decides at the first chunk object, since more lines may arrive late.
    Live,
    /// Examines every line of the head.
    Head,
}

/// A detector of the format: `sse`, `jsonl` or `text`. The examined bytes are kept.
///
/// `sse`: the first non-blank line starts with `data:`, `event:` or `:`. `jsonl`: every line of the
/// head is a JSON string or an object with `choices`. In a pipe, only lines up to the first such
/// object are examined. All other input is `text`, which is often decided by the first byte.
#[derive(Debug, Clone)]
pub(crate) struct Detector {
    head: Vec<u8>,
    patience: Patience,
    /// Offset up to which all lines were `jsonl`.
    checked: usize,
}

impl Detector {
    /// Creates a detector without input.
    #[must_use]
    pub(crate) fn new(patience: Patience) -> Self {
        Self { head: Vec::new(), patience, checked: 0 }
    }

    /// Adds bytes, and returns the format once it is certain.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<InputKind> {
        let seen = self.head.len();
        self.head.extend_from_slice(bytes);
        self.decide(seen, false)
    }

    /// Ends the input, and returns its format.
    pub(crate) fn finish(&mut self) -> InputKind {
        self.decide(self.checked, true).unwrap_or(InputKind::Text)
    }

    /// Returns all bytes so far.
    #[must_use]
    pub(crate) fn into_head(self) -> Vec<u8> {
        self.head
    }

    /// Decides after new bytes. The `seen` earlier bytes have no line end after `checked`.
    fn decide(&mut self, seen: usize, ended: bool) -> Option<InputKind> {
        if self.checked == 0 {
            let mark = b"\xEF\xBB\xBF";
            if !ended && self.head.len() < mark.len() && mark.starts_with(&self.head) {
                return None;
            }
            let text = self.head.strip_prefix(mark).unwrap_or(&self.head);
            let first = text.split(|&byte| matches!(byte, b'\n' | b'\r'));
            let mut first = first.skip_while(|line| line.trim_ascii().is_empty());
            let Some(line) = first.next() else { return self.give_up() };
            let cut = !ended && first.next().is_none();
            for start in [b"data:".as_slice(), b"event:", b":"] {
                if line.starts_with(start) {
                    return Some(InputKind::Sse);
                }
                if cut && start.starts_with(line) {
                    return None;
                }
            }
            if !matches!(line.trim_ascii_start().first(), Some(b'"' | b'{')) {
                return Some(InputKind::Text);
            }
        }
        self.check_lines(seen, ended)
    }

    fn check_lines(&mut self, seen: usize, ended: bool) -> Option<InputKind> {
        let mut from = seen.max(self.checked);
        while let Some(end) = self.head[from..].iter().position(|&byte| byte == b'\n') {
            let line = &self.head[self.checked..from + end];
            match is_jsonl(line) {
                None => return Some(InputKind::Text),
                Some(JsonLine::Chunk) if self.patience == Patience::Live => {
                    return Some(InputKind::Jsonl);
                }
                Some(_) => from += end + 1,
            }
            self.checked = from;
        }
        if ended {
            return Some(match is_jsonl(&self.head[self.checked..]) {
                Some(_) => InputKind::Jsonl,
                None => InputKind::Text,
            });
        }
        self.give_up()
    }

    /// Decides without more lines if the head has its maximum length.
    fn give_up(&self) -> Option<InputKind> {
        let kind = if self.checked > 0 { InputKind::Jsonl } else { InputKind::Text };
        (self.head.len() >= MAX_FORMAT_HEAD).then_some(kind)
    }
}

enum JsonLine {
    Blank,
    String,
    Chunk,
}

fn is_jsonl(line: &[u8]) -> Option<JsonLine> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Some(JsonLine::Blank);
    }
    match serde_json::from_slice(line).ok()? {
        serde_json::Value::String(_) => Some(JsonLine::String),
        serde_json::Value::Object(object) if object.contains_key("choices") => {
            Some(JsonLine::Chunk)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Detector, Patience};
    use crate::args::InputKind;

    fn kind(input: &str) -> InputKind {
        let mut detector = Detector::new(Patience::Head);
        let pieces = input.as_bytes().chunks(1);
        let early = pieces.map(|piece| detector.push(piece)).find(Option::is_some).flatten();
        let by_bytes = early.unwrap_or_else(|| detector.finish());
        let mut detector = Detector::new(Patience::Head);
        let whole = detector.push(input.as_bytes()).unwrap_or_else(|| detector.finish());
        assert_eq!(by_bytes, whole, "{input:?}");
        whole
    }

    #[test]
    fn input_kind_is_detected_from_the_first_lines() {
        assert_eq!(kind("\n \r\ndata: {}\n"), InputKind::Sse);
        assert_eq!(kind("\u{FEFF}: ping\n\n"), InputKind::Sse);
        assert_eq!(kind("event: x"), InputKind::Sse);
        assert_eq!(kind("dat"), InputKind::Text);
        assert_eq!(kind("database\n"), InputKind::Text);
        assert_eq!(kind("\"a\"\n\n\"b\""), InputKind::Jsonl);
        assert_eq!(kind("\u{FEFF}{\"choices\": []}\n"), InputKind::Jsonl);
        assert_eq!(kind("{\"choices\": []}\nnot json\n"), InputKind::Text);
        assert_eq!(kind("{\"name\": \"f\", \"arguments\": {}}"), InputKind::Text);
        assert_eq!(kind("\"To be\" he said"), InputKind::Text);
        assert_eq!(kind(""), InputKind::Text);
    }

    #[test]
    fn live_input_kind_is_detected_from_the_first_line() {
        let mut detector = Detector::new(Patience::Live);
        assert_eq!(detector.push(b"{\"choices\": []}"), None);
        assert_eq!(detector.push(b"\n"), Some(InputKind::Jsonl));
        assert_eq!(Detector::new(Patience::Live).push(b"H"), Some(InputKind::Text));
    }
}
