//! Strings: quotes, prefixes, escapes, and adjacent strings.
//!
//! In Python and in scripts a quote ends the string if `,` `)` `]` `}` or `:` follows, after
//! optional white space. Any other quote belongs to the string: `'sed -n '1,9p' f'`. In Python
//! another string after white space continues the first, unless such an inner quote occurred.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "`i` is an index of the fed text or its length; text is written only if `room` \
              suffices"
)]

use super::{
    OpenQuote, Scanned, Syntax,
    dialect::{Quote, Tolerated},
    escape::plain_len,
    missing_end::{begins_call, begins_parameter},
    own_end::OwnString,
    prefix::{Continued, StringPrefix, continues},
    transcoder::{Cx, Flow, StringMode, Transcoder, TranscoderState},
    unescape::{Escape, Flavor, unescape},
};
use crate::{
    cursor::{Prefix as CallHead, Undecided, blanks},
    typing::TypeSet,
};

/// A string in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) prefix: StringPrefix,
    pub(super) quote: Quote,
    pub(super) triple: bool,
    /// Whether a quote equal to the opening one was found to be data.
    pub(super) nested: bool,
    pub(super) at: StringAt,
}

/// The position in a string. For `'a' 'b'` in Python: `Opened`, `Inside`, `Quote`, `End`, `Opened`,
/// and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringAt {
    /// After the first quote, which may be one of three.
    Opened,
    Inside,
    /// After a quote that may end the string.
    Quote,
    /// After the end. Another string may continue it.
    End,
    /// In held text that is searched for the end. `depth` is the number of open inner strings.
    Search {
        depth: u16,
    },
}

impl Transcoder {
    /// Returns whether all of `text` is the inside of a string and is unchanged in JSON.
    #[inline]
    pub(super) fn passes(&mut self, text: &str) -> bool {
        let TranscoderState::Text(Text { prefix, quote: own, at: StringAt::Inside, .. }) =
            self.state
        else {
            return false;
        };
        let [quote, end, close] = self.stops;
        let passes = self.mode == StringMode::String
            && !prefix.format
            && !self.own.quoted_call.is_partial()
            && !self.is_open_kind()
            && plain_len(text.as_bytes()) == text.len()
            && memchr::memchr3(quote, end, close, text.as_bytes()).is_none();
        if passes && matches!(own, Quote::Own(_)) {
            self.own.before = self.own.before.then(text);
        }
        passes
    }

    /// Starts a string, or another value in quotes.
    pub(super) fn begin_quoted(
        &mut self,
        prefix: StringPrefix,
        quote: Option<Quote>,
        cx: &mut Cx<'_, '_>,
    ) -> Flow {
        let Some(quote) = quote else { return cx.bad(0) };
        if quote == Quote::Byte(b'\'') {
            self.tolerate(Tolerated::SingleQuotes, cx)?;
        }
        self.certain(cx)?;
        let (first, len) = cx.dialect.measure(quote);
        cx.advance(len);
        self.stops = [first; 3];
        self.own = OwnString::default();
        let literal = cx.dialect.is(Syntax::Literal);
        if literal
            && !self.is_plain()
            && let Some(end) = cx.dialect.ends.first()
        {
            self.stops = [first, end.as_bytes().first().copied().unwrap_or(first), b'}'];
        }
        let at = if cx.dialect.is(Syntax::Python) { StringAt::Opened } else { StringAt::Inside };
        if at == StringAt::Opened && cx.dialect.tools.is_some_and(|tools| !tools.is_empty()) {
            self.stops[2] = b')';
        }
        self.state =
            TranscoderState::Text(Text { prefix, quote, triple: false, nested: false, at });
        if self.is_plain() {
            self.mode = StringMode::Plain;
            self.room = cx.dialect.limits.name;
        } else if literal && self.key {
            self.mode = StringMode::Key;
            self.scalar.clear();
        } else {
            self.count_element(cx);
            let typing = cx.dialect.typing.filter(|typing| typing.quoted);
            let declared = typing.map_or(StringMode::String, |typing| self.declared(&typing));
            // Ordinary quotes show that the value is a string. The family's own quotes do not.
            self.mode = match (quote, declared) {
                (Quote::Own(_), mode) => mode,
                (Quote::Byte(_), StringMode::Typed(types)) if !types.has(TypeSet::STRING) => {
                    declared
                }
                _ => StringMode::String,
            };
            self.begin_held(cx);
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: Text, cx: &mut Cx<'_, '_>) -> Flow {
        match text.at {
            StringAt::Opened => self.opened(text, cx),
            StringAt::Inside => self.inside(text, cx),
            StringAt::Quote => self.after_quote(text, cx),
            StringAt::End => self.after_string(cx),
            StringAt::Search { depth } => self.search(text, depth, cx),
        }
    }

    /// Sets the position in the string.
    pub(super) fn go(&mut self, text: Text, at: StringAt) -> Flow {
        self.state = TranscoderState::Text(Text { at, ..text });
        Ok(())
    }

    /// Decides after one quote whether there are three.
    fn opened(&mut self, text: Text, cx: &mut Cx<'_, '_>) -> Flow {
        let quote = self.stops[0];
        let triple = match cx.rest().as_bytes() {
            [] => return cx.more(),
            [first] if *first == quote => return cx.more(),
            [first, second, ..] => *first == quote && *second == quote,
            [_] => false,
        };
        cx.advance(if triple { 2 } else { 0 });
        self.go(Text { triple, ..text }, StringAt::Inside)
    }

    #[expect(clippy::indexing_slicing, reason = "`len` is an index of the text or its length")]
    fn inside(&mut self, text: Text, cx: &mut Cx<'_, '_>) -> Flow {
        let rest = cx.rest();
        let bytes = rest.as_bytes();
        let own = matches!(text.quote, Quote::Own(_));
        let [quote, end, close] = self.stops;
        let stop = if text.prefix.format {
            bytes.iter().position(|&b| b == quote || matches!(b, b'\\' | b'{' | b'}'))
        } else if end != quote || close != quote {
            let stops = |&b: &u8| b == quote || b == b'\\' || b == end || b == close;
            bytes.iter().position(stops)
        } else if own {
            memchr::memchr(quote, bytes)
        } else {
            memchr::memchr2(quote, b'\\', bytes)
        };
        let len = stop.unwrap_or(bytes.len());
        if own {
            self.own.before = self.own.before.then(&rest[..len]);
        }
        self.pass(len, cx)?;
        let (rest, bytes) = (&rest[len..], &bytes[len..]);
        let Some(&byte) = bytes.first() else { return cx.more() };
        match cx.dialect.matches(text.quote, rest) {
            CallHead::Match if self.may_quote(text, cx) => return self.begin_search(text),
            CallHead::Match if self.is_data(cx.dialect) => {
                return self.pass(cx.dialect.measure(text.quote).1, cx);
            }
            CallHead::Match => return self.at_quote(text, cx),
            CallHead::Partial => return cx.more(),
            CallHead::Mismatch => {}
        }
        let len = match byte {
            b'\\' if own => 1,
            b'\\' if text.prefix.raw => match bytes.get(1) {
                None => return cx.more(),
                Some(&next) if next == b'\\' || next == quote => 2,
                Some(_) => 1,
            },
            b'\\' => return self.escape(cx),
            b'{' | b'}' if text.prefix.format => match bytes.get(1) {
                None => return cx.more(),
                Some(&next) if next == byte => {
                    self.write(&rest[..1], cx)?;
                    cx.advance(2);
                    return Ok(());
                }
                Some(_) => return cx.inexpressible(0),
            },
            b')' if !text.triple => match begins_call(cx.dialect, rest, quote) {
                Err(Undecided) => return cx.more(),
                Ok(true) => return cx.bad(0),
                Ok(false) => 1,
            },
            b',' if text.nested => match begins_parameter(cx.dialect, rest) {
                Err(Undecided) => return cx.more(),
                Ok(true) => {
                    // The string ended before, so the quote that was data is a fault.
                    self.go(text, StringAt::End)?;
                    return cx.bad(0);
                }
                Ok(false) => 1,
            },
            _ if is_mixed(text, cx)? => return cx.bad(0),
            _ if self.may_search(text, cx) && self.begins_end(cx)? => {
                return self.begin_search(text);
            }
            _ if self.close_at_call_end(cx)? => return Ok(()),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        if own {
            self.own.before = self.own.before.then(&rest[..len]);
        }
        self.pass(len, cx)
    }

    fn escape(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        let rest = cx.rest();
        let flavor = cx.dialect.flavor();
        let len = match unescape(rest.as_bytes(), flavor) {
            Escape::Is(scalar, len) => {
                self.write(scalar.encode_utf8(&mut [0; 4]), cx)?;
                len
            }
            Escape::Nothing(len) => len,
            Escape::Verbatim(_) if cx.dialect.is(Syntax::Json) => return cx.bad(0),
            Escape::Verbatim(len) => {
                self.tolerate(Tolerated::Escape, cx)?;
                // An apostrophe in JSON needs no escape, so its backslash is removed.
                if flavor == Flavor::Json && rest.as_bytes().get(1) == Some(&b'\'') {
                    self.write("'", cx)?;
                    2
                } else {
                    self.write(&rest[..len], cx)?;
                    len
                }
            }
            Escape::Cut => return cx.more(),
            Escape::Named => return cx.inexpressible(0),
        };
        cx.advance(len);
        Ok(())
    }

    /// Returns whether a `)` after the string may end the call, and the string contains quotes that
    /// are data.
    pub(super) fn ends_call(&self, text: Text) -> bool {
        text.nested && self.frames.last() == Some(&super::container::Container::Keywords)
    }

    /// Returns the quote of the string being read.
    pub(super) fn open_quote(&self) -> Option<OpenQuote> {
        match self.state {
            TranscoderState::Text(Text { at: StringAt::End, .. }) => None,
            TranscoderState::Text(Text { quote: Quote::Own(_), .. }) => Some(OpenQuote::Own),
            TranscoderState::Text(Text { quote: Quote::Byte(byte), .. }) => {
                Some(OpenQuote::Byte(byte))
            }
            _ => None,
        }
    }

    /// Returns the family's own quote, if the string being read has one.
    pub(super) fn own_quote(&self) -> Option<Quote> {
        match self.state {
            TranscoderState::Text(Text { quote: quote @ Quote::Own(_), .. }) => Some(quote),
            _ => None,
        }
    }

    /// Returns the length of a held quote and the white space after it, which may belong to the
    /// string.
    pub(super) fn held_quote(&self, text: Text) -> usize {
        if text.at == StringAt::Quote { 1 + self.blanks.len() } else { 0 }
    }

    /// Returns whether the string is complete if no text follows.
    pub(super) fn is_closed(&self) -> bool {
        matches!(
            self.state,
            TranscoderState::Text(Text { at: StringAt::Quote | StringAt::End, .. })
        )
    }

    /// Returns whether `tail` ends the call if no text follows it.
    pub(super) fn is_last_bracket(&self, tail: &str) -> bool {
        match self.state {
            TranscoderState::Text(text) => {
                text.at == StringAt::Quote && self.ends_call(text) && tail.trim_ascii() == ")"
            }
            _ => false,
        }
    }

    /// Reads the text after a string. An adjacent string continues it.
    fn after_string(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        cx.advance(blanks(cx.rest()));
        match continues(cx.rest()) {
            None => cx.more(),
            Some(Continued::No) => self.end_text(cx),
            Some(Continued::By(StringPrefix { bytes: true, .. }, len, _)) => cx.inexpressible(len),
            Some(Continued::By(prefix, len, quote)) => {
                cx.advance(len + 1);
                self.stops = [quote; 3];
                let quote = Quote::Byte(quote);
                let at = StringAt::Opened;
                self.state =
                    TranscoderState::Text(Text { prefix, quote, triple: false, nested: false, at });
                Ok(())
            }
        }
    }

    pub(super) fn end_text(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        match self.mode {
            StringMode::Plain => self.state = TranscoderState::Done,
            StringMode::Key => self.state = TranscoderState::After,
            StringMode::String => {
                self.put("\"", cx);
                let pending = self.is_open_kind() || self.key;
                self.state = TranscoderState::After;
                if !pending {
                    self.ended();
                }
            }
            StringMode::Typed(_) | StringMode::Guess => return self.end_held(false, cx),
        }
        Ok(())
    }

    /// Writes or holds text of the string.
    pub(super) fn write(&mut self, text: &str, cx: &mut Cx<'_, '_>) -> Flow {
        if self.own_quote().is_some() {
            self.own.quoted_call.see(text, cx.dialect.openers);
        }
        let limit = match self.mode {
            StringMode::String => {
                if self.is_open_kind() {
                    super::escape::escape(text, |piece| self.kept.push_str(piece));
                    self.bound(cx);
                } else {
                    cx.out.put_escaped(text);
                }
                return Ok(());
            }
            StringMode::Plain => self.room,
            StringMode::Key => {
                cx.dialect.limits.name - self.scalar.len().min(cx.dialect.limits.name)
            }
            StringMode::Typed(_) | StringMode::Guess => {
                self.hold(text, cx);
                return Ok(());
            }
        };
        if text.len() > limit {
            // The fault is at the start of an escape, or at the limit in plain text.
            let rest = cx.rest();
            let at = (0..=limit).rev().find(|&at| rest.is_char_boundary(at));
            return cx.bad(at.filter(|_| rest.starts_with(text)).unwrap_or(0));
        }
        if self.mode == StringMode::Plain {
            self.room -= text.len();
            cx.out.put(text);
        } else {
            self.scalar.push_str(text);
        }
        Ok(())
    }
}

/// Returns whether a quote of the family is here, in a string in other quotes. It is uncertain which
/// of them end the string.
fn is_mixed(text: Text, cx: &Cx<'_, '_>) -> Result<bool, Scanned> {
    if matches!(text.quote, Quote::Own(_)) || !cx.dialect.is(Syntax::Literal) {
        return Ok(false);
    }
    let quote = cx.dialect.own_quote(cx.rest());
    quote.map(|quote| quote.is_some()).map_err(|Undecided| Scanned::More { used: cx.i })
}
