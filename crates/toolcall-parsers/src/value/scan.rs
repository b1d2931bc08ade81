//! An incremental JSON automaton: checks a value as it passes, and finds its end.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "`i` is a place in the text or its end, and moves over what was found there; `depth` \
              is at most `MAX_DEPTH`, and something is open where it is closed"
)]

use alloc::string::String;

use super::{
    Brackets, Fault, Scanned,
    escape::{escape_byte, escaped_len, is_plain},
    unescape::{Escape, Flavor, is_lone, unescape},
};
use crate::limits::MAX_DEPTH;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// Expects a value of any type.
    #[default]
    Value,
    /// Expects a value or `]`.
    FirstElement,
    /// Expects a key or `}`.
    FirstKey,
    Key,
    Colon,
    /// `,` or the end of the container.
    Next,
    Text {
        key: bool,
    },
    /// Inside `true`, `false` or `null`, with this much left.
    Literal(&'static str),
    Number(Number),
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Number {
    fn next(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Minus, b'0') => Self::Zero,
            (Self::Minus, b'1'..=b'9') | (Self::Integer, b'0'..=b'9') => Self::Integer,
            (Self::Zero | Self::Integer, b'.') => Self::Point,
            (Self::Point | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Self::Exponent,
            (Self::Exponent, b'+' | b'-') => Self::ExponentSign,
            (Self::Exponent | Self::ExponentSign | Self::ExponentDigits, b'0'..=b'9') => {
                Self::ExponentDigits
            }
            _ => return None,
        })
    }

    fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::ExponentDigits)
    }
}

/// Where JSON text that a [`JsonScan`] has read so far ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonPlace {
    /// Inside a member's name.
    Key,
    /// Inside a string that is a value.
    String,
    /// Inside or after a number: the next byte ends it.
    Number,
    /// Inside `true`, `false` or `null`.
    Word,
    /// After another value or an opening bracket: with the open brackets closed, the text is JSON.
    Whole,
    /// Before a name or a value, but not the first of its object or list.
    Between,
}

/// An incremental checker of JSON text in constant memory, with at most 128 nested brackets.
///
/// The syntax is strict JSON with two exceptions. In strings, control characters may be unescaped,
/// and an escape may be half of a surrogate pair.
///
/// ```
/// use toolcall_parsers::{JsonPlace, JsonScan};
/// let mut scan = JsonScan::new();
/// for (text, place) in [("{", JsonPlace::Whole), ("\"", JsonPlace::Key), ("a\"", JsonPlace::Between)] {
///     assert_eq!(scan.step(text), Ok(text.len()));
///     assert_eq!(scan.place(), place);
/// }
/// assert_eq!(scan.step("]"), Err(0));
/// ```
#[derive(Debug, Clone, Default)]
pub struct JsonScan {
    state: State,
    depth: u8,
    /// Bit `d`: the container at depth `d + 1` is an object.
    objects: u128,
    /// Whether `NaN` and infinities are numbers.
    python: bool,
}

impl JsonScan {
    /// Creates a scanner in the state before a value.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: State::Value, depth: 0, objects: 0, python: false }
    }

    /// The same, with the words `NaN`, `Infinity` and `-Infinity` that Python writes.
    #[must_use]
    pub const fn python() -> Self {
        Self { python: true, ..Self::new() }
    }

    /// Reads up to the end of an open string, or one byte in any other state, and returns the
    /// number of bytes read. The rest of a string is a cut escape, to be offered again with more
    /// text.
    ///
    /// # Errors
    /// The offset of the scalar that is not allowed there, or of its escape.
    pub fn step(&mut self, text: &str) -> Result<usize, usize> {
        let in_string = matches!(self.state, State::Text { .. });
        let unit = match text.find(|c| c == '"' || !in_string) {
            Some(at) => text.get(..=at).ok_or(at)?,
            None => text,
        };
        match self.feed(unit, |_| {}) {
            Scanned::Bad { at, .. } => Err(at),
            Scanned::More { used } | Scanned::End { used } | Scanned::Noted { used, .. } => {
                Ok(used)
            }
        }
    }

    /// Whether all of `text` passes as it is and leaves the state alone: the inside of a string.
    #[inline]
    pub(crate) fn passes(&self, text: &str) -> bool {
        matches!(self.state, State::Text { .. }) && is_plain(text)
    }

    /// Scans `text` on, handing what passed to `out`.
    #[expect(
        clippy::indexing_slicing,
        reason = "`i` is a place in the text or its end; an escape is as long as `unescape` says \
                  of it"
    )]
    pub(crate) fn feed(&mut self, text: &str, mut out: impl FnMut(&str)) -> Scanned {
        let bytes = text.as_bytes();
        // Bytes from `from` passed unchanged and were not handed out yet.
        let (mut i, mut from) = (0, 0);
        while i < bytes.len() {
            if let State::Text { key } = self.state {
                i += escaped_len(&bytes[i..]);
                let Some(&byte) = bytes.get(i) else { break };
                match byte {
                    b'"' => {
                        self.state = if key { State::Colon } else { self.after_value() };
                        i += 1;
                    }
                    b'\\' => match unescape(&bytes[i..], Flavor::Json) {
                        Escape::Is(scalar, len) if is_lone(&bytes[i..i + len], scalar) => {
                            emit(&text[from..i], &mut out);
                            out("\\ufffd");
                            i += len;
                            from = i;
                        }
                        Escape::Is(_, len) => i += len,
                        Escape::Cut => {
                            emit(&text[from..i], &mut out);
                            return Scanned::More { used: i };
                        }
                        _ => {
                            emit(&text[from..i], &mut out);
                            return Scanned::Bad { at: i, fault: Fault::Syntax };
                        }
                    },
                    control => {
                        emit(&text[from..i], &mut out);
                        escape_byte(control, &mut out);
                        i += 1;
                        from = i;
                    }
                }
            } else if self.state == State::Done {
                break;
            } else {
                match self.structure(bytes[i]) {
                    Step::Take => i += 1,
                    Step::Again => {}
                    Step::Bad => {
                        emit(&text[from..i], &mut out);
                        return Scanned::Bad { at: i, fault: Fault::Syntax };
                    }
                }
            }
            if self.state == State::Done {
                break;
            }
        }
        emit(&text[from..i], &mut out);
        if self.state == State::Done { Scanned::End { used: i } } else { Scanned::More { used: i } }
    }

    fn structure(&mut self, byte: u8) -> Step {
        if let State::Number(number) = self.state {
            if self.python && (number, byte) == (Number::Minus, b'I') {
                self.state = State::Literal("nfinity");
                return Step::Take;
            }
            return match number.next(byte) {
                Some(next) => {
                    self.state = State::Number(next);
                    Step::Take
                }
                None if number.may_end() => {
                    self.state = self.after_value();
                    Step::Again
                }
                None => Step::Bad,
            };
        }
        if let State::Literal(rest) = self.state {
            if rest.as_bytes().first() != Some(&byte) {
                return Step::Bad;
            }
            self.state = match &rest[1..] {
                "" => self.after_value(),
                rest => State::Literal(rest),
            };
            return Step::Take;
        }
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return Step::Take;
        }
        match (self.state, byte) {
            (State::FirstElement, b']') | (State::FirstKey, b'}') => self.close(),
            (State::Value | State::FirstElement, _) => return self.value(byte),
            (State::FirstKey | State::Key, b'"') => self.state = State::Text { key: true },
            (State::Colon, b':') => self.state = State::Value,
            (State::Next, b',') => {
                self.state = if self.in_object() { State::Key } else { State::Value };
            }
            (State::Next, b'}') if self.in_object() => self.close(),
            (State::Next, b']') if !self.in_object() => self.close(),
            _ => return Step::Bad,
        }
        Step::Take
    }

    fn value(&mut self, byte: u8) -> Step {
        self.state = match byte {
            b'{' | b'[' => {
                if usize::from(self.depth) == MAX_DEPTH {
                    return Step::Bad;
                }
                let bit = 1u128 << self.depth;
                self.depth += 1;
                if byte == b'{' {
                    self.objects |= bit;
                    State::FirstKey
                } else {
                    self.objects &= !bit;
                    State::FirstElement
                }
            }
            b'"' => State::Text { key: false },
            b'-' => State::Number(Number::Minus),
            b'0' => State::Number(Number::Zero),
            b'1'..=b'9' => State::Number(Number::Integer),
            b't' => State::Literal("rue"),
            b'f' => State::Literal("alse"),
            b'n' => State::Literal("ull"),
            b'N' if self.python => State::Literal("aN"),
            b'I' if self.python => State::Literal("nfinity"),
            _ => return Step::Bad,
        };
        Step::Take
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.state = self.after_value();
    }

    fn after_value(&self) -> State {
        if self.depth == 0 { State::Done } else { State::Next }
    }

    /// Where the text so far ends.
    #[must_use]
    pub fn place(&self) -> JsonPlace {
        match self.state {
            State::Text { key: true } => JsonPlace::Key,
            State::Text { key: false } => JsonPlace::String,
            State::Number(_) => JsonPlace::Number,
            State::Literal(_) => JsonPlace::Word,
            State::FirstElement | State::FirstKey | State::Next | State::Done => JsonPlace::Whole,
            State::Value | State::Key | State::Colon => JsonPlace::Between,
        }
    }

    /// Whether a number ends before `next`, or before the end of the text if that is empty.
    #[must_use]
    pub fn number_ends_before(&self, next: &str) -> bool {
        let State::Number(number) = self.state else { return false };
        number.may_end() && next.bytes().next().is_none_or(|byte| number.next(byte).is_none())
    }

    /// How many brackets are open.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth.into()
    }

    /// Whether the innermost open bracket is that of an object.
    #[must_use]
    pub fn in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 != 0
    }

    /// The brackets that are open.
    pub(super) fn brackets(&self) -> Brackets {
        Brackets::new(self.depth, self.objects)
    }

    /// Whether the text so far ends inside a string.
    pub(super) fn in_string(&self) -> bool {
        matches!(self.state, State::Text { .. })
    }

    /// Writes the brackets that close what is open.
    pub(crate) fn write_brackets(&self, text: &mut String) {
        for depth in (0..self.depth).rev() {
            text.push(if self.objects >> depth & 1 != 0 { '}' } else { ']' });
        }
    }

    /// The text that closes what is open, if adding text can make JSON of what passed.
    pub(crate) fn closing(&self) -> Option<String> {
        let mut text = String::new();
        match self.state {
            State::Text { key: true } => text.push_str("\":null"),
            State::Text { key: false } => text.push('"'),
            State::Colon => text.push_str(":null"),
            State::FirstElement | State::FirstKey | State::Next => {}
            State::Number(number) if number.may_end() => {}
            State::Literal(rest) => text.push_str(rest),
            State::Value if self.in_object() => text.push_str("null"),
            State::Value | State::Key | State::Number(_) | State::Done => return None,
        }
        self.write_brackets(&mut text);
        Some(text)
    }
}

enum Step {
    Take,
    Again,
    Bad,
}

fn emit(text: &str, out: &mut impl FnMut(&str)) {
    if !text.is_empty() {
        out(text);
    }
}
