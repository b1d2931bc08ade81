//! Python strings as JSON strings.

use super::{
    escape::{Escape, escape},
    literal::{Literal, Out, Read, Rules, State, Step},
    shape::Quotes,
};
use crate::{engine::text::space, json::escape::escape as write};

/// The letters before a string's quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Prefix {
    raw: bool,
    format: bool,
    pub(super) bytes: bool,
}

impl Prefix {
    /// The longest there is.
    const LONGEST: usize = 2;

    pub(super) fn parse(letters: &str) -> Option<Self> {
        let mut prefix = Self::default();
        for byte in letters.bytes() {
            let flag = match byte {
                b'r' | b'R' => &mut prefix.raw,
                b'f' | b'F' => &mut prefix.format,
                b'b' | b'B' => &mut prefix.bytes,
                b'u' | b'U' if letters.len() == 1 => return Some(prefix),
                _ => return None,
            };
            if core::mem::replace(flag, true) {
                return None;
            }
        }
        (!(prefix.format && prefix.bytes)).then_some(prefix)
    }
}

/// A string in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    prefix: Prefix,
    quote: u8,
    triple: bool,
    at: At,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Behind the first quote.
    Opened,
    Inside,
    /// Behind a quote that ends the string unless what follows says otherwise.
    Quote,
    /// Behind the end; another string may continue it.
    End,
}

impl Text {
    pub(super) fn begin(prefix: Prefix, quote: u8) -> Self {
        Self { prefix, quote, triple: false, at: At::Opened }
    }

    /// Whether all of `text` is inside, and the same in JSON.
    #[inline]
    pub(super) fn passes(self, text: &str) -> bool {
        let plain = |b: u8| b >= 0x20 && b != b'"' && b != b'\\' && b != self.quote;
        self.at == At::Inside && !self.prefix.format && text.bytes().all(plain)
    }
}

impl Literal {
    pub(super) fn text(
        &mut self,
        rules: &Rules<'_>,
        state: Text,
        text: &str,
        i: &mut usize,
        out: Out<'_>,
    ) -> Step {
        match state.at {
            At::Opened => self.opened(state, text, i),
            At::Inside => self.inside(rules, state, text, i, out),
            At::Quote => self.behind_quote(rules, state, text, i, out),
            At::End => self.behind_text(text, i, out),
        }
    }

    fn go(&mut self, state: Text, at: At) -> Step {
        self.state = State::Text(Text { at, ..state });
        Ok(())
    }

    /// One quote was read: are there three?
    fn opened(&mut self, state: Text, text: &str, i: &mut usize) -> Step {
        let quote = state.quote;
        let triple = match text.as_bytes()[*i..] {
            [] => return Err(Read::More { used: *i }),
            [first] if first == quote => return Err(Read::More { used: *i }),
            [first, second, ..] => first == quote && second == quote,
            [_] => false,
        };
        *i += if triple { 2 } else { 0 };
        self.go(Text { triple, ..state }, At::Inside)
    }

    fn inside(
        &mut self,
        rules: &Rules<'_>,
        state: Text,
        text: &str,
        i: &mut usize,
        out: Out<'_>,
    ) -> Step {
        let bytes = text.as_bytes();
        let rest = &bytes[*i..];
        let stop = if state.prefix.format {
            rest.iter().position(|&b| b == state.quote || matches!(b, b'\\' | b'{' | b'}'))
        } else {
            memchr::memchr2(state.quote, b'\\', rest)
        };
        let end = *i + stop.unwrap_or(rest.len());
        self.write(rules, &text[*i..end], out);
        *i = end;
        let Some(&byte) = bytes.get(end) else { return Err(Read::More { used: end }) };
        match byte {
            b'\\' if state.prefix.raw => {
                let Some(&next) = bytes.get(end + 1) else { return Err(Read::More { used: end }) };
                let pair = next == b'\\' || next == state.quote;
                *i += if pair { 2 } else { 1 };
                self.write(rules, &text[end..*i], out);
            }
            b'\\' => match escape(&bytes[end..], rules.script) {
                Escape::Is(scalar, len) => {
                    self.write(rules, scalar.encode_utf8(&mut [0; 4]), out);
                    *i += len;
                }
                Escape::Nothing(len) => *i += len,
                Escape::Verbatim(len) => {
                    *i += len;
                    self.write(rules, &text[end..*i], out);
                }
                Escape::Cut => return Err(Read::More { used: end }),
                Escape::Named => return Err(Read::Inexpressible { at: end }),
            },
            b'{' | b'}' if state.prefix.format => match bytes.get(end + 1) {
                None => return Err(Read::More { used: end }),
                Some(&next) if next == byte => {
                    *i += 2;
                    self.write(rules, &text[end..=end], out);
                }
                Some(_) => return Err(Read::Inexpressible { at: end }),
            },
            quote => return self.at_quote(rules, state, quote, text, i, out),
        }
        Ok(())
    }

    /// A quote like the opening one.
    fn at_quote(
        &mut self,
        rules: &Rules<'_>,
        state: Text,
        quote: u8,
        text: &str,
        i: &mut usize,
        out: Out<'_>,
    ) -> Step {
        if state.triple {
            let head = &text.as_bytes()[*i..text.len().min(*i + 3)];
            let run = head.iter().take_while(|&&b| b == quote).count();
            if run == head.len() && run < 3 {
                return Err(Read::More { used: *i });
            }
            if run < 3 {
                self.write(rules, &text[*i..*i + run], out);
                *i += run;
                return Ok(());
            }
            *i += 3;
            return self.go(state, At::End);
        }
        *i += 1;
        match rules.quotes {
            Quotes::Strict => self.go(state, At::End),
            Quotes::Nested => self.go(state, At::Quote),
        }
    }

    fn behind_quote(
        &mut self,
        rules: &Rules<'_>,
        state: Text,
        text: &str,
        i: &mut usize,
        out: Out<'_>,
    ) -> Step {
        let blank = space(&text[*i..]);
        let room = rules.limit.saturating_sub(self.blanks.len());
        self.blanks.push_str(&text[*i..*i + blank.min(room)]);
        *i += blank.min(room);
        let ends = match text.as_bytes().get(*i) {
            _ if blank > room => true,
            None => return Err(Read::More { used: *i }),
            Some(byte) => matches!(byte, b',' | b')' | b']' | b'}' | b':'),
        };
        let blanks = core::mem::take(&mut self.blanks);
        if ends {
            self.end_text(out);
        } else {
            let quote = [state.quote];
            self.write(rules, core::str::from_utf8(&quote).unwrap_or(""), out);
            self.write(rules, &blanks, out);
            self.state = State::Text(Text { at: At::Inside, ..state });
        }
        self.blanks = blanks;
        self.blanks.clear();
        Ok(())
    }

    /// Behind a string: strings next to each other are one.
    fn behind_text(&mut self, text: &str, i: &mut usize, out: Out<'_>) -> Step {
        *i += space(&text[*i..]);
        let rest = &text[*i..];
        let letters = |b: &u8| b.is_ascii_alphabetic();
        let len = rest.bytes().take(Prefix::LONGEST + 1).take_while(letters).count();
        match (rest.as_bytes().get(len), Prefix::parse(&rest[..len])) {
            (None, Some(_)) => Err(Read::More { used: *i }),
            (Some(b'\'' | b'"'), Some(prefix)) if prefix.bytes => {
                Err(Read::Inexpressible { at: *i + len })
            }
            (Some(&quote @ (b'\'' | b'"')), Some(prefix)) => {
                *i += len + 1;
                self.state = State::Text(Text::begin(prefix, quote));
                Ok(())
            }
            _ => {
                self.end_text(out);
                Ok(())
            }
        }
    }

    fn end_text(&mut self, out: Out<'_>) {
        self.put("\"", out);
        self.state = State::After;
    }

    /// Writes text of the string.
    fn write(&mut self, rules: &Rules<'_>, text: &str, out: Out<'_>) {
        write(text, |piece| self.put(piece, &mut *out));
        self.bound(rules, out);
    }
}
