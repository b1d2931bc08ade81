//! Look-aheads in progress: whether what begins at a place matches.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "programs are made by `compile`: every step names steps and sets that there are, and \
              the last is a match, so behind any other step there is one; `at` is less than the \
              number of look-aheads"
)]

use alloc::vec::Vec;

use super::{
    program::{Around, Holds, Inst, Program},
    search::Seen,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Open,
    Yes,
    No,
}

/// A step, and where the text has to end for it to count.
type Way = (u32, Option<u64>);

#[derive(Debug, Clone)]
struct Ahead {
    id: u32,
    /// The step it begins with, which tells the look-aheads of a program apart.
    start: u32,
    /// Where it began.
    at: u64,
    /// Sorted.
    ways: Vec<Way>,
    verdict: Verdict,
}

/// All look-aheads of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct Aheads {
    all: Vec<Ahead>,
    last: u32,
    seen: Seen,
    todo: Vec<Way>,
    spare: Vec<Way>,
}

impl Aheads {
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn verdict(&self, id: u32) -> Verdict {
        self.all.iter().find(|one| one.id == id).map_or(Verdict::No, |one| one.verdict)
    }

    /// The look-ahead that begins at the place, the next character read; one for all who ask.
    pub(super) fn begin(&mut self, program: &Program, start: u32, around: Around<'_>) -> u32 {
        let known = |one: &&Ahead| one.start == start && one.at == around.at;
        if let Some(known) = self.all.iter().find(known) {
            return known.id;
        }
        self.last = self.last.wrapping_add(1);
        let (id, at) = (self.last, around.at);
        let mut one = Ahead { id, start, at, ways: Vec::new(), verdict: Verdict::Open };
        one.ways.push((start, None));
        self.read(program, &mut one, around);
        self.all.push(one);
        id
    }

    /// Reads the next character in all that are open.
    pub(super) fn step(&mut self, program: &Program, around: Around<'_>) {
        let mut all = core::mem::take(&mut self.all);
        for one in all.iter_mut().filter(|one| one.verdict == Verdict::Open) {
            self.read(program, one, around);
        }
        self.all = all;
    }

    fn read(&mut self, program: &Program, one: &mut Ahead, around: Around<'_>) {
        self.seen.clear(program.insts.len());
        let mut next = core::mem::take(&mut self.spare);
        next.clear();
        self.todo.clear();
        let over =
            |end: Option<u64>| end.is_some_and(|end| around.at >= end && around.next.is_some());
        self.todo.extend(one.ways.iter().rev().filter(|way| !over(way.1)));
        while let Some((pc, end)) = self.todo.pop() {
            // Conditions are few: only ways without one stand for all of their step.
            if self.seen.has(pc) {
                continue;
            }
            if end.is_none() {
                self.seen.mark(pc);
            }
            match program.insts[pc as usize] {
                Inst::Set(set) => {
                    if around.next.is_some_and(|c| program.sets[set as usize].has(c)) {
                        push(&mut next, (pc + 1, end));
                    }
                }
                Inst::Split(first, second) => self.todo.extend([(second, end), (first, end)]),
                Inst::Jump(to) => self.todo.push((to, end)),
                Inst::Save(_) => self.todo.push((pc + 1, end)),
                Inst::Assert(assert) => match around.holds(assert) {
                    Holds::Yes => self.todo.push((pc + 1, end)),
                    Holds::No => {}
                    // What follows in the text is the newline, so only the match can come next.
                    Holds::IfEnd(at) => self.todo.push((pc + 1, Some(at))),
                },
                Inst::Behind(behind) => {
                    if around.is_behind(&program.behinds[behind as usize], &program.sets) {
                        self.todo.push((pc + 1, end));
                    }
                }
                Inst::Match => match end {
                    Some(end) if around.next.is_some() || around.at < end => {
                        push(&mut next, (pc, Some(end)));
                    }
                    Some(end) if around.at > end => {}
                    _ => {
                        one.verdict = Verdict::Yes;
                        break;
                    }
                },
                Inst::Again(_) | Inst::Ahead { .. } => {}
            }
        }
        // What is certain behind the character without more of the text is said at once.
        if one.verdict == Verdict::Open && next.iter().any(|way| reaches_match(program, *way)) {
            one.verdict = Verdict::Yes;
        }
        if one.verdict == Verdict::Open && (next.is_empty() || around.next.is_none()) {
            one.verdict = Verdict::No;
        }
        next.sort_unstable();
        self.spare = core::mem::replace(&mut one.ways, next);
    }

    /// Takes look-aheads with the same ways for one: pairs of an id and the one it is now.
    pub(super) fn merge(&mut self) -> Vec<(u32, u32)> {
        let mut renamed = Vec::new();
        let mut at = 1;
        while at < self.all.len() {
            let (before, rest) = self.all.split_at(at);
            let one = &rest[0];
            let same = before.iter().find(|other| {
                other.start == one.start && other.verdict == one.verdict && other.ways == one.ways
            });
            if let Some(same) = same {
                renamed.push((one.id, same.id));
                self.all.remove(at);
            } else {
                at += 1;
            }
        }
        renamed
    }

    /// Forgets those that nobody waits for.
    pub(super) fn keep(&mut self, used: impl Fn(u32) -> bool) {
        self.all.retain(|one| used(one.id));
    }
}

fn push(ways: &mut Vec<Way>, way: Way) {
    if !ways.contains(&way) {
        ways.push(way);
    }
}

/// Whether the match follows from here without reading or asking anything.
fn reaches_match(program: &Program, way: Way) -> bool {
    if way.1.is_some() {
        return false;
    }
    let mut pc = way.0;
    // Alternatives may hide a match a little longer; it is found with the next character.
    loop {
        match program.insts[pc as usize] {
            Inst::Match => return true,
            Inst::Jump(to) if to > pc => pc = to,
            Inst::Save(_) => pc += 1,
            _ => return false,
        }
    }
}
