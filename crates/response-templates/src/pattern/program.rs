//! Compiled expressions.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "programs are made by `compile`: every step names steps and sets that there are, and \
              the last is a match; places of a stream, counted with 64 bits, of which the text at \
              hand ends at `at`"
)]

use alloc::{string::String, vec, vec::Vec};

use super::{class::Set, syntax::Assert};

/// One step of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inst {
    /// A character of this set.
    Set(u32),
    /// Two ways on; the first is preferred.
    Split(u32, u32),
    Jump(u32),
    /// Notes the place.
    Save(u16),
    Assert(Assert),
    /// Whether one of the alternatives stands before.
    Behind(u32),
    /// Whether what begins at this step matches here.
    Ahead {
        start: u32,
        negated: bool,
    },
    /// What a group matched, again.
    Again(u16),
    Match,
}

/// What may stand before a place: alternatives, each a set for each character.
#[derive(Debug, Clone)]
pub(crate) struct Behind {
    pub(crate) alternatives: Vec<Vec<u32>>,
    pub(crate) negated: bool,
}

/// An expression, ready to run.
#[derive(Debug)]
pub(crate) struct Program {
    /// It begins with the first.
    pub(crate) insts: Vec<Inst>,
    pub(crate) sets: Vec<Set>,
    pub(crate) behinds: Vec<Behind>,
    /// The names of groups; group `n` has the slots `2n` and `2n + 1`.
    pub(crate) names: Vec<String>,
    /// How many slots there are.
    pub(crate) slots: usize,
    /// The first bytes of the characters a match may begin with, or that may follow an empty one.
    pub(crate) first: [bool; 256],
    /// Whether a match may be empty, as far as can be told without text.
    pub(crate) nullable: bool,
    /// Whether it looks ahead.
    pub(crate) looks: bool,
    /// Whether it asks for what a group matched.
    pub(crate) again: bool,
    /// The groups `key` and `value`, if what they match is known while a match is being read.
    pub(crate) grows: Option<[usize; 2]>,
    /// How many characters before a place it may look at.
    pub(crate) behind: usize,
}

impl Program {
    /// The number of the group of this name.
    pub(crate) fn group(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Whether a way that stands at this step goes on whatever comes: it may repeat any character.
    pub(super) fn is_endless(&self, pc: u32) -> bool {
        let (at, step) = (pc as usize, |at: usize| self.insts.get(at).copied());
        let Some(Inst::Set(set)) = step(at) else { return false };
        let Some(Inst::Jump(start)) = step(at + 1) else { return false };
        let Some(Inst::Split(one, other)) = step(start as usize) else { return false };
        [one, other].contains(&pc) && self.sets[set as usize].is_all()
    }

    /// The groups `key` and `value`, if a match that has come to the value has the key behind it
    /// and comes to neither of them again.
    pub(super) fn key_and_value(&self) -> Option<[usize; 2]> {
        let (key, value) = (self.group("key")?, self.group("value")?);
        let begins =
            |inst: &Inst| matches!(inst, Inst::Save(slot) if usize::from(*slot) == 2 * value);
        let start = self.insts.iter().position(begins)?;
        let (mut seen, mut todo) = (vec![false; self.insts.len()], Vec::from([start + 1]));
        while let Some(at) = todo.pop() {
            if core::mem::replace(&mut seen[at], true) {
                continue;
            }
            match self.insts[at] {
                Inst::Save(slot) if [2 * key, 2 * key + 1, 2 * value].contains(&slot.into()) => {
                    return None;
                }
                Inst::Split(one, other) => todo.extend([one as usize, other as usize]),
                Inst::Jump(to) => todo.push(to as usize),
                Inst::Match => {}
                _ => todo.push(at + 1),
            }
        }
        Some([key, value])
    }
}

/// What is around a place: the text before it, in two pieces, and the character behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'t> {
    /// How many bytes came before.
    pub(crate) at: u64,
    /// Text that was let go, as far as it is kept.
    pub(crate) before: &'t str,
    /// The text at hand, up to the place.
    pub(crate) text: &'t str,
    /// The next character; `None` at the end.
    pub(crate) next: Option<char>,
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Yes,
    No,
    /// If the text ends at this place.
    IfEnd(u64),
}

impl Around<'_> {
    fn previous(&self) -> Option<char> {
        self.text.chars().next_back().or_else(|| self.before.chars().next_back())
    }

    /// What the group of this slot matched, if it did and the text is there.
    pub(super) fn group(&self, slots: &[u64], slot: u16) -> Option<&str> {
        let (from, to) = (slots.get(usize::from(slot))?, slots.get(usize::from(slot) + 1)?);
        let base = self.at - self.text.len() as u64;
        self.text.get(from.checked_sub(base)? as usize..to.checked_sub(base)? as usize)
    }

    /// Whether groups matched the same, as far as may be asked.
    pub(super) fn same_groups(&self, one: &[u64], other: &[u64]) -> bool {
        let mut pairs = one.chunks(2).zip(other.chunks(2));
        pairs.all(|(one, other)| {
            one == other
                || self.group(one, 0).is_some_and(|text| self.group(other, 0) == Some(text))
        })
    }

    pub(crate) fn holds(&self, assert: Assert) -> Holds {
        let word = |c: Option<char>, ascii: bool| match c {
            Some(c) if ascii => c.is_ascii_alphanumeric() || c == '_',
            Some(c) => crate::chars::is_word(c),
            None => false,
        };
        let (previous, next) = (self.previous(), self.next);
        let holds = match assert {
            Assert::Start => self.at == 0,
            Assert::End => next.is_none(),
            Assert::LastLine => match next {
                None => true,
                Some('\n') => return Holds::IfEnd(self.at + 1),
                Some(_) => false,
            },
            Assert::LineStart => self.at == 0 || previous == Some('\n'),
            Assert::LineEnd => matches!(next, None | Some('\n')),
            Assert::Word { ascii, negated } => {
                (word(previous, ascii) != word(next, ascii)) != negated
            }
            Assert::WordStart => !word(previous, false) && word(next, false),
            Assert::WordEnd => word(previous, false) && !word(next, false),
        };
        if holds { Holds::Yes } else { Holds::No }
    }

    /// Whether one of the alternatives stands before the place.
    pub(crate) fn is_behind(&self, behind: &Behind, sets: &[Set]) -> bool {
        let stands = |alternative: &Vec<u32>| {
            let mut before = self.text.chars().rev().chain(self.before.chars().rev());
            alternative
                .iter()
                .rev()
                .all(|&set| before.next().is_some_and(|c| sets[set as usize].has(c)))
        };
        behind.alternatives.iter().any(stands) != behind.negated
    }
}
