//! The ids of a message: each is used once.

use crate::limits::MAX_ID_BYTES;
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// The ids of one message so far.
#[derive(Debug, Clone, Default)]
pub struct UsedIds {
    /// Each with the suffix that is tried next where it comes again.
    next: BTreeMap<String, u32>,
    bytes: usize,
    undo: Option<Undo>,
}

/// Changes since the state that [`UsedIds::undo`] goes back to.
#[derive(Debug, Clone)]
struct Undo {
    bytes: usize,
    /// Ids in the order they changed, each with its suffix before.
    changed: Vec<(String, Option<u32>)>,
}

/// Whether an id was free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// The id was not used before.
    AsWanted,
    /// The id was used before, or no further ids can be remembered; another id replaces it.
    Changed,
}

impl UsedIds {
    /// Forgets all remembered ids.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes `wanted`, with a suffix if it is taken; `generated` where none can be remembered.
    /// Repeated ids cost no search: each remembers its next suffix.
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

    /// Makes this the state to go back to. That costs nothing, however many ids there are: a copy of
    /// them before each block that is read ahead would take quadratic time.
    pub(crate) fn mark(&mut self) {
        self.undo = Some(Undo { bytes: self.bytes, changed: Vec::new() });
    }

    /// Goes back to the state that was marked last.
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
        // Only what was marked is undone.
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
