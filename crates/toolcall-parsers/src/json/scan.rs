//! An incremental JSON automaton: checks a value as it passes, and says where it ends.

use alloc::string::String;

use super::escape::escape_byte;

/// The deepest nesting that is accepted.
const MAX_DEPTH: u8 = 128;

/// Where a scan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// The value goes on; `used` bytes are done with, the rest is an unfinished escape.
    More { used: usize },
    /// The value ended after `used` bytes.
    End { used: usize },
    /// The byte at `at` cannot stand there.
    Bad { at: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value must come.
    Value,
    /// A value or `]`.
    FirstElement,
    /// A key or `}`.
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

/// The automaton. Strict JSON but for two mercies: raw control characters in strings are escaped
/// as they pass, and escapes of lone surrogates are replaced by that of U+FFFD.
#[derive(Debug, Clone)]
pub(crate) struct JsonScan {
    state: State,
    depth: u8,
    /// Bit `d`: the container at depth `d + 1` is an object.
    objects: u128,
}

impl JsonScan {
    pub(crate) const fn new() -> Self {
        Self { state: State::Value, depth: 0, objects: 0 }
    }

    /// Scans `text` on, handing what passed to `out`.
    pub(crate) fn feed(&mut self, text: &str, mut out: impl FnMut(&str)) -> Scanned {
        let bytes = text.as_bytes();
        // Bytes from `from` passed unchanged and were not handed out yet.
        let (mut i, mut from) = (0, 0);
        while i < bytes.len() {
            if let State::Text { key } = self.state {
                i += plain_len(&bytes[i..]);
                let Some(&byte) = bytes.get(i) else { break };
                match byte {
                    b'"' => {
                        self.state = if key { State::Colon } else { self.after_value() };
                        i += 1;
                    }
                    b'\\' => match read_escape(&bytes[i..]) {
                        Escape::Whole(len) => i += len,
                        Escape::Lone(len) => {
                            emit(&text[from..i], &mut out);
                            out("\\ufffd");
                            i += len;
                            from = i;
                        }
                        Escape::Cut => {
                            emit(&text[from..i], &mut out);
                            return Scanned::More { used: i };
                        }
                        Escape::Bad => {
                            emit(&text[from..i], &mut out);
                            return Scanned::Bad { at: i };
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
                        return Scanned::Bad { at: i };
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
                if self.depth == MAX_DEPTH {
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
            _ => return Step::Bad,
        };
        Step::Take
    }

    fn in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 != 0
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.state = self.after_value();
    }

    fn after_value(&self) -> State {
        if self.depth == 0 { State::Done } else { State::Next }
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
        for depth in (0..self.depth).rev() {
            text.push(if self.objects >> depth & 1 != 0 { '}' } else { ']' });
        }
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

/// Whether a byte passes as it is inside a string.
static PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        plain[byte] = false;
        byte += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain
};

/// Whether `text` passes inside a string as it is.
#[inline]
pub(crate) fn is_plain(text: &str) -> bool {
    plain_len(text.as_bytes()) == text.len()
}

/// Bytes at the head of a string's inside that pass as they are.
#[inline]
fn plain_len(bytes: &[u8]) -> usize {
    const SHORT: usize = 32;
    const BLOCK: usize = 256;
    if bytes.len() <= SHORT {
        return bytes.iter().position(|&b| !PLAIN[usize::from(b)]).unwrap_or(bytes.len());
    }
    // Block by block, so that a text full of stops is not searched to its end for each.
    let mut base = 0;
    for block in bytes.chunks(BLOCK) {
        let end = memchr::memchr2(b'"', b'\\', block).unwrap_or(block.len());
        // Control characters are rare: one pass that the compiler can vectorise.
        if block[..end].iter().fold(false, |any, &b| any | (b < 0x20)) {
            return base + block[..end].iter().position(|&b| b < 0x20).unwrap_or(end);
        }
        if end < block.len() {
            return base + end;
        }
        base += block.len();
    }
    base
}

enum Escape {
    /// A whole escape of this length.
    Whole(usize),
    /// A lone surrogate's escape of this length.
    Lone(usize),
    /// The text ends inside it.
    Cut,
    Bad,
}

/// Reads the escape at the head of `bytes`.
fn read_escape(bytes: &[u8]) -> Escape {
    match bytes.get(1) {
        None => Escape::Cut,
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Escape::Whole(2),
        Some(b'u') => match hex4(&bytes[2..]) {
            Hex::Bad => Escape::Bad,
            Hex::Cut => Escape::Cut,
            Hex::Is(0xDC00..=0xDFFF) => Escape::Lone(6),
            Hex::Is(0xD800..=0xDBFF) => match (bytes.get(6), bytes.get(7)) {
                (None, _) | (Some(b'\\'), None) => Escape::Cut,
                (Some(b'\\'), Some(b'u')) => match hex4(&bytes[8..]) {
                    Hex::Is(0xDC00..=0xDFFF) => Escape::Whole(12),
                    Hex::Cut => Escape::Cut,
                    Hex::Is(_) | Hex::Bad => Escape::Lone(6),
                },
                _ => Escape::Lone(6),
            },
            Hex::Is(_) => Escape::Whole(6),
        },
        Some(_) => Escape::Bad,
    }
}

enum Hex {
    Is(u32),
    Cut,
    Bad,
}

fn hex4(bytes: &[u8]) -> Hex {
    let mut value = 0;
    for i in 0..4 {
        let Some(&byte) = bytes.get(i) else { return Hex::Cut };
        let Some(digit) = char::from(byte).to_digit(16) else { return Hex::Bad };
        value = value * 16 + digit;
    }
    Hex::Is(value)
}

/// Reads the escape at the head of `bytes` as the scalar it stands for (U+FFFD for a lone
/// surrogate) and its length; `None` if it is cut or no escape.
pub(crate) fn decode_escape(bytes: &[u8]) -> Result<(char, usize), EscapeFault> {
    let code = |at: usize| match hex4(&bytes[at..]) {
        Hex::Is(value) => value,
        Hex::Cut | Hex::Bad => 0xFFFD,
    };
    match read_escape(bytes) {
        Escape::Cut => Err(EscapeFault::Cut),
        Escape::Bad => Err(EscapeFault::Bad),
        Escape::Lone(len) => Ok((char::REPLACEMENT_CHARACTER, len)),
        Escape::Whole(2) => Ok((
            match bytes[1] {
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                other => char::from(other),
            },
            2,
        )),
        Escape::Whole(12) => {
            let (high, low) = (code(2) - 0xD800, code(8) - 0xDC00);
            Ok((char::from_u32(0x10000 + (high << 10 | low)).unwrap_or('\u{FFFD}'), 12))
        }
        Escape::Whole(len) => Ok((char::from_u32(code(2)).unwrap_or('\u{FFFD}'), len)),
    }
}

/// Why an escape could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EscapeFault {
    Cut,
    Bad,
}
