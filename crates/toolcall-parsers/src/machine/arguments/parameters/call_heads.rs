//! The heads of calls: the text from a call's start to its arguments.
//!
//! ```text
//! <tool_call>ring_bell\n<arg_key>       a tag, a declared name, and the first parameter's opener
//! ```
//!
//! A complete head inside a value is not data. If the end tags of the value and of its call are
//! missing, the value ends before the next call's head.

use alloc::vec::Vec;

use super::spec::ParameterSpec;
use crate::{
    cursor::{TextCursor, Undecided, first_found, within},
    limits::{MAX_BLANKS, MAX_CALL_HEAD},
    machine::arguments::{
        attributes::{AttributeHeader, AttributeRead, HeaderReader},
        tag::{TagTexts, longest},
    },
    tools::Tools,
};

/// A part of a call's head.
#[derive(Debug, Clone)]
pub(crate) enum CallHeadPart {
    Tag(TagTexts),
    /// The name of the tool, optionally in quotes.
    Name,
    /// The attributes of a tag and its end. The attribute with this index is the tool's name.
    Attributes(AttributeHeader, usize),
    /// Any text on one line without `<` and `>`.
    Other,
}

/// The head of a call, as a list of its parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallHead {
    pub(crate) pieces: Vec<CallHeadPart>,
    /// Whether the head lacks the opener of its section, in families with one call per section.
    pub(crate) lacks_section: bool,
}

impl CallHead {
    /// Returns the tag at the start of the head.
    pub(crate) fn opener(&self) -> Option<&TagTexts> {
        match self.pieces.first() {
            Some(CallHeadPart::Tag(tag)) => Some(tag),
            _ => None,
        }
    }

    /// Returns whether one of the tags contains a marker token.
    pub(crate) fn has_token(&self) -> bool {
        self.pieces.iter().any(|piece| match piece {
            CallHeadPart::Tag(tag) => tag.is_token(),
            CallHeadPart::Attributes(header, _) => header.ends.iter().any(TagTexts::is_token),
            CallHeadPart::Name | CallHeadPart::Other => false,
        })
    }

    /// Returns the index of the part with the tool's name. From there on the head can be recognised
    /// without the tags before it.
    pub(crate) fn name_at(&self) -> Option<usize> {
        let other = |piece: &CallHeadPart| !matches!(piece, CallHeadPart::Tag(_));
        let at = self.pieces.iter().position(other)?;
        (at > 0 && !matches!(self.pieces[at], CallHeadPart::Other)).then_some(at)
    }

    /// Returns whether `text` begins with the head without its first `missing` parts. The name must be
    /// admitted, and a parameter or the call's end must follow.
    pub(crate) fn begins(
        &self,
        missing: usize,
        spec: &ParameterSpec,
        text: &str,
        tools: &Tools,
    ) -> Result<bool, Undecided> {
        within(MAX_CALL_HEAD, text, |text| {
            let mut cursor = TextCursor::new(text);
            Ok(self.walk(missing, HeadNames::Admitted(tools), &mut cursor)?
                && follows(spec, &mut cursor)?)
        })
    }

    /// Returns whether `text` begins with the head, with any name. If no tag ends the name, it must be
    /// declared, or another tag of the call must follow.
    pub(crate) fn is_at(
        &self,
        spec: &ParameterSpec,
        text: &str,
        tools: &Tools,
    ) -> Result<bool, Undecided> {
        let by_tag =
            matches!(self.pieces.last(), Some(CallHeadPart::Tag(_) | CallHeadPart::Attributes(..)));
        within(MAX_CALL_HEAD, text, |text| {
            let mut cursor = TextCursor::new(text);
            if !self.walk(0, HeadNames::Any, &mut cursor)? {
                return Ok(false);
            }
            let name = text[..cursor.at].rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
            if tools.get(name).is_some() {
                return Ok(true);
            }
            let parts = longest(cursor.rest(), &spec.parts).map(|part| part.is_some());
            Ok(by_tag || parts? || follows(spec, &mut cursor)?)
        })
    }

    /// Reads the head without its first `missing` parts. Returns whether it is there.
    fn walk(
        &self,
        missing: usize,
        names: HeadNames<'_>,
        cursor: &mut TextCursor<'_>,
    ) -> Result<bool, Undecided> {
        for (n, piece) in self.pieces.iter().enumerate().skip(missing) {
            if n > missing && cursor.skip_blanks() > MAX_BLANKS {
                return Ok(false);
            }
            let found = match piece {
                CallHeadPart::Tag(tag) => tag_at(cursor, core::slice::from_ref(tag))?,
                CallHeadPart::Name => name(cursor, names)?,
                CallHeadPart::Attributes(header, _) if n == missing && n > 0 => {
                    name(cursor, names)? && tag_at(cursor, &header.ends)?
                }
                CallHeadPart::Attributes(header, name) => attributes(cursor, header, *name, names)?,
                CallHeadPart::Other => {
                    let other = |c: char| matches!(c, '<' | '>' | '\n');
                    cursor.advance(cursor.rest().find(other).ok_or(Undecided)?);
                    true
                }
            };
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The names of tools that a head may contain.
#[derive(Debug, Clone, Copy)]
enum HeadNames<'t> {
    /// HeadNames that these tools admit.
    Admitted(&'t Tools),
    Any,
}

impl HeadNames<'_> {
    fn admit(self, name: &str) -> bool {
        match self {
            Self::Admitted(tools) => tools.admits(name),
            Self::Any => !name.is_empty(),
        }
    }

    /// Returns whether more text may make an admitted name of `start`.
    fn may_become(self, start: &str) -> bool {
        match self {
            Self::Admitted(tools) => tools.may_become(start),
            Self::Any => true,
        }
    }
}

/// Returns whether a parameter or the end of the call is at the cursor, after a few blanks.
fn follows(spec: &ParameterSpec, cursor: &mut TextCursor<'_>) -> Result<bool, Undecided> {
    if cursor.skip_blanks() > MAX_BLANKS {
        return Ok(false);
    }
    let ends = spec.ends.first().map(core::slice::from_ref).unwrap_or_default();
    let following = [spec.openers(), ends].map(|tags| longest(cursor.rest(), tags));
    Ok(first_found(following)?.is_some())
}

fn tag_at(cursor: &mut TextCursor<'_>, tags: &[TagTexts]) -> Result<bool, Undecided> {
    let found = longest(cursor.rest(), tags)?;
    cursor.advance(found.map_or(0, |(_, len)| len));
    Ok(found.is_some())
}

/// Returns whether a tool's name may contain `c`.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/')
}

/// Reads a name, optionally in quotes. Returns whether it is admitted.
fn name(cursor: &mut TextCursor<'_>, names: HeadNames<'_>) -> Result<bool, Undecided> {
    let quoted = |c: char| matches!(c, '"' | '\'');
    let rest = cursor.rest();
    let from = usize::from(rest.starts_with(quoted));
    let Some(len) = rest[from..].find(|c| !is_of_name(c)) else {
        return if names.may_become(&rest[from..]) { Err(Undecided) } else { Ok(false) };
    };
    let text = &rest[from..from + len];
    cursor.advance(from + len);
    // The opening quote may be missing together with the tags before it.
    cursor.advance(usize::from(cursor.rest().starts_with(quoted)));
    Ok(!text.is_empty() && names.admit(text))
}

fn attributes(
    cursor: &mut TextCursor<'_>,
    header: &AttributeHeader,
    name: usize,
    names: HeadNames<'_>,
) -> Result<bool, Undecided> {
    let mut reader = HeaderReader::default();
    reader.begin(header);
    match reader.feed(header, MAX_CALL_HEAD, cursor) {
        AttributeRead::More => Err(Undecided),
        AttributeRead::Bad => Ok(false),
        AttributeRead::Done { .. } => Ok(reader.value(name).is_some_and(|name| names.admit(name))),
    }
}
