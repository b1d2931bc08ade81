//! The compiled rules of a jail: one lookout for the text outside, one for the inside of each pair
//! and one for each kind of quotes.
//!
//! For the pair `{`, `}` with JSON quotes:
//!
//! | lookout | searches for |
//! |---|---|
//! | outside | `{` |
//! | inside the pair | `}`, `"` |
//! | inside the quotes | `"`, `\` |

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{
    error::{Entry, JailError, JailProblem, Owner},
    mark::Mark,
    mark_matcher::MarkMatcher,
    pair::{Inner, JailPair, Nested, OnFail, Quote, StartScope},
};

/// The effect of a mark in a lookout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Opens a block of this pair.
    Open(usize),
    /// Begins quoted text, with this lookout.
    Quote(usize),
    /// Closes the innermost block or quoted text.
    Close,
    /// Makes the next scalar literal.
    Escape,
}

#[derive(Debug)]
pub(crate) struct Lookout {
    pub(crate) matcher: MarkMatcher,
    effects: Box<[Effect]>,
}

impl Lookout {
    pub(crate) fn effect(&self, id: usize) -> Effect {
        self.effects[id]
    }
}

/// The number of the lookout outside of blocks.
pub(crate) const OUTSIDE: usize = 0;

#[derive(Debug)]
pub(crate) struct CompiledRules {
    /// The lookout outside, then one for each pair, then one for each kind of quotes.
    pub(crate) states: Box<[Lookout]>,
    pub(crate) pairs: Box<[JailPair]>,
    pub(crate) nested: Nested,
    pub(crate) depth: usize,
    pub(crate) blocks: u64,
    pub(crate) over: OnFail,
    /// The maximum length of a mark in bytes.
    pub(crate) longest: usize,
}

/// The rules as the host wrote them.
pub(crate) struct Rules {
    pub(crate) pairs: Vec<JailPair>,
    /// Whether the last pair is the pool.
    pub(crate) pooled: bool,
    pub(crate) nested: Nested,
    pub(crate) depth: usize,
    pub(crate) blocks: u64,
    pub(crate) over: OnFail,
}

/// Returns the number of the lookout inside a pair.
pub(crate) fn inside(pair: usize) -> usize {
    pair + 1
}

impl Rules {
    pub(crate) fn compile(self) -> Result<CompiledRules, JailError> {
        self.check()?;
        let mut states = Vec::new();
        let starts = |pair: usize| {
            let starts = self.pairs[pair].starts.iter().enumerate();
            starts.map(move |(number, mark)| Listed {
                mark: mark.clone(),
                effect: Effect::Open(pair),
                entry: MarkEntry { pair, role: "start", number },
            })
        };
        let outside =
            (0..self.pairs.len()).filter(|&n| self.pairs[n].place == StartScope::Anywhere);
        states.push(self.lookout(OUTSIDE, outside.flat_map(starts))?);
        // The lookouts of quotes are numbered after those of all pairs.
        let mut quotes: Vec<(usize, &Quote)> = Vec::new();
        for (n, pair) in self.pairs.iter().enumerate() {
            let ends = pair.ends.iter().enumerate().map(|(number, mark)| Listed {
                mark: mark.clone(),
                effect: Effect::Close,
                entry: MarkEntry { pair: n, role: "end", number },
            });
            let inner: Vec<usize> = match &pair.inner {
                Inner::Nothing => Vec::new(),
                Inner::Own => Vec::from([n]),
                Inner::Every => (0..self.pairs.len()).collect(),
                Inner::Only(list) => list.clone(),
            };
            let first = 1 + self.pairs.len() + quotes.len();
            let opens = pair.quotes.iter().enumerate().map(|(number, quote)| Listed {
                mark: quote.open.clone().into(),
                effect: Effect::Quote(first + number),
                entry: MarkEntry { pair: n, role: "quote", number },
            });
            let listed = ends.chain(inner.into_iter().flat_map(starts)).chain(opens);
            states.push(self.lookout(inside(n), listed)?);
            quotes.extend(pair.quotes.iter().map(|quote| (n, quote)));
        }
        for (pair, quote) in quotes {
            let part = |mark, effect, role| Listed {
                mark,
                effect,
                entry: MarkEntry { pair, role, number: 0 },
            };
            let close = part(quote.close.clone().into(), Effect::Close, "quote end");
            let escape = quote.escape.map(|scalar| Mark::from(String::from(scalar)));
            let escape = escape.map(|mark| part(mark, Effect::Escape, "escape"));
            let listed = core::iter::once(close).chain(escape);
            states.push(self.lookout(states.len(), listed)?);
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

    /// Compiles the marks of one lookout.
    fn lookout(
        &self,
        number: usize,
        listed: impl Iterator<Item = Listed>,
    ) -> Result<Lookout, JailError> {
        let listed: Vec<Listed> = listed.collect();
        let marks: Vec<&Mark> = listed.iter().map(|one| &one.mark).collect();
        let matcher = MarkMatcher::new(number, &marks)
            .map_err(|(id, problem)| self.error(listed[id].entry, &listed[id].mark, problem))?;
        Ok(Lookout { matcher, effects: listed.iter().map(|one| one.effect).collect() })
    }

    fn owner(&self, pair: usize) -> Owner {
        if self.pooled && pair + 1 == self.pairs.len() { Owner::Pool } else { Owner::Pair(pair) }
    }

    fn error(&self, entry: MarkEntry, mark: &Mark, problem: JailProblem) -> JailError {
        let MarkEntry { pair, role, number } = entry;
        let (owner, text) = (self.owner(pair), mark.text.clone().into());
        JailError { entry: Entry::Mark { owner, role, number, text }, problem }
    }

    /// Returns an error if the rules contradict each other.
    fn check(&self) -> Result<(), JailError> {
        let jail = |problem| Err(JailError { entry: Entry::Jail, problem });
        if self.pairs.iter().all(|pair| pair.place == StartScope::Inside || pair.starts.is_empty())
        {
            return jail(JailProblem::NoStart);
        }
        if self.depth == 0 || self.blocks == 0 {
            return jail(JailProblem::ZeroLimit);
        }
        for (n, pair) in self.pairs.iter().enumerate() {
            let entry = || match self.owner(n) {
                Owner::Pool => Entry::Pool,
                Owner::Pair(n) => Entry::Pair(n),
            };
            if pair.limit == 0 {
                return Err(JailError { entry: entry(), problem: JailProblem::ZeroLimit });
            }
            if pair.starts.is_empty() {
                return Err(JailError { entry: entry(), problem: JailProblem::NoStart });
            }
            let nests = match &pair.inner {
                Inner::Nothing => false,
                Inner::Own | Inner::Every => true,
                Inner::Only(list) => {
                    if let Some(&missing) = list.iter().find(|&&one| one >= self.pairs.len()) {
                        let problem = JailProblem::NoSuchPair(missing);
                        return Err(JailError { entry: entry(), problem });
                    }
                    list.contains(&n)
                }
            };
            for (number, start) in pair.starts.iter().enumerate() {
                let entry = MarkEntry { pair: n, role: "start", number };
                let error = |problem| Err(self.error(entry, start, problem));
                if let Some(end) = pair.ends.iter().position(|end| end.collides(start)) {
                    match self.owner(n) {
                        Owner::Pool => return error(JailProblem::StartIsEnd(end)),
                        Owner::Pair(_) if nests => return error(JailProblem::NestsInItself(end)),
                        Owner::Pair(_) => {}
                    }
                }
                let rival = self.pairs[..n].iter().position(|other| {
                    let same = |one: &Mark| one.collides(start) && one.at == start.at;
                    other.place == pair.place && other.starts.iter().any(same)
                });
                if let Some(rival) = rival {
                    return error(JailProblem::TakenBy(self.owner(rival)));
                }
            }
        }
        Ok(())
    }
}

/// A mark of a lookout with its effect and its place in the rules.
struct Listed {
    mark: Mark,
    effect: Effect,
    entry: MarkEntry,
}

/// The place of a mark in the rules, for error messages.
#[derive(Clone, Copy)]
struct MarkEntry {
    pair: usize,
    role: &'static str,
    number: usize,
}
