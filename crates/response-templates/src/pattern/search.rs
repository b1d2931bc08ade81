//! The search for the leftmost match, one character after the other.
//!
//! All ways through a program that may still match are followed at once, in order of preference:
//! those that began earlier first, then those that the expression prefers. A way that matches ends
//! all that come after it; the match is certain when none before it is left. Ways that stand at
//! the same step have the same future, so only the first is kept: the work per character is
//! at most the length of the program.
//!
//! A look-ahead is a set of ways of its own ([`Aheads`]); what depends on it carries it as a
//! condition until it is decided.

#![expect(
    clippy::indexing_slicing,
    reason = "there is a mark for each step of the program, and a way's slots are those of all \
              groups; `first` has an entry for each byte"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "group `n` has the slots `2n` and `2n + 1`; a round that would not fit begins anew"
)]

use alloc::vec::Vec;

use smallvec::SmallVec;

use super::{
    ahead::{Aheads, Verdict},
    program::{Around, Program},
};

pub(super) type Slots = SmallVec<[u64; 4]>;
pub(super) type Conditions = SmallVec<[Condition; 1]>;

/// What must turn out for a way to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// A look-ahead, by id, matches or does not.
    Ahead { id: u32, wanted: bool },
    /// The text ends here.
    EndAt(u64),
}

/// One way through the program.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub(super) pc: u32,
    /// How many bytes of a group were read that is asked for again.
    pub(super) again: u32,
    /// Where the match begins.
    pub(super) start: u64,
    /// Where it ends, if the step is the match.
    pub(super) end: u64,
    pub(super) slots: Slots,
    pub(super) conditions: Conditions,
}

/// A match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: u64,
    pub(crate) end: u64,
    slots: Slots,
}

/// No place: what a group that took no part has in its slots.
pub(super) const NOWHERE: u64 = u64::MAX;

impl Found {
    /// Where the group with this number, from 0, matched, if it did.
    pub(crate) fn group(&self, number: usize) -> Option<(u64, u64)> {
        let place = |slot: usize| self.slots.get(slot).copied().filter(|&at| at != NOWHERE);
        Some((place(2 * number)?, place(2 * number + 1)?))
    }
}

/// Steps that were reached at one place.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    marks: Vec<u32>,
    round: u32,
}

impl Seen {
    pub(super) fn clear(&mut self, steps: usize) {
        if self.marks.len() != steps || self.round == u32::MAX {
            self.marks.clear();
            self.marks.resize(steps, 0);
            self.round = 0;
        }
        self.round += 1;
    }

    pub(super) fn has(&self, pc: u32) -> bool {
        self.marks[pc as usize] == self.round
    }

    pub(super) fn mark(&mut self, pc: u32) {
        self.marks[pc as usize] = self.round;
    }
}

/// A search in progress. It knows no program: each call is given the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// In order of preference.
    pub(super) threads: Vec<Thread>,
    pub(super) next: Vec<Thread>,
    /// Ways still to be followed at this place, the preferred one last.
    pub(super) todo: Vec<Thread>,
    pub(super) later: Vec<Thread>,
    /// Steps reached at the place, the next character known; and at the place behind it.
    pub(super) now: Seen,
    pub(super) then: Seen,
    /// Ways to steps reached under conditions, or with groups that are asked for again, likewise.
    pub(super) now_under: Vec<Thread>,
    pub(super) then_under: Vec<Thread>,
    pub(super) aheads: Aheads,
    pub(super) best: Option<Found>,
    /// Where no empty match counts.
    pub(super) not_empty_at: Option<u64>,
    /// Steps taken: the work done.
    pub(crate) work: u64,
}

/// More ways than this many are not followed: only conditions that never come together make more,
/// and groups that are asked for again; those that came last are dropped.
const MAX_THREADS: usize = 4096;
const MAX_AGAIN: usize = 16;

impl Search {
    /// Starts anew; no empty match counts at `not_empty_at`.
    pub(crate) fn restart(&mut self, not_empty_at: Option<u64>) {
        self.threads.clear();
        self.aheads.clear();
        self.best = None;
        self.not_empty_at = not_empty_at;
    }

    /// Whether nothing that was read may be part of a match.
    pub(crate) fn is_idle(&self) -> bool {
        self.threads.is_empty() && self.best.is_none()
    }

    /// The match, if it is certain.
    pub(crate) fn found(&self) -> Option<&Found> {
        self.best.as_ref().filter(|_| self.threads.is_empty())
    }

    /// Where the earliest match begins that is still possible, and not yet certain.
    pub(crate) fn pending(&self) -> Option<u64> {
        self.threads.first().map(|thread| thread.start)
    }

    /// The first way that goes on whatever comes, standing in the group `value`.
    pub(super) fn endless(&self, program: &Program, value: usize) -> Option<usize> {
        self.threads.iter().position(|way| {
            let inside = way.slots[2 * value] != NOWHERE && way.slots[2 * value + 1] == NOWHERE;
            inside && way.conditions.is_empty() && program.is_endless(way.pc)
        })
    }

    /// The places of two groups of the match that is being read up to `at`, the second as far as
    /// it certainly goes, if they are known whatever comes. `closes`: a way that goes on whatever
    /// comes, standing in the second group, will match.
    pub(super) fn growing(
        &self,
        program: &Program,
        [key, value]: [usize; 2],
        at: u64,
        closes: bool,
    ) -> Option<[(u64, u64); 2]> {
        let (best, ways) = match self.endless(program, value).filter(|_| closes) {
            // No other is asked.
            Some(last) => (None, &self.threads[..=last]),
            None => (Some(self.best.as_ref()?), &self.threads[..]),
        };
        let best = best.map(|best| &best.slots);
        let mut known: Option<[(u64, u64); 2]> = None;
        for slots in best.into_iter().chain(ways.iter().map(|way| &way.slots)) {
            let [from, to, begin] = [slots[2 * key], slots[2 * key + 1], slots[2 * value]];
            if [from, to, begin].contains(&NOWHERE) {
                return None;
            }
            let end = slots[2 * value + 1].min(at);
            match &mut known {
                None => known = Some([(from, to), (begin, end)]),
                Some([group, (start, least)]) if *group == (from, to) && *start == begin => {
                    *least = end.min(*least);
                }
                Some(_) => return None,
            }
        }
        known
    }

    /// Reads the next character, which is in `around`, or that there is none.
    pub(crate) fn step(&mut self, program: &Program, around: Around<'_>) {
        if self.best.is_some() && self.threads.is_empty() {
            return;
        }
        let begins = self.best.is_none() && begins(program, around.next);
        if self.threads.is_empty() && !begins {
            return;
        }
        let steps = program.insts.len();
        self.now.clear(steps);
        self.then.clear(steps);
        self.now_under.clear();
        self.then_under.clear();
        self.next.clear();
        if program.looks || !self.aheads.is_empty() {
            self.aheads.step(program, around);
        }
        if self.threads.iter().any(|thread| !thread.conditions.is_empty()) {
            self.resolve(program, around);
        }
        let mut threads = core::mem::take(&mut self.threads);
        let mut going = true;
        for thread in threads.drain(..) {
            going = going && self.follow(program, thread, around);
        }
        self.threads = threads;
        if going && begins && self.best.is_none() {
            let slots = core::iter::repeat_n(NOWHERE, program.slots).collect();
            let (start, conditions) = (around.at, Conditions::new());
            let thread = Thread { pc: 0, again: 0, start, end: NOWHERE, slots, conditions };
            self.follow(program, thread, around);
        }
        core::mem::swap(&mut self.threads, &mut self.next);
        self.threads.truncate(if program.again { MAX_AGAIN } else { MAX_THREADS });
        if program.looks {
            self.resolve(program, around);
            self.merge();
        }
        if around.next.is_none() {
            self.finish(around.at);
        }
    }

    /// The text is over: what is left never matches, but under conditions that hold now.
    fn finish(&mut self, end: u64) {
        let holds = |condition: &Condition| match condition {
            Condition::Ahead { wanted, .. } => !wanted,
            Condition::EndAt(at) => *at == end,
        };
        let mut threads = core::mem::take(&mut self.threads);
        let winner = threads.iter().position(|thread| thread.conditions.iter().all(holds));
        if let Some(thread) = winner.map(|at| threads.swap_remove(at)) {
            self.best = Some(found(thread));
        }
        threads.clear();
        self.threads = threads;
        self.aheads.clear();
    }

    /// Drops conditions that hold, and ways whose conditions do not.
    fn resolve(&mut self, program: &Program, around: Around<'_>) {
        let aheads = &self.aheads;
        let mut won = None;
        self.threads.retain_mut(|thread| {
            if won.is_some() {
                return false;
            }
            let mut lost = false;
            thread.conditions.retain(|condition| match *condition {
                Condition::EndAt(end) => {
                    lost |= around.at == end && around.next.is_some();
                    true
                }
                Condition::Ahead { id, wanted } => match aheads.verdict(id) {
                    Verdict::Open => true,
                    verdict => {
                        lost |= (verdict == Verdict::Yes) != wanted;
                        false
                    }
                },
            });
            if !lost && thread.conditions.is_empty() && is_match(program, thread.pc) {
                won = Some(thread.clone());
                return false;
            }
            !lost
        });
        if let Some(thread) = won {
            self.best = Some(found(thread));
        }
    }

    /// Takes look-aheads that became the same for one, and drops ways that add nothing.
    fn merge(&mut self) {
        if self.aheads.is_empty() {
            return;
        }
        let renamed = self.aheads.merge();
        for thread in &mut self.threads {
            for condition in &mut thread.conditions {
                if let Condition::Ahead { id, .. } = condition
                    && let Some((_, new)) = renamed.iter().find(|(old, _)| old == id)
                {
                    *id = *new;
                }
            }
        }
        let mut kept: Vec<Thread> = Vec::with_capacity(self.threads.len());
        for thread in self.threads.drain(..) {
            // If an earlier way matches under some of the same conditions, this one is not asked.
            let idle = kept.iter().any(|earlier| {
                (earlier.end != NOWHERE || earlier.pc == thread.pc)
                    && implies(&thread.conditions, &earlier.conditions)
            });
            if !idle {
                kept.push(thread);
            }
        }
        self.threads = kept;
        let threads = &self.threads;
        self.aheads.keep(|id| {
            threads.iter().flat_map(|thread| &thread.conditions).any(
                |condition| matches!(condition, Condition::Ahead { id: used, .. } if *used == id),
            )
        });
    }
}

/// Whether all of `fewer` are among `more`.
pub(super) fn implies(more: &[Condition], fewer: &[Condition]) -> bool {
    fewer.iter().all(|condition| more.contains(condition))
}

pub(super) fn found(thread: Thread) -> Found {
    Found { start: thread.start, end: thread.end, slots: thread.slots }
}

pub(super) fn is_match(program: &Program, pc: u32) -> bool {
    matches!(program.insts[pc as usize], super::program::Inst::Match)
}

/// Whether a match may begin where `next` follows.
fn begins(program: &Program, next: Option<char>) -> bool {
    let mut bytes = [0; 4];
    match next {
        Some(c) => {
            c.encode_utf8(&mut bytes);
            program.first[usize::from(bytes[0])]
        }
        None => program.nullable,
    }
}
