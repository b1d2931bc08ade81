//! Mending of objects and lists that are almost JSON, while they arrive. One token is held.
//!
//! ```text
//! {"a": True, "n": 007,}      {"a": true, "n": 7}
//! {"k": "say "hi" now"}       {"k": "say \"hi\" now"}       no comma, colon or bracket follows
//! {"k": "\w+", 'b': 1}        {"k": "\\w+", "b": 1}
//! ```
//!
//! Two guesses are not combined: quotes inside a string, together with bare keys or strings in
//! single quotes, are a fault.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`i` and all lengths are indexes of the text, or lengths of parts of it"
)]

use alloc::string::String;

use super::{
    JsonPlace, JsonScan, Scanned, ValueFault, number,
    unescape::{Escape, Flavor, unescape},
};
use crate::{cursor::blanks, limits::MAX_MENDED_TOKEN};

/// A reader of an object or a list, which emits JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct MendScan {
    scan: JsonScan,
    /// The quote of the open string.
    quote: Option<u8>,
    /// Whether a string contained its own quote.
    quotes_inside: bool,
    /// Whether a key had no quotes, or a string had single quotes.
    loose: bool,
    mended: bool,
    /// Whether the fault is that two guesses would be combined.
    two_guesses: bool,
}

/// Whether a whole text was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mended {
    Yes,
    No,
    /// Not without two guesses that are not combined.
    TwoGuesses,
}

/// The result of reading one token.
enum MendStep {
    /// This number of bytes was read.
    Read(usize),
    /// More text is needed.
    Held,
    Bad,
    /// The value ended after this number of bytes.
    End(usize),
}

impl MendScan {
    /// Returns whether the text was changed.
    pub(crate) fn is_mended(&self) -> bool {
        self.mended
    }

    /// Returns whether the value is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.scan.depth() == 0 && self.scan.place() == JsonPlace::Whole
    }

    /// Returns the text that completes the emitted JSON, if one exists.
    pub(crate) fn closing(&self) -> Option<String> {
        if self.is_complete() { Some(String::new()) } else { self.scan.closing() }
    }

    /// Reads `text`, and passes JSON to `out`.
    pub(crate) fn feed(&mut self, text: &str, mut out: impl FnMut(&str)) -> Scanned {
        let mut i = 0;
        while i < text.len() {
            let rest = &text[i..];
            let token = match self.quote {
                Some(quote) => self.string(quote, rest, &mut out),
                None => self.token(rest, &mut out),
            };
            match token {
                MendStep::Read(len) => i += len,
                MendStep::Held => return Scanned::More { used: i },
                MendStep::Bad => return Scanned::Bad { at: i, fault: ValueFault::Syntax },
                MendStep::End(len) => return Scanned::End { used: i + len },
            }
        }
        Scanned::More { used: i }
    }

    /// Emits `json`, which replaces `len` bytes of the text.
    fn put(&mut self, json: &str, len: usize, out: &mut impl FnMut(&str)) -> MendStep {
        match self.scan.feed(json, out) {
            Scanned::End { used } if used == json.len() => MendStep::End(len),
            Scanned::More { used } if used == json.len() => MendStep::Read(len),
            _ => MendStep::Bad,
        }
    }

    /// Emits `json` in place of other text.
    fn mend(&mut self, json: &str, len: usize, out: &mut impl FnMut(&str)) -> MendStep {
        self.mended = true;
        self.put(json, len, out)
    }

    /// Refuses a second guess.
    fn refuse(&mut self) -> MendStep {
        self.two_guesses = true;
        MendStep::Bad
    }

    /// Reads a part of the open string.
    fn string(&mut self, quote: u8, rest: &str, out: &mut impl FnMut(&str)) -> MendStep {
        let stop = memchr::memchr3(b'\\', b'"', quote, rest.as_bytes());
        match stop {
            None => return self.put(rest, rest.len(), out),
            Some(0) => {}
            Some(len) => return self.put(&rest[..len], len, out),
        }
        let byte = rest.as_bytes()[0];
        if byte == b'\\' {
            return match unescape(rest.as_bytes(), Flavor::Json) {
                Escape::Is(_, len) => self.put(&rest[..len], len, out),
                Escape::Cut => MendStep::Held,
                // An apostrophe in JSON needs no escape.
                _ if rest.as_bytes().get(1) == Some(&b'\'') => self.mend("'", 2, out),
                _ => self.mend("\\\\", 1, out),
            };
        }
        if byte != quote {
            return self.put("\\\"", 1, out);
        }
        match rest.as_bytes().get(1 + blanks(&rest[1..])) {
            None => MendStep::Held,
            Some(b',' | b':' | b']' | b'}') => {
                self.quote = None;
                self.put("\"", 1, out)
            }
            Some(_) if self.loose => self.refuse(),
            Some(_) => {
                self.quotes_inside = true;
                self.mend(if byte == b'"' { "\\\"" } else { "'" }, 1, out)
            }
        }
    }

    /// Reads a token outside of strings.
    fn token(&mut self, rest: &str, out: &mut impl FnMut(&str)) -> MendStep {
        let bytes = rest.as_bytes();
        let inside = self.scan.place() == JsonPlace::Number;
        match bytes[0] {
            b'"' => {
                self.quote = Some(b'"');
                self.put("\"", 1, out)
            }
            b'\'' if self.quotes_inside => self.refuse(),
            b'\'' => {
                (self.quote, self.loose) = (Some(b'\''), true);
                self.mend("\"", 1, out)
            }
            b',' => match bytes.get(1 + blanks(&rest[1..])) {
                None => MendStep::Held,
                Some(b']' | b'}') if self.scan.depth() > 0 => {
                    self.mended = true;
                    // The comma must follow a value.
                    if self.scan.clone().step(",").is_ok() {
                        MendStep::Read(1)
                    } else {
                        MendStep::Bad
                    }
                }
                Some(_) => self.put(",", 1, out),
            },
            b'_' | b'$' | b'a'..=b'z' | b'A'..=b'Z' if !inside => self.word(rest, out),
            b'0' | b'+' | b'-' if !inside => self.number(rest, out),
            _ => {
                let len = rest.chars().next().map_or(1, char::len_utf8);
                self.put(&rest[..len], len, out)
            }
        }
    }

    /// Reads a word: a key without quotes, or a value.
    fn word(&mut self, rest: &str, out: &mut impl FnMut(&str)) -> MendStep {
        let other = |c: char| !(c == '_' || c == '$' || c == '-' || c.is_alphanumeric());
        let Some(len) = rest.find(other) else {
            return if rest.len() > MAX_MENDED_TOKEN { MendStep::Bad } else { MendStep::Held };
        };
        let word = &rest[..len];
        if self.scan.is_before_key() {
            let colon = len + blanks(&rest[len..]);
            return match rest.as_bytes().get(colon) {
                None => MendStep::Held,
                Some(b':') if self.quotes_inside => self.refuse(),
                Some(b':') if len <= MAX_MENDED_TOKEN => {
                    (self.loose, self.mended) = (true, true);
                    for part in ["\"", word, "\""] {
                        if !matches!(self.put(part, 0, out), MendStep::Read(_)) {
                            return MendStep::Bad;
                        }
                    }
                    MendStep::Read(len)
                }
                Some(_) => MendStep::Bad,
            };
        }
        match word {
            "true" | "false" | "null" => self.put(word, len, out),
            "True" => self.mend("true", len, out),
            "False" => self.mend("false", len, out),
            "None" => self.mend("null", len, out),
            _ => MendStep::Bad,
        }
    }

    /// Reads the start of a number. A number that begins with `0` or a sign is held until its end,
    /// because leading zeros and a plus sign are dropped.
    fn number(&mut self, rest: &str, out: &mut impl FnMut(&str)) -> MendStep {
        let bytes = rest.as_bytes();
        let digit = if bytes[0] == b'0' { 0 } else { 1 };
        match bytes.get(digit) {
            None => return MendStep::Held,
            Some(b'1'..=b'9') if bytes[0] == b'-' => return self.put("-", 1, out),
            _ => {}
        }
        let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let len = bytes.iter().take_while(|byte| part(byte)).count();
        if len > MAX_MENDED_TOKEN {
            return MendStep::Bad;
        }
        if len == rest.len() {
            return MendStep::Held;
        }
        match number::to_json(&rest[..len]) {
            Ok(json) if json == rest[..len] => self.put(&json, len, out),
            Ok(json) => self.mend(&json, len, out),
            Err(_) => MendStep::Bad,
        }
    }
}

/// Writes `text` as JSON, if it is exactly one object or list that can be mended.
pub(super) fn mend(text: &str, out: &mut impl FnMut(&str)) -> Mended {
    let (mut scan, mut json) = (MendScan::default(), String::new());
    let scanned = scan.feed(text, |piece| json.push_str(piece));
    if scanned == (Scanned::End { used: text.len() }) {
        out(&json);
        return Mended::Yes;
    }
    if scan.two_guesses { Mended::TwoGuesses } else { Mended::No }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::{MendScan, Scanned};

    /// Reads `text` in chunks of `len` characters.
    fn read(text: &str, len: usize) -> Option<String> {
        let (mut scan, mut json, mut held) = (MendScan::default(), String::new(), String::new());
        let scalars: alloc::vec::Vec<char> = text.chars().collect();
        for chunk in scalars.chunks(len) {
            held.extend(chunk);
            match scan.feed(&held, |piece| json.push_str(piece)) {
                Scanned::More { used } => drop(held.drain(..used)),
                Scanned::End { used } => return (used == held.len()).then_some(json),
                _ => return None,
            }
        }
        None
    }

    #[test]
    fn damaged_containers_are_mended_alike_in_chunks_of_any_length() {
        for (text, json) in [
            (r#"{"a": True, "b": None}"#, Some(r#"{"a": true, "b": null}"#)),
            ("[1, 2,]", Some("[1, 2]")),
            (r#"{"k": 1,}"#, Some(r#"{"k": 1}"#)),
            (
                r#"{"n": 007, "m": -0.5, "p": +1, "z": 0}"#,
                Some(r#"{"n": 7, "m": -0.5, "p": 1, "z": 0}"#),
            ),
            (r#"{"k": "say "hi" now"}"#, Some(r#"{"k": "say \"hi\" now"}"#)),
            (r#"{"k": "\w+\'"}"#, Some(r#"{"k": "\\w+'"}"#)),
            ("{'a': 'x\"y'}", Some(r#"{"a": "x\"y"}"#)),
            ("{a: 1, b-c : [null]}", Some(r#"{"a": 1, "b-c" : [null]}"#)),
            (r#"{"é": "ü", "u": "A"}"#, Some(r#"{"é": "ü", "u": "A"}"#)),
            ("{'a': 'it's'}", None),
            (r#"{a: "x" y"}"#, None),
            (r#"{"k": 7 "z": ]}"#, None),
            (r#"{"k": NaN}"#, None),
            ("[,]", None),
            (r#"{"a": ,}"#, None),
        ] {
            for len in [1, 2, 3, 1000] {
                assert_eq!(read(text, len).as_deref(), json, "{text} in chunks of {len}");
            }
        }
    }
}
