//! The ids of a message: each is used once.

use alloc::{collections::BTreeMap, format, string::String};

/// Bytes of ids that are remembered, at most: thousands of ids as models write them. A message with
/// more has generated ids from there on.
const MAX_BYTES: usize = 256 * 1024;

/// The ids of one message so far.
#[derive(Debug, Clone, Default)]
pub struct UsedIds {
    /// Each with the suffix that is tried next where it comes again.
    next: BTreeMap<String, u32>,
    bytes: usize,
}

/// Whether an id was free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// It was.
    AsWanted,
    /// It was used before, or no more can be remembered; another stands in its place.
    Changed,
}

impl UsedIds {
    /// Forgets all ids.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes `wanted`, with a suffix if it is taken; `generated` where none can be remembered.
    /// Repeated ids cost no search: each remembers its next suffix.
    pub fn claim(&mut self, wanted: String, generated: impl FnOnce() -> String) -> (String, Claim) {
        if self.bytes.saturating_add(wanted.len()) > MAX_BYTES {
            return (generated(), Claim::Changed);
        }
        if self.insert(&wanted) {
            return (wanted, Claim::AsWanted);
        }
        loop {
            let n = self.next.get(&wanted).copied().unwrap_or(2);
            let id = format!("{wanted}-{n}");
            self.next.insert(wanted.clone(), n.saturating_add(1));
            if self.insert(&id) {
                return (id, Claim::Changed);
            }
        }
    }

    fn insert(&mut self, id: &str) -> bool {
        let new = !self.next.contains_key(id);
        if new {
            self.bytes = self.bytes.saturating_add(id.len());
            self.next.insert(id.into(), 2);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String};

    use super::{Claim, MAX_BYTES, UsedIds};

    #[test]
    fn a_repeated_id_gets_the_next_free_suffix() {
        let mut ids = UsedIds::default();
        let mut claim = |id: &str| ids.claim(id.into(), String::new);
        assert_eq!(claim("a"), ("a".into(), Claim::AsWanted));
        assert_eq!(claim("a-2"), ("a-2".into(), Claim::AsWanted));
        assert_eq!(claim("a"), ("a-3".into(), Claim::Changed));
        assert_eq!(claim("a"), ("a-4".into(), Claim::Changed));
        assert_eq!(claim("a-2"), ("a-2-2".into(), Claim::Changed));
    }

    #[test]
    fn no_more_is_remembered_than_the_limit() {
        let mut ids = UsedIds::default();
        for n in 0..400 {
            let (id, _) = ids.claim(format!("{n:01024}"), || format!("made-{n}"));
            assert_eq!(id.starts_with("made"), n >= MAX_BYTES / 1024, "{n}");
        }
        assert!(ids.bytes <= MAX_BYTES);
    }
}
