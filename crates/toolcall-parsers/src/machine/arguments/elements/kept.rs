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

    /// Returns the bytes read that are kept, or held before them.
    pub(super) fn held(&self) -> Option<usize> {
        self.keeper.map(|_| self.bytes)
    }

    /// Adds `more` to the count of bytes and subtracts `less`.
    pub(super) fn count(&mut self, less: usize, more: usize) {
        self.bytes = self.bytes.wrapping_add(more).wrapping_sub(less);
    }

    pub(super) fn put(&mut self, piece: &str, out: &mut Output<'_>) {
        match self.keeper {
            Some(_) => self.text.push_str(piece),
            None => out.arguments(piece),
        }
    }

    /// Keeps the output for `element` from now on, unless it is kept already. `held` bytes of the
    /// text up to `offset` are held.
    pub(super) fn keep(&mut self, element: usize, held: usize, offset: usize) {
        if self.keeper.is_none() {
            self.keeper = Some(element);
            self.bytes = held.wrapping_sub(offset);
        }
    }

    pub(super) fn is_kept_for(&self, element: usize) -> bool {
        self.keeper == Some(element)
    }

    /// Returns the index of the next piece in the kept text.
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
