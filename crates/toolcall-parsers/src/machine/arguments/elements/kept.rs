//! The way out for the arguments' JSON, with room for what may have to become a list.

use alloc::string::String;

use crate::machine::output::Output;

/// Writes, or keeps what may have to get a bracket in front.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    text: String,
    /// The open element whose child is kept, by number.
    keeper: Option<usize>,
    /// Bytes read since, and those held before; while text is read, less those of the text so far.
    bytes: usize,
}

impl Kept {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Bytes read that are kept, or stand before them and are held, too.
    pub(super) fn held(&self) -> Option<usize> {
        self.keeper.map(|_| self.bytes)
    }

    /// So many bytes more count, and so many less.
    pub(super) fn count(&mut self, less: usize, more: usize) {
        self.bytes = self.bytes.wrapping_add(more).wrapping_sub(less);
    }

    pub(super) fn put(&mut self, piece: &str, out: &mut Output<'_>) {
        match self.keeper {
            Some(_) => self.text.push_str(piece),
            None => out.arguments(piece),
        }
    }

    /// Keeps what is written from now on for `element`, unless that is done already. Of the text up to
    /// `offset` so many bytes are `held`.
    pub(super) fn keep(&mut self, element: usize, held: usize, offset: usize) {
        if self.keeper.is_none() {
            self.keeper = Some(element);
            self.bytes = held.wrapping_sub(offset);
        }
    }

    pub(super) fn is_kept_for(&self, element: usize) -> bool {
        self.keeper == Some(element)
    }

    /// Where the next piece will stand in what is kept.
    pub(super) fn place(&self) -> usize {
        self.text.len()
    }

    /// Opens a list before `place`.
    pub(super) fn open_list_at(&mut self, place: usize) {
        self.text.insert(place, '[');
    }

    /// Writes what is kept, and keeps no more.
    pub(super) fn flush(&mut self, out: &mut Output<'_>) {
        self.keeper = None;
        out.arguments(&self.text);
        self.text.clear();
    }
}
