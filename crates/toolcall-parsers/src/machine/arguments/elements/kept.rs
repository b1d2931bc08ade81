//! The way out for the arguments' JSON, with room for what may have to become a list.

use alloc::string::String;

use crate::machine::output::Output;

/// Writes, or keeps what may have to get a bracket in front.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    text: String,
    /// The open element whose child is kept, by number.
    keeper: Option<usize>,
}

impl Kept {
    pub(super) fn held(&self) -> usize {
        self.text.len()
    }

    pub(super) fn put(&mut self, piece: &str, out: &mut Output<'_>) {
        match self.keeper {
            Some(_) => self.text.push_str(piece),
            None => out.arguments(piece),
        }
    }

    /// Keeps what is written from now on for `element`, unless that is done already.
    pub(super) fn keep(&mut self, element: usize) {
        self.keeper.get_or_insert(element);
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
