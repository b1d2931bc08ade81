//! The scanner: a JSON text byte by byte, its tokens as they end.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "places in one JSON text in memory, of which `at` bytes were read, and the end of \
              the byte being read; of four digits at most the last is taken off"
)]

use alloc::vec::Vec;
use core::fmt;

/// Nesting beyond this is refused, so that hostile input cannot exhaust the stack.
const MAX_DEPTH: usize = 512;

/// Where a text stopped to be JSON, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson {
    /// The offset.
    pub at: usize,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: not JSON", self.at)
    }
}

impl core::error::Error for NotJson {}

/// What a bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Object,
    Array,
}

/// A token and where it stands, in bytes from the start of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Open(Container),
    Close,
    /// A member's name, with its quotes.
    Key,
    /// A string, with its quotes.
    String,
    Number,
    /// `true`, `false`, `null`, `NaN`, `Infinity`, `-Infinity`.
    Word,
    /// An escape in a string that is half of a pair; comes before the string's own token.
    Lone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    After,
    Text,
    Escape,
    /// So many digits of `\u` are still to come.
    Hex(u8),
    Number(Digits),
    /// The rest of a word.
    Word(&'static [u8]),
    Done,
}

/// How far a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    E,
    ESign,
    Exponent,
}

/// Reads a JSON text that arrives in pieces.
#[derive(Debug, Clone)]
pub(crate) struct Scanner {
    state: State,
    open: Vec<Container>,
    at: usize,
    /// Where the token being read begins.
    start: usize,
    /// Whether the string being read is a member's name.
    key: bool,
    code: u32,
    /// Where the escape being read begins.
    escape: usize,
    /// Where the first half of a pair begins whose second has not come.
    high: Option<usize>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self {
            state: State::Value,
            open: Vec::new(),
            at: 0,
            start: 0,
            key: false,
            code: 0,
            escape: 0,
            high: None,
        }
    }
}

impl Scanner {
    /// Reads on, and hands out each token that ends.
    #[expect(clippy::indexing_slicing, reason = "`run` is how many bytes of `rest` are plain")]
    pub(crate) fn feed(&mut self, text: &str, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        let mut rest = text.as_bytes();
        loop {
            // Most of a string is neither its end, nor an escape, nor a fault: it is passed over.
            if self.state == State::Text && self.high.is_none() {
                let plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | ..0x20);
                let run = rest.iter().take_while(|byte| plain(byte)).count();
                self.at += run;
                rest = &rest[run..];
            }
            let Some((&byte, behind)) = rest.split_first() else { return Ok(()) };
            self.byte(byte, on)?;
            self.at += 1;
            rest = behind;
        }
    }

    /// The text is over.
    pub(crate) fn end(&mut self, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        if let State::Number(digits) = self.state {
            self.number_ended(digits, on)?;
        }
        if self.state == State::Done { Ok(()) } else { Err(NotJson { at: self.at }) }
    }

    /// Where the text begins whose meaning the next bytes decide: an escape, half a pair.
    pub(crate) fn undecided(&self) -> usize {
        match self.state {
            State::Escape | State::Hex(_) => self.high.unwrap_or(self.escape),
            _ => self.high.unwrap_or(self.at),
        }
    }

    /// Where the value begins that is being read and is no container.
    pub(crate) fn scalar(&self) -> Option<usize> {
        let scalar = match self.state {
            State::Text | State::Escape | State::Hex(_) => !self.key,
            State::Number(_) | State::Word(_) => true,
            _ => false,
        };
        scalar.then_some(self.start)
    }

    /// Whether the text so far ends inside a string.
    pub(crate) fn in_string(&self) -> bool {
        matches!(self.state, State::Text | State::Escape | State::Hex(_))
    }

    fn byte(&mut self, byte: u8, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        match self.state {
            State::Text => return self.text(byte, on),
            State::Escape => return self.escaped(byte, on),
            State::Hex(left) => return self.hex(byte, left, on),
            State::Number(digits) => match next_digit(digits, byte) {
                Some(next) => {
                    self.state = State::Number(next);
                    return Ok(());
                }
                None if digits == Digits::Minus && byte == b'I' => {
                    self.state = State::Word(b"nfinity");
                    return Ok(());
                }
                None => self.number_ended(digits, on)?,
            },
            State::Word(rest) => {
                let Some((_, behind)) = rest.split_first().filter(|(first, _)| **first == byte)
                else {
                    return Err(NotJson { at: self.at });
                };
                self.state = State::Word(behind);
                if behind.is_empty() {
                    self.ended(TokenKind::Word, self.at + 1, on);
                }
                return Ok(());
            }
            _ => {}
        }
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return Ok(());
        }
        match (self.state, byte) {
            (State::ValueOrEnd, b']') | (State::KeyOrEnd, b'}') => self.close(on),
            (State::After, b']') if self.open.last() == Some(&Container::Array) => self.close(on),
            (State::After, b'}') if self.open.last() == Some(&Container::Object) => self.close(on),
            (State::After, b',') => {
                let array = self.open.last() == Some(&Container::Array);
                self.state = if array { State::Value } else { State::Key };
            }
            (State::Key | State::KeyOrEnd, b'"') => self.begin(State::Text, true),
            (State::Colon, b':') => self.state = State::Value,
            (State::Value | State::ValueOrEnd, _) => return self.value(byte, on),
            _ => return Err(NotJson { at: self.at }),
        }
        Ok(())
    }

    fn begin(&mut self, state: State, key: bool) {
        self.start = self.at;
        self.state = state;
        self.key = key;
    }

    fn value(&mut self, byte: u8, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        let container = match byte {
            b'{' => Container::Object,
            b'[' => Container::Array,
            _ => {
                self.begin(
                    match byte {
                        b'"' => State::Text,
                        b'-' => State::Number(Digits::Minus),
                        b'0' => State::Number(Digits::Zero),
                        b'1'..=b'9' => State::Number(Digits::Whole),
                        b't' => State::Word(b"rue"),
                        b'f' => State::Word(b"alse"),
                        b'n' => State::Word(b"ull"),
                        b'N' => State::Word(b"aN"),
                        b'I' => State::Word(b"nfinity"),
                        _ => return Err(NotJson { at: self.at }),
                    },
                    false,
                );
                return Ok(());
            }
        };
        if self.open.len() >= MAX_DEPTH {
            return Err(NotJson { at: self.at });
        }
        self.open.push(container);
        self.state = match container {
            Container::Object => State::KeyOrEnd,
            Container::Array => State::ValueOrEnd,
        };
        let kind = TokenKind::Open(container);
        on(Token { kind, start: self.at, end: self.at + 1 });
        Ok(())
    }

    fn close(&mut self, on: &mut dyn FnMut(Token)) {
        self.open.pop();
        self.start = self.at;
        self.ended(TokenKind::Close, self.at + 1, on);
    }

    /// A value or a name ended.
    fn ended(&mut self, kind: TokenKind, end: usize, on: &mut dyn FnMut(Token)) {
        self.state = match (kind, self.open.is_empty()) {
            (TokenKind::Key, _) => State::Colon,
            (_, true) => State::Done,
            (_, false) => State::After,
        };
        on(Token { kind, start: self.start, end });
    }

    fn number_ended(&mut self, digits: Digits, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        if matches!(digits, Digits::Minus | Digits::Point | Digits::E | Digits::ESign) {
            return Err(NotJson { at: self.at });
        }
        self.ended(TokenKind::Number, self.at, on);
        Ok(())
    }

    fn text(&mut self, byte: u8, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        if byte == b'\\' {
            self.escape = self.at;
            self.state = State::Escape;
            return Ok(());
        }
        self.lone(on);
        match byte {
            b'"' => {
                let kind = if self.key { TokenKind::Key } else { TokenKind::String };
                self.ended(kind, self.at + 1, on);
                Ok(())
            }
            ..0x20 => Err(NotJson { at: self.at }),
            _ => Ok(()),
        }
    }

    fn escaped(&mut self, byte: u8, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        match byte {
            b'u' => {
                self.code = 0;
                self.state = State::Hex(4);
                return Ok(());
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
            _ => return Err(NotJson { at: self.at }),
        }
        self.lone(on);
        self.state = State::Text;
        Ok(())
    }

    fn hex(&mut self, byte: u8, left: u8, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        let digit = char::from(byte).to_digit(16).ok_or(NotJson { at: self.at })?;
        self.code = self.code << 4 | digit;
        if left > 1 {
            self.state = State::Hex(left - 1);
            return Ok(());
        }
        self.state = State::Text;
        match self.code {
            0xD800..=0xDBFF => {
                self.lone(on);
                self.high = Some(self.escape);
            }
            0xDC00..=0xDFFF if self.high.take().is_none() => {
                self.high = Some(self.escape);
                self.lone(on);
            }
            0xDC00..=0xDFFF => {}
            _ => self.lone(on),
        }
        Ok(())
    }

    /// The first half of a pair turned out to be alone.
    fn lone(&mut self, on: &mut dyn FnMut(Token)) {
        if let Some(start) = self.high.take() {
            on(Token { kind: TokenKind::Lone, start, end: start + 6 });
        }
    }
}

fn next_digit(digits: Digits, byte: u8) -> Option<Digits> {
    use Digits::{E, ESign, Exponent, Fraction, Minus, Point, Whole, Zero};
    Some(match (digits, byte) {
        (Minus, b'0') => Zero,
        (Minus, b'1'..=b'9') | (Whole, b'0'..=b'9') => Whole,
        (Zero | Whole, b'.') => Point,
        (Point | Fraction, b'0'..=b'9') => Fraction,
        (Zero | Whole | Fraction, b'e' | b'E') => E,
        (E, b'+' | b'-') => ESign,
        (E | ESign | Exponent, b'0'..=b'9') => Exponent,
        _ => return None,
    })
}
