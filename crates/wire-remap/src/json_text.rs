//! Remapping of the text of JSON documents, where markers may be spelled with escapes.
//!
//! The arguments of a native tool call are JSON text inside a JSON string. A model or a library may
//! write `<\/tool_call>` or `\u003ctool_call>` there. A chat template that parses the arguments
//! would still show the reserved marker to the model. Escapes are therefore resolved before the
//! scan. The spelling of text that the scan does not change is restored:
//!
//! ```text
//! input                     {"a": "\u00e9 <\/tool_call>"}
//! text given to the scan     é </tool_call>
//! segments                  text " é ", encoded marker "[[/CALL]]"
//! output                    {"a": "\u00e9 [[/CALL]]"}
//! ```
//!
//! JSON is not parsed otherwise, so malformed documents are remapped as well. A quotation mark ends
//! the text given to the scan, so that no marker crosses the end of a string.

use alloc::{
    borrow::{Cow, ToOwned},
    collections::VecDeque,
    format,
    string::String,
};

use crate::{
    scan::Scanner,
    segment::{Segment, SegmentKind, Syntax},
};

/// A scanner and, for JSON text, the spelling of its input.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    scanner: Scanner,
    json: Option<JsonInput>,
}

#[derive(Debug, Clone, Default)]
struct JsonInput {
    /// The beginning of an escape whose end has not arrived; at most 11 bytes.
    partial: String,
    spelling: Spelling,
}

/// The escapes of the text that the scanner has received and not yet reported.
#[derive(Debug, Clone, Default)]
struct Spelling {
    escapes: VecDeque<Escape>,
    /// Number of bytes given to the scanner.
    given: u64,
    /// Number of bytes the scanner reported.
    reported: u64,
}

/// An escape of the input, at its offset in the unescaped text.
#[derive(Debug, Clone)]
struct Escape {
    at: u64,
    value: char,
    raw: String,
}

impl Channel {
    pub(crate) fn new(scanner: Scanner, syntax: Syntax) -> Self {
        Self { scanner, json: (syntax == Syntax::Json).then(JsonInput::default) }
    }

    pub(crate) fn reset(&mut self) {
        self.scanner.reset();
        if let Some(json) = &mut self.json {
            *json = JsonInput::default();
        }
    }

    /// Returns the number of input bytes received and not yet reported.
    pub(crate) fn held(&self) -> usize {
        let Some(json) = &self.json else { return self.scanner.held() };
        // Every escape is at least as long as the UTF-8 text of its value.
        let respelled = json.spelling.escapes.iter().map(|e| e.raw.len() - e.value.len_utf8());
        self.scanner.held() + respelled.sum::<usize>() + json.partial.len()
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json.is_some()
    }

    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// Scans the next chunk and reports the segments that no later text can change.
    pub(crate) fn push(&mut self, chunk: &str, on: &mut impl FnMut(Segment<'_>)) {
        let Self { scanner, json } = self;
        let Some(json) = json else { return scanner.push(chunk, on) };
        let joined;
        let mut rest = chunk;
        if !json.partial.is_empty() {
            joined = core::mem::take(&mut json.partial) + chunk;
            rest = &joined;
        }
        let spelling = &mut json.spelling;
        while let Some(at) = rest.find(['\\', '"']) {
            spelling.pass(scanner, &rest[..at], on);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix('"') {
                spelling.quote(scanner, on);
                rest = after;
                continue;
            }
            let Some((value, len)) = read_escape(rest) else {
                json.partial = rest.to_owned();
                return;
            };
            spelling.remember(value, &rest[..len]);
            spelling.pass(scanner, value.encode_utf8(&mut [0; 4]), on);
            rest = &rest[len..];
        }
        spelling.pass(scanner, rest, on);
    }

    /// Ends the text and reports the rest.
    pub(crate) fn finish(&mut self, on: &mut impl FnMut(Segment<'_>)) {
        let Self { scanner, json } = self;
        let Some(json) = json else { return scanner.finish(on) };
        let JsonInput { partial, mut spelling } = core::mem::take(json);
        // A high surrogate without a low one is a complete escape. Any other incomplete escape is
        // text.
        let lone = partial.get(..6).filter(|text| text.starts_with("\\u")).unwrap_or_default();
        if !lone.is_empty() {
            let value = char::REPLACEMENT_CHARACTER;
            spelling.remember(value, lone);
            spelling.pass(scanner, value.encode_utf8(&mut [0; 4]), on);
        }
        spelling.pass(scanner, &partial[lone.len()..], on);
        scanner.finish(&mut |segment| spelling.report(segment, on));
    }
}

impl Spelling {
    /// Passes unescaped text to the scanner.
    fn pass(&mut self, scanner: &mut Scanner, text: &str, on: &mut impl FnMut(Segment<'_>)) {
        self.given += text.len() as u64;
        scanner.push(text, &mut |segment| self.report(segment, on));
    }

    /// Passes a quotation mark, which ends every marker.
    fn quote(&mut self, scanner: &mut Scanner, on: &mut impl FnMut(Segment<'_>)) {
        scanner.finish(&mut |segment| self.report(segment, on));
        self.given += 1;
        self.report(Segment::text("\""), on);
    }

    /// Remembers the spelling of the text that is passed next.
    fn remember(&mut self, value: char, raw: &str) {
        self.escapes.push_back(Escape { at: self.given, value, raw: raw.to_owned() });
    }

    /// Reports a segment in the spelling of its input.
    fn report(&mut self, segment: Segment<'_>, on: &mut impl FnMut(Segment<'_>)) {
        let start = self.reported;
        self.reported += segment.consumed as u64;
        if segment.kind != SegmentKind::Text {
            while self.escapes.front().is_some_and(|escape| escape.at < self.reported) {
                self.escapes.pop_front();
            }
            return on(Segment { text: &escape_json(segment.text), ..segment });
        }
        let mut done = 0;
        while let Some(escape) = self.escapes.front()
            && escape.at < self.reported
        {
            let at = (escape.at - start) as usize;
            if at > done {
                on(Segment { text: &segment.text[done..at], ..segment });
            }
            on(Segment { text: &escape.raw, ..segment });
            done = at + escape.value.len_utf8();
            self.escapes.pop_front();
        }
        if done < segment.text.len() {
            on(Segment { text: &segment.text[done..], ..segment });
        }
    }
}

/// Reads the escape at the start of `text`, which begins with a backslash. Returns its value and
/// its length, or `None` if more text decides.
///
/// The value of a malformed escape is its backslash, and that of a lone surrogate is U+FFFD.
fn read_escape(text: &str) -> Option<(char, usize)> {
    let value = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return read_unicode(text),
        _ => return Some(('\\', 1)),
    };
    Some((value, 2))
}

/// Reads an escape of four digits, or of two surrogates.
fn read_unicode(text: &str) -> Option<(char, usize)> {
    let Some(high) = code_unit(text, 2)? else { return Some(('\\', 1)) };
    if let Some(value) = char::from_u32(high) {
        return Some((value, 6));
    }
    let lone = Some((char::REPLACEMENT_CHARACTER, 6));
    if high >= 0xDC00 {
        return lone;
    }
    let next = &text[6..];
    if next.len() < 2 && "\\u".starts_with(next) {
        return None;
    }
    if !next.starts_with("\\u") {
        return lone;
    }
    match code_unit(text, 8)? {
        Some(low @ 0xDC00..0xE000) => {
            let scalar = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            Some((char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 12))
        }
        _ => lone,
    }
}

/// Reads four hexadecimal digits at `at`. Returns `None` if more text decides, and `Some(None)` if
/// a character is not a digit.
fn code_unit(text: &str, at: usize) -> Option<Option<u32>> {
    let mut unit = 0;
    for &byte in text.as_bytes().get(at..).unwrap_or_default().iter().take(4) {
        let Some(digit) = (byte as char).to_digit(16) else { return Some(None) };
        unit = unit << 4 | digit;
    }
    (text.len() >= at + 4).then_some(Some(unit))
}

/// Escapes text for the inside of a JSON string.
pub(crate) fn escape_json(text: &str) -> Cow<'_, str> {
    let special = |c: char| c < ' ' || c == '"' || c == '\\';
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}
