//! Arguments as element trees: parameters are elements, nested for objects and lists.
//!
//! Structure and declared strings are written while they arrive. Held is undecided text: text that
//! the schema does not declare as a string (elements may follow it), and elements in undeclared
//! objects, until the next one shows whether they repeat and so form a list. Nesting is a list of
//! open elements.

mod element;
mod kept;
mod search;
mod spec;
mod tag;
mod text;

#[cfg(test)]
mod tests;

use alloc::{string::String, vec::Vec};

pub(crate) use self::spec::ElementSpec;
use self::{
    element::{Element, ElementKind},
    kept::Kept,
    search::ElementSearch,
};
use super::{Cut, tag::TagTexts};
use crate::{
    cursor::{Cursor, Progress},
    machine::output::Output,
    options::Repair,
    typing::Path,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ElementsState {
    /// Between the tags of elements.
    #[default]
    Text,
    /// After a tag's bracket.
    Tag,
    /// In held text, whose first tag the cursor is at.
    Search,
}

/// Reads the elements of one call after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elements {
    state: ElementsState,
    tool: String,
    /// The tag being read, after its bracket.
    tag: String,
    /// Bytes of the tag, and of the text before it.
    tag_bytes: u64,
    /// The open elements; the first is the call's own object.
    open: Vec<Element>,
    /// Tags of the open elements, concatenated.
    tags: String,
    path: Path,
    /// Texts of the open elements that are not written, concatenated.
    text: String,
    kept: Kept,
    search: ElementSearch,
    /// Text came after an element of the call: the next one must be declared.
    after_text: bool,
    /// The stream offset up to which the innermost element was found to have no own end.
    searched_to: u64,
}

impl Elements {
    /// The arguments of a call of `tool` begin.
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
    }

    /// Text was dropped before the element that follows.
    pub(crate) fn text_came(&mut self) {
        self.after_text = true;
    }

    /// Bytes read that nothing is written of yet: of tags those whose element is not written.
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

    /// Whether an element of the call was read, and none is open.
    pub(crate) fn has_read(&self) -> bool {
        self.open.len() == 1 && self.open.first().is_some_and(|call| call.count > 0)
    }

    /// Returns the live bytes: of texts, and of the path.
    pub(crate) fn buffered(&self) -> usize {
        let texts = [&self.tag, &self.text, &self.tags];
        texts.iter().map(|text| text.len()).chain([self.kept.len(), self.path.len()]).sum()
    }

    /// Returns the bytes before the cursor that a fault loses: those of the broken tag.
    pub(crate) fn lost(&self) -> u64 {
        self.tag_bytes
    }

    /// Reads more text. Done: the text after the cursor is not an element, and none of it is
    /// consumed.
    pub(crate) fn feed(
        &mut self,
        spec: &ElementSpec,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Progress {
        if self.open.is_empty() {
            self.push_element(ElementKind::Object, None);
            self.kept.put("{", out);
        }
        self.kept.count(cursor.at, 0);
        let progress = loop {
            let progress = match self.state {
                ElementsState::Text => self.text(spec, cursor, out),
                ElementsState::Tag => self.tag(cursor, out),
                ElementsState::Search => self.search(spec, cursor, out),
            };
            if let Some(progress) = progress {
                break progress;
            }
        };
        self.kept.count(0, cursor.at);
        if progress == Progress::Bad {
            self.kept.flush(out);
        }
        progress
    }

    /// Writes the missing ends after the last element: those of all open elements.
    pub(crate) fn close(&mut self, out: &mut Output<'_>) {
        if self.open.is_empty() {
            out.arguments("{");
            self.push_element(ElementKind::Object, None);
        }
        self.close_all(out);
    }

    /// Ends the stream, with `tail` left after the cursor. Unless the arguments are incomplete,
    /// [`Self::close`] completes them.
    pub(crate) fn finish(
        &mut self,
        spec: &ElementSpec,
        tail: &str,
        repair: Repair,
        out: &mut Output<'_>,
    ) -> Cut {
        let tail = tail.trim_ascii_start();
        let ends = spec.ends.iter().flat_map(TagTexts::texts);
        // A beginning that every tag has decides nothing.
        let ends = ends.clone().any(|text| text.starts_with(tail));
        if self.state == ElementsState::Text && self.has_read() && ends {
            return Cut::Whole;
        }
        if repair == Repair::Close {
            return Cut::Repaired;
        }
        self.kept.flush(out);
        Cut::Incomplete
    }
}
