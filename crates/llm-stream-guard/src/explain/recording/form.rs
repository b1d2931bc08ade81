//! Detection of a recording's form, as its bytes arrive.
//!
//! ```text
//! data: {"choices":[...]}   Events
//! {"choices":[...]}         Lines
//! <think>Hm.</think>Hi      Text
//! ```
//!
//! What `curl -v` and `curl -i` write around a body is left out.

use serde_json::Value;

use crate::limits::MAX_FORMAT_HEAD;

/// The form of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingForm {
    /// Events as a server sends them.
    Events,
    /// A JSON string or chunk in each line.
    Lines,
    /// The model's text itself.
    Text,
}

/// Whether to wait for more lines after one suggests [`RecordingForm::Lines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Decides at the first chunk object, since more lines may arrive late.
    Live,
    /// Examines every line of the head.
    Head,
}

/// The mark of UTF-8 at the beginning of a file.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Fields of server-sent events that begin a stream.
const EVENT: [&[u8]; 3] = [b"data:", b"event:", b":"];
/// Fields of server-sent events that may come before the others. Text may begin so, too.
const BEFORE: [&[u8]; 2] = [b"id:", b"retry:"];
/// Starts of lines that `curl -v` writes around the body.
const CURL: [&[u8]; 5] = [b"* ", b"> ", b"< ", b"{ [", b"} ["];
/// The beginning of an answer's headers.
const STATUS: &[u8] = b"HTTP/";

/// A detector of a recording's form. The bytes that it examines are kept.
///
/// - Events: the first line that is not blank begins with `data:`, `event:` or `:`, perhaps after
///   lines with `id:` or `retry:`.
/// - Lines: every line of the head is a JSON string or an object with `choices`. If more may arrive
///   late, only lines up to the first such object are examined.
/// - Text: all other input, often by the first byte.
///
/// ```
/// use llm_stream_guard::explain::{FormDetector, Patience, RecordingForm};
/// let mut detector = FormDetector::new(Patience::Live);
/// assert_eq!(detector.push(b"id: 1\nda"), None);
/// assert_eq!(detector.push(b"ta: {}\n"), Some(RecordingForm::Events));
/// let (head, log) = detector.into_parts();
/// assert_eq!((&head[..], log.is_none()), (&b"id: 1\ndata: {}\n"[..], true));
/// ```
#[derive(Debug, Clone)]
pub struct FormDetector {
    head: Vec<u8>,
    patience: Patience,
    /// The kind of the lines read so far.
    seen: Seen,
    /// The end of the last whole line.
    checked: usize,
    /// The form, once it is certain, and whether curl's lines are around it.
    found: Option<(RecordingForm, bool)>,
}

/// The lines read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Only lines that are blank.
    Nothing,
    /// Fields that may come before an event.
    Fields,
    /// Lines of JSON. `is_log` is set after lines of curl.
    Json { is_log: bool },
    /// Lines of curl, and whether an answer's or a request's first line is among them.
    Log { has_status: bool, in_headers: bool },
}

impl FormDetector {
    /// Creates a detector without input.
    #[must_use]
    pub fn new(patience: Patience) -> Self {
        Self { head: Vec::new(), patience, seen: Seen::Nothing, checked: 0, found: None }
    }

    /// Adds bytes, and returns the form once it is certain.
    pub fn push(&mut self, bytes: &[u8]) -> Option<RecordingForm> {
        self.head.extend_from_slice(bytes);
        self.decide(false)
    }

    /// Ends the input, and returns its form.
    pub fn finish(&mut self) -> RecordingForm {
        self.decide(true).unwrap_or(RecordingForm::Text)
    }

    /// Returns all bytes so far, and a filter for those that follow if curl's lines are around the
    /// body. These bytes are then without those lines.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u8>, Option<LogFilter>) {
        match self.found {
            Some((RecordingForm::Events | RecordingForm::Lines, true)) => {
                let (mut filter, mut body) = (LogFilter::default(), Vec::new());
                filter.push(&self.head, &mut body);
                (body, Some(filter))
            }
            _ => (self.head, None),
        }
    }

    fn decide(&mut self, ended: bool) -> Option<RecordingForm> {
        while self.found.is_none() {
            let rest = self.head.get(self.checked..).unwrap_or_default();
            if self.checked == 0 && !ended && rest.len() < MARK.len() && MARK.starts_with(rest) {
                break;
            }
            let end = rest.iter().position(|byte| *byte == b'\n');
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let mark = if self.checked == 0 { MARK } else { b"" };
            let line = line.strip_prefix(mark).unwrap_or(line);
            let whole = end.is_some() || ended;
            self.found = match self.line(line, whole) {
                LineStep::Found(form) => Some((form, self.is_log())),
                LineStep::Next(seen) => {
                    self.seen = seen;
                    None
                }
                LineStep::More => None,
            };
            match end {
                Some(end) if self.found.is_none() => self.checked += end + 1,
                _ => break,
            }
        }
        if self.found.is_none() && (ended || self.head.len() >= MAX_FORMAT_HEAD) {
            let is_json = matches!(self.seen, Seen::Json { .. });
            let form = if is_json { RecordingForm::Lines } else { RecordingForm::Text };
            self.found = Some((form, self.is_log()));
        }
        self.found.map(|(form, _)| form)
    }

    fn is_log(&self) -> bool {
        matches!(self.seen, Seen::Log { .. } | Seen::Json { is_log: true })
    }

    /// Examines a line, whose end may be missing.
    fn line(&self, line: &[u8], whole: bool) -> LineStep {
        let begins = |starts: &[&[u8]]| starts.iter().any(|start| line.starts_with(start));
        let may = |starts: &[&[u8]]| !whole && starts.iter().any(|start| start.starts_with(line));
        let is_blank = line.trim_ascii().is_empty();
        let mut is_log = false;
        match self.seen {
            _ if is_blank && !whole => return LineStep::More,
            Seen::Log { has_status, in_headers } => {
                if is_blank || in_headers {
                    return LineStep::Next(Seen::Log {
                        has_status,
                        in_headers: in_headers && !is_blank,
                    });
                }
                if may(&CURL) || may(&[STATUS]) {
                    return LineStep::More;
                }
                if begins(&CURL) || begins(&[STATUS]) {
                    return self.log(line, whole);
                }
                if !has_status {
                    return LineStep::Found(RecordingForm::Text);
                }
                is_log = true;
            }
            seen if is_blank => return LineStep::Next(seen),
            Seen::Json { is_log: log } => return self.json(line, whole, log),
            Seen::Nothing if begins(&CURL) || begins(&[STATUS]) => return self.log(line, whole),
            Seen::Nothing if may(&CURL) || may(&[STATUS]) => return LineStep::More,
            Seen::Nothing | Seen::Fields => {}
        }
        if begins(&EVENT) {
            return LineStep::Found(RecordingForm::Events);
        }
        if may(&EVENT) || may(&BEFORE) {
            return LineStep::More;
        }
        if begins(&BEFORE) {
            return match (is_log, whole) {
                (true, _) => LineStep::Found(RecordingForm::Events),
                (false, true) => LineStep::Next(Seen::Fields),
                (false, false) => LineStep::More,
            };
        }
        match (self.seen, line.trim_ascii_start().first()) {
            (Seen::Nothing | Seen::Log { .. }, Some(b'"' | b'{')) => self.json(line, whole, is_log),
            _ => LineStep::Found(RecordingForm::Text),
        }
    }

    /// Examines a line of curl.
    fn log(&self, line: &[u8], whole: bool) -> LineStep {
        let before = matches!(self.seen, Seen::Log { has_status: true, .. });
        let in_headers = line.starts_with(STATUS);
        let names = line.windows(STATUS.len()).any(|part| part == STATUS);
        match whole {
            true => LineStep::Next(Seen::Log { has_status: before || names, in_headers }),
            false => LineStep::More,
        }
    }

    fn json(&self, line: &[u8], whole: bool, is_log: bool) -> LineStep {
        if !whole {
            return LineStep::More;
        }
        if is_log && CURL.iter().any(|start| line.starts_with(start)) {
            return LineStep::Next(Seen::Json { is_log });
        }
        match serde_json::from_slice(line) {
            Ok(Value::String(_)) => LineStep::Next(Seen::Json { is_log }),
            Ok(Value::Object(object)) if object.contains_key("choices") => match self.patience {
                Patience::Live => LineStep::Found(RecordingForm::Lines),
                Patience::Head => LineStep::Next(Seen::Json { is_log }),
            },
            _ => LineStep::Found(RecordingForm::Text),
        }
    }
}

/// The result of examining a line.
enum LineStep {
    Found(RecordingForm),
    /// The line is whole, and more lines decide.
    Next(Seen),
    /// The line's end decides.
    More,
}

/// Removes the lines that curl writes around a body, and the headers of answers.
#[derive(Debug, Clone, Default)]
pub struct LogFilter {
    /// The start of a line that may be curl's.
    start: Vec<u8>,
    line: LogLine,
    in_headers: bool,
}

/// The part of a line that follows its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LogLine {
    /// The start is not decided.
    #[default]
    Undecided,
    Kept,
    Left,
}

impl LogFilter {
    /// Appends to `body` what `bytes` has of it. A start of a line that may be curl's waits.
    pub fn push(&mut self, bytes: &[u8], body: &mut Vec<u8>) {
        for &byte in bytes {
            match self.line {
                LogLine::Undecided => self.start.push(byte),
                LogLine::Kept => body.push(byte),
                LogLine::Left => {}
            }
            if self.line == LogLine::Undecided {
                self.decide(byte == b'\n', body);
            }
            if byte == b'\n' {
                self.line = LogLine::Undecided;
            }
        }
    }

    /// Ends the input, and appends what waits.
    pub fn finish(&mut self, body: &mut Vec<u8>) {
        self.decide(true, body);
        *self = Self::default();
    }

    fn decide(&mut self, whole: bool, body: &mut Vec<u8>) {
        let (start, is_blank) = (&self.start, self.start.trim_ascii().is_empty());
        if self.in_headers {
            if !is_blank || whole {
                self.in_headers = !is_blank;
                self.line = LogLine::Left;
                self.start.clear();
            }
            return;
        }
        let mut marks = CURL.iter().chain([&STATUS]);
        if marks.clone().any(|mark| start.starts_with(mark)) {
            self.in_headers = start.starts_with(STATUS);
            self.line = LogLine::Left;
            self.start.clear();
        } else if whole || !marks.any(|mark| mark.starts_with(start)) {
            body.append(&mut self.start);
            self.line = LogLine::Kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FormDetector, Patience, RecordingForm};

    /// The form of a recording and its body, which are the same in one piece and byte by byte.
    fn read(bytes: &[u8]) -> (RecordingForm, Vec<u8>) {
        let by = |size: usize| {
            let mut detector = FormDetector::new(Patience::Head);
            let mut pieces = bytes.chunks(size);
            let early = pieces.by_ref().find_map(|piece| detector.push(piece));
            let form = early.unwrap_or_else(|| detector.finish());
            let (mut body, log) = detector.into_parts();
            match log {
                None => pieces.for_each(|piece| body.extend_from_slice(piece)),
                Some(mut log) => {
                    pieces.for_each(|piece| log.push(piece, &mut body));
                    log.finish(&mut body);
                }
            }
            (form, body)
        };
        let whole = by(usize::MAX);
        assert_eq!(by(1), whole, "{:?}", String::from_utf8_lossy(bytes));
        whole
    }

    #[test]
    fn first_lines_decide_the_form() {
        for (bytes, form) in [
            (&b""[..], RecordingForm::Text),
            (b"Hello.\ndata: 1", RecordingForm::Text),
            (b"dat", RecordingForm::Text),
            (b"database\n", RecordingForm::Text),
            (b"id: 1\nis my answer", RecordingForm::Text),
            (b"id: 1", RecordingForm::Text),
            (b"{\"name\": \"f\", \"arguments\": {}}", RecordingForm::Text),
            (b"{\"choices\": []}\nand text", RecordingForm::Text),
            (b"\"To be\" he said", RecordingForm::Text),
            (b"> a quotation\nand more", RecordingForm::Text),
            (b"* one\n* two\n", RecordingForm::Text),
            (b"data: {}\n\n", RecordingForm::Events),
            (b"\n \r\ndata: {}\n", RecordingForm::Events),
            (b"\n: family qwen3\n\ndata: {}\n", RecordingForm::Events),
            (b"\xEF\xBB\xBF: ping\n\n", RecordingForm::Events),
            (b"event: x", RecordingForm::Events),
            (b"id: 1\ndata: {}\n\n", RecordingForm::Events),
            (b"retry: 5\r\nid: 1\r\nevent: x\r\n", RecordingForm::Events),
            (b"\"a\"\n\n\"b\"", RecordingForm::Lines),
            (b"\xEF\xBB\xBF{\"choices\": []}\n", RecordingForm::Lines),
        ] {
            assert_eq!(read(bytes), (form, bytes.to_vec()));
        }
    }

    #[test]
    fn live_lines_are_decided_by_the_first_chunk() {
        let mut detector = FormDetector::new(Patience::Live);
        assert_eq!(detector.push(b"{\"choices\": []}"), None);
        assert_eq!(detector.push(b"\n"), Some(RecordingForm::Lines));
        assert_eq!(FormDetector::new(Patience::Live).push(b"He"), Some(RecordingForm::Text));
    }

    #[test]
    fn lines_of_curl_are_left_out() {
        let log = b"* Connected to localhost\n> POST / HTTP/1.1\r\n> Accept: */*\r\n> \r\n\
            < HTTP/1.1 200 OK\r\n< content-type: text/event-stream\r\n< \r\n{ [5 bytes data]\n\
            id: 1\ndata: {\"a\": 1}\n\ndata: [DONE]\n\n* Connection #0 left intact\n";
        let body = b"id: 1\ndata: {\"a\": 1}\n\ndata: [DONE]\n\n".to_vec();
        assert_eq!(read(log), (RecordingForm::Events, body));
        let log = b"HTTP/1.1 200 OK\r\ncontent-type: x\r\n\r\n{\"choices\": []}";
        assert_eq!(read(log), (RecordingForm::Lines, b"{\"choices\": []}".to_vec()));
        // A log without a recording in it may be text of the model.
        let log = b"> GET / HTTP/1.1\n>\nHello.\n";
        assert_eq!(read(log), (RecordingForm::Text, log.to_vec()));
    }
}
