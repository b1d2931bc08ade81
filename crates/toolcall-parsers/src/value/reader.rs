//! Reading of one value of any dialect, and conversion to JSON.
//!
//! ```text
//! {"n": 1}            Json
//! "{\"n\": 1}"        BlankText, Text, TextRest: an object inside a string
//! [{"n": 1}]          Json, ListRest: a list of one object
//! {'n': 1}            Literal, in other dialects than JSON
//! ```

#![expect(
    clippy::arithmetic_side_effects,
    reason = "all numbers are indexes of the fed text, or lengths of parts of it"
)]

use alloc::string::String;

use super::{
    Brackets, InValue, Note, OpenQuote, Scanned, Syntax, ValueFault,
    dialect::{Tolerated, ValueDialect},
    escape::Batch,
    scan::JsonScan,
    transcoder::{Cx, Top, Transcoder},
    unescape::{Escape, Flavor, unescape},
};
use crate::cursor::blanks;

/// The kind of text to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// A single value of any type.
    Value,
    /// An object. `null` is an empty one. In JSON also a string that contains an object, or a list
    /// of one object.
    Arguments,
    /// Keyword arguments after `name(`, including the `)`, or one object in their place.
    Keywords,
}

/// The position in the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueState {
    Start,
    Json,
    /// Inside `null`. The rest of the word.
    Null(&'static str),
    /// Inside a string, before the object in it.
    BlankText,
    Text,
    /// Inside a string, after the object in it.
    TextRest,
    Literal,
    /// After the only object of a list.
    ListRest,
}

/// A reader of one value.
#[derive(Debug, Clone)]
pub(crate) struct ValueReader {
    kind: ValueKind,
    pub(super) state: ValueState,
    /// Whether the object is in a list.
    listed: bool,
    scan: JsonScan,
    pub(super) literal: Transcoder,
    /// The start of a cut escape inside the object in a string, decoded once.
    carry: String,
}

impl ValueReader {
    pub(crate) fn new(kind: ValueKind) -> Self {
        Self {
            kind,
            state: ValueState::Start,
            listed: false,
            scan: JsonScan::new(),
            literal: Transcoder::new(top(kind)),
            carry: String::new(),
        }
    }

    /// Restores the state of a new reader. The buffers' memory is reused.
    pub(crate) fn restart(&mut self, kind: ValueKind) {
        (self.kind, self.state, self.scan) = (kind, ValueState::Start, JsonScan::new());
        self.listed = false;
        self.literal.restart(top(kind));
        self.carry.clear();
    }

    /// Returns whether the value is converted from another syntax than JSON.
    pub(crate) fn is_literal(&self) -> bool {
        self.state == ValueState::Literal
    }

    /// Returns the number of bytes held.
    pub(crate) fn held(&self) -> usize {
        if self.state == ValueState::Literal { self.literal.held() } else { 0 }
    }

    /// Returns the number of bytes in buffers.
    pub(crate) fn buffered(&self) -> usize {
        self.literal.buffered()
    }

    /// Returns whether held text is being searched for a string's end.
    pub(crate) fn is_searching(&self) -> bool {
        self.state == ValueState::Literal && self.literal.is_searching()
    }

    /// Returns how many bytes of the text to be fed next the search has examined.
    pub(crate) fn known(&self) -> usize {
        if self.is_searching() { self.literal.own.looked } else { 0 }
    }

    /// Returns whether only white space was read.
    pub(crate) fn is_at_start(&self) -> bool {
        self.state == ValueState::Start && !self.listed
    }

    /// Returns the current position in the value, or `None` if it is unknown.
    pub(crate) fn place(&self) -> Option<InValue> {
        let none = Brackets::none();
        let outer = if self.listed { none.push(false)? } else { none };
        let (inner, quote) = match self.state {
            ValueState::Start | ValueState::Null(_) | ValueState::ListRest => (none, None),
            ValueState::BlankText | ValueState::Text | ValueState::TextRest => (none, Some(b'"')),
            ValueState::Json => (self.scan.brackets(), self.scan.in_string().then_some(b'"')),
            ValueState::Literal => {
                let InValue { brackets, quote } = self.literal.place()?;
                (brackets, quote)
            }
        };
        Some(InValue { brackets: outer.with(inner)?, quote })
    }

    /// Returns whether [`Note::Begun`] was reported.
    #[cfg(test)]
    pub(crate) fn has_begun(&self) -> bool {
        match self.state {
            ValueState::Start => false,
            ValueState::Literal => self.literal.certain,
            _ => true,
        }
    }

    /// Returns the quote of the string around the current position.
    pub(crate) fn open_quote(&self) -> Option<OpenQuote> {
        match self.state {
            ValueState::Start | ValueState::Null(_) | ValueState::ListRest => None,
            ValueState::BlankText | ValueState::Text | ValueState::TextRest => {
                Some(OpenQuote::Byte(b'"'))
            }
            ValueState::Json => self.scan.in_string().then_some(OpenQuote::Byte(b'"')),
            ValueState::Literal => self.literal.open_quote(),
        }
    }

    /// Returns whether all of `text` is the inside of a string and can be emitted unchanged.
    #[inline]
    pub(crate) fn passes(&mut self, text: &str) -> bool {
        match self.state {
            ValueState::Json => self.scan.passes(text),
            ValueState::Literal => self.literal.passes(text),
            _ => false,
        }
    }

    /// Returns the text that completes the emitted JSON, if one exists. `tail` is the unread text.
    pub(crate) fn closing(&self, tail: &str) -> Option<String> {
        match self.state {
            ValueState::Start if self.kind == ValueKind::Value => None,
            ValueState::Start | ValueState::Null(_) | ValueState::BlankText => {
                Some(String::from("{}"))
            }
            ValueState::Json | ValueState::Text => self.scan.closing(),
            ValueState::TextRest | ValueState::ListRest => Some(String::new()),
            ValueState::Literal => self.literal.closing(tail),
        }
    }

    /// Completes a value at the end of the stream, if only text after it could have shown its end.
    /// Emits the rest, and returns how many bytes of `tail` belong to the value.
    pub(crate) fn finish(
        &mut self,
        dialect: &ValueDialect<'_>,
        tail: &str,
        out: &mut dyn FnMut(&str),
    ) -> Option<usize> {
        match self.state {
            ValueState::Literal => {}
            ValueState::ListRest => return Some(0),
            _ => return None,
        }
        let out = Batch::new(out);
        self.literal.finish(&mut Cx { dialect, text: tail, i: 0, out })
    }

    /// Reads more text. `out` receives JSON, but not before [`Note::Begun`] was returned.
    pub(crate) fn feed(
        &mut self,
        dialect: &ValueDialect<'_>,
        text: &str,
        out: &mut dyn FnMut(&str),
    ) -> Scanned {
        let scanned = match self.state {
            ValueState::Start => self.start(dialect, text, out),
            ValueState::Json => self.scan.feed(text, out),
            ValueState::Null(rest) => self.null(rest, text, out),
            ValueState::BlankText | ValueState::Text | ValueState::TextRest => self.text(text, out),
            ValueState::Literal => {
                let out = Batch::new(out);
                self.literal.feed(&mut Cx { dialect, text, i: 0, out })
            }
            ValueState::ListRest => return list_rest(text),
        };
        match scanned {
            Scanned::End { used } if self.listed => {
                self.state = ValueState::ListRest;
                Scanned::Noted { used, note: Note::Tolerated(Tolerated::List) }
            }
            scanned => scanned,
        }
    }

    fn start(
        &mut self,
        dialect: &ValueDialect<'_>,
        text: &str,
        out: &mut dyn FnMut(&str),
    ) -> Scanned {
        let json = dialect.is(Syntax::Json);
        let (mut used, at) = (blanks(text), blanks(text));
        let Some(&byte) = text.as_bytes().get(at) else { return Scanned::More { used } };
        let arguments = self.kind == ValueKind::Arguments && (json || dialect.is(Syntax::Lenient));
        match byte {
            b'[' if arguments && !self.listed => {
                self.listed = true;
                let from = at + 1;
                return self.start(dialect, &text[from..], out).after(from);
            }
            b'{' => {}
            _ if self.listed => return Scanned::Bad { at, fault: ValueFault::Syntax },
            _ => {}
        }
        self.state = match (byte, self.kind) {
            (b'"', ValueKind::Arguments) if json || dialect.is(Syntax::Lenient) => {
                used += 1;
                ValueState::BlankText
            }
            (b'{', ValueKind::Arguments) if json => ValueState::Json,
            (b'n', ValueKind::Arguments) if json => ValueState::Null("null"),
            (b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n', ValueKind::Value)
                if json =>
            {
                ValueState::Json
            }
            (_, ValueKind::Value | ValueKind::Arguments) if json => {
                return Scanned::Bad { at, fault: ValueFault::Syntax };
            }
            _ => {
                self.state = ValueState::Literal;
                return self.feed(dialect, &text[at..], out).after(at);
            }
        };
        Scanned::Noted { used, note: Note::Begun }
    }

    fn null(&mut self, rest: &'static str, text: &str, out: &mut dyn FnMut(&str)) -> Scanned {
        let same = rest.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        if same == rest.len() {
            out("{}");
            return Scanned::End { used: same };
        }
        self.state = ValueState::Null(&rest[same..]);
        if same < text.len() {
            return Scanned::Bad { at: same, fault: ValueFault::Syntax };
        }
        Scanned::More { used: same }
    }

    /// Reads the inside of a string that contains the object.
    fn text(&mut self, text: &str, out: &mut dyn FnMut(&str)) -> Scanned {
        let mut out = Batch::new(out);
        let scanned = self.decode(text, &mut out);
        // The text of a cut escape is offered again, so it is not stored.
        self.carry.clear();
        out.flush();
        scanned
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "`i` and `at` are indexes of the text or its length"
    )]
    fn decode(&mut self, text: &str, out: &mut Batch<'_>) -> Scanned {
        let bytes = text.as_bytes();
        let (mut i, mut carry_at) = (0, 0);
        loop {
            let stop = memchr::memchr2(b'"', b'\\', &bytes[i..]).map(|at| i + at);
            let end = stop.unwrap_or(bytes.len());
            if let Err(at) = self.inner(&text[i..end], i, &mut carry_at, out) {
                return Scanned::Bad { at, fault: ValueFault::Syntax };
            }
            let Some(at) = stop else {
                let used = if self.carry.is_empty() { end } else { carry_at };
                return Scanned::More { used };
            };
            if bytes[at] == b'"' {
                if self.state == ValueState::BlankText {
                    out.put("{}");
                } else if self.state != ValueState::TextRest {
                    return Scanned::Bad { at, fault: ValueFault::Syntax };
                }
                return Scanned::End { used: at + 1 };
            }
            match unescape(&bytes[at..], Flavor::Json) {
                Escape::Is(scalar, len) => {
                    let mut bytes = [0; 4];
                    let piece = scalar.encode_utf8(&mut bytes);
                    if let Err(at) = self.inner(piece, at, &mut carry_at, out) {
                        return Scanned::Bad { at, fault: ValueFault::Syntax };
                    }
                    i = at + len;
                }
                Escape::Cut => {
                    let used = if self.carry.is_empty() { at } else { carry_at };
                    return Scanned::More { used };
                }
                _ => return Scanned::Bad { at, fault: ValueFault::Syntax },
            }
        }
    }

    /// Reads decoded text at offset `at`. Fails with the position of the invalid byte.
    fn inner(
        &mut self,
        piece: &str,
        at: usize,
        carry_at: &mut usize,
        out: &mut Batch<'_>,
    ) -> Result<(), usize> {
        let (mut piece, mut at) = (piece, at);
        if self.state == ValueState::BlankText {
            let blank = blanks(piece);
            (piece, at) = (&piece[blank..], at + blank);
            match piece.as_bytes().first() {
                None => return Ok(()),
                Some(b'{') => self.state = ValueState::Text,
                Some(_) => return Err(at),
            }
        }
        if self.state == ValueState::Text {
            if self.carry.is_empty() {
                *carry_at = at;
            }
            let known = self.carry.len();
            self.carry.push_str(piece);
            // Returns the input position of an index of the carried text.
            let place = |index: usize, carry_at: usize| match index.checked_sub(known) {
                Some(new) => at + new,
                None => carry_at,
            };
            match self.scan.feed(&self.carry, |piece| out.put(piece)) {
                Scanned::Bad { at: bad, .. } => return Err(place(bad, *carry_at)),
                Scanned::End { used } => {
                    self.state = ValueState::TextRest;
                    let following = used.saturating_sub(known);
                    (piece, at) = (&piece[following..], at + following);
                    self.carry.clear();
                }
                Scanned::More { used } | Scanned::Noted { used, .. } => {
                    *carry_at = place(used, *carry_at);
                    self.carry.drain(..used);
                    return Ok(());
                }
            }
        }
        let blank = blanks(piece);
        if blank < piece.len() { Err(at + blank) } else { Ok(()) }
    }
}

/// Reads the bracket that must follow the only object of a list.
fn list_rest(text: &str) -> Scanned {
    let at = blanks(text);
    match text.as_bytes().get(at) {
        None => Scanned::More { used: at },
        Some(b']') => Scanned::End { used: at + 1 },
        Some(_) => Scanned::Bad { at, fault: ValueFault::Syntax },
    }
}

fn top(kind: ValueKind) -> Top {
    match kind {
        ValueKind::Value => Top::Value,
        ValueKind::Arguments => Top::Object,
        ValueKind::Keywords => Top::Keywords,
    }
}
