//! Reading of arguments that are element trees: an element for each parameter, with nested elements
//! for objects and lists.
//!
//! ```text
//! ~<city>Oslo~</city>~<days>~<item>1~</item>~</days>     ~ is the family's token
//! {"city": "Oslo", "days": ["1"]}
//! ```
//!
//! The states: `Text` between tags, `Tag` from the `<` to the `>`, and `Search` if a tag inside a
//! declared string may be data.
//!
//! Structure and declared strings are emitted while they arrive. Two kinds of text are held:
//!
//! - text that the schema does not declare as a string, because elements may follow it,
//! - elements in undeclared objects, until the next one shows whether they form a list.

mod element;
mod kept;
mod search;
mod spec;
mod tag;
mod text;

#[cfg(test)]
mod tests;

use alloc::{string::String, vec::Vec};

use jail_match::End;

pub(crate) use self::spec::ElementSpec;
use self::{
    element::{Element, ElementKind},
    kept::Kept,
    search::ElementSearch,
};
use super::{Cut, tag::TagTexts};
use crate::{cursor::Progress, machine::call_sink::CallSink, options::Repair, typing::Path};

/// The position in an element tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ElementsState {
    /// Between the tags of elements.
    #[default]
    Text,
    /// Inside a tag, after its `<`.
    Tag,
    /// In held text that is searched for the element's end. The cursor is at its first tag.
    Search,
}

/// A reader of element trees.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elements {
    state: ElementsState,
    tool: String,
    /// The text of the tag being read, after its `<`.
    tag: String,
    /// Length of the tag being read, including the family's token.
    tag_bytes: u64,
    /// The open elements. The first is the object of all arguments.
    open: Vec<Element>,
    /// Tags of the open elements, concatenated.
    tags: String,
    path: Path,
    /// Texts of the open elements that are not emitted yet, concatenated.
    text: String,
    kept: Kept,
    search: ElementSearch,
    /// Whether text was skipped after an element of the call, so that the next one must be
    /// declared.
    after_text: bool,
    /// The stream offset up to which a search found no end of the innermost element.
    searched_to: u64,
    /// Whether the call was read with a guess, or without a part of its text.
    repaired: bool,
    /// Whether an element begins as an object or a list, but is none.
    unmendable: bool,
}

impl Elements {
    /// Starts the arguments of a call of `tool`.
    pub(crate) fn begin(&mut self, tool: &str) {
        self.tool.clear();
        self.tool.push_str(tool);
        self.state = ElementsState::Text;
        self.open.clear();
        self.tag.clear();
        self.tags.clear();
        self.text.clear();
        self.path.clear();
        self.kept = Kept::default();
        (self.searched_to, self.after_text) = (0, false);
        (self.repaired, self.unmendable) = (false, false);
    }

    /// Returns whether the call was read with a guess, or without a part of its text.
    pub(crate) fn is_repaired(&self) -> bool {
        self.repaired
    }

    /// Records that text was skipped before the next element.
    pub(crate) fn text_came(&mut self) {
        self.after_text = true;
    }

    /// Returns the number of bytes read but not emitted. Tags count until their element is emitted.
    pub(crate) fn held(&self) -> usize {
        if let Some(kept) = self.kept.held() {
            return kept;
        }
        let tag = if self.state == ElementsState::Tag { self.tag_bytes } else { 0 };
        let leaf = match self.open.as_slice() {
            [_, .., Element { kind: ElementKind::Leaf, tag_bytes, .. }] => *tag_bytes,
            _ => 0,
        };
        let tags = usize::try_from(tag.saturating_add(leaf)).unwrap_or(usize::MAX);
        tags.saturating_add(self.text.len())
    }

    /// Returns whether an element of the call was read, and none is open.
    pub(crate) fn has_read(&self) -> bool {
        self.open.len() == 1 && self.open.first().is_some_and(|call| call.count > 0)
    }

    /// Returns the number of bytes in buffers.
    pub(crate) fn buffered(&self) -> usize {
        let texts = [&self.tag, &self.text, &self.tags];
        texts.iter().map(|text| text.len()).chain([self.kept.len(), self.path.len()]).sum()
    }

    /// Returns the number of bytes of a malformed tag before the cursor.
    pub(crate) fn faulty_tag_len(&self) -> u64 {
        self.tag_bytes
    }

    /// Reads more text. Returns [`Progress::Done`] before text that is not an element.
    pub(crate) fn feed(&mut self, spec: &ElementSpec, out: &mut CallSink<'_>) -> Progress {
        if self.open.is_empty() {
            self.push_element(ElementKind::Object, None);
            self.kept.put("{", out);
        }
        self.kept.count(out.cursor.at, 0);
        let progress = loop {
            let progress = match self.state {
                ElementsState::Text => self.text(spec, out),
                ElementsState::Tag => self.tag(out),
                ElementsState::Search => self.search(spec, out),
            };
            if core::mem::take(&mut self.unmendable) {
                out.calls.break_silently(out.cursor.at);
            }
            if let Some(progress) = progress {
                break progress;
            }
        };
        self.kept.count(0, out.cursor.at);
        if progress == Progress::Bad {
            self.kept.flush(out);
        }
        progress
    }

    /// Emits the closing brackets of all open elements.
    pub(crate) fn close(&mut self, out: &mut CallSink<'_>) {
        if self.open.is_empty() {
            out.arguments("{");
            self.push_element(ElementKind::Object, None);
        }
        self.close_all(out);
    }

    /// Handles the end of the stream; the text being fed is unread. Unless the arguments are
    /// incomplete, [`Self::close`] completes them.
    pub(crate) fn finish(&mut self, spec: &ElementSpec, end: End, out: &mut CallSink<'_>) -> Cut {
        let tail = out.cursor.text;
        let tail = tail.trim_ascii_start();
        let ends = spec.ends.iter().flat_map(TagTexts::texts);
        // A tail that is the start of the call's end does not make the call incomplete.
        let ends = ends.clone().any(|text| text.starts_with(tail));
        if end == End::Stop && self.state == ElementsState::Text && self.has_read() && ends {
            return Cut::Whole;
        }
        if out.calls.options.repair == Repair::Close {
            return Cut::Repaired;
        }
        self.kept.flush(out);
        Cut::Incomplete
    }
}
