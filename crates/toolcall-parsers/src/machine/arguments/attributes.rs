//! The holes of a header: attributes of a tag, a text after `=`, or a text between tags.
//!
//! ```text
//! <parameter name="KEY" string="true">     attributes, in any order, others ignored
//! <parameter=KEY>                          a text behind `=`, perhaps in quotes
//! <arg_key>KEY</arg_key>                   a text between tags
//! ```

mod names;

use alloc::{string::String, vec::Vec};

pub(crate) use self::names::Names;
use super::tag::{Tag, longest};
use crate::cursor::{Cursor, Undecided};

/// How the holes of a [`Header`] are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holes {
    /// As attributes: `name="{hole}"`.
    Attributes,
    /// One hole, directly after `=`.
    Assigned,
    /// One, as text between tags, in which quotes are text.
    Text,
}

/// A hole of a tag's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hole {
    /// The attribute's name, if it is one.
    pub(crate) attribute: String,
    /// The texts that it may hold.
    pub(crate) names: Names,
}

/// The part of a header that has holes, from the end of its opening tag to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// How its holes are written.
    pub(crate) holes: Holes,
    /// The holes of the part.
    pub(crate) fields: Vec<Hole>,
    /// Tags that may end it.
    pub(crate) ends: Vec<Tag>,
}

/// The result of reading a header's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// The header continues; text after the cursor is offered again.
    More,
    /// The header ended with this of its ends, which is consumed, of this length.
    Done { end: usize, len: usize },
    /// The scalar after the cursor is not allowed there.
    Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// Before an attribute or the end.
    #[default]
    Between,
    /// In an attribute's name.
    Word,
    /// After an attribute's name.
    Equals,
    /// Before an attribute's value.
    Open,
    Bare,
    Quoted(u8),
}

/// Reads the holes of one header after the other, however they are cut.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeaderReader {
    place: Place,
    values: Vec<String>,
    /// Bit `n`: hole `n` has a value.
    given: u32,
    /// The hole whose value is being read; none for an attribute that is ignored.
    current: Option<usize>,
    /// Whether the value being read contains a `<`.
    token: bool,
    /// The name of the attribute being read, or an ignored value without quotes.
    word: String,
}

impl HeaderReader {
    /// Begins a header, after its opening tag.
    pub(crate) fn begin(&mut self, header: &Header) {
        self.values.resize_with(self.values.len().max(header.fields.len()), String::new);
        self.values.iter_mut().for_each(String::clear);
        self.word.clear();
        (self.given, self.current) = (0, None);
        self.place = Place::Between;
        if header.holes != Holes::Attributes {
            self.value_begins(Some(0));
        }
    }

    /// Returns the text of hole `n`, without white space at its edges.
    pub(crate) fn value(&self, n: usize) -> Option<&str> {
        let given = n < 32 && self.given >> n & 1 != 0;
        let value = self.values.get(n).filter(|_| given)?;
        Some(value.find("<|").map_or(value.as_str(), |at| &value[..at]).trim_ascii())
    }

    /// Bytes held: all texts, since the header is needed whole.
    pub(crate) fn held(&self) -> usize {
        self.values.iter().fold(self.word.len(), |sum, value| sum.saturating_add(value.len()))
    }

    fn value_begins(&mut self, field: Option<usize>) {
        (self.current, self.place, self.token) = (field, Place::Open, false);
        if let Some(n) = field {
            self.values[n].clear();
            self.given |= 1 << n.min(31);
        }
    }

    /// Returns the value being read, and the texts it may hold.
    fn target(&mut self, header: &Header) -> (&mut String, Option<Names>) {
        match self.current {
            Some(n) => (&mut self.values[n], Some(header.fields[n].names)),
            None => (&mut self.word, None),
        }
    }

    /// Reads on; `limit` bounds each text in bytes.
    pub(crate) fn feed(&mut self, header: &Header, limit: usize, cursor: &mut Cursor<'_>) -> Read {
        loop {
            if matches!(self.place, Place::Between | Place::Equals | Place::Open) {
                cursor.skip_blanks();
            }
            let read = match self.place {
                Place::Between => self.between(header, cursor),
                Place::Word => self.word(header, limit, cursor),
                Place::Equals | Place::Open => self.before_value(header, cursor),
                Place::Bare => self.bare(header, limit, cursor),
                Place::Quoted(quote) => self.quoted(header, limit, quote, cursor),
            };
            if let Some(read) = read {
                return read;
            }
        }
    }

    fn between(&mut self, header: &Header, cursor: &mut Cursor<'_>) -> Option<Read> {
        match longest(cursor.rest(), &header.ends) {
            Err(Undecided) => return Some(Read::More),
            Ok(Some((end, len))) => {
                cursor.advance(len);
                return Some(Read::Done { end, len });
            }
            Ok(None) => {}
        }
        match cursor.peek() {
            None => Some(Read::More),
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.word.clear();
                self.place = Place::Word;
                None
            }
            Some(_) => Some(Read::Bad),
        }
    }

    fn word(&mut self, header: &Header, limit: usize, cursor: &mut Cursor<'_>) -> Option<Read> {
        while let Some(byte) = cursor.peek() {
            if !is_word(byte) {
                self.place = Place::Equals;
                self.current = header.fields.iter().position(|hole| hole.attribute == self.word);
                return None;
            }
            if self.word.len() >= limit {
                return Some(Read::Bad);
            }
            self.word.push(char::from(byte));
            cursor.advance(1);
        }
        Some(Read::More)
    }

    fn before_value(&mut self, header: &Header, cursor: &mut Cursor<'_>) -> Option<Read> {
        match (self.place, cursor.peek()) {
            (_, None) => return Some(Read::More),
            (Place::Equals, Some(b'=')) => {
                cursor.advance(1);
                self.value_begins(self.current);
                self.word.clear();
            }
            (Place::Equals, Some(_)) => return Some(Read::Bad),
            (_, Some(quote @ (b'"' | b'\''))) if header.holes != Holes::Text => {
                cursor.advance(1);
                self.place = Place::Quoted(quote);
            }
            (_, Some(_)) => self.place = Place::Bare,
        }
        None
    }

    fn quoted(
        &mut self,
        header: &Header,
        limit: usize,
        quote: u8,
        cursor: &mut Cursor<'_>,
    ) -> Option<Read> {
        let mut token = self.token;
        let (value, names) = self.target(header);
        for (n, scalar) in cursor.rest().char_indices() {
            if u32::from(scalar) == u32::from(quote) {
                if header.holes == Holes::Attributes && value.contains('&') {
                    *value = value.replace("&quot;", "\"").replace("&amp;", "&");
                }
                cursor.advance(n.saturating_add(1));
                self.place = Place::Between;
                return None;
            }
            // The values of ignored attributes are not kept.
            let Some(names) = names else { continue };
            if value.len() >= limit || !names.admits(value, token, scalar) {
                cursor.advance(n);
                return Some(Read::Bad);
            }
            value.push(scalar);
            token |= scalar == '<';
        }
        self.token = token;
        cursor.at = cursor.text.len();
        Some(Read::More)
    }

    /// A text without quotes, up to an end; of several attributes, up to the next one's name.
    fn bare(&mut self, header: &Header, limit: usize, cursor: &mut Cursor<'_>) -> Option<Read> {
        let (rest, mut token) = (cursor.rest(), self.token);
        let (value, names) = self.target(header);
        for (n, scalar) in rest.char_indices() {
            match longest(&rest[n..], &header.ends) {
                Err(Undecided) => {
                    cursor.advance(n);
                    self.token = token;
                    return Some(Read::More);
                }
                Ok(Some((end, len))) => {
                    cursor.advance(n.saturating_add(len));
                    return Some(Read::Done { end, len });
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
                self.place = Place::Equals;
                cursor.advance(n);
                return None;
            }
            let odd = names.is_some_and(|names| !names.admits(value, token, scalar));
            if value.len() >= limit || odd {
                cursor.advance(n);
                return Some(Read::Bad);
            }
            value.push(scalar);
            token |= scalar == '<';
        }
        self.token = token;
        cursor.at = cursor.text.len();
        Some(Read::More)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns the start of the last word of `value`, if a blank and other text precede it.
fn last_word(value: &str) -> Option<usize> {
    let text = value.trim_ascii_end();
    let len = text.bytes().rev().take_while(|&byte| is_word(byte)).count();
    let before = &text[..text.len().saturating_sub(len)];
    let blank = before.ends_with(|c: char| c.is_ascii_whitespace());
    (len > 0 && blank && !before.trim_ascii().is_empty()).then_some(before.len())
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String, vec};

    use super::{Header, HeaderReader, Hole, Holes, Names, Read, last_word};
    use crate::{cursor::Cursor, machine::arguments::tag::Tag};

    fn header(holes: Holes, attributes: &[&str]) -> Header {
        let hole = |name: &&str| Hole { attribute: (*name).into(), names: Names::Line };
        let ends = vec![Tag::new(">", &[]), Tag::new("/>", &[])];
        Header { holes, fields: attributes.iter().map(hole).collect(), ends }
    }

    /// Reads `text` whole and at every cut.
    fn read(header: &Header, text: &str) -> String {
        let run = |cut: usize| {
            let mut reader = HeaderReader::default();
            reader.begin(header);
            let mut at = 0;
            for end in [cut, text.len()] {
                let mut cursor = Cursor { text: &text[..end], at };
                let read = reader.feed(header, 8, &mut cursor);
                at = cursor.at;
                match read {
                    Read::More => {}
                    Read::Done { end, .. } => {
                        let fields = 0..header.fields.len();
                        let values = fields.map(|n| format!("{:?} ", reader.value(n)));
                        return format!("{}{end} {}", values.collect::<String>(), &text[at..]);
                    }
                    Read::Bad => return format!("bad {}", &text[at..]),
                }
            }
            "more".into()
        };
        let whole = run(text.len());
        for (cut, _) in text.char_indices() {
            assert_eq!(run(cut), whole, "{text:?} cut at {cut}");
        }
        whole
    }

    #[test]
    fn attributes_stand_in_any_order_and_quotes() {
        let header = header(Holes::Attributes, &["name", "string"]);
        let both = "Some(\"a>b\") Some(\"true\") 0 x";
        assert_eq!(read(&header, " name=\"a>b\" string='true'>x"), both);
        assert_eq!(read(&header, "string = true id='<>' name = \"a>b\" >x"), both);
        assert_eq!(read(&header, " name=a string=\"true\" />"), "Some(\"a\") Some(\"true\") 1 ");
        assert_eq!(read(&header, " name=a b>x"), "Some(\"a b\") None 0 x");
        assert_eq!(read(&header, " other=a b name=c>x"), "Some(\"c\") None 0 x");
        assert_eq!(read(&header, " name='&quot;&amp;'>"), "bad mp;'>");
        assert_eq!(read(&header, " name='&quot;'>"), "Some(\"\\\"\") None 0 ");
        assert_eq!(read(&header, ">x"), "None None 0 x");
        assert_eq!(read(&header, " ?>x"), "bad ?>x");
        assert_eq!(read(&header, " name>x"), "bad >x");
        assert_eq!(read(&header, " name='a"), "more");
    }

    #[test]
    fn a_text_behind_an_equals_sign_may_be_quoted() {
        let header = header(Holes::Assigned, &[""]);
        assert_eq!(read(&header, "a b>x"), "Some(\"a b\") 0 x");
        assert_eq!(read(&header, " 'a>b' >x"), "Some(\"a>b\") 0 x");
        assert_eq!(read(&header, " '&amp;'>x"), "Some(\"&amp;\") 0 x");
        assert_eq!(read(&header, "a=b>x"), "Some(\"a=b\") 0 x");
        assert_eq!(read(&header, "a<b>"), "bad <b>");
        assert_eq!(read(&header, "a\nb>"), "bad b>");
        assert_eq!(read(&header, "123456789>"), "bad 9>");
    }

    #[test]
    fn quotes_between_tags_are_text() {
        let header = header(Holes::Text, &[""]);
        assert_eq!(read(&header, " \"a\" \n>x"), "Some(\"\\\"a\\\"\") 0 x");
    }

    #[test]
    fn a_last_word_has_a_blank_and_something_else_before_it() {
        for (value, wanted) in [("a bc", Some(2)), ("a b ", Some(2)), ("a, bc", Some(3))] {
            assert_eq!(last_word(value), wanted, "{value}");
        }
        for value in ["", "abc", " abc", "a b!", "a,b"] {
            assert_eq!(last_word(value), None, "{value}");
        }
    }
}
