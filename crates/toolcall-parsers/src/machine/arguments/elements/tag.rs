//! Reading of elements' tags, and distinguishing them from the tags of calls.

use super::{
    Elements, ElementsState,
    element::ElementKind,
    spec::{ElementSpec, TagAt},
};
use crate::{
    cursor::{Progress, TextCursor, Undecided},
    event::DiagnosticKind,
    limits::MAX_HEADER_EXTRA,
    machine::{arguments::tag::longest, call_sink::CallSink},
    typing::TypeSet,
};

/// The owner of a tag at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// An element. The tag's token and `<` have this length.
    Element(usize),
    /// The call, its section, or the next call.
    Call,
    /// Nobody: the text is not a tag.
    Nobody,
    Undecided,
}

impl Elements {
    /// Returns the owner of the tag at the start of `text`.
    pub(super) fn whose(&self, spec: &ElementSpec, text: &str) -> Whose {
        let len = match spec.tag_at(text) {
            TagAt::Yes(len) => len,
            TagAt::No => return Whose::Nobody,
            TagAt::Undecided => return Whose::Undecided,
        };
        let in_element = self.open.len() > 1;
        let is_end = match text.as_bytes().get(len) {
            None => return Whose::Undecided,
            Some(b'/') => true,
            Some(_) => false,
        };
        if is_end && !in_element {
            return Whose::Call;
        }
        let found = longest(text, if is_end { &spec.ends } else { &spec.openers });
        match found {
            Err(Undecided) => Whose::Undecided,
            Ok(None) => Whose::Element(len),
            // An element may have the same name as a call's or section's tag.
            Ok(Some((_, end))) if is_end => {
                let name =
                    text.get(len.saturating_add(1)..end).unwrap_or_default().trim_end_matches('>');
                let own = name == self.tags_from_top();
                if own { Whose::Element(len) } else { Whose::Call }
            }
            Ok(Some((_, end))) => match text[..end].bytes().next_back() {
                Some(b'>') if in_element => Whose::Element(len),
                Some(last) if is_name(last) => match text.as_bytes().get(end) {
                    None => Whose::Undecided,
                    Some(&next) if is_name(next) || next == b'>' => Whose::Element(len),
                    Some(_) => Whose::Call,
                },
                _ => Whose::Call,
            },
        }
    }

    /// Returns `Some(true)` if `text`, after an element of the call, begins with another element.
    /// Returns `Some(false)` for a tag of a call and `None` for other text.
    pub(crate) fn tag_at(&self, spec: &ElementSpec, text: &str) -> Result<Option<bool>, Undecided> {
        match self.whose(spec, text) {
            Whose::Element(_) => Ok(Some(true)),
            Whose::Call => Ok(Some(false)),
            Whose::Nobody => Ok(None),
            Whose::Undecided => Err(Undecided),
        }
    }

    /// Reads the text of a tag, and opens or closes its element.
    pub(super) fn tag(&mut self, out: &mut CallSink<'_>) -> Option<Progress> {
        let limit = out.calls.options.limits.name;
        for (n, scalar) in out.cursor.rest().char_indices() {
            if scalar == '>' {
                self.skip(n.saturating_add(1), &mut out.cursor);
                let tag = core::mem::take(&mut self.tag);
                let name = tag.trim_ascii();
                let fits = match name.strip_prefix('/') {
                    Some(name) => self.closing(name.trim_ascii(), out.cursor.at, out),
                    None => {
                        let fits = !name.is_empty() && name.len() <= limit;
                        fits && self.open_element(name, out.cursor.at, out)
                    }
                };
                self.tag = tag;
                self.tag.clear();
                self.state = ElementsState::Text;
                return (!fits).then_some(Progress::Bad);
            }
            if self.tag.len() >= limit.saturating_add(MAX_HEADER_EXTRA) {
                self.skip(n, &mut out.cursor);
                return Some(Progress::Bad);
            }
            self.tag.push(scalar);
        }
        self.skip(out.cursor.rest().len(), &mut out.cursor);
        Some(Progress::More)
    }

    fn skip(&mut self, len: usize, cursor: &mut TextCursor<'_>) {
        cursor.advance(len);
        self.tag_bytes = self.tag_bytes.saturating_add(len as u64);
    }

    /// Closes the element `name`. Returns whether it was the innermost one.
    fn closing(&mut self, name: &str, offset: usize, out: &mut CallSink<'_>) -> bool {
        if self.tags_from_top() != name && self.tags_around() == name {
            self.close_empty(offset, out);
        }
        let own = self.open.len() > 1 && self.tags_from_top() == name;
        if own {
            self.close_element(offset, out);
        }
        own
    }

    /// Closes the innermost element if it is an empty object or list whose end tag is missing.
    /// Returns whether it did.
    pub(super) fn close_empty(&mut self, offset: usize, out: &mut CallSink<'_>) -> bool {
        let [_, .., element] = self.open.as_slice() else { return false };
        let types = element.types.unwrap_or(TypeSet::STRING);
        let container = types.has(TypeSet::ARRAY) || types.has(TypeSet::OBJECT);
        let blank = self.text[element.text..].trim_ascii().is_empty();
        let empty =
            element.kind == ElementKind::Leaf && blank && container && !types.has(TypeSet::STRING);
        if empty {
            out.diagnose(DiagnosticKind::MissingCloser, offset, 0);
            self.close_element(offset, out);
        }
        empty
    }

    /// Returns the name of the element around the innermost one.
    pub(super) fn tags_around(&self) -> &str {
        let around = self.open.len().checked_sub(2).and_then(|n| self.open.get(n));
        around.map_or("", |around| &self.tags[around.tag..around.inner])
    }

    /// Returns the name of the innermost element.
    pub(super) fn tags_from_top(&self) -> &str {
        self.open.last().map_or("", |top| &self.tags[top.tag..top.inner])
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

impl ElementKind {
    /// Returns the text before and after the value in JSON.
    pub(super) const fn brackets(self) -> (&'static str, &'static str) {
        match self {
            Self::Object => ("{", "}"),
            Self::List => ("[", "]"),
            Self::Leaf => ("", ""),
            Self::String => ("", "\""),
        }
    }
}
