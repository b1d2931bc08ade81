//! The attributes of a header, behind its name.

use alloc::string::String;

use super::{
    head::{HeadReader, Place, Read},
    shape::{Attributes, Head, TaggedShape},
};
use crate::engine::text::{Is, Undecided, is, longest};

/// The attribute that says whether a parameter is a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flag<'s> {
    pub(super) attribute: Option<&'s str>,
    /// What it says of strings, if not `true`.
    pub(super) string: Option<&'s str>,
}

impl<'s> Flag<'s> {
    pub(super) fn of(shape: &'s TaggedShape) -> Self {
        let (attribute, string) = (&shape.string_attribute, &shape.string_type);
        Self { attribute: attribute.as_deref(), string: string.as_deref() }
    }
}

impl HeadReader {
    /// Behind the name, where the header did not end: an attribute may begin.
    pub(super) fn attribute_begins(
        &mut self,
        head: &Head,
        flag: Flag<'_>,
        text: &str,
        i: &mut usize,
    ) -> Option<Read> {
        let at = *i;
        let rest = &text[at..];
        let more = Some(Read::More { used: at });
        let bad = Some(Read::Bad { at });
        if head.attributes == Attributes::Any {
            match rest.as_bytes().first() {
                None => return more,
                Some(byte) if byte.is_ascii_alphabetic() => self.place = Place::Key,
                Some(_) => return bad,
            }
            self.text.clear();
            return None;
        }
        let Some(attribute) = flag.attribute.filter(|_| self.attribute.is_none()) else {
            return bad;
        };
        match is(rest, attribute) {
            Is::Yes => (self.place, *i) = (Place::Equals, at + attribute.len()),
            Is::Maybe => return more,
            Is::No => return bad,
        }
        None
    }

    /// In an attribute.
    pub(super) fn attribute_step(
        &mut self,
        head: &Head,
        flag: Flag<'_>,
        text: &str,
        i: &mut usize,
    ) -> Option<Read> {
        let at = *i;
        let rest = &text[at..];
        let more = Some(Read::More { used: at });
        let bad = Some(Read::Bad { at });
        match self.place {
            Place::Key => {
                let is_key = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
                let len = rest.bytes().take_while(is_key).count();
                self.text.push_str(&rest[..len]);
                *i = at + len;
                if len == rest.len() {
                    return Some(Read::More { used: *i });
                }
                self.flags = flag.attribute == Some(&self.text);
                self.place = Place::Equals;
            }
            Place::Text(quote) => {
                let end = rest.bytes().position(|byte| byte == quote);
                self.text.push_str(&rest[..end.unwrap_or(rest.len())]);
                let Some(end) = end else { return Some(Read::More { used: text.len() }) };
                if self.flags {
                    self.attribute = Some(unescaped(&self.text) == flag.string.unwrap_or("true"));
                }
                (self.place, *i) = (Place::Behind, at + end + 1);
            }
            Place::Equals => match rest.as_bytes().first() {
                None => return more,
                Some(b'=') => (self.place, *i) = (Place::AttributeQuote, at + 1),
                Some(_) => return bad,
            },
            Place::AttributeQuote => match rest.as_bytes().first() {
                None => return more,
                Some(&quote @ (b'"' | b'\'')) => {
                    self.text.clear();
                    let any = head.attributes == Attributes::Any;
                    self.place =
                        if any { Place::Text(quote) } else { Place::AttributeValue(quote) };
                    *i = at + 1;
                }
                Some(_) => return bad,
            },
            Place::AttributeValue(quote) => match longest(rest, ["true", "false"]) {
                Err(Undecided) => return more,
                Ok(None) => return bad,
                Ok(Some(n)) => {
                    self.attribute = Some(n == 0);
                    (self.place, *i) = (Place::AttributeEnd(quote), at + 4 + n);
                }
            },
            Place::AttributeEnd(quote) => match rest.as_bytes().first() {
                None => return more,
                Some(byte) if *byte == quote => (self.place, *i) = (Place::Behind, at + 1),
                Some(_) => return bad,
            },
            _ => return bad,
        }
        None
    }
}

/// The text that an attribute's escapes stand for.
pub(super) fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&amp;", "&")
}
