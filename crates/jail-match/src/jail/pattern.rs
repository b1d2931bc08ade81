//! Expressions as marks. A DFA is stepped byte by byte, so that a match may arrive in pieces.
//!
//! At every position where an expression may begin, a run begins, which continues in later text. A
//! run reads at most `hold` bytes, so each byte is read by at most `hold` runs.
//!
//! `a+b` with a hold of 3, fed `aab`: after `a` and `aa` the run answers `Partial`, after `aab`
//! `Match(3)`. Fed `aaa`, it answers `Mismatch`.

use alloc::{boxed::Box, string::ToString, vec::Vec};

use regex_automata::{
    Anchored, MatchKind,
    dfa::{Automaton, StartKind, dense},
    nfa::thompson,
    util::{primitives::StateID, start},
};

use super::{error::JailProblem, pattern_view::PatternView};
use crate::limits::MAX_AUTOMATON_BYTES;
use crate::marker::Prefix;

type Dfa = dense::DFA<Vec<u32>>;

/// A state of an expression.
pub(crate) type PatternState = StateID;

/// A state from which every byte leads to a match state: a match ends here, whatever follows.
const CERTAIN: u8 = 1;
/// A state after which no longer match can end. The next byte may still decide about one here.
const FINAL: u8 = 2;
/// A state from which nothing leads to a match.
const HOPELESS: u8 = 4;
/// A state at which the next byte may end a match.
const OPEN: u8 = 8;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    dfa: Dfa,
    fates: Box<[u8]>,
    hold: usize,
}

/// The progress of an expression from one position on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PatternRun {
    state: Option<PatternState>,
    read: usize,
    /// The length of the match found so far; 0 for none.
    best: usize,
    /// The state at the end of that match.
    best_state: Option<PatternState>,
    /// Whether the answer is final.
    settled: bool,
    /// Whether the hold made the answer final although the expression could read on.
    cut: bool,
}

impl PatternRun {
    /// Returns the state from which a match of `len` bytes continues, if the hold cut it short.
    pub(crate) fn goes_on(&self, len: usize) -> Option<PatternState> {
        self.best_state.filter(|_| self.cut && self.best == len)
    }
}

impl Pattern {
    pub(crate) fn new(expression: &str, hold: Option<usize>) -> Result<Self, JailProblem> {
        let bad = |error: &dyn ToString| JailProblem::BadPattern(error.to_string());
        let hir = regex_syntax::parse(expression).map_err(|error| bad(&error))?;
        let lengths = hir.properties();
        if lengths.minimum_len().is_none_or(|least| least == 0) {
            return Err(JailProblem::EmptyMatch);
        }
        let hold = match (lengths.maximum_len(), hold) {
            (_, Some(0)) => return Err(JailProblem::NoHold),
            (Some(most), Some(hold)) => most.min(hold),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return Err(JailProblem::Unbounded),
        };
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .which_captures(thompson::WhichCaptures::None)
                    .nfa_size_limit(Some(MAX_AUTOMATON_BYTES)),
            )
            .build_from_hir(&hir)
            .map_err(|error| bad(&error))?;
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::LeftmostFirst)
            .accelerate(false)
            .dfa_size_limit(Some(MAX_AUTOMATON_BYTES))
            .determinize_size_limit(Some(MAX_AUTOMATON_BYTES));
        let dfa = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .map_err(|error| bad(&error))?;
        let fates = fates(&dfa);
        Ok(Self { dfa, fates, hold })
    }

    /// Returns the maximum length of a match.
    pub(crate) fn longest(&self) -> usize {
        self.hold
    }

    /// Returns the bytes with which a match may begin.
    pub(crate) fn first_bytes(&self) -> impl Iterator<Item = u8> + '_ {
        let starts = starts(&self.dfa);
        (0..=u8::MAX).filter(move |&byte| {
            starts.iter().any(|&start| !self.is_lost(self.dfa.next_state(start, byte)))
        })
    }

    /// Reads on in the view's text and adds the bytes read to `work`.
    ///
    /// Returns [`Prefix::Partial`] as long as more text may change the answer.
    pub(crate) fn read(
        &self,
        run: &mut PatternRun,
        view: PatternView<'_>,
        work: &mut u64,
    ) -> Prefix {
        let PatternView { text, before, ended } = view;
        let Some(mut state) = run.state.or_else(|| start(&self.dfa, before)) else {
            return Prefix::Mismatch;
        };
        // One byte more than the hold, because it may decide whether a match ends before it.
        let reach = text.len().min(self.hold.saturating_add(1));
        let unread = text.get(run.read..reach).unwrap_or(&[]);
        for &byte in unread {
            if run.settled {
                break;
            }
            let before = state;
            state = self.dfa.next_state(state, byte);
            run.read += 1;
            *work += 1;
            if self.dfa.is_match_state(state) {
                (run.best, run.best_state) = (run.read - 1, Some(before));
            }
            let fate = self.fate(state);
            if run.read <= self.hold && fate & CERTAIN != 0 {
                (run.best, run.best_state) = (run.read, Some(state));
            }
            let over = self.is_lost(state) || fate & (CERTAIN | FINAL) == CERTAIN | FINAL;
            run.cut = !over
                && (run.read > self.hold
                    || run.read == self.hold && fate & (CERTAIN | OPEN) != OPEN);
            run.settled = over || run.cut;
        }
        run.state = Some(state);
        if !run.settled && ended {
            if self.dfa.is_match_state(self.dfa.next_eoi_state(state)) {
                run.best = run.read;
            }
            run.settled = true;
        }
        match run.best {
            _ if !run.settled => Prefix::Partial,
            0 => Prefix::Mismatch,
            len => Prefix::Match(len),
        }
    }

    /// Reads on after a match from `state`, in whole scalars. Returns the number of bytes read, and
    /// whether the expression can read no more.
    pub(crate) fn read_on(
        &self,
        state: &mut PatternState,
        text: &str,
        work: &mut u64,
    ) -> (usize, bool) {
        let mut taken = 0;
        for scalar in text.chars() {
            let behind = taken + scalar.len_utf8();
            let mut next = *state;
            for &byte in &text.as_bytes()[taken..behind] {
                next = self.dfa.next_state(next, byte);
                *work += 1;
            }
            if self.is_lost(next) {
                return (taken, true);
            }
            (taken, *state) = (behind, next);
        }
        (taken, false)
    }

    fn fate(&self, state: StateID) -> u8 {
        self.fates.get(state.as_usize() >> self.dfa.stride2()).copied().unwrap_or(0)
    }

    fn is_lost(&self, state: StateID) -> bool {
        self.dfa.is_dead_state(state)
            || self.dfa.is_quit_state(state)
            || self.fate(state) & HOPELESS != 0
    }
}

/// Returns the state in which a run after the byte `before` begins.
fn start(dfa: &Dfa, before: Option<u8>) -> Option<PatternState> {
    let config = start::Config::new().look_behind(before).anchored(Anchored::Yes);
    dfa.start_state(&config).ok()
}

fn starts(dfa: &Dfa) -> Vec<PatternState> {
    let befores = core::iter::once(None).chain((0..=u8::MAX).map(Some));
    let mut starts: Vec<PatternState> = befores.filter_map(|before| start(dfa, before)).collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Returns the flags of each state.
fn fates(dfa: &Dfa) -> Box<[u8]> {
    let index = |state: StateID| state.as_usize() >> dfa.stride2();
    let bytes: Vec<u8> =
        dfa.byte_classes().representatives(0..=255).filter_map(|unit| unit.as_u8()).collect();
    let after = |state| {
        let steps = bytes.iter().map(move |&byte| dfa.next_state(state, byte));
        steps.chain(core::iter::once(dfa.next_eoi_state(state)))
    };
    let lost = |state| dfa.is_dead_state(state) || dfa.is_quit_state(state);

    let mut states = starts(dfa);
    let mut fates = Vec::new();
    let mut known = Vec::new();
    for &state in &states {
        mark(&mut known, index(state));
    }
    let mut next = 0;
    while let Some(&state) = states.get(next) {
        next += 1;
        for other in after(state) {
            if mark(&mut known, index(other)) {
                states.push(other);
            }
        }
    }
    fates.resize(known.len(), 0);
    for &state in &states {
        let barren = |state| after(state).all(lost);
        let mut fate = 0;
        if after(state).all(|other| dfa.is_match_state(other)) {
            fate |= CERTAIN;
        }
        if after(state).all(|other| lost(other) || dfa.is_match_state(other) && barren(other)) {
            fate |= FINAL;
        }
        if after(state).any(|other| dfa.is_match_state(other)) {
            fate |= OPEN;
        }
        if barren(state) {
            fate |= HOPELESS;
        }
        fates[index(state)] = fate;
    }
    fates.into_boxed_slice()
}

/// Marks `index` as known and returns whether it was unknown.
fn mark(known: &mut Vec<bool>, index: usize) -> bool {
    if known.len() <= index {
        known.resize(index + 1, false);
    }
    !core::mem::replace(&mut known[index], true)
}

#[cfg(test)]
mod tests {
    use super::{Pattern, PatternRun, PatternView};
    use crate::marker::Prefix;

    /// Returns the answers after each byte of `text`, and at its end.
    fn readings(expression: &str, hold: Option<usize>, text: &str) -> Vec<Prefix> {
        let pattern = Pattern::new(expression, hold).unwrap();
        let (mut run, mut work) = (PatternRun::default(), 0);
        let mut one = |upto, ended| {
            let view = PatternView { text: &text.as_bytes()[..upto], before: None, ended };
            pattern.read(&mut run, view, &mut work)
        };
        let mut all: std::vec::Vec<_> = (1..=text.len()).map(|upto| one(upto, false)).collect();
        all.push(one(text.len(), true));
        all
    }

    use Prefix::{Match, Mismatch, Partial};
    use std::vec::Vec;

    #[test]
    fn match_is_reported_with_its_last_byte() {
        assert_eq!(readings("ab", None, "ab"), [Partial, Match(2), Match(2)]);
        assert_eq!(readings("a[0-9]{2}", None, "a12"), [Partial, Partial, Match(3), Match(3)]);
    }

    #[test]
    fn mismatch_is_reported_with_its_first_wrong_byte() {
        assert_eq!(readings("ab", None, "ax")[1], Mismatch);
    }

    #[test]
    fn match_that_may_grow_is_not_reported_yet() {
        assert_eq!(readings("ab?", None, "a"), [Partial, Match(1)]);
        assert_eq!(readings("ab?", None, "ax")[1], Match(1));
    }

    #[test]
    fn expression_with_look_ahead_waits_for_one_byte() {
        assert_eq!(readings("(?m)a$", None, "a\n"), [Partial, Match(1), Match(1)]);
        assert_eq!(readings("(?m)a$", None, "ab")[1], Mismatch);
        assert_eq!(readings("a$", None, "a"), [Partial, Match(1)]);
    }

    #[test]
    fn match_ends_at_the_hold() {
        assert_eq!(readings("a+", Some(2), "aaa"), [Partial, Match(2), Match(2), Match(2)]);
        assert_eq!(readings("a+b", Some(2), "aaa")[2], Mismatch);
    }

    #[test]
    fn alternation_prefers_its_first_branch_over_the_longest() {
        assert_eq!(readings("a|ab", None, "ab")[0], Match(1));
    }
}
