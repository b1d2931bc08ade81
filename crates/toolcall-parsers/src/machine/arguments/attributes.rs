//! Reading of the holes in a header: attributes of a tag, a text after `=`, or a text between tags.
//!
//! ```text
//! <parameter name="KEY" string="true">     attributes, in any order, others ignored
//! <parameter=KEY>                          a text after `=`, optionally in quotes
//! <arg_key>KEY</arg_key>                   a text between tags
//! ```
//!
//! The states in the first line:
//!
//! ```text
//! name      Word
//! =         Equals
//! "         Open
//! KEY"      Quoted
//! string    Between, then Word
//! >         Between: the header is complete
//! ```

mod names;
#[cfg(test)]
mod tests;

use alloc::{string::String, vec::Vec};

pub(crate) use self::names::Names;
use super::tag::{TagTexts, longest};
use crate::cursor::{TextCursor, Undecided};

/// The syntax of the holes of an [`AttributeHeader`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holes {
    /// As attributes: `name="{hole}"`.
    Attributes,
    /// One hole, directly after `=`.
    Assigned,
    /// One hole, as text between tags. Quotes are part of it.
    Text,
}

/// A hole of a tag's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributeHole {
    /// The attribute's name, or empty for other kinds of holes.
    pub(crate) attribute: String,
    /// The texts that the hole admits.
    pub(crate) names: Names,
}

/// The part of a header with holes, after the opening tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributeHeader {
    /// The syntax of the holes.
    pub(crate) holes: Holes,
    /// The holes of the part.
    pub(crate) fields: Vec<AttributeHole>,
    /// Tags that may end the part.
    pub(crate) ends: Vec<TagTexts>,
}

/// The result of reading a header's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttributeRead {
    /// The header continues. Text after the cursor is offered again.
    More,
    /// The header ended with end number `end`, whose `len` bytes are consumed.
    Done { end: usize, len: usize },
    /// The character after the cursor is not allowed there.
    Bad,
}

/// The position in a header with holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum AttributePlace {
    /// Before an attribute or the end.
    #[default]
    Between,
    /// In an attribute's name.
    Word,
    /// After an attribute's name.
    Equals,
    /// Before an attribute's value.
    Open,
    /// In a value without quotes.
    Bare,
    /// In a value with this quote.
    Quoted(u8),
}

/// A reader of headers, in any number of chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeaderReader {
    place: AttributePlace,
    values: Vec<String>,
    /// Bit `n` is set if hole `n` has a value.
    given: u32,
    /// The hole whose value is being read, or `None` for an ignored attribute.
    current: Option<usize>,
    /// Whether the value being read contains a `<`.
    token: bool,
    /// The name of the attribute being read, or an ignored value without quotes.
    word: String,
}

impl HeaderReader {
    /// Starts a header, after its opening tag.
    pub(crate) fn begin(&mut self, header: &AttributeHeader) {
        self.values.resize_with(self.values.len().max(header.fields.len()), String::new);
        self.values.iter_mut().for_each(String::clear);
        self.word.clear();
        (self.given, self.current) = (0, None);
        self.place = AttributePlace::Between;
        if header.holes != Holes::Attributes {
            self.value_begins(Some(0));
        }
    }

    /// Returns the text of hole `n`, without surrounding white space and without a special token
    /// after it.
    pub(crate) fn value(&self, n: usize) -> Option<&str> {
        let given = n < 32 && self.given >> n & 1 != 0;
        let value = self.values.get(n).filter(|_| given)?;
        Some(value.find("<|").map_or(value.as_str(), |at| &value[..at]).trim_ascii())
    }

    /// Returns the number of bytes held: all texts, because a header is used only when it is
    /// complete.
    pub(crate) fn held(&self) -> usize {
        self.values.iter().fold(self.word.len(), |sum, value| sum.saturating_add(value.len()))
    }

    fn value_begins(&mut self, field: Option<usize>) {
        (self.current, self.place, self.token) = (field, AttributePlace::Open, false);
        if let Some(n) = field {
            self.values[n].clear();
            self.given |= 1 << n.min(31);
        }
    }

    /// Returns the value being read, and the texts that its hole admits.
    fn target(&mut self, header: &AttributeHeader) -> (&mut String, Option<Names>) {
        match self.current {
            Some(n) => (&mut self.values[n], Some(header.fields[n].names)),
            None => (&mut self.word, None),
        }
    }

    /// Reads the header up to its end. `limit` is the maximum length of each text in bytes.
    pub(crate) fn feed(
        &mut self,
        header: &AttributeHeader,
        limit: usize,
        cursor: &mut TextCursor<'_>,
    ) -> AttributeRead {
        loop {
            if matches!(
                self.place,
                AttributePlace::Between | AttributePlace::Equals | AttributePlace::Open
            ) {
                cursor.skip_blanks();
            }
            let read = match self.place {
                AttributePlace::Between => self.between(header, cursor),
                AttributePlace::Word => self.word(header, limit, cursor),
                AttributePlace::Equals | AttributePlace::Open => self.before_value(header, cursor),
                AttributePlace::Bare => self.bare(header, limit, cursor),
                AttributePlace::Quoted(quote) => self.quoted(header, limit, quote, cursor),
            };
            if let Some(read) = read {
                return read;
            }
        }
    }

    fn between(
        &mut self,
        header: &AttributeHeader,
        cursor: &mut TextCursor<'_>,
    ) -> Option<AttributeRead> {
        match longest(cursor.rest(), &header.ends) {
            Err(Undecided) => return Some(AttributeRead::More),
            Ok(Some((end, len))) => {
                cursor.advance(len);
                return Some(AttributeRead::Done { end, len });
            }
            Ok(None) => {}
        }
        match cursor.peek() {
            None => Some(AttributeRead::More),
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.word.clear();
                self.place = AttributePlace::Word;
                None
            }
            Some(_) => Some(AttributeRead::Bad),
        }
    }

    fn word(
        &mut self,
        header: &AttributeHeader,
        limit: usize,
        cursor: &mut TextCursor<'_>,
    ) -> Option<AttributeRead> {
        while let Some(byte) = cursor.peek() {
            if !is_word(byte) {
                self.place = AttributePlace::Equals;
                self.current = header.fields.iter().position(|hole| hole.attribute == self.word);
                return None;
            }
            if self.word.len() >= limit {
                return Some(AttributeRead::Bad);
            }
            self.word.push(char::from(byte));
            cursor.advance(1);
        }
        Some(AttributeRead::More)
    }

    fn before_value(
        &mut self,
        header: &AttributeHeader,
        cursor: &mut TextCursor<'_>,
    ) -> Option<AttributeRead> {
        match (self.place, cursor.peek()) {
            (_, None) => return Some(AttributeRead::More),
            (AttributePlace::Equals, Some(b'=')) => {
                cursor.advance(1);
                self.value_begins(self.current);
                self.word.clear();
            }
            (AttributePlace::Equals, Some(_)) => return Some(AttributeRead::Bad),
            (_, Some(quote @ (b'"' | b'\''))) if header.holes != Holes::Text => {
                cursor.advance(1);
                self.place = AttributePlace::Quoted(quote);
            }
            (_, Some(_)) => self.place = AttributePlace::Bare,
        }
        None
    }

    fn quoted(
        &mut self,
        header: &AttributeHeader,
        limit: usize,
        quote: u8,
        cursor: &mut TextCursor<'_>,
    ) -> Option<AttributeRead> {
        let mut token = self.token;
        let (value, names) = self.target(header);
        for (n, scalar) in cursor.rest().char_indices() {
            if u32::from(scalar) == u32::from(quote) {
                if header.holes == Holes::Attributes && value.contains('&') {
                    *value = value.replace("&quot;", "\"").replace("&amp;", "&");
                }
                cursor.advance(n.saturating_add(1));
                self.place = AttributePlace::Between;
                return None;
            }
            // The values of ignored attributes are not stored.
            let Some(names) = names else { continue };
            if value.len() >= limit || !names.admits(value, token, scalar) {
                cursor.advance(n);
                return Some(AttributeRead::Bad);
            }
            value.push(scalar);
            token |= scalar == '<';
        }
        self.token = token;
        cursor.at = cursor.text.len();
        Some(AttributeRead::More)
    }

    /// Reads a value without quotes, up to an end or to the name of the next attribute.
    fn bare(
        &mut self,
        header: &AttributeHeader,
        limit: usize,
        cursor: &mut TextCursor<'_>,
    ) -> Option<AttributeRead> {
        let (rest, mut token) = (cursor.rest(), self.token);
        let (value, names) = self.target(header);
        for (n, scalar) in rest.char_indices() {
            match longest(&rest[n..], &header.ends) {
                Err(Undecided) => {
                    cursor.advance(n);
                    self.token = token;
                    return Some(AttributeRead::More);
                }
                Ok(Some((end, len))) => {
                    cursor.advance(n.saturating_add(len));
                    return Some(AttributeRead::Done { end, len });
                }
                Ok(None) => {}
            }
            if scalar == '='
                && header.holes == Holes::Attributes
                && let Some(at) = last_word(value)
            {
                let word = String::from(value[at..].trim_ascii_end());
                value.truncate(at);
                self.current = header.fields.iter().position(|hole| hole.attribute == word);
                self.place = AttributePlace::Equals;
                cursor.advance(n);
                return None;
            }
            let odd = names.is_some_and(|names| !names.admits(value, token, scalar));
            if value.len() >= limit || odd {
                cursor.advance(n);
                return Some(AttributeRead::Bad);
            }
            value.push(scalar);
            token |= scalar == '<';
        }
        self.token = token;
        cursor.at = cursor.text.len();
        Some(AttributeRead::More)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns the start of the last word of `value`, if other text and a blank precede it.
fn last_word(value: &str) -> Option<usize> {
    let text = value.trim_ascii_end();
    let len = text.bytes().rev().take_while(|&byte| is_word(byte)).count();
    let before = &text[..text.len().saturating_sub(len)];
    let blank = before.ends_with(|c: char| c.is_ascii_whitespace());
    (len > 0 && blank && !before.trim_ascii().is_empty()).then_some(before.len())
}
