//! Search for the end of a string in the family's own quotes: the first quote that a legal
//! continuation follows.
//!
//! ```text
//! {text:<|"|>a<|"|>b<|"|>}<tool_call|>                          the first quote is data
//! {text:<|"|>call:f{k:<|"|>v<|"|>}<tool_call|> b<|"|>}<tool_call|>   inner strings are skipped
//! ```
//!
//! If no quote qualifies before the message ends, the rules for missing ends apply.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "all numbers are indexes of the text, or lengths of parts of it; `depth` is positive \
              where it is decreased"
)]

use super::{
    Note, Scanned,
    container::Container,
    dialect::{Quote, ValueDialect},
    missing_end::ends,
    quoted_call::QuotedCall,
    string::{StringAt, Text},
    transcoder::{Cx, Flow, StringMode, Transcoder, TranscoderState},
};
use crate::{
    cursor::{Prefix, Undecided, after_blanks, blanks, filled, longest_prefix},
    limits::MAX_LOOKAHEAD,
    typing::TypeSet,
};

/// The search for the end of a string in the family's own quotes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnString {
    /// Number of held bytes examined.
    pub(super) looked: usize,
    /// Class of the text before the position.
    pub(super) before: Before,
    /// Whether the search found no end.
    pub(super) is_missing: bool,
    /// Whether a limit released text of the string before its end was found.
    pub(super) released: bool,
    /// The opener of a call in the string.
    pub(super) quoted_call: QuotedCall,
    /// Whether the string has ended, and a quote in it was taken for data.
    pub(super) inner_quotes: bool,
}

impl Transcoder {
    /// Returns whether a quote in the string may be data, so that the string's end must be searched
    /// for.
    pub(super) fn may_quote(&self, text: Text, cx: &Cx<'_, '_>) -> bool {
        let is_string = match self.mode {
            StringMode::Typed(types) => types.has(TypeSet::STRING),
            _ => true,
        };
        is_string && self.own.before != Before::Start && self.may_search(text, cx)
    }

    /// Returns whether the string may contain tags of the family.
    pub(super) fn may_search(&self, text: Text, cx: &Cx<'_, '_>) -> bool {
        matches!(text.quote, Quote::Own(_))
            && !self.own.is_missing
            && cx.dialect.may_search
            && !matches!(self.mode, StringMode::Plain | StringMode::Key)
    }

    /// Returns whether a quote is data although the search found no end. After a cut no quote proves
    /// that it is the end, and those after an opener are those of a quoted call.
    pub(super) fn is_data(&self, dialect: &ValueDialect<'_>) -> bool {
        self.own.is_missing && (dialect.cut || self.own.quoted_call.is_seen())
    }

    /// Writes the next `len` bytes as text of the string.
    pub(super) fn pass(&mut self, len: usize, cx: &mut Cx<'_, '_>) -> Flow {
        let rest = cx.rest();
        self.write(&rest[..len], cx)?;
        cx.advance(len);
        Ok(())
    }

    /// Returns whether held text is being searched for a string's end.
    pub(super) fn is_searching(&self) -> bool {
        matches!(self.state, TranscoderState::Text(Text { at: StringAt::Search { .. }, .. }))
    }

    /// Starts to hold the text until the string's end is found.
    pub(super) fn begin_search(&mut self, text: Text) -> Flow {
        self.own.looked = 0;
        self.go(text, StringAt::Search { depth: 0 })
    }

    /// Searches held text for the string's end. `depth` is the number of open inner strings.
    pub(super) fn search(&mut self, text: Text, depth: u16, cx: &mut Cx<'_, '_>) -> Flow {
        let rest = cx.rest();
        let most = cx.dialect.limits.value.clamp(1, MAX_LOOKAHEAD);
        let (found, depth) = self.own_end(text, depth, (rest, cx.dialect));
        match found {
            Some(at) => {
                self.own.looked = 0;
                self.write(&rest[..at], cx)?;
                cx.advance(at + cx.dialect.measure(text.quote).1);
                self.end_text(cx)
            }
            // The limit changes when the text is emitted, not what it means.
            None if self.own.released || filled(rest, most).is_some() && !cx.dialect.ended => {
                self.go(text, StringAt::Search { depth })?;
                let known = core::mem::take(&mut self.own.looked);
                self.own.released = true;
                self.pass(known, cx)?;
                cx.more()
            }
            None if !cx.dialect.ended => {
                self.go(text, StringAt::Search { depth })?;
                cx.more()
            }
            None => {
                (self.own.looked, self.own.is_missing) = (0, true);
                self.go(text, StringAt::Inside)?;
                Err(Scanned::Noted { used: cx.i, note: Note::Searched(rest.len()) })
            }
        }
    }

    /// Returns the index of the quote in `held` that ends the string, if that is certain. Also
    /// returns the number of open inner strings.
    fn own_end(
        &mut self,
        text: Text,
        mut depth: u16,
        (held, dialect): (&str, &ValueDialect<'_>),
    ) -> (Option<usize>, u16) {
        let len = dialect.measure(text.quote).1;
        let first = self.stops[0];
        while let Some(hit) = memchr::memchr(first, &held.as_bytes()[self.own.looked..]) {
            let at = self.own.looked + hit;
            self.own.before = self.own.before.then(&held[self.own.looked..at]);
            self.own.looked = at;
            match dialect.matches(text.quote, &held[at..]) {
                Prefix::Mismatch => {
                    // The family's quote may begin with a character of several bytes.
                    let len = held[at..].chars().next().map_or(1, char::len_utf8);
                    (self.own.looked, self.own.before) = (at + len, Before::Text);
                }
                Prefix::Partial => return (None, depth),
                Prefix::Match if self.own.before.opens() && depth > 0 => {
                    depth = depth.saturating_add(1);
                    (self.own.looked, self.own.before) = (at + len, Before::Text);
                }
                Prefix::Match if depth > 0 => {
                    depth -= 1;
                    (self.own.looked, self.own.before) = (at + len, Before::Closed);
                }
                Prefix::Match => match self.continues(dialect, text.quote, &held[at + len..]) {
                    Err(Undecided) => return (None, depth),
                    Ok(true) => return (Some(at), depth),
                    Ok(false) if self.own.before.opens() => {
                        depth = 1;
                        (self.own.looked, self.own.before) = (at + len, Before::Text);
                    }
                    // A member whose comma is missing may follow.
                    Ok(false) => (self.own.looked, self.own.before) = (at + len, Before::Open),
                },
            }
        }
        self.own.before = self.own.before.then(&held[self.own.looked..]);
        self.own.looked = held.len();
        (None, depth)
    }

    /// Returns whether `rest`, the text after a quote, is a legal continuation of the call. It is
    /// another member or element, or closing brackets and the end of the call.
    fn continues(
        &self,
        dialect: &ValueDialect<'_>,
        quote: Quote,
        rest: &str,
    ) -> Result<bool, Undecided> {
        let mut rest = rest;
        // Models sometimes repeat the quote.
        match dialect.matches(quote, rest) {
            Prefix::Match => rest = &rest[dialect.measure(quote).1..],
            Prefix::Partial if !dialect.ended || dialect.cut => return dialect.open_end(),
            Prefix::Partial | Prefix::Mismatch => {}
        }
        let Some(mut rest) = after_blanks(rest) else { return Ok(true) };
        for frame in self.frames.iter().rev() {
            let list = matches!(frame, Container::List(_));
            match rest.as_bytes().first() {
                None => return dialect.open_end(),
                Some(b',') if list => return element(dialect, quote, &rest[1..]),
                Some(b',') => return member(dialect, quote, &rest[1..]),
                Some(b']') if list => {}
                Some(b'}') if !list => {}
                Some(_) => return Ok(false),
            }
            let Some(next) = after_blanks(&rest[1..]) else { return Ok(true) };
            rest = next;
        }
        if rest.is_empty() {
            return if dialect.ended { Ok(true) } else { Err(Undecided) };
        }
        let follows = dialect.follows.iter().map(|text| text.as_str());
        match longest_prefix(rest, ends(dialect).chain(follows)) {
            Err(Undecided) => dialect.open_end(),
            Ok(found) => Ok(found.is_some()),
        }
    }
}

/// Returns whether `text`, after a comma, begins with a key and a colon.
fn member(dialect: &ValueDialect<'_>, quote: Quote, text: &str) -> Result<bool, Undecided> {
    let text = &text[blanks(text)..];
    match dialect.matches(quote, text) {
        Prefix::Match => return Ok(true),
        Prefix::Partial if !dialect.ended || dialect.cut => return dialect.open_end(),
        Prefix::Partial | Prefix::Mismatch => {}
    }
    if text.starts_with([',', '}']) {
        return Ok(true);
    }
    let text = text.trim_start_matches(['"', '\'']);
    let key = text.find(|c| !is_of_bare_key(c));
    match key {
        _ if key.unwrap_or(text.len()) > dialect.limits.name => Ok(false),
        None => dialect.open_end(),
        Some(at) => {
            let following = text[at..].trim_start_matches(['"', '\'']).trim_ascii_start();
            match following.as_bytes().first() {
                None => dialect.open_end(),
                first => Ok(at > 0 && first == Some(&b':')),
            }
        }
    }
}

/// Returns whether `text`, after a comma, begins with an element of a list.
fn element(dialect: &ValueDialect<'_>, quote: Quote, text: &str) -> Result<bool, Undecided> {
    let text = &text[blanks(text)..];
    match (dialect.matches(quote, text), text.as_bytes().first()) {
        (Prefix::Match, _) => Ok(true),
        (Prefix::Partial, _) | (_, None) if !dialect.ended || dialect.cut => dialect.open_end(),
        (_, Some(b',' | b']' | b'{' | b'[' | b'-' | b'0'..=b'9')) => Ok(true),
        _ => {
            let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            let words = ["true", "false", "null", "True", "False", "None"];
            let may_grow = word.len() == text.len() && (!dialect.ended || dialect.cut);
            match words.iter().find(|known| known.starts_with(word) && !word.is_empty()) {
                Some(known) if *known == word && !may_grow => Ok(true),
                Some(_) if may_grow => dialect.open_end(),
                _ => Ok(false),
            }
        }
    }
}

/// Returns whether a key without quotes may contain `c`, after a string in the family's own quotes.
pub(crate) fn is_of_bare_key(c: char) -> bool {
    !c.is_whitespace() && !":,{}[]<>\"'`".contains(c)
}

/// The class of the text before a quote inside a string. It shows whether the quote opens an inner
/// string. Before the second quote of `<q>f{k:<q>` the class is `Value`, so it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Before {
    /// The start of the string.
    #[default]
    Start,
    Text,
    /// `{` or `,`: a key may follow.
    Open,
    Key,
    /// A key and white space.
    Blank,
    /// A colon or `[`: a value may follow.
    Value,
    /// The end of an inner string.
    Closed,
    /// The end of an inner string and a comma.
    Comma,
}

impl Before {
    fn opens(self) -> bool {
        matches!(self, Self::Value | Self::Comma)
    }

    /// Returns the class after `text`.
    pub(super) fn then(self, text: &str) -> Self {
        if text.is_empty() {
            return self;
        }
        let last = text.bytes().rposition(|byte| matches!(byte, b'{' | b'['));
        let from = last.unwrap_or(0);
        text.as_bytes()[from..].iter().fold(self, |before, &byte| match (before, byte) {
            (_, b'[') => Self::Value,
            (Self::Closed, b',') => Self::Comma,
            (_, b'{' | b',') => Self::Open,
            (Self::Open | Self::Key | Self::Blank | Self::Comma, b':') => Self::Value,
            (Self::Key, byte) if byte.is_ascii_whitespace() => Self::Blank,
            (before, byte) if byte.is_ascii_whitespace() => before,
            (Self::Open | Self::Key | Self::Comma | Self::Closed, byte)
                if is_of_bare_key(char::from(byte)) =>
            {
                Self::Key
            }
            _ => Self::Text,
        })
    }
}
