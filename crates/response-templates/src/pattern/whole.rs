//! All matches in a whole text, one after the other.

use super::{
    program::{Around, Holds, Inst, Program},
    search::{Found, NOWHERE, Search, Slots, Thread, found},
};

/// The search for the matches of a program in a text that grows, which do not overlap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// How far the text was read; behind a match where that ends.
    pub(crate) at: usize,
    not_empty_at: Option<u64>,
    search: Search,
}

impl Scan {
    /// The next match in `text`, once it is certain; `ended`: no more text comes.
    pub(crate) fn next(&mut self, program: &Program, text: &str, ended: bool) -> Option<Found> {
        loop {
            let next = text.get(self.at..)?.chars().next();
            if next.is_none() && !ended {
                return None;
            }
            if self.search.is_idle()
                && let Some(c) = next
                && !program.first[usize::from(text.as_bytes()[self.at])]
            {
                self.at += c.len_utf8();
                continue;
            }
            self.search.step(program, around(text, self.at, next));
            if let Some(found) = self.search.found().cloned() {
                self.go_on(&found);
                return Some(found);
            }
            self.at += next?.len_utf8();
        }
    }

    /// Where the match being read begins, or how far the text was read.
    pub(crate) fn pending(&self) -> usize {
        self.search.pending().map_or(self.at, |at| at as usize)
    }

    /// The key of the match that is being read in `text`, and where what is there of its value
    /// begins and ends, if they are certain. `closes`: what may match any text will match.
    pub(crate) fn growing<'t>(
        &self,
        program: &Program,
        text: &'t str,
        closes: bool,
    ) -> Option<(&'t str, usize, usize)> {
        let groups = program.grows?;
        let [key, value] = self.search.growing(program, groups, self.at as u64, closes)?;
        Some((text.get(key.0 as usize..key.1 as usize)?, value.0 as usize, value.1 as usize))
    }

    /// Goes on behind a match.
    fn go_on(&mut self, found: &Found) {
        // Behind an empty match the same place may still have one that is not.
        self.at = found.end as usize;
        self.not_empty_at = (found.start == found.end).then_some(found.end);
        self.search.restart(self.not_empty_at);
    }
}

fn around(text: &str, at: usize, next: Option<char>) -> Around<'_> {
    Around { at: at as u64, before: "", text: &text[..at], next }
}

/// The text of a group of a match in `text`: `None` if there is no such group or it took no part.
pub(crate) fn group<'t>(
    program: &Program,
    text: &'t str,
    found: &Found,
    name: &str,
) -> Option<&'t str> {
    let number = program.group(name)?;
    let (start, end) = found.group(number)?;
    text.get(start as usize..end as usize)
}

/// The matches of a program in a whole text.
#[derive(Debug)]
pub(crate) struct Matches<'t> {
    program: &'t Program,
    text: &'t str,
    scan: Scan,
    /// What may still be tried where groups are asked for again.
    fuel: u64,
}

/// The search took too long: only expressions that ask for a group again can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Steps that a text may cost, and more for each byte of it.
const FUEL: u64 = 100_000;
const FUEL_PER_BYTE: u64 = 200;

impl<'t> Matches<'t> {
    pub(crate) fn new(program: &'t Program, text: &'t str) -> Self {
        let fuel = FUEL + FUEL_PER_BYTE * text.len() as u64;
        Self { program, text, scan: Scan::default(), fuel }
    }

    /// The next match.
    pub(crate) fn next(&mut self) -> Result<Option<Found>, TooLong> {
        if !self.program.again {
            return Ok(self.scan.next(self.program, self.text, true));
        }
        let found = self.try_all()?;
        if let Some(found) = &found {
            self.scan.go_on(found);
        }
        Ok(found)
    }

    /// The next match of a program that asks for groups again: each place and each way in turn.
    fn try_all(&mut self) -> Result<Option<Found>, TooLong> {
        let (text, from) = (self.text, self.scan.at);
        let starts = text[from..].char_indices().map(|(at, _)| at + from);
        for start in starts.chain([text.len()]) {
            if let Some(found) = self.try_at(start)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn try_at(&mut self, start: usize) -> Result<Option<Found>, TooLong> {
        let slots: Slots = core::iter::repeat_n(NOWHERE, self.program.slots).collect();
        let begin = start as u64;
        let thread = Thread {
            pc: 0,
            start: begin,
            end: begin,
            slots,
            conditions: smallvec::SmallVec::new(),
        };
        let mut todo = alloc::vec![thread];
        while let Some(mut way) = todo.pop() {
            self.fuel = self.fuel.checked_sub(1).ok_or(TooLong)?;
            let at = way.end as usize;
            let next = self.text[at..].chars().next();
            let around = around(self.text, at, next);
            let pc = way.pc;
            way.pc += 1;
            match self.program.insts[pc as usize] {
                Inst::Set(set) => match next.filter(|&c| self.program.sets[set as usize].has(c)) {
                    Some(c) => way.end += c.len_utf8() as u64,
                    None => continue,
                },
                Inst::Split(first, second) => {
                    let mut other = way.clone();
                    other.pc = second;
                    todo.push(other);
                    way.pc = first;
                }
                Inst::Jump(to) => way.pc = to,
                Inst::Save(slot) => way.slots[usize::from(slot)] = way.end,
                Inst::Assert(assert) => match around.holds(assert) {
                    Holds::Yes => {}
                    Holds::No => continue,
                    Holds::IfEnd(end) if end as usize == self.text.len() => {}
                    Holds::IfEnd(_) => continue,
                },
                Inst::Behind(behind) => {
                    let behind = &self.program.behinds[behind as usize];
                    if !around.is_behind(behind, &self.program.sets) {
                        continue;
                    }
                }
                Inst::Ahead { start, negated } => {
                    if self.looks(start, at)? == negated {
                        continue;
                    }
                }
                Inst::Again(slot) => {
                    let slot = usize::from(slot);
                    let (from, to) = (way.slots[2 * (slot / 2)], way.slots[2 * (slot / 2) + 1]);
                    let group = (from != NOWHERE && to != NOWHERE)
                        .then(|| &self.text[from as usize..to as usize]);
                    match group {
                        Some(group) if self.text[at..].starts_with(group) => {
                            way.end += group.len() as u64;
                        }
                        _ => continue,
                    }
                }
                Inst::Match => {
                    let empty = way.end == begin && self.scan.not_empty_at == Some(begin);
                    if !empty {
                        return Ok(Some(found(way)));
                    }
                    continue;
                }
            }
            todo.push(way);
        }
        Ok(None)
    }

    /// Whether a look-ahead matches at `at`.
    fn looks(&mut self, start: u32, at: usize) -> Result<bool, TooLong> {
        let mut search = super::ahead::Aheads::default();
        let mut places = self.text[at..].char_indices();
        let first = places.next().map(|(_, c)| c);
        let id = search.begin(self.program, start, around(self.text, at, first));
        for (offset, c) in places {
            if search.verdict(id) != super::ahead::Verdict::Open {
                break;
            }
            self.fuel = self.fuel.checked_sub(1).ok_or(TooLong)?;
            search.step(self.program, around(self.text, at + offset, Some(c)));
        }
        if first.is_some() {
            search.step(self.program, around(self.text, self.text.len(), None));
        }
        Ok(search.verdict(id) == super::ahead::Verdict::Yes)
    }
}
