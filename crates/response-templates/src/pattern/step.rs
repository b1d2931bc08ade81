//! One way, followed from a place over the next character.

use alloc::vec::Vec;

use super::{
    program::{Around, Holds, Inst, Program},
    search::{Condition, Conditions, NOWHERE, Search, Seen, Thread, found, implies},
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
            if is_known(&mut self.now, &mut self.now_under, &thread) {
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
                return self.then(program, thread, around.at + c.len_utf8() as u64);
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
            // Programs that ask for a group again are never run here.
            Inst::Again(_) => return true,
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
    fn then(&mut self, program: &Program, thread: Thread, at: u64) -> bool {
        let mut later = core::mem::take(&mut self.later);
        later.clear();
        later.push(thread);
        let mut going = true;
        while let Some(mut thread) = later.pop() {
            self.work += 1;
            if is_known(&mut self.then, &mut self.then_under, &thread) {
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
fn is_known(seen: &mut Seen, under: &mut Vec<(u32, Conditions)>, thread: &Thread) -> bool {
    let pc = thread.pc;
    if seen.has(pc) {
        return true;
    }
    if thread.conditions.is_empty() {
        seen.mark(pc);
        return false;
    }
    let known = under.iter().any(|(other, less)| *other == pc && implies(&thread.conditions, less));
    if !known {
        under.push((pc, thread.conditions.clone()));
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
            if let Some(place) = thread.slots.get_mut(usize::from(slot)) {
                *place = at;
            }
        }
        _ => {}
    }
    todo.push(thread);
}
