//! The search for the leftmost match, one character after the other.
//!
//! The search follows all threads that may still match. They are ordered by preference: threads
//! that began earlier come first, then threads that the pattern prefers. A thread that matches ends
//! all threads after it. The match is certain when no thread before it is left. Of several threads
//! in one state only the first is kept, because they would match alike. The size of the automaton
//! thus bounds the work for a character.
//!
//! For the pattern `a(?:bc)?`:
//!
//! | text | threads | answer |
//! |---|---|---|
//! | `a` | one that expects `b`, one that has matched `a` | possible from 0 |
//! | `ab` | one that expects `c`, and the match `a` | possible from 0 |
//! | `abx` | none | the match is `a` |

use alloc::vec::Vec;

use regex_automata::{
    nfa::thompson::State,
    util::{look::Look, primitives::StateID},
};
use smallvec::SmallVec;

use super::compile::Program;
use crate::chars::is_word;

type Slots = SmallVec<[u64; 8]>;

/// The slot of a group that took no part.
const UNSET: u64 = u64::MAX;

/// A path through the automaton.
#[derive(Debug, Clone)]
struct Thread {
    state: StateID,
    slots: Slots,
}

impl Thread {
    fn start(&self) -> u64 {
        self.slot(0)
    }

    fn slot(&self, slot: usize) -> u64 {
        slot_of(&self.slots, slot)
    }
}

fn slot_of(slots: &[u64], slot: usize) -> u64 {
    slots.get(slot).copied().unwrap_or(UNSET)
}

/// A match and its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: u64,
    pub(crate) end: u64,
    slots: Slots,
}

impl Found {
    /// Returns the start and the end of group `number`, counted from 0, if it took part.
    pub(crate) fn group(&self, number: usize) -> Option<(u64, u64)> {
        let slot = 2 * number + 2;
        let place = |slot| Some(slot_of(&self.slots, slot)).filter(|&place| place != UNSET);
        Some((place(slot)?, place(slot + 1)?))
    }
}

/// The characters on both sides of a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbours {
    /// The number of bytes before the place.
    pub(crate) at: u64,
    pub(crate) previous: Option<char>,
    /// The next character; `None` at the end of the text.
    pub(crate) next: Option<char>,
}

/// A place in the text, whose next character may be unknown.
#[derive(Clone, Copy)]
enum Place {
    Open(u64),
    Decided(Neighbours),
}

impl Neighbours {
    fn satisfy(self, look: Look) -> bool {
        let is_boundary = || self.previous.is_some_and(is_word) != self.next.is_some_and(is_word);
        match look {
            Look::Start => self.at == 0,
            Look::End => self.next.is_none(),
            Look::StartLF => self.at == 0 || self.previous == Some('\n'),
            Look::EndLF => matches!(self.next, None | Some('\n')),
            Look::WordUnicode => is_boundary(),
            Look::WordUnicodeNegate => !is_boundary(),
            // The translation makes none of these.
            _ => false,
        }
    }
}

/// The set of states reached at one place.
#[derive(Debug, Clone, Default)]
struct Reached {
    rounds: Vec<u32>,
    round: u32,
}

impl Reached {
    fn clear(&mut self, states: usize) {
        if self.rounds.len() != states || self.round == u32::MAX {
            self.rounds.clear();
            self.rounds.resize(states, 0);
            self.round = 0;
        }
        self.round += 1;
    }

    /// Adds a state. Returns whether it is new.
    fn insert(&mut self, state: StateID) -> bool {
        let round = self.rounds.get_mut(state.as_usize());
        round.is_some_and(|round| core::mem::replace(round, self.round) != self.round)
    }
}

/// A search in progress. All calls must pass the same program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// The threads before the next character, in order of preference.
    threads: Vec<Thread>,
    next: Vec<Thread>,
    /// The threads to follow at this place, the preferred one last.
    todo: Vec<Thread>,
    reached: Reached,
    best: Option<Found>,
    /// The place where an empty match does not count.
    not_empty_at: Option<u64>,
    /// The number of steps taken.
    pub(crate) work: u64,
}

impl Search {
    /// Starts a new search. An empty match at `not_empty_at` does not count.
    pub(crate) fn restart(&mut self, not_empty_at: Option<u64>) {
        self.threads.clear();
        self.best = None;
        self.not_empty_at = not_empty_at;
    }

    /// Returns the match, if it is certain.
    pub(crate) fn found(&self) -> Option<&Found> {
        self.best.as_ref().filter(|_| self.threads.is_empty())
    }

    /// Returns the start of the earliest match that is possible but not certain.
    pub(crate) fn pending(&self) -> Option<u64> {
        self.threads.first().map(Thread::start)
    }

    /// Reads the next character of `around`, or the end of the text.
    pub(crate) fn step(&mut self, program: &Program, around: Neighbours) {
        let mut bytes = [0; 4];
        let bytes = around.next.map_or(&[][..], |c| c.encode_utf8(&mut bytes).as_bytes());
        let begins = self.best.is_none()
            && match bytes.first() {
                Some(&first) => program.first.get(usize::from(first)).is_some_and(|&it| it),
                None => program.matches_end,
            };
        if self.threads.is_empty() && !begins {
            return;
        }
        self.decide(program, around, begins);
        for (at, &byte) in (around.at + 1..).zip(bytes) {
            self.step_byte(program, byte, at);
        }
        if around.next.is_none() {
            self.threads.clear();
        }
    }

    /// Follows the threads whose conditions are met here. If `begins` is set, one more begins here.
    fn decide(&mut self, program: &Program, around: Neighbours, begins: bool) {
        let mut threads = core::mem::take(&mut self.threads);
        self.reached.clear(program.nfa.states().len());
        for thread in threads.drain(..) {
            if !self.follow(program, thread, Place::Decided(around)) {
                break;
            }
        }
        if begins && self.best.is_none() {
            let slots = core::iter::repeat_n(UNSET, program.slots()).collect();
            let thread = Thread { state: program.nfa.start_anchored(), slots };
            self.follow(program, thread, Place::Decided(around));
        }
        self.threads = core::mem::replace(&mut self.next, threads);
    }

    /// Moves the threads over a byte. `at` is the number of bytes read after it.
    fn step_byte(&mut self, program: &Program, byte: u8, at: u64) {
        let mut threads = core::mem::take(&mut self.threads);
        self.reached.clear(program.nfa.states().len());
        for mut thread in threads.drain(..) {
            let Some(state) = after(program.nfa.state(thread.state), byte) else { continue };
            thread.state = state;
            if !self.follow(program, thread, Place::Open(at)) {
                break;
            }
        }
        self.threads = core::mem::replace(&mut self.next, threads);
    }

    /// Follows a thread at one place, and keeps its branches that wait for more text. Returns
    /// `false` if the thread matched.
    fn follow(&mut self, program: &Program, thread: Thread, place: Place) -> bool {
        let (Place::Open(at) | Place::Decided(Neighbours { at, .. })) = place;
        self.todo.push(thread);
        while let Some(mut thread) = self.todo.pop() {
            self.work += 1;
            if !self.reached.insert(thread.state) {
                continue;
            }
            match program.nfa.state(thread.state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                    self.next.push(thread);
                    continue;
                }
                State::Look { look, next } => match place {
                    Place::Open(_) => {
                        self.next.push(thread);
                        continue;
                    }
                    Place::Decided(around) if around.satisfy(*look) => thread.state = *next,
                    Place::Decided(_) => continue,
                },
                State::Union { alternates } => {
                    let others = alternates.iter().rev();
                    self.todo
                        .extend(others.map(|&state| Thread { state, slots: thread.slots.clone() }));
                    continue;
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.todo.push(Thread { state: *alt2, slots: thread.slots.clone() });
                    thread.state = *alt1;
                }
                State::Capture { next, slot, .. } => {
                    let slot = slot.as_usize();
                    if slot == program.mark && self.is_excluded(thread.start(), at) {
                        continue;
                    }
                    if let Some(place) = thread.slots.get_mut(slot) {
                        *place = at;
                    }
                    // A group that begins again has no end yet.
                    if let (0, Some(end)) = (slot % 2, thread.slots.get_mut(slot + 1)) {
                        *end = UNSET;
                    }
                    thread.state = *next;
                }
                State::Fail => continue,
                State::Match { .. } => {
                    let (start, end) = (thread.start(), thread.slot(program.mark).min(at));
                    if self.is_excluded(start, end) {
                        continue;
                    }
                    self.best = Some(Found { start, end, slots: thread.slots });
                    self.todo.clear();
                    return false;
                }
            }
            self.todo.push(thread);
        }
        true
    }

    fn is_excluded(&self, start: u64, end: u64) -> bool {
        start == end && self.not_empty_at == Some(start)
    }

    /// Returns whether the preferred thread is inside the group `value` and accepts any next
    /// character.
    pub(super) fn is_in_open_value(&self, program: &Program) -> bool {
        self.open_value(program).is_some()
    }

    fn open_value(&self, program: &Program) -> Option<usize> {
        let pair = program.pair.filter(|pair| pair.is_any_text)?;
        self.threads.iter().position(|thread| {
            thread.slot(pair.value) != UNSET && thread.slot(pair.value + 1) == UNSET
        })
    }

    /// Returns the places of the groups `key` and `value` of the match that is being read up to
    /// `at`. The value ends where it is certain. `closes` states that a value of any text will find
    /// its end.
    pub(super) fn growing(
        &self,
        program: &Program,
        at: u64,
        closes: bool,
    ) -> Option<[(u64, u64); 2]> {
        let pair = program.pair?;
        let (best, threads) = match self.open_value(program).filter(|_| closes) {
            Some(last) => (None, self.threads.get(..=last)?),
            None => (Some(&self.best.as_ref()?.slots), &self.threads[..]),
        };
        let mut known: Option<[(u64, u64); 2]> = None;
        for slots in best.into_iter().chain(threads.iter().map(|thread| &thread.slots)) {
            let slot = |slot| slot_of(slots, slot);
            let (key, begin) = ((slot(pair.key), slot(pair.key + 1)), slot(pair.value));
            if [key.0, key.1, begin].contains(&UNSET) {
                return None;
            }
            let end = slot(pair.value + 1).min(at);
            match &mut known {
                None => known = Some([key, (begin, end)]),
                Some([first, (start, least)]) if *first == key && *start == begin => {
                    *least = end.min(*least);
                }
                Some(_) => return None,
            }
        }
        known
    }
}

/// Returns the state after `state` and `byte`, if `state` accepts the byte.
pub(super) fn after(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(sparse) => sparse.matches_byte(byte),
        State::Dense(dense) => dense.matches_byte(byte),
        _ => None,
    }
}
