//! The path of a value in a JSON text: the names of the members around it.

use alloc::{string::String, vec::Vec};

use crate::json::decode_into;

/// The name of the open member of each container, or none in an array. Names of closed containers
/// stay allocated for reuse.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    all: Vec<(bool, String)>,
    open: usize,
}

impl Keys {
    /// Returns the number of containers that are open.
    pub(super) fn len(&self) -> usize {
        self.open
    }

    /// Enters an object or array.
    pub(super) fn push(&mut self) {
        match self.all.get_mut(self.open) {
            Some((known, _)) => *known = false,
            None => self.all.push((false, String::new())),
        }
        self.open = self.open.saturating_add(1);
    }

    /// Leaves an object or array.
    pub(super) fn pop(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// Begins a member with this quoted name, and returns the name.
    pub(super) fn set_name(&mut self, quoted: &str) -> &str {
        let last = self.open.checked_sub(1).and_then(|last| self.all.get_mut(last));
        let Some((known, name)) = last else { return "" };
        *known = true;
        name.clear();
        decode_into(quoted, name);
        name
    }

    /// Returns whether a value that begins now is at `path`, not counting the `from` outermost
    /// containers.
    pub(super) fn are(&self, path: &[String], from: usize) -> bool {
        let same = |(key, wanted): (&(bool, String), &String)| key.0 && key.1 == *wanted;
        let keys = self.all.get(from..self.open);
        keys.is_some_and(|keys| keys.len() == path.len() && keys.iter().zip(path).all(same))
    }
}
