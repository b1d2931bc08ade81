//! A scanner of JSON text that arrives in pieces. It reports each token when the token ends.
//!
//! | chunk | tokens reported |
//! |---|---|
//! | `{"a": 1` | `Open(Object)`, `Key` |
//! | `2, "b": "x` | `Number`, `Key` |
//! | `y"}` | `String`, `Close` |

#![deny(clippy::indexing_slicing)]

use alloc::string::String;
use core::fmt;

use toolcall_parsers::{JsonPlace, JsonScan};

use super::parse::lone;

/// An error: a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson {
    /// The offset of the first byte that JSON does not allow there.
    pub at: usize,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: not JSON", self.at)
    }
}

impl core::error::Error for NotJson {}

/// The kind of a bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Object,
    Array,
}

/// A token, with its offsets from the start of the text.
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
    /// One of `true`, `false`, `null`, `NaN`, `Infinity`, `-Infinity`.
    Word,
    /// The escape of an unpaired surrogate, before the token of its string.
    Lone,
}

/// A scanner of JSON text that arrives in chunks.
#[derive(Debug, Clone)]
pub(crate) struct Scanner {
    scan: JsonScan,
    at: usize,
    /// The start of the token being read.
    start: usize,
    /// The first part of an escape that the end of the chunk cut.
    cut: String,
}

impl Default for Scanner {
    fn default() -> Self {
        Self { scan: JsonScan::python(), at: 0, start: 0, cut: String::new() }
    }
}

impl Scanner {
    /// Reads the next text, and reports each token that ends in it.
    pub(crate) fn feed(&mut self, text: &str, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        let mut rest = text.chars();
        while !self.cut.is_empty()
            && let Some(scalar) = rest.next()
        {
            let mut cut = core::mem::take(&mut self.cut);
            cut.push(scalar);
            let read = self.scan_text(&cut, on)?;
            cut.drain(..read);
            self.cut = cut;
        }
        let text = rest.as_str();
        let read = self.scan_text(text, on)?;
        self.cut.push_str(text.get(read..).unwrap_or_default());
        Ok(())
    }

    /// Reads `text` up to an escape that is cut. Returns the number of bytes that were read.
    fn scan_text(&mut self, mut text: &str, on: &mut dyn FnMut(Token)) -> Result<usize, NotJson> {
        let from = self.at;
        while !text.is_empty() {
            if self.is_done() {
                let rest = text.trim_start_matches([' ', '\t', '\n', '\r']);
                self.at += text.len() - rest.len();
                let over = rest.is_empty();
                return if over { Ok(self.at - from) } else { Err(NotJson { at: self.at }) };
            }
            let (place, depth, start) = (self.scan.place(), self.scan.depth(), self.at);
            let mut token = |kind, start, end| on(Token { kind, start, end });
            if self.scan.number_ends_before(text) {
                token(TokenKind::Number, self.start, start);
            }
            let step = self.scan.step(text);
            let used = step.unwrap_or_else(|bad| bad);
            let (read, rest) = text.split_at(used);
            let mut good = read;
            if matches!(place, JsonPlace::Key | JsonPlace::String) {
                good = read.split(|c| c < ' ').next().unwrap_or_default();
                for at in lone(good) {
                    token(TokenKind::Lone, start + at, start + at + 6);
                }
            }
            // Text before the fault is read, so that the result is the same for every cut.
            if good.len() < read.len() || step.is_err() {
                self.at += good.len();
                return Err(NotJson { at: self.at });
            }
            if used == 0 && !self.is_done() {
                break;
            }
            self.at += used;
            text = rest;
            match (place, self.scan.place()) {
                (was, is) if was == is => {}
                (JsonPlace::Key, _) => token(TokenKind::Key, self.start, self.at),
                (JsonPlace::String, _) => token(TokenKind::String, self.start, self.at),
                (JsonPlace::Word, _) => token(TokenKind::Word, self.start, self.at),
                // A sign before a word, or the space between tokens.
                (JsonPlace::Number, JsonPlace::Word)
                | (_, JsonPlace::Between | JsonPlace::Whole) => {}
                (_, _) => self.start = start,
            }
            match self.scan.depth().cmp(&depth) {
                core::cmp::Ordering::Less => token(TokenKind::Close, start, self.at),
                core::cmp::Ordering::Equal => {}
                core::cmp::Ordering::Greater => {
                    let object = self.scan.in_object();
                    let container = if object { Container::Object } else { Container::Array };
                    token(TokenKind::Open(container), start, self.at);
                }
            }
        }
        Ok(self.at - from)
    }

    /// Reports the end of the text.
    pub(crate) fn end(&mut self, on: &mut dyn FnMut(Token)) -> Result<(), NotJson> {
        let number = self.scan.number_ends_before("");
        if number {
            on(Token { kind: TokenKind::Number, start: self.start, end: self.at });
        }
        let ended = self.is_done() || number && self.scan.depth() == 0;
        if ended { Ok(()) } else { Err(NotJson { at: self.at + self.cut.len() }) }
    }

    /// Returns whether the value is complete. A number at the end may still continue.
    fn is_done(&self) -> bool {
        self.scan.place() == JsonPlace::Whole && self.scan.depth() == 0
    }

    /// Returns the start of the text whose meaning depends on the next bytes, such as a cut escape.
    pub(crate) fn undecided(&self) -> usize {
        self.at
    }

    /// Returns the start of the value that is being read, unless the value is a container.
    pub(crate) fn scalar(&self) -> Option<usize> {
        let scalar =
            matches!(self.scan.place(), JsonPlace::String | JsonPlace::Number | JsonPlace::Word);
        scalar.then_some(self.start)
    }

    /// Returns whether the text so far ends inside a string.
    pub(crate) fn in_string(&self) -> bool {
        matches!(self.scan.place(), JsonPlace::Key | JsonPlace::String)
    }
}
