//! Reports of a chat guard: held bytes and counters.

use wire_remap::RemapReport;

use crate::{chat::guard::ChatGuard, observe::Stats};

impl ChatGuard {
    /// Returns the counts of remapping so far over all choices, where the guard has a
    /// [`crate::GuardStage::Remap`]: in the content given to the guard, and in reasoning,
    /// refusals, arguments and parts, which are decoded as they arrive.
    #[must_use]
    pub fn remap_report(&self) -> RemapReport {
        let mut report = RemapReport::default();
        self.choices.iter().for_each(|state| report += &state.remap_report());
        report
    }

    /// Returns the counters of each choice by its index, if the guard counts
    /// ([`crate::GuardStage::Stats`]).
    pub fn stats(&self) -> impl Iterator<Item = (u32, &Stats)> {
        self.choices.iter().filter_map(|state| Some((state.state.index, state.stats()?)))
    }

    /// Returns the bytes of text that are held, over all choices.
    #[must_use]
    pub fn held(&self) -> usize {
        self.choices.iter().map(|state| state.guard.held().bytes).sum()
    }

    /// Whether text is withheld that a client waits for.
    #[must_use]
    pub fn is_withholding(&self) -> bool {
        self.choices.iter().any(|state| state.state.held_since.is_some())
    }

    /// Returns the live bytes in the buffers of the choices' guards.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.choices.iter().map(|state| state.guard.buffered()).sum()
    }
}
