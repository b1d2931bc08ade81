//! The names of the parameters that a call has so far. A parameter is given once.
//!
//! ```text
//! <parameter=path>a</parameter>      given: `path`
//! <parameter=path>b</parameter>      read, reported and dropped
//! ```

use alloc::{collections::BTreeSet, string::String};

use crate::limits::MAX_PARAMETER_NAMES;

/// The names of a call's parameters. Its memory is bounded.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct GivenNames {
    names: BTreeSet<String>,
    bytes: usize,
}

impl GivenNames {
    /// Forgets the names of the last call.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.bytes = 0;
    }

    /// Returns whether the call has a parameter `name`.
    pub(in super::super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Records `name`. Returns whether there was room.
    pub(super) fn add(&mut self, name: &str) -> bool {
        self.bytes = self.bytes.saturating_add(name.len());
        let fits = self.bytes <= MAX_PARAMETER_NAMES;
        if fits {
            self.names.insert(String::from(name));
        }
        fits
    }
}
