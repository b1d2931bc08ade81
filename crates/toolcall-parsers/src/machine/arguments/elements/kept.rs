//! Output that is held because it may become the first item of a list.

use alloc::string::String;

use crate::machine::call_sink::CallSink;

/// An output that can be held, so that a bracket can be inserted before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    text: String,
    /// The index of the open element whose child is held.
    keeper: Option<usize>,
    /// Number of bytes read since holding began, plus those held before. During a feed the offset
    /// of the fed text is subtracted.
    bytes: usize,
}

impl Kept {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the number of bytes read that are held, if output is held.
    pub(super) fn held(&self) -> Option<usize> {
        self.keeper.map(|_| self.bytes)
    }

    /// Adds `more` to the number of bytes and subtracts `less`.
    pub(super) fn count(&mut self, less: usize, more: usize) {
        self.bytes = self.bytes.wrapping_add(more).wrapping_sub(less);
    }

    /// Emits or holds `piece`.
    pub(super) fn put(&mut self, piece: &str, out: &mut CallSink<'_>) {
        match self.keeper {
            Some(_) => self.text.push_str(piece),
            None => out.arguments(piece),
        }
    }

    /// Holds the output for `element` from now on, unless it is held already. `held` is the number
    /// of bytes held before `offset`.
    pub(super) fn keep(&mut self, element: usize, held: usize, offset: usize) {
        if self.keeper.is_none() {
            self.keeper = Some(element);
            self.bytes = held.wrapping_sub(offset);
        }
    }

    pub(super) fn is_kept_for(&self, element: usize) -> bool {
        self.keeper == Some(element)
    }

    /// Returns the index of the next piece in the held output.
    pub(super) fn place(&self) -> usize {
        self.text.len()
    }

    /// Inserts the bracket of a list at `place`.
    pub(super) fn open_list_at(&mut self, place: usize) {
        self.text.insert(place, '[');
    }

    /// Emits the held output and stops holding.
    pub(super) fn flush(&mut self, out: &mut CallSink<'_>) {
        self.keeper = None;
        out.arguments(&self.text);
        self.text.clear();
    }
}
