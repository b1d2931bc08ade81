//! The ids of a message. A repeated id gets a suffix, so that each is unique:
//!
//! ```text
//! claim("a")   "a"     AsWanted
//! claim("a")   "a-2"   Changed
//! claim("a")   "a-3"   Changed
//! ```

use crate::limits::MAX_ID_BYTES;
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// The ids that were used in one message.
#[derive(Debug, Clone, Default)]
pub struct UsedIds {
    /// Each id, with the number of the suffix that is tried next if the id is repeated.
    next: BTreeMap<String, u32>,
    bytes: usize,
    undo: Option<Undo>,
}

/// The changes since [`UsedIds::mark`], for [`UsedIds::undo`].
#[derive(Debug, Clone)]
struct Undo {
    bytes: usize,
    /// The changed ids in order, each with its former suffix number.
    changed: Vec<(String, Option<u32>)>,
}

/// Whether a claimed id was free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// The id was not used before.
    AsWanted,
    /// Another id replaces it: it was used before, or no more ids can be remembered.
    Changed,
}

impl UsedIds {
    /// Forgets all remembered ids.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Claims `wanted`. If it is taken, adds a suffix. If no more ids can be remembered, returns
    /// `generated()` instead.
    ///
    /// Each id remembers its next suffix, so that repeated ids need no search.
    pub fn claim(&mut self, wanted: String, generated: impl FnOnce() -> String) -> (String, Claim) {
        if self.bytes.saturating_add(wanted.len()) > MAX_ID_BYTES {
            return (generated(), Claim::Changed);
        }
        if self.insert(&wanted) {
            return (wanted, Claim::AsWanted);
        }
        loop {
            let n = self.next.get(&wanted).copied().unwrap_or(2);
            let id = format!("{wanted}-{n}");
            self.put(&wanted, n.saturating_add(1));
            if self.insert(&id) {
                return (id, Claim::Changed);
            }
        }
    }

    fn insert(&mut self, id: &str) -> bool {
        let new = !self.next.contains_key(id);
        if new {
            self.bytes = self.bytes.saturating_add(id.len());
            self.put(id, 2);
        }
        new
    }

    fn put(&mut self, id: &str, next: u32) {
        let before = self.next.insert(id.into(), next);
        if let Some(undo) = &mut self.undo {
            undo.changed.push((id.into(), before));
        }
    }

    /// Marks this state for [`UsedIds::undo`]. Copying the ids instead, once per block that is read
    /// ahead, would take quadratic time.
    pub(crate) fn mark(&mut self) {
        self.undo = Some(Undo { bytes: self.bytes, changed: Vec::new() });
    }

    /// Restores the state that was marked last.
    pub(crate) fn undo(&mut self) {
        let Some(undo) = self.undo.take() else { return };
        self.bytes = undo.bytes;
        for (id, before) in undo.changed.into_iter().rev() {
            match before {
                Some(next) => self.next.insert(id, next),
                None => self.next.remove(&id),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String};

    use super::{Claim, MAX_ID_BYTES, UsedIds};

    #[test]
    fn repeated_id_gets_the_next_free_suffix() {
        let mut ids = UsedIds::default();
        let mut claim = |id: &str| ids.claim(id.into(), String::new);
        assert_eq!(claim("a"), ("a".into(), Claim::AsWanted));
        assert_eq!(claim("a-2"), ("a-2".into(), Claim::AsWanted));
        assert_eq!(claim("a"), ("a-3".into(), Claim::Changed));
        assert_eq!(claim("a"), ("a-4".into(), Claim::Changed));
        assert_eq!(claim("a-2"), ("a-2-2".into(), Claim::Changed));
    }

    #[test]
    fn undo_forgets_ids_claimed_since_the_mark() {
        let mut ids = UsedIds::default();
        ids.claim("a".into(), String::new);
        ids.claim("a".into(), String::new);
        for _ in 0..2 {
            ids.mark();
            assert_eq!(ids.claim("a".into(), String::new).0, "a-3");
            assert_eq!(ids.claim("a".into(), String::new).0, "a-4");
            assert_eq!(ids.claim("b".into(), String::new).0, "b");
            ids.undo();
        }
        // Without a new mark, undo changes nothing.
        ids.claim("b".into(), String::new);
        ids.undo();
        assert_eq!(ids.claim("b".into(), String::new).0, "b-2");
    }

    #[test]
    fn used_ids_over_the_byte_limit_are_replaced() {
        let mut ids = UsedIds::default();
        for n in 0..400 {
            let (id, _) = ids.claim(format!("{n:01024}"), || format!("made-{n}"));
            assert_eq!(id.starts_with("made"), n >= MAX_ID_BYTES / 1024, "{n}");
        }
        assert!(ids.bytes <= MAX_ID_BYTES);
    }
}
