//! Decoding of arrays and objects that a model wrote as strings. Only done where the tool's schema
//! admits an array or object, but not a string. Under [`ArgumentTypes::Declared`] the same is done for
//! numbers, booleans and `null`.
//!
//! ```text
//! {"tags": "[1, 2]"}   schema {"tags": array}     becomes   {"tags": [1, 2]}
//! {"tags": "[1, 2"}    schema {"tags": array}     unchanged: the string is not an array
//! {"tags": "[1, 2]"}   schema {"tags": string}    unchanged
//! {"n": "2"}           schema {"n": integer}      becomes   {"n": 2} under `Declared`
//! ```
//!
//! The decoder receives the arguments as JSON, whatever syntax the wire had. A string is held only
//! while it may still be an array or object. The states for the first line:
//!
//! ```text
//! {          Between
//! "tags"     Key, then Between
//! "[1, 2     Kept: the text so far is the start of an array
//! "          Between: `[1, 2]` is emitted without quotes
//! }          Between
//! ```

#[cfg(test)]
mod tests;

use alloc::{string::String, vec::Vec};

use serde_json::Value;

use crate::{
    limits::MAX_SCALAR_BYTES,
    options::{ArgumentTypes, CallLimits},
    typing::{Path, TypeSet, declared_at},
    value::{Escape, Flavor, JsonScan, Scanned, is_scalar, unescape},
};

/// The position in the JSON text after the last fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum DecoderState {
    /// Without a call whose strings may be decoded.
    #[default]
    Off,
    /// Outside of all strings.
    Between,
    /// Inside a member's name.
    Key { escaped: bool },
    /// Inside a string that is emitted unchanged.
    Text { escaped: bool },
    /// Inside a string that is held, because it may be a value of a declared type.
    Kept { escaped: bool },
}

/// An open bracket of the JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecoderFrame {
    /// An object. `before_key` is set where a member's name must follow.
    Object { before_key: bool },
    /// An array, with the index of its current element.
    Array(usize),
}

/// Decodes strings of one call's arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoder {
    state: DecoderState,
    frames: Vec<DecoderFrame>,
    path: Path,
    /// The JSON text of a member's name, or of the held string with its opening quote.
    raw: String,
    /// The decoded text of the held string.
    text: String,
    /// Number of bytes of `raw` that are decoded into `text`.
    read: usize,
    /// Number of bytes of `text` that were scanned.
    scanned: usize,
    scan: JsonScan,
    /// Whether the array or object in the string has ended.
    whole: bool,
    types: TypeSet,
    /// Whether a string of this call was decoded.
    decoded: bool,
    /// Whether numbers, booleans and `null` are decoded.
    scalars: bool,
    /// Whether one of them was decoded.
    pub(crate) has_scalar: bool,
    /// Index of the call's tool in the declared tools.
    pub(crate) tool: usize,
    /// Stream offset at which the call was certain.
    pub(crate) call_at: u64,
}

impl Decoder {
    /// Starts the arguments of a call at stream offset `call_at`.
    pub(crate) fn begin(&mut self, tool: usize, call_at: u64, types: ArgumentTypes) {
        self.end();
        (self.state, self.tool, self.call_at) = (DecoderState::Between, tool, call_at);
        (self.scalars, self.has_scalar) = (types == ArgumentTypes::Declared, false);
    }

    fn end(&mut self) {
        (self.state, self.decoded) = (DecoderState::Off, false);
        self.frames.clear();
        self.path.clear();
        self.forget();
    }

    /// Returns whether strings of the open call may be decoded.
    pub(crate) fn is_active(&self) -> bool {
        self.state != DecoderState::Off
    }

    fn forget(&mut self) {
        self.raw.clear();
        self.text.clear();
        (self.read, self.scanned, self.whole) = (0, 0, false);
        self.scan = JsonScan::new();
    }

    /// Returns whether the inside of a string is emitted without examining it.
    #[inline]
    pub(crate) fn passes(&self) -> bool {
        matches!(self.state, DecoderState::Off | DecoderState::Text { escaped: false })
    }

    /// Returns the number of held bytes. An escape counts as its decoded character.
    pub(crate) fn held(&self) -> usize {
        match self.state {
            DecoderState::Kept { .. } => self.text.len() + 1,
            _ => 0,
        }
    }

    /// Returns the number of bytes in buffers.
    pub(crate) fn buffered(&self) -> usize {
        self.raw.len() + self.text.len() + self.path.len()
    }

    /// Emits a fragment of JSON. If the call's first decoded string ends in it, returns the number of
    /// bytes up to there. The rest of the fragment must be fed again.
    pub(crate) fn feed(
        &mut self,
        piece: &str,
        schema: &Value,
        limits: &CallLimits,
        out: &mut dyn FnMut(&str),
    ) -> Option<usize> {
        let had_decoded = self.decoded;
        // The text from `from` on must be emitted, and was not yet.
        let kept = matches!(self.state, DecoderState::Kept { .. });
        let (mut i, mut from) = (0, if kept { piece.len() } else { 0 });
        while i < piece.len() {
            let rest = &piece[i..];
            match self.state {
                DecoderState::Off => break,
                DecoderState::Between => {
                    let at = rest.bytes().position(|byte| b"\"{}[],:".contains(&byte));
                    let Some(at) = at else { break };
                    i += at;
                    if self.structure(rest.as_bytes()[at], schema) {
                        emit(&piece[from..i], out);
                        from = piece.len();
                    }
                    i += 1;
                }
                DecoderState::Text { mut escaped } => {
                    let (len, closed) = string_end(rest, &mut escaped);
                    i += len;
                    self.state =
                        if closed { DecoderState::Between } else { DecoderState::Text { escaped } };
                }
                DecoderState::Key { mut escaped } => {
                    let (len, closed) = string_end(rest, &mut escaped);
                    i += len;
                    self.raw.push_str(&rest[..len]);
                    self.state = match closed {
                        // No schema has such a long name: decode nothing more of this call.
                        _ if self.raw.len() > limits.name => DecoderState::Off,
                        true => DecoderState::Between,
                        false => DecoderState::Key { escaped },
                    };
                }
                DecoderState::Kept { mut escaped } => {
                    let (len, closed) = string_end(rest, &mut escaped);
                    i += len;
                    self.raw.push_str(&rest[..len]);
                    self.state = DecoderState::Kept { escaped };
                    if self.keep(closed, limits, out) {
                        from = i;
                    }
                    if self.decoded && !had_decoded {
                        return Some(i);
                    }
                }
            }
        }
        emit(piece.get(from..).unwrap_or_default(), out);
        None
    }

    /// Emits the held text of a call that ended inside a string.
    pub(crate) fn flush(&mut self, out: &mut dyn FnMut(&str)) {
        if matches!(self.state, DecoderState::Kept { .. }) {
            emit(&self.raw, out);
        }
        self.end();
    }

    /// Handles a structural byte, or the quote that begins a string. Returns whether that string is
    /// held.
    fn structure(&mut self, byte: u8, schema: &Value) -> bool {
        match (byte, self.frames.last_mut()) {
            (b'"', Some(DecoderFrame::Object { before_key: true })) => {
                self.raw.clear();
                self.state = DecoderState::Key { escaped: false };
            }
            (b'"', _) => {
                let types = declared_at(schema, self.path.steps()).unwrap_or(TypeSet::ALL);
                let admits = types.has(TypeSet::ARRAY) || types.has(TypeSet::OBJECT);
                if (admits || self.scalars) && !types.has(TypeSet::STRING) {
                    self.forget();
                    self.types = types;
                    self.raw.push('"');
                    self.read = 1;
                    self.state = DecoderState::Kept { escaped: false };
                    return true;
                }
                self.state = DecoderState::Text { escaped: false };
            }
            (b'{', _) => self.frames.push(DecoderFrame::Object { before_key: true }),
            (b'[', _) => {
                self.frames.push(DecoderFrame::Array(0));
                self.path.element(0);
            }
            (b':', Some(DecoderFrame::Object { before_key })) => {
                *before_key = false;
                self.raw.pop();
                self.text.clear();
                let _ = decode(&self.raw, &mut self.text);
                self.path.member(&self.text);
                self.forget();
            }
            (b',', Some(DecoderFrame::Object { before_key })) => {
                *before_key = true;
                self.path.pop();
            }
            (b',', Some(DecoderFrame::Array(index))) => {
                *index += 1;
                self.path.pop();
                self.path.element(*index);
            }
            (b'}' | b']', _) => match self.frames.pop() {
                None | Some(DecoderFrame::Object { before_key: true }) => {}
                Some(_) => self.path.pop(),
            },
            _ => {}
        }
        false
    }

    /// Decides about the held string after new text. Returns whether the string was emitted.
    fn keep(&mut self, closed: bool, limits: &CallLimits, out: &mut dyn FnMut(&str)) -> bool {
        let end = self.raw.len() - usize::from(closed);
        let fits = match decode(&self.raw[self.read..end], &mut self.text) {
            Some(read) => {
                self.read += read;
                self.raw.len() <= limits.value && self.scan_on()
            }
            None => false,
        };
        if fits && !closed {
            return false;
        }
        let is_scalar = self.scalars && !self.whole && is_scalar(&self.text, self.types);
        if fits && is_scalar && self.read == end {
            out(&self.text);
            (self.decoded, self.has_scalar) = (true, true);
        } else if fits && self.whole && self.read == end {
            let _ = JsonScan::new().feed(self.text.trim_ascii(), |piece| out(piece));
            self.decoded = true;
        } else {
            emit(&self.raw, out);
        }
        self.state = match (closed, self.state) {
            (false, DecoderState::Kept { escaped }) => DecoderState::Text { escaped },
            _ => DecoderState::Between,
        };
        self.forget();
        true
    }

    /// Scans the new part of `text`. Returns whether it may be a value that the schema admits.
    fn scan_on(&mut self) -> bool {
        if self.scanned == 0 {
            match self.text.trim_ascii_start().as_bytes().first() {
                None => return true,
                Some(b'[') if self.types.has(TypeSet::ARRAY) => {}
                Some(b'{') if self.types.has(TypeSet::OBJECT) => {}
                Some(_) => return self.scalars && self.text.len() <= MAX_SCALAR_BYTES,
            }
        }
        if !self.whole {
            match self.scan.feed(&self.text[self.scanned..], |_| {}) {
                Scanned::More { used } | Scanned::Noted { used, .. } => self.scanned += used,
                Scanned::End { used } => {
                    self.scanned += used;
                    self.whole = true;
                }
                Scanned::Bad { .. } => return false,
            }
        }
        !self.whole || self.text[self.scanned..].trim_ascii().is_empty()
    }
}

/// Returns the position after the closing quote of the string that `text` continues, and `true`.
/// Without a closing quote, returns the length of `text` and `false`.
pub(crate) fn string_end(text: &str, escaped: &mut bool) -> (usize, bool) {
    let mut bytes = text.bytes();
    let mut at = 0;
    if core::mem::take(escaped) && bytes.next().is_some() {
        at = text.chars().next().map_or(0, char::len_utf8);
    }
    while let Some(hit) = memchr::memchr2(b'"', b'\\', text.as_bytes().get(at..).unwrap_or(&[])) {
        at += hit + 1;
        if text.as_bytes().get(at - 1) == Some(&b'"') {
            return (at, true);
        }
        match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(scalar) => at += scalar.len_utf8(),
            None => *escaped = true,
        }
    }
    (text.len(), false)
}

/// Appends the decoded inside of a JSON string to `text`. Returns the number of bytes read: all but
/// a cut escape. Returns `None` if `raw` is not the inside of a string.
pub(crate) fn decode(raw: &str, text: &mut String) -> Option<usize> {
    let mut at = 0;
    while let Some(hit) = memchr::memchr(b'\\', &raw.as_bytes()[at..]) {
        text.push_str(&raw[at..at + hit]);
        at += hit;
        match unescape(&raw.as_bytes()[at..], Flavor::Json) {
            Escape::Is(scalar, len) => {
                text.push(scalar);
                at += len;
            }
            Escape::Cut => return Some(at),
            _ => return None,
        }
    }
    text.push_str(&raw[at..]);
    Some(raw.len())
}

pub(crate) fn emit(text: &str, out: &mut dyn FnMut(&str)) {
    if !text.is_empty() {
        out(text);
    }
}
