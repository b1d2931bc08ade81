//! The compiled rules of a jail: one state for the text outside, one for the inside of each pair
//! and of each kind of quotes.

#![expect(
    clippy::indexing_slicing,
    reason = "pairs, states and marks are named by their places in the rules that name them"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "pairs and quotes are in memory, and their states are numbered from 1"
)]

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{
    error::{Entry, JailError, Owner, Problem},
    mark::Mark,
    mark_matcher::MarkMatcher,
    pair::{EndOrder, Inner, Nested, OnFail, Pair, Place, Quote},
};

/// What a mark does in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A block of this pair opens.
    Open(usize),
    /// Quoted text begins, in this state.
    Quote(usize),
    /// What is open closes.
    Close,
    /// The next scalar is literal.
    Escape,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) matcher: MarkMatcher,
    effects: Box<[Effect]>,
}

impl State {
    pub(crate) fn effect(&self, id: usize) -> Effect {
        self.effects[id]
    }
}

/// The state outside.
pub(crate) const OUTSIDE: usize = 0;

#[derive(Debug)]
pub(crate) struct CompiledRules {
    /// Outside, then one for each pair, then the quotes.
    pub(crate) states: Box<[State]>,
    pub(crate) pairs: Box<[Pair]>,
    pub(crate) nested: Nested,
    pub(crate) depth: usize,
    pub(crate) blocks: u64,
    pub(crate) over: OnFail,
    /// The most bytes any mark takes.
    pub(crate) longest: usize,
}

/// The rules as they were given.
pub(crate) struct Rules {
    pub(crate) pairs: Vec<Pair>,
    /// Whether the last pair is the pool.
    pub(crate) pooled: bool,
    pub(crate) nested: Nested,
    pub(crate) depth: usize,
    pub(crate) blocks: u64,
    pub(crate) over: OnFail,
}

/// The state inside a pair.
pub(crate) fn inside(pair: usize) -> usize {
    pair + 1
}

impl Rules {
    pub(crate) fn compile(self) -> Result<CompiledRules, JailError> {
        self.check()?;
        let mut states = Vec::new();
        let starts = |pair: usize| {
            let starts = self.pairs[pair].starts.iter().enumerate();
            starts.map(move |(n, mark)| Listed {
                mark: mark.clone(),
                effect: Effect::Open(pair),
                of: pair,
                role: "start",
                number: n,
            })
        };
        let outside = (0..self.pairs.len()).filter(|&n| self.pairs[n].place == Place::Anywhere);
        states.push(self.state(0, outside.flat_map(starts), 0)?);
        // The states of quotes stand after those of all pairs.
        let mut quotes: Vec<(usize, &Quote)> = Vec::new();
        for (of, pair) in self.pairs.iter().enumerate() {
            let ends = pair.ends.iter().enumerate().map(|(number, mark)| Listed {
                mark: mark.clone(),
                effect: Effect::Close,
                of,
                role: "end",
                number,
            });
            let inner: Vec<usize> = match &pair.inner {
                Inner::Nothing => Vec::new(),
                Inner::Own => Vec::from([of]),
                Inner::Every => (0..self.pairs.len()).collect(),
                Inner::Only(list) => list.clone(),
            };
            let first = 1 + self.pairs.len() + quotes.len();
            let opens = pair.quotes.iter().enumerate().map(|(number, quote)| Listed {
                mark: quote.open.clone().into(),
                effect: Effect::Quote(first + number),
                of,
                role: "quote",
                number,
            });
            let listed = ends.chain(inner.into_iter().flat_map(starts)).chain(opens);
            let ranked = match pair.order {
                EndOrder::Longest => 0,
                EndOrder::Listed => pair.ends.len(),
            };
            states.push(self.state(inside(of), listed, ranked)?);
            quotes.extend(pair.quotes.iter().map(|quote| (of, quote)));
        }
        for (of, quote) in quotes {
            let part = |mark, effect, role| Listed { mark, effect, of, role, number: 0 };
            let close = part(quote.close.clone().into(), Effect::Close, "quote end");
            let escape = quote.escape.map(|scalar| Mark::from(String::from(scalar)));
            let escape = escape.map(|mark| part(mark, Effect::Escape, "escape"));
            let listed = core::iter::once(close).chain(escape);
            states.push(self.state(states.len(), listed, 0)?);
        }
        let longest = states.iter().map(|state| state.matcher.longest()).max().unwrap_or(0);
        let Self { pairs, nested, depth, blocks, over, .. } = self;
        Ok(CompiledRules {
            states: states.into(),
            pairs: pairs.into(),
            nested,
            depth,
            blocks,
            over,
            longest,
        })
    }

    /// Compiles the marks of one state; of the `ranked` first, the first that matches counts.
    fn state(
        &self,
        number: usize,
        listed: impl Iterator<Item = Listed>,
        ranked: usize,
    ) -> Result<State, JailError> {
        let listed: Vec<Listed> = listed.collect();
        let marks: Vec<&Mark> = listed.iter().map(|one| &one.mark).collect();
        let matcher = MarkMatcher::new(number, &marks, ranked).map_err(|(id, problem)| {
            let Listed { mark, of, role, number, .. } = &listed[id];
            self.error(*of, role, *number, mark, problem)
        })?;
        Ok(State { matcher, effects: listed.iter().map(|one| one.effect).collect() })
    }

    fn owner(&self, pair: usize) -> Owner {
        if self.pooled && pair + 1 == self.pairs.len() { Owner::Pool } else { Owner::Pair(pair) }
    }

    fn error(
        &self,
        pair: usize,
        role: &'static str,
        number: usize,
        mark: &Mark,
        problem: Problem,
    ) -> JailError {
        let owner = self.owner(pair);
        let text = mark.text.clone().into();
        JailError { entry: Entry::Mark { owner, role, number, text }, problem }
    }

    /// Refuses rules that contradict themselves.
    fn check(&self) -> Result<(), JailError> {
        let jail = |problem| Err(JailError { entry: Entry::Jail, problem });
        if self.pairs.iter().all(|pair| pair.place == Place::Inside || pair.starts.is_empty()) {
            return jail(Problem::NoStart);
        }
        if self.depth == 0 || self.blocks == 0 {
            return jail(Problem::ZeroLimit);
        }
        for (n, pair) in self.pairs.iter().enumerate() {
            let entry = || match self.owner(n) {
                Owner::Pool => Entry::Pool,
                Owner::Pair(n) => Entry::Pair(n),
            };
            if pair.limit == 0 {
                return Err(JailError { entry: entry(), problem: Problem::ZeroLimit });
            }
            if pair.starts.is_empty() {
                return Err(JailError { entry: entry(), problem: Problem::NoStart });
            }
            let nests = match &pair.inner {
                Inner::Nothing => false,
                Inner::Own | Inner::Every => true,
                Inner::Only(list) => {
                    if let Some(&missing) = list.iter().find(|&&one| one >= self.pairs.len()) {
                        let problem = Problem::NoSuchPair(missing);
                        return Err(JailError { entry: entry(), problem });
                    }
                    list.contains(&n)
                }
            };
            for (number, start) in pair.starts.iter().enumerate() {
                let error = |problem| Err(self.error(n, "start", number, start, problem));
                if let Some(end) = pair.ends.iter().position(|end| end.collides(start)) {
                    match self.owner(n) {
                        Owner::Pool => return error(Problem::StartIsEnd(end)),
                        Owner::Pair(_) if nests => return error(Problem::NestsInItself(end)),
                        Owner::Pair(_) => {}
                    }
                }
                let rival = self.pairs[..n].iter().position(|other| {
                    let same = |one: &Mark| one.collides(start) && one.at == start.at;
                    other.place == pair.place && other.starts.iter().any(same)
                });
                if let Some(rival) = rival {
                    return error(Problem::TakenBy(self.owner(rival)));
                }
            }
        }
        Ok(())
    }
}

/// A mark of a state with what it does and where it was given.
struct Listed {
    mark: Mark,
    effect: Effect,
    of: usize,
    role: &'static str,
    number: usize,
}
