//! The text of JSON documents: markers live in string values, spellings live in bytes.
//!
//! Arguments of native tool calls are JSON text inside a JSON string. A model or a library may
//! write `<\/tool_call>` or `\u003ctool_call>` there, and a chat template that parses the
//! arguments would still show the reserved marker to the model. So escapes are resolved before
//! the search, and their spelling is remembered and put back around everything that the search
//! leaves alone. Nothing else of JSON is parsed: backslashes mean the same in broken documents.

use alloc::{
    borrow::{Cow, ToOwned},
    collections::VecDeque,
    format,
    string::String,
};

use crate::{
    bit::{Bit, Kind, Syntax},
    scan::Scanner,
};

/// A scanner, and for JSON the spelling of what it was given.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    scanner: Scanner,
    json: Option<Json>,
}

#[derive(Debug, Clone, Default)]
struct Json {
    /// An escape whose end has not arrived; at most 11 bytes.
    partial: String,
    spelling: Spelling,
}

/// Escapes in the text the scanner has and has not reported yet.
#[derive(Debug, Clone, Default)]
struct Spelling {
    escapes: VecDeque<Escape>,
    /// Bytes of unescaped text given to the scanner, and reported by it.
    given: u64,
    reported: u64,
}

#[derive(Debug, Clone)]
struct Escape {
    at: u64,
    value: char,
    raw: String,
}

impl Channel {
    pub(crate) fn new(scanner: Scanner, syntax: Syntax) -> Self {
        Self { scanner, json: (syntax == Syntax::Json).then(Json::default) }
    }

    pub(crate) fn reset(&mut self) {
        self.scanner.reset();
        if let Some(json) = &mut self.json {
            *json = Json::default();
        }
    }

    /// Bytes received and not yet reported, as they were written.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "an escape is at least as long as the UTF-8 of its value: a backslash alone \
                  stands for itself, two characters for one byte, six for at most three bytes, \
                  twelve for four"
    )]
    pub(crate) fn held(&self) -> usize {
        let Some(json) = &self.json else { return self.scanner.held() };
        let respelled = json.spelling.escapes.iter().map(|e| e.raw.len() - e.value.len_utf8());
        let held = self.scanner.held().saturating_add(respelled.sum());
        held.saturating_add(json.partial.len())
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json.is_some()
    }

    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "text is appended to text, and both are in memory"
    )]
    pub(crate) fn push(&mut self, chunk: &str, on: &mut impl FnMut(Bit<'_>)) {
        let Some(json) = &mut self.json else { return self.scanner.push(chunk, on) };
        let joined;
        let mut rest = chunk;
        if !json.partial.is_empty() {
            joined = core::mem::take(&mut json.partial) + chunk;
            rest = &joined;
        }
        let spelling = &mut json.spelling;
        while let Some(at) = rest.find(['\\', '"']) {
            spelling.pass(&mut self.scanner, &rest[..at], on);
            rest = &rest[at..];
            if let Some(behind) = rest.strip_prefix('"') {
                spelling.quote(&mut self.scanner, on);
                rest = behind;
                continue;
            }
            match read_escape(rest) {
                Read::Partial => {
                    json.partial = rest.to_owned();
                    return;
                }
                Read::Escape { value, len } => {
                    spelling.escape(&mut self.scanner, value, &rest[..len], on);
                    rest = &rest[len..];
                }
            }
        }
        spelling.pass(&mut self.scanner, rest, on);
    }

    pub(crate) fn finish(&mut self, on: &mut impl FnMut(Bit<'_>)) {
        let Some(json) = &mut self.json else { return self.scanner.finish(on) };
        let partial = core::mem::take(&mut json.partial);
        // A high surrogate whose partner never came is whole; anything else is broken text.
        let (escape, text) = match partial.get(..6) {
            Some(lone) if partial.starts_with("\\u") => (lone, &partial[6..]),
            _ => ("", &*partial),
        };
        if !escape.is_empty() {
            let value = char::REPLACEMENT_CHARACTER;
            json.spelling.escape(&mut self.scanner, value, escape, on);
        }
        json.spelling.pass(&mut self.scanner, text, on);
        let spelling = &mut json.spelling;
        self.scanner.finish(&mut |bit| spelling.report(bit, on));
        *json = Json::default();
    }
}

impl Spelling {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`given` counts the bytes of one stream with 64 bits"
    )]
    fn pass(&mut self, scanner: &mut Scanner, text: &str, on: &mut impl FnMut(Bit<'_>)) {
        self.given += text.len() as u64;
        scanner.push(text, &mut |bit| self.report(bit, on));
    }

    /// A string begins or ends: no marker goes over that, whatever it looks like.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`given` counts the bytes of one stream with 64 bits"
    )]
    fn quote(&mut self, scanner: &mut Scanner, on: &mut impl FnMut(Bit<'_>)) {
        scanner.finish(&mut |bit| self.report(bit, on));
        self.given += 1;
        self.report(Bit::text("\""), on);
    }

    fn escape(
        &mut self,
        scanner: &mut Scanner,
        value: char,
        raw: &str,
        on: &mut impl FnMut(Bit<'_>),
    ) {
        self.escapes.push_back(Escape { at: self.given, value, raw: raw.to_owned() });
        self.pass(scanner, value.encode_utf8(&mut [0; 4]), on);
    }

    /// Reports a piece of unescaped text in its own spelling.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the scanner reports in order and no more than was given to it, so the first \
                  escape that is left lies at `start` or behind it, and its value in `bit` whole"
    )]
    fn report(&mut self, bit: Bit<'_>, on: &mut impl FnMut(Bit<'_>)) {
        let start = self.reported;
        self.reported += bit.consumed as u64;
        if bit.kind != Kind::Text {
            while self.escapes.front().is_some_and(|escape| escape.at < self.reported) {
                self.escapes.pop_front();
            }
            return on(Bit { text: &escape_json(bit.text), ..bit });
        }
        let mut done = 0;
        while let Some(escape) = self.escapes.front() {
            if escape.at >= self.reported {
                break;
            }
            let at = (escape.at - start) as usize;
            if at > done {
                on(Bit { text: &bit.text[done..at], ..bit });
            }
            on(Bit { text: &escape.raw, ..bit });
            done = at + escape.value.len_utf8();
            self.escapes.pop_front();
        }
        if done < bit.text.len() {
            on(Bit { text: &bit.text[done..], ..bit });
        }
    }
}

enum Read {
    /// More text decides.
    Partial,
    Escape {
        value: char,
        len: usize,
    },
}

/// Reads the escape at the start of `text`, which begins with a backslash.
///
/// What is no JSON escape has the backslash itself as its value; a lone surrogate stands for the
/// replacement character.
fn read_escape(text: &str) -> Read {
    let plain = |value| Read::Escape { value, len: 2 };
    match text.as_bytes().get(1) {
        None => Read::Partial,
        Some(b'"') => plain('"'),
        Some(b'\\') => plain('\\'),
        Some(b'/') => plain('/'),
        Some(b'b') => plain('\u{8}'),
        Some(b'f') => plain('\u{c}'),
        Some(b'n') => plain('\n'),
        Some(b'r') => plain('\r'),
        Some(b't') => plain('\t'),
        Some(b'u') => read_unicode(text),
        Some(_) => Read::Escape { value: '\\', len: 1 },
    }
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`hex4` found four digits behind the two characters that begin the escape; what is \
              no character and less than 0xDC00 is a high surrogate, at least 0xD800"
)]
fn read_unicode(text: &str) -> Read {
    let broken = Read::Escape { value: '\\', len: 1 };
    let high = match hex4(text, 2) {
        Hex::Partial => return Read::Partial,
        Hex::No => return broken,
        Hex::Unit(unit) => unit,
    };
    let lone = Read::Escape { value: char::REPLACEMENT_CHARACTER, len: 6 };
    if let Some(value) = char::from_u32(high) {
        return Read::Escape { value, len: 6 };
    }
    if high >= 0xDC00 {
        return lone;
    }
    let next = &text.as_bytes()[6..];
    if next.len() < 2 && b"\\u".starts_with(next) {
        return Read::Partial;
    }
    if !next.starts_with(b"\\u") {
        return lone;
    }
    match hex4(text, 8) {
        Hex::Partial => Read::Partial,
        Hex::Unit(low) if (0xDC00..0xE000).contains(&low) => {
            let scalar = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            let value = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
            Read::Escape { value, len: 12 }
        }
        _ => lone,
    }
}

enum Hex {
    Partial,
    No,
    Unit(u32),
}

#[expect(clippy::arithmetic_side_effects, reason = "`at` is 2 or 8")]
fn hex4(text: &str, at: usize) -> Hex {
    let mut unit = 0;
    for i in 0..4 {
        let Some(&byte) = text.as_bytes().get(at + i) else { return Hex::Partial };
        let Some(digit) = (byte as char).to_digit(16) else { return Hex::No };
        unit = unit << 4 | digit;
    }
    Hex::Unit(unit)
}

/// The text as it may stand inside a JSON string.
pub(crate) fn escape_json(text: &str) -> Cow<'_, str> {
    let special = |c: char| c < ' ' || c == '"' || c == '\\';
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().saturating_add(2));
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
