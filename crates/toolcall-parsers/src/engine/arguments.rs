//! The value of an arguments key: an object as it is, `null` as `{}`, an object written inside a
//! string decoded once.

use alloc::string::String;

use crate::json::{
    decode::{Decoded, decode},
    scan::{JsonScan, Scanned},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Object,
    /// Inside `null`, with this much left.
    Null(&'static str),
    /// Inside a string; the object in it has not begun.
    BlankText,
    Text,
    /// Inside a string, behind the object in it.
    TextRest,
}

/// Reads one arguments value.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    state: State,
    scan: JsonScan,
    /// Decoded text of an inner escape that is not whole yet, and where it began.
    carry: String,
    carry_at: u64,
    consumed: u64,
}

impl Arguments {
    pub(crate) const fn new() -> Self {
        Self {
            state: State::Start,
            scan: JsonScan::new(),
            carry: String::new(),
            carry_at: 0,
            consumed: 0,
        }
    }

    /// Bytes of the wire consumed so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Bytes held.
    pub(crate) fn held(&self) -> usize {
        self.carry.len()
    }

    /// The text that closes what is open, if that makes JSON of it.
    pub(crate) fn closing(&self) -> Option<String> {
        match self.state {
            State::Start | State::Null(_) | State::BlankText => Some(String::from("{}")),
            State::Object | State::Text => self.scan.closing(),
            State::TextRest => Some(String::new()),
        }
    }

    /// Whether all of `text` is the inside of a string of the object, to be passed as it is.
    #[inline]
    pub(crate) fn passes(&mut self, text: &str) -> bool {
        let passes = self.state == State::Object && self.scan.passes(text);
        if passes {
            self.consumed += text.len() as u64;
        }
        passes
    }

    /// Reads on; `out` receives the arguments' JSON text.
    pub(crate) fn feed(&mut self, text: &str, mut out: impl FnMut(&str)) -> Scanned {
        let mut i = 0;
        if self.state == State::Start {
            i = super::text::space(text);
            match text.as_bytes().get(i) {
                None => return self.step(Scanned::More { used: i }),
                Some(b'{') => self.state = State::Object,
                Some(b'"') => {
                    i += 1;
                    self.state = State::BlankText;
                }
                Some(b'n') => {
                    i += 1;
                    self.state = State::Null("ull");
                }
                Some(_) => return Scanned::Bad { at: i },
            }
        }
        let scanned = match self.state {
            State::Start => Scanned::More { used: 0 },
            State::Object => self.scan.feed(&text[i..], out),
            State::Null(rest) => self.null(rest, &text[i..], &mut out),
            State::BlankText | State::Text | State::TextRest => {
                self.text(&text[i..], i as u64, &mut out)
            }
        };
        self.step(match scanned {
            Scanned::More { used } => Scanned::More { used: used + i },
            Scanned::End { used } => Scanned::End { used: used + i },
            Scanned::Bad { at } => Scanned::Bad { at: at + i },
        })
    }

    fn step(&mut self, scanned: Scanned) -> Scanned {
        if let Scanned::More { used } = scanned {
            self.consumed += used as u64;
        }
        scanned
    }

    fn null(&mut self, mut rest: &'static str, text: &str, out: &mut impl FnMut(&str)) -> Scanned {
        for (i, byte) in text.bytes().enumerate() {
            if rest.as_bytes().first() != Some(&byte) {
                return Scanned::Bad { at: i };
            }
            rest = &rest[1..];
            if rest.is_empty() {
                out("{}");
                return Scanned::End { used: i + 1 };
            }
        }
        self.state = State::Null(rest);
        Scanned::More { used: text.len() }
    }

    fn text(&mut self, text: &str, skipped: u64, out: &mut impl FnMut(&str)) -> Scanned {
        let base = self.consumed + skipped;
        let mut bad: Option<u64> = None;
        let decoded = decode(text, |piece, at| {
            if bad.is_none() {
                bad = self.inner(piece, base + at as u64, out).err();
            }
        });
        if let Some(at) = bad {
            // An inner escape may have begun in an earlier piece.
            return Scanned::Bad { at: at.saturating_sub(base) as usize };
        }
        match decoded {
            Decoded::More { used } => Scanned::More { used },
            Decoded::Bad { at } => Scanned::Bad { at },
            Decoded::End { used } => match self.state {
                State::BlankText => {
                    out("{}");
                    Scanned::End { used }
                }
                State::TextRest => Scanned::End { used },
                _ => Scanned::Bad { at: used - 1 },
            },
        }
    }

    /// Takes in decoded text that stands at `at`; fails with the place of the bad byte.
    fn inner(&mut self, piece: &str, at: u64, out: &mut impl FnMut(&str)) -> Result<(), u64> {
        let mut piece = piece;
        let mut at = at;
        if self.state == State::BlankText {
            let blank = super::text::space(piece);
            at += blank as u64;
            piece = &piece[blank..];
            match piece.as_bytes().first() {
                None => return Ok(()),
                Some(b'{') => self.state = State::Text,
                Some(_) => return Err(at),
            }
        }
        if self.state == State::Text {
            if self.carry.is_empty() {
                self.carry_at = at;
            }
            self.carry.push_str(piece);
            let carried = core::mem::take(&mut self.carry);
            let new_from = carried.len() - piece.len();
            match self.scan.feed(&carried, out) {
                Scanned::More { used } => {
                    if used >= new_from {
                        self.carry_at = at + (used - new_from) as u64;
                    }
                    self.carry = carried;
                    self.carry.drain(..used);
                    return Ok(());
                }
                Scanned::End { used } => {
                    self.state = State::TextRest;
                    piece = &piece[used.saturating_sub(new_from)..];
                    at += used.saturating_sub(new_from) as u64;
                }
                Scanned::Bad { at: bad } => {
                    return Err(if bad < new_from {
                        self.carry_at
                    } else {
                        at + (bad - new_from) as u64
                    });
                }
            }
        }
        let blank = super::text::space(piece);
        if blank < piece.len() { Err(at + blank as u64) } else { Ok(()) }
    }
}
