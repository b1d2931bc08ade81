//! Reading a header: literals, a name, perhaps an attribute, an end.

use alloc::string::String;

use super::{
    attribute::{Flag, unescaped},
    shape::{Attributes, Head, Quotes, Then},
};
use crate::{
    engine::text::{Is, Undecided, is, longest, space},
    options::CallLimits,
};

/// Bytes a header may have beyond its name.
const SLACK: usize = 256;

/// Whether `written` is a header of `name`: what the encoder asks before it writes one.
pub(crate) fn tool_header(head: &Head, written: &str, name: &str) -> bool {
    gives(head, None, Names::Tool, written, name)
}

/// The same for a parameter, whose header may have an attribute.
pub(crate) fn parameter_header(
    head: &Head,
    attribute: Option<&str>,
    written: &str,
    name: &str,
) -> bool {
    gives(head, attribute, Names::Parameter, written, name)
}

fn gives(head: &Head, attribute: Option<&str>, names: Names, written: &str, name: &str) -> bool {
    let limit = CallLimits::default().name;
    let mut reader = HeadReader::new();
    let flag = Flag { attribute, ..Flag::default() };
    match reader.feed(head, flag, names, limit, written) {
        // An end that may still grow is left for what follows to decide, a quote is not.
        Read::More { used } => used < written.len(),
        Read::Done { used, then } => {
            (then == Then::BodyHere || used == written.len()) && reader.name() == name
        }
        Read::Bad { .. } => false,
    }
}

/// What a header's name may look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Of a tool: no blanks, brackets or quotes.
    Tool,
    /// Of a parameter: anything on one line but `<`.
    Parameter,
}

/// How far a reading came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// `used` bytes are done with; the rest comes again.
    More { used: usize },
    /// The header is whole; `used` does not count an end that is the body's beginning.
    Done { used: usize, then: Then },
    /// The byte at `at` cannot stand there.
    Bad { at: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the literal with this number.
    Open(usize),
    /// Before the name.
    Name,
    /// Behind a repetition of the first literal.
    Repeated,
    Bare,
    Quoted(u8),
    /// Behind a quoted name or an attribute.
    Behind,
    /// In the name of any attribute, then in its value.
    Key,
    Text(u8),
    Equals,
    AttributeQuote,
    AttributeValue(u8),
    AttributeEnd(u8),
}

/// Reads one header, however it is cut.
#[derive(Debug, Clone)]
pub(super) struct HeadReader {
    pub(super) place: Place,
    name: String,
    pub(super) attribute: Option<bool>,
    /// What is read of an attribute: its name, then its value.
    pub(super) text: String,
    /// It is the one that says whether the parameter is a string.
    pub(super) flags: bool,
    consumed: usize,
}

impl HeadReader {
    pub(super) const fn new() -> Self {
        Self {
            place: Place::Open(0),
            name: String::new(),
            attribute: None,
            text: String::new(),
            flags: false,
            consumed: 0,
        }
    }

    /// Starts over; the first `literals` of the header have been seen.
    pub(super) fn restart(&mut self, literals: usize) {
        self.place = Place::Open(literals);
        self.name.clear();
        (self.attribute, self.consumed) = (None, 0);
    }

    pub(super) fn name(&self) -> &str {
        self.name.trim_ascii()
    }

    /// The value of the string attribute, if it was given.
    pub(super) fn attribute(&self) -> Option<bool> {
        self.attribute
    }

    /// Whether the header's first literal has been seen.
    pub(super) fn opened(&self) -> bool {
        self.place != Place::Open(0)
    }

    /// Bytes consumed, up to the last reading.
    pub(super) fn consumed(&self) -> usize {
        self.consumed
    }

    /// Reads on. `limit` bounds the name, and with some slack the whole header, which begins
    /// anew with every repetition of its first literal.
    pub(super) fn feed(
        &mut self,
        head: &Head,
        flag: Flag<'_>,
        names: Names,
        limit: usize,
        text: &str,
    ) -> Read {
        let mut from = 0;
        loop {
            let room = limit.saturating_add(SLACK).saturating_sub(self.consumed) + from;
            let room = (room..text.len()).find(|&at| text.is_char_boundary(at));
            let offered = &text[..room.unwrap_or(text.len())];
            let mut i = from;
            let read = loop {
                if let Some(read) = self.step(head, flag, names, limit, offered, &mut i) {
                    break read;
                }
            };
            match read {
                _ if self.place == Place::Repeated => {
                    self.restart(1);
                    from = i;
                }
                // The limit must fall on the same byte whatever the chunks.
                Read::More { .. } if room.is_some() => return Read::Bad { at: offered.len() },
                Read::More { used } => {
                    self.consumed += used - from;
                    return read;
                }
                Read::Done { .. } if self.name().is_empty() => return Read::Bad { at: i },
                _ => return read,
            }
        }
    }

    fn step(
        &mut self,
        head: &Head,
        flag: Flag<'_>,
        names: Names,
        limit: usize,
        text: &str,
        i: &mut usize,
    ) -> Option<Read> {
        let blank = match self.place {
            Place::Open(0) | Place::Bare | Place::Quoted(_) => 0,
            Place::AttributeValue(_) | Place::AttributeEnd(_) | Place::Key | Place::Text(_) => 0,
            _ => space(&text[*i..]),
        };
        let at = *i + blank;
        *i = at;
        let rest = &text[at..];
        let more = Some(Read::More { used: at });
        let bad = Some(Read::Bad { at });
        match self.place {
            Place::Open(n) => {
                let Some(literal) = head.open.get(n) else {
                    self.place = Place::Name;
                    return None;
                };
                match is(rest, literal) {
                    Is::Yes => (self.place, *i) = (Place::Open(n + 1), at + literal.len()),
                    Is::Maybe => return more,
                    Is::No => return bad,
                }
            }
            Place::Name => {
                let Some(&first) = rest.as_bytes().first() else { return more };
                let again = head.open.first().map_or("", |literal| literal.as_ref());
                match is(rest, again) {
                    Is::Yes if names == Names::Tool => {
                        (self.place, *i) = (Place::Repeated, at + again.len());
                        return Some(Read::More { used: *i });
                    }
                    Is::Maybe if names == Names::Tool => return more,
                    _ if head.quotes == Quotes::Literal => self.place = Place::Bare,
                    _ if matches!(first, b'"' | b'\'') => {
                        (self.place, *i) = (Place::Quoted(first), at + 1);
                    }
                    _ if head.quotes == Quotes::Required => return bad,
                    _ => self.place = Place::Bare,
                }
            }
            Place::Repeated => return more,
            Place::Bare => return Some(self.bare(head, names, limit, text, at, i)),
            Place::Quoted(quote) => {
                for (n, scalar) in rest.char_indices() {
                    if u32::from(scalar) == u32::from(quote) {
                        if head.attributes == Attributes::Any {
                            self.name = unescaped(&self.name);
                        }
                        (self.place, *i) = (Place::Behind, at + n + 1);
                        return None;
                    }
                    if !self.fits(scalar, names) || self.name.len() >= limit {
                        return Some(Read::Bad { at: at + n });
                    }
                    self.name.push(scalar);
                }
                return Some(Read::More { used: text.len() });
            }
            Place::Behind => {
                let ends = head.ends.iter().map(|end| end.text.as_ref());
                match longest(rest, ends) {
                    Err(Undecided) => return more,
                    Ok(Some(n)) => return Some(done(head, n, at, i)),
                    Ok(None) => {}
                }
                return self.attribute_begins(head, flag, text, i);
            }
            Place::Key
            | Place::Text(_)
            | Place::Equals
            | Place::AttributeQuote
            | Place::AttributeValue(_)
            | Place::AttributeEnd(_) => return self.attribute_step(head, flag, text, i),
        }
        None
    }

    /// A name without quotes, up to the header's end.
    fn bare(
        &mut self,
        head: &Head,
        names: Names,
        limit: usize,
        text: &str,
        at: usize,
        i: &mut usize,
    ) -> Read {
        for (n, scalar) in text[at..].char_indices() {
            let here = at + n;
            let ends = head.ends.iter().map(|end| end.text.as_ref());
            match longest(&text[here..], ends) {
                Err(Undecided) => return Read::More { used: here },
                Ok(Some(n)) => return done(head, n, here, i),
                Ok(None) if !self.fits(scalar, names) || self.name.len() >= limit => {
                    return Read::Bad { at: here };
                }
                Ok(None) => self.name.push(scalar),
            }
        }
        Read::More { used: text.len() }
    }

    /// Whether `next` may follow what is read of the name.
    fn fits(&self, next: char, names: Names) -> bool {
        if next.is_ascii_whitespace() {
            return true;
        }
        let last = self.name.bytes().next_back();
        let odd = next.is_control() || next == '<';
        match names {
            Names::Parameter => !odd && !matches!(last, Some(b'\n' | b'\r')),
            Names::Tool => {
                let blank = last.is_some_and(|last| last.is_ascii_whitespace());
                let odd = odd || matches!(next, '{' | '}' | '[' | ']' | '>' | '"' | '\'');
                !odd && (!blank || self.name().is_empty())
            }
        }
    }
}

/// The header ended with the end `n` at `at`.
fn done(head: &Head, n: usize, at: usize, i: &mut usize) -> Read {
    *i = at;
    let end = &head.ends[n];
    let used = if end.then == Then::BodyHere { at } else { at + end.text.len() };
    Read::Done { used, then: end.then }
}
