//! An incremental JSON scanner, which checks a value while it arrives and finds its end.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "`i` is an index of the text or its length; `depth` is at most `MAX_ARGUMENT_DEPTH`, \
              and positive where a bracket is closed"
)]

use alloc::string::String;

use super::{
    Brackets, Scanned, ValueFault,
    escape::{escape_byte, escaped_len, is_plain},
    unescape::{Escape, Flavor, is_lone, unescape},
};
use crate::limits::MAX_ARGUMENT_DEPTH;

/// The position in the value. For `{"a": 1}`: `Value`, `FirstKey`, `Text`, `Colon`, `Value`,
/// `Number`, `Next`, `Done`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ScanState {
    /// Expects a value of any type.
    #[default]
    Value,
    /// Expects a value or `]`.
    FirstElement,
    /// Expects a key or `}`.
    FirstKey,
    Key,
    Colon,
    /// Expects `,` or a closing bracket.
    Next,
    Text {
        key: bool,
    },
    /// Inside `true`, `false` or `null`. The rest of the word.
    Literal(&'static str),
    Number(NumberState),
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberState {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl NumberState {
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

/// The position at which the text that a [`JsonScan`] has read ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonPlace {
    /// Inside a member's name.
    Key,
    /// Inside a string that is a value.
    String,
    /// Inside or after a number, which the next byte may end.
    Number,
    /// Inside `true`, `false` or `null`.
    Word,
    /// After another value or an opening bracket. Closing the brackets makes the text JSON.
    Whole,
    /// Before a name or a value, but not the first one of its object or list.
    Between,
}

/// An incremental scanner of JSON text, in constant memory. Brackets may be nested 128 deep.
///
/// The syntax is strict JSON with two exceptions. Strings may contain unescaped control characters
/// and escapes of lone surrogates.
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
    state: ScanState,
    depth: u8,
    /// Bit `d` is set if the container at depth `d + 1` is an object.
    objects: u128,
    /// Whether `NaN` and infinities are numbers.
    python: bool,
}

impl JsonScan {
    /// Creates a scanner in the state before a value.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: ScanState::Value, depth: 0, objects: 0, python: false }
    }

    /// Creates a scanner that also accepts Python's `NaN`, `Infinity` and `-Infinity`.
    #[must_use]
    pub const fn python() -> Self {
        Self { python: true, ..Self::new() }
    }

    /// Reads up to the end of an open string, or one byte in any other state. Returns the number of
    /// bytes read. An unread rest of a string is a cut escape. Offer it again with more text.
    ///
    /// # Errors
    /// The text is not JSON. The error is the offset of the faulty character or escape.
    pub fn step(&mut self, text: &str) -> Result<usize, usize> {
        let in_string = matches!(self.state, ScanState::Text { .. });
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

    /// Returns whether all of `text` is the inside of a string and is valid JSON unchanged.
    #[inline]
    pub(crate) fn passes(&self, text: &str) -> bool {
        matches!(self.state, ScanState::Text { .. }) && is_plain(text)
    }

    /// Scans `text` and passes the valid JSON to `out`.
    #[expect(
        clippy::indexing_slicing,
        reason = "`i` is an index of the text or its length; `unescape` returns the length of an \
                  escape in the text"
    )]
    pub(crate) fn feed(&mut self, text: &str, mut out: impl FnMut(&str)) -> Scanned {
        let bytes = text.as_bytes();
        // The bytes from `from` on are valid and were not passed to `out` yet.
        let (mut i, mut from) = (0, 0);
        while i < bytes.len() {
            if let ScanState::Text { key } = self.state {
                i += escaped_len(&bytes[i..]);
                let Some(&byte) = bytes.get(i) else { break };
                match byte {
                    b'"' => {
                        self.state = if key { ScanState::Colon } else { self.after_value() };
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
                            return Scanned::Bad { at: i, fault: ValueFault::Syntax };
                        }
                    },
                    control => {
                        emit(&text[from..i], &mut out);
                        escape_byte(control, &mut out);
                        i += 1;
                        from = i;
                    }
                }
            } else if self.state == ScanState::Done {
                break;
            } else {
                match self.structure(bytes[i]) {
                    ScanStep::Take => i += 1,
                    ScanStep::Again => {}
                    ScanStep::Bad => {
                        emit(&text[from..i], &mut out);
                        return Scanned::Bad { at: i, fault: ValueFault::Syntax };
                    }
                }
            }
            if self.state == ScanState::Done {
                break;
            }
        }
        emit(&text[from..i], &mut out);
        if self.state == ScanState::Done {
            Scanned::End { used: i }
        } else {
            Scanned::More { used: i }
        }
    }

    fn structure(&mut self, byte: u8) -> ScanStep {
        if let ScanState::Number(number) = self.state {
            if self.python && (number, byte) == (NumberState::Minus, b'I') {
                self.state = ScanState::Literal("nfinity");
                return ScanStep::Take;
            }
            return match number.next(byte) {
                Some(next) => {
                    self.state = ScanState::Number(next);
                    ScanStep::Take
                }
                None if number.may_end() => {
                    self.state = self.after_value();
                    ScanStep::Again
                }
                None => ScanStep::Bad,
            };
        }
        if let ScanState::Literal(rest) = self.state {
            if rest.as_bytes().first() != Some(&byte) {
                return ScanStep::Bad;
            }
            self.state = match &rest[1..] {
                "" => self.after_value(),
                rest => ScanState::Literal(rest),
            };
            return ScanStep::Take;
        }
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return ScanStep::Take;
        }
        match (self.state, byte) {
            (ScanState::FirstElement, b']') | (ScanState::FirstKey, b'}') => self.close(),
            (ScanState::Value | ScanState::FirstElement, _) => return self.value(byte),
            (ScanState::FirstKey | ScanState::Key, b'"') => {
                self.state = ScanState::Text { key: true }
            }
            (ScanState::Colon, b':') => self.state = ScanState::Value,
            (ScanState::Next, b',') => {
                self.state = if self.in_object() { ScanState::Key } else { ScanState::Value };
            }
            (ScanState::Next, b'}') if self.in_object() => self.close(),
            (ScanState::Next, b']') if !self.in_object() => self.close(),
            _ => return ScanStep::Bad,
        }
        ScanStep::Take
    }

    fn value(&mut self, byte: u8) -> ScanStep {
        self.state = match byte {
            b'{' | b'[' => {
                if usize::from(self.depth) == MAX_ARGUMENT_DEPTH {
                    return ScanStep::Bad;
                }
                let bit = 1u128 << self.depth;
                self.depth += 1;
                if byte == b'{' {
                    self.objects |= bit;
                    ScanState::FirstKey
                } else {
                    self.objects &= !bit;
                    ScanState::FirstElement
                }
            }
            b'"' => ScanState::Text { key: false },
            b'-' => ScanState::Number(NumberState::Minus),
            b'0' => ScanState::Number(NumberState::Zero),
            b'1'..=b'9' => ScanState::Number(NumberState::Integer),
            b't' => ScanState::Literal("rue"),
            b'f' => ScanState::Literal("alse"),
            b'n' => ScanState::Literal("ull"),
            b'N' if self.python => ScanState::Literal("aN"),
            b'I' if self.python => ScanState::Literal("nfinity"),
            _ => return ScanStep::Bad,
        };
        ScanStep::Take
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.state = self.after_value();
    }

    fn after_value(&self) -> ScanState {
        if self.depth == 0 { ScanState::Done } else { ScanState::Next }
    }

    /// Returns the position at which the text so far ends.
    #[must_use]
    pub fn place(&self) -> JsonPlace {
        match self.state {
            ScanState::Text { key: true } => JsonPlace::Key,
            ScanState::Text { key: false } => JsonPlace::String,
            ScanState::Number(_) => JsonPlace::Number,
            ScanState::Literal(_) => JsonPlace::Word,
            ScanState::FirstElement | ScanState::FirstKey | ScanState::Next | ScanState::Done => {
                JsonPlace::Whole
            }
            ScanState::Value | ScanState::Key | ScanState::Colon => JsonPlace::Between,
        }
    }

    /// Returns whether a number ends before `next`. If `next` is empty, before the end of the text.
    #[must_use]
    pub fn number_ends_before(&self, next: &str) -> bool {
        let ScanState::Number(number) = self.state else { return false };
        number.may_end() && next.bytes().next().is_none_or(|byte| number.next(byte).is_none())
    }

    /// Returns the number of open brackets.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth.into()
    }

    /// Returns whether the innermost open bracket is that of an object.
    #[must_use]
    pub fn in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 != 0
    }

    /// Returns whether a key must follow.
    pub(super) fn is_before_key(&self) -> bool {
        matches!(self.state, ScanState::FirstKey | ScanState::Key)
    }

    /// Returns the open brackets.
    pub(super) fn brackets(&self) -> Brackets {
        Brackets::new(self.depth, self.objects)
    }

    /// Returns whether the text so far ends inside a string.
    pub(crate) fn in_string(&self) -> bool {
        matches!(self.state, ScanState::Text { .. })
    }

    /// Appends the closing brackets to `text`.
    pub(crate) fn write_brackets(&self, text: &mut String) {
        for depth in (0..self.depth).rev() {
            text.push(if self.objects >> depth & 1 != 0 { '}' } else { ']' });
        }
    }

    /// Returns a text that completes the JSON so far, if one exists.
    pub(crate) fn closing(&self) -> Option<String> {
        let mut text = String::new();
        match self.state {
            ScanState::Text { key: true } => text.push_str("\":null"),
            ScanState::Text { key: false } => text.push('"'),
            ScanState::Colon => text.push_str(":null"),
            ScanState::FirstElement | ScanState::FirstKey | ScanState::Next => {}
            ScanState::Number(number) if number.may_end() => {}
            ScanState::Literal(rest) => text.push_str(rest),
            ScanState::Value if self.in_object() => text.push_str("null"),
            ScanState::Value | ScanState::Key | ScanState::Number(_) | ScanState::Done => {
                return None;
            }
        }
        self.write_brackets(&mut text);
        Some(text)
    }
}

enum ScanStep {
    Take,
    Again,
    Bad,
}

fn emit(text: &str, out: &mut impl FnMut(&str)) {
    if !text.is_empty() {
        out(text);
    }
}
