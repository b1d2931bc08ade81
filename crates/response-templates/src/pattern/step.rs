//! One way, followed from a place over the next character.

#![expect(
    clippy::indexing_slicing,
    reason = "programs are made by `compile`: every step names steps, sets and look-behinds that \
              there are; `again` bytes of the group were read"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "behind a step that is no match there is another; places of a stream and work are \
              counted with 64 bits; `again` is less than the length of a group, and no candidate \
              of 4 GiB is held"
)]

use alloc::vec::Vec;

use super::{
    program::{Around, Holds, Inst, Program},
    search::{Condition, NOWHERE, Search, Seen, Thread, found, implies},
};

impl Search {
    /// Follows a way that stands before the next character, and puts what is left of it behind
    /// that character into `next`. False: it matched, and no way that comes after it counts.
    pub(super) fn follow(&mut self, program: &Program, thread: Thread, around: Around<'_>) -> bool {
        let mut todo = core::mem::take(&mut self.todo);
        todo.clear();
        todo.push(thread);
        let mut going = true;
        while let Some(thread) = todo.pop() {
            self.work += 1;
            if is_known(program, around, &mut self.now, &mut self.now_under, &thread) {
                continue;
            }
            going = self.now(program, thread, around, &mut todo);
            if !going {
                break;
            }
        }
        todo.clear();
        self.todo = todo;
        going
    }

    /// One step at the place; false if it ends the search for matches that are less preferred.
    fn now(
        &mut self,
        program: &Program,
        mut thread: Thread,
        around: Around<'_>,
        todo: &mut Vec<Thread>,
    ) -> bool {
        let pc = thread.pc;
        thread.pc = pc + 1;
        match program.insts[pc as usize] {
            Inst::Set(set) => {
                let Some(c) = around.next.filter(|&c| program.sets[set as usize].has(c)) else {
                    return true;
                };
                return self.then(program, thread, around, c.len_utf8());
            }
            Inst::Assert(assert) => match around.holds(assert) {
                Holds::Yes => {}
                Holds::No => return true,
                Holds::IfEnd(at) => {
                    if !thread.conditions.contains(&Condition::EndAt(at)) {
                        thread.conditions.push(Condition::EndAt(at));
                    }
                }
            },
            Inst::Behind(behind) => {
                if !around.is_behind(&program.behinds[behind as usize], &program.sets) {
                    return true;
                }
            }
            Inst::Ahead { start, negated } => {
                let id = self.aheads.begin(program, start, around);
                let condition = Condition::Ahead { id, wanted: !negated };
                if !thread.conditions.contains(&condition) {
                    thread.conditions.push(condition);
                }
            }
            Inst::Match => {
                thread.pc = pc;
                return self.matched(thread, around.at);
            }
            Inst::Again(slot) => {
                let Some(group) = around.group(&thread.slots, slot) else { return true };
                let rest = &group.as_bytes()[thread.again as usize..];
                let mut bytes = [0; 4];
                let next = around.next.map_or(&[][..], |c| c.encode_utf8(&mut bytes).as_bytes());
                if !rest.is_empty() {
                    if next.is_empty() || !rest.starts_with(next) {
                        return true;
                    }
                    let whole = rest.len() == next.len();
                    thread.again = if whole { 0 } else { thread.again + next.len() as u32 };
                    thread.pc = if whole { pc + 1 } else { pc };
                    return self.then(program, thread, around, next.len());
                }
            }
            inst => {
                walk(inst, thread, around.at, todo);
                return true;
            }
        }
        todo.push(thread);
        true
    }

    /// Notes the ways on from the place behind the next character, as far as no more of the text
    /// is needed to know them.
    fn then(&mut self, program: &Program, thread: Thread, around: Around<'_>, read: usize) -> bool {
        let at = around.at + read as u64;
        let mut later = core::mem::take(&mut self.later);
        later.clear();
        later.push(thread);
        let mut going = true;
        while let Some(mut thread) = later.pop() {
            self.work += 1;
            if is_known(program, around, &mut self.then, &mut self.then_under, &thread) {
                continue;
            }
            match program.insts[thread.pc as usize] {
                Inst::Match => {
                    going = self.matched(thread, at);
                    if !going {
                        break;
                    }
                }
                inst @ (Inst::Split(..) | Inst::Jump(_) | Inst::Save(_)) => {
                    thread.pc += 1;
                    walk(inst, thread, at, &mut later);
                }
                _ => self.next.push(thread),
            }
        }
        later.clear();
        self.later = later;
        going
    }

    /// A way matched at `at`, or did so before; false if this is certain.
    fn matched(&mut self, mut thread: Thread, at: u64) -> bool {
        if thread.end == NOWHERE {
            thread.end = at;
        }
        if thread.start == thread.end && self.not_empty_at == Some(thread.start) {
            return true;
        }
        if thread.conditions.is_empty() {
            self.best = Some(found(thread));
            return false;
        }
        self.next.push(thread);
        true
    }
}

/// Whether a way with the same future came before; if not, it has come now.
fn is_known(
    program: &Program,
    around: Around<'_>,
    seen: &mut Seen,
    under: &mut Vec<Thread>,
    thread: &Thread,
) -> bool {
    let pc = thread.pc;
    // What comes behind them tells as much.
    let passes = matches!(program.insts[pc as usize], Inst::Jump(_) | Inst::Save(_));
    if passes || seen.has(pc) {
        return !passes;
    }
    if thread.conditions.is_empty() && !program.again {
        seen.mark(pc);
        return false;
    }
    let known = under.iter().any(|other| {
        other.pc == pc
            && other.again == thread.again
            && implies(&thread.conditions, &other.conditions)
            && (!program.again || around.same_groups(&other.slots, &thread.slots))
    });
    if !known {
        under.push(thread.clone());
    }
    known
}

/// The ways on from a step that reads nothing and asks nothing; the preferred one is put last.
fn walk(inst: Inst, mut thread: Thread, at: u64, todo: &mut Vec<Thread>) {
    match inst {
        Inst::Split(first, second) => {
            let mut other = thread.clone();
            other.pc = second;
            thread.pc = first;
            todo.push(other);
        }
        Inst::Jump(to) => thread.pc = to,
        Inst::Save(slot) => {
            let slot = usize::from(slot);
            if let Some(place) = thread.slots.get_mut(slot) {
                *place = at;
            }
            // What begins anew has no end yet.
            if let (0, Some(end)) = (slot % 2, thread.slots.get_mut(slot + 1)) {
                *end = NOWHERE;
            }
        }
        _ => {}
    }
    todo.push(thread);
}
