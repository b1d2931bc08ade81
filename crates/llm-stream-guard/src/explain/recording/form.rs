//! Detection of a recording's form.
//!
//! ```text
//! data: {"choices":[...]}   Events
//! {"choices":[...]}         Lines
//! <think>Hm.</think>Hi      Text
//! ```

use std::borrow::Cow;

use serde_json::Value;

/// Starts of lines that only server-sent events have.
const FIELDS: [&[u8]; 4] = [b"data:", b"event:", b"id:", b":"];
/// Starts of lines that `curl -v` writes around the body.
const CURL: [&[u8]; 5] = [b"* ", b"> ", b"< ", b"{ [", b"} ["];

/// The form of a recording, with its bytes and without the output of curl.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form<'r> {
    /// Events as a server sends them.
    Events(Cow<'r, [u8]>),
    /// A JSON string or chunk in each line.
    Lines(Cow<'r, [u8]>),
    /// The model's text itself.
    Text(&'r [u8]),
}

/// Returns the form of a recording.
pub(super) fn form_of(bytes: &[u8]) -> Form<'_> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let body = match is_log(bytes) {
        true => Cow::Owned(without_log(bytes)),
        false => Cow::Borrowed(bytes),
    };
    let is_first = |line: &&[u8]| !line.trim_ascii().is_empty();
    let first = lines(&body).find(is_first).unwrap_or_default();
    if FIELDS.iter().any(|field| first.starts_with(field)) {
        return Form::Events(body);
    }
    if !first.is_empty() && lines(&body).all(is_json) {
        return Form::Lines(body);
    }
    // A log without a recording in it may be text of the model.
    Form::Text(bytes)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| matches!(byte, b'\n' | b'\r'))
}

fn is_json(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
        || match serde_json::from_slice(line) {
            Ok(Value::String(_)) => true,
            Ok(Value::Object(object)) => object.contains_key("choices"),
            _ => false,
        }
}

/// Whether `curl -v` or `curl -i` printed the bytes.
fn is_log(bytes: &[u8]) -> bool {
    let first = bytes.trim_ascii_start();
    first.starts_with(b"HTTP/") || CURL.iter().any(|start| first.starts_with(start))
}

/// Removes the lines that curl adds, and the headers of answers.
fn without_log(bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut in_headers = false;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        in_headers |= line.starts_with(b"HTTP/");
        if in_headers {
            in_headers = !line.trim_ascii().is_empty();
        } else if !CURL.iter().any(|start| line.starts_with(start)) {
            body.extend_from_slice(line);
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::{Form, form_of};

    #[test]
    fn the_first_line_and_all_lines_decide() {
        let text = |bytes: &'static [u8]| assert_eq!(form_of(bytes), Form::Text(bytes));
        text(b"");
        text(b"Hello.\ndata: 1");
        text(b"{\"name\": \"f\"}");
        text(b"{\"choices\": []}\nand text");
        text(b"> a quotation\nand more");
        for bytes in [&b"data: {}\n\n"[..], b"\n: family qwen3\n\ndata: {}\n", b"event: x"] {
            assert_eq!(form_of(bytes), Form::Events(bytes.into()));
        }
        for bytes in [&b"\"a\"\n\"b\"\n"[..], b"{\"choices\": []}"] {
            assert_eq!(form_of(bytes), Form::Lines(bytes.into()));
        }
    }

    #[test]
    fn lines_of_curl_are_left_out() {
        let log = b"* Connected to localhost\n> POST / HTTP/1.1\r\n> Accept: */*\r\n> \r\n\
            < HTTP/1.1 200 OK\r\n< content-type: text/event-stream\r\n< \r\n{ [5 bytes data]\n\
            data: {\"a\": 1}\n\ndata: [DONE]\n\n* Connection #0 left intact\n";
        let Form::Events(body) = form_of(log) else { panic!("no events") };
        assert!(body.trim_ascii().ends_with(b"data: [DONE]"));
        assert!(!body.windows(4).any(|bytes| bytes == b"POST" || bytes == b"200 "));
        let log = b"HTTP/1.1 200 OK\r\ncontent-type: x\r\n\r\n{\"choices\": []}";
        assert_eq!(form_of(log), Form::Lines(b"{\"choices\": []}"[..].into()));
    }
}
