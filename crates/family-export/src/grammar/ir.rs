//! The intermediate form of grammars, independent of the target's language.

use std::sync::Arc;

use super::{class::CharClass, dfa::Dfa};

/// A grammar over characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Text(String),
    /// One character of a class.
    Char(CharClass),
    Seq(Vec<Self>),
    Choice(Vec<Self>),
    /// A repeated part, with the minimum and maximum of its count.
    Repeat(Box<Self>, u32, Option<u32>),
    /// The rule with this number.
    Rule(usize),
    /// Text that an automaton accepts.
    Dfa(Arc<Dfa>),
}

/// A rule that others refer to by its number.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) node: Node,
}

/// The rules of a grammar and its start.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) rules: Vec<Rule>,
    pub(crate) start: Node,
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Default for Node {
    fn default() -> Self {
        Self::Seq(Vec::new())
    }
}

impl Node {
    /// Joins parts. Neighbouring texts become one text.
    pub(crate) fn seq(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        let mut add = |part: Self| match (all.last_mut(), part) {
            (Some(Self::Text(text)), Self::Text(more)) => text.push_str(&more),
            (_, Self::Text(text)) if text.is_empty() => {}
            (_, part) => all.push(part),
        };
        for part in parts {
            match part {
                Self::Seq(inner) => inner.into_iter().for_each(&mut add),
                part => add(part),
            }
        }
        match <[Self; 1]>::try_from(all) {
            Ok([only]) => only,
            Err(all) => Self::Seq(all),
        }
    }

    /// Returns the choice between parts. A choice of one is the part itself.
    pub(crate) fn choice(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::Choice(inner) => all.extend(inner),
                part => all.push(part),
            }
        }
        match <[Self; 1]>::try_from(all) {
            Ok([only]) => only,
            Err(all) => Self::Choice(all),
        }
    }

    pub(crate) fn optional(part: Self) -> Self {
        Self::Repeat(Box::new(part), 0, Some(1))
    }

    pub(crate) fn many(part: Self) -> Self {
        Self::Repeat(Box::new(part), 0, None)
    }

    /// Returns one character out of these.
    pub(crate) fn one_of(chars: &str) -> Self {
        let ranges: Vec<_> = chars.chars().map(|c| (c, c)).collect();
        Self::Char(CharClass::from_ranges(&ranges))
    }

    pub(crate) fn then(self, next: Self) -> Self {
        Self::seq([self, next])
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Seq(parts) if parts.is_empty())
            || matches!(self, Self::Text(text) if text.is_empty())
    }

    /// Returns the number of nodes, a measure of the length of the written text.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text(_) | Self::Char(_) | Self::Rule(_) => 1,
            Self::Seq(parts) | Self::Choice(parts) => {
                parts.iter().map(Self::size).fold(1, usize::saturating_add)
            }
            Self::Repeat(part, ..) => part.size().saturating_add(1),
            Self::Dfa(dfa) => dfa.states.len(),
        }
    }

    /// Calls `see` with the number of each rule that the node refers to.
    pub(crate) fn each_rule(&self, see: &mut impl FnMut(usize)) {
        match self {
            Self::Seq(parts) | Self::Choice(parts) => {
                parts.iter().for_each(|part| part.each_rule(see));
            }
            Self::Repeat(part, ..) => part.each_rule(see),
            Self::Rule(rule) => see(*rule),
            Self::Text(_) | Self::Char(_) | Self::Dfa(_) => {}
        }
    }
}

impl Rules {
    /// Returns for each rule whether it refers to itself, directly or through other rules.
    pub(crate) fn recursive(&self) -> Vec<bool> {
        let mut reach: Vec<Vec<bool>> = Vec::new();
        for rule in &self.rules {
            let mut row = vec![false; self.rules.len()];
            rule.node.each_rule(&mut |to| mark(&mut row, to));
            reach.push(row);
        }
        // Warshall's algorithm is fast enough, because grammars have a few dozen rules.
        for via in 0..reach.len() {
            let through = reach.get(via).cloned().unwrap_or_default();
            for row in &mut reach {
                if row.get(via).copied().unwrap_or(false) {
                    for (to, _) in through.iter().enumerate().filter(|(_, is)| **is) {
                        mark(row, to);
                    }
                }
            }
        }
        let own = reach.iter().enumerate();
        own.map(|(n, row)| row.get(n).copied().unwrap_or(false)).collect()
    }

    /// Returns the node of a rule, or the empty text for an unknown number.
    pub(crate) fn rule(&self, number: usize) -> &Node {
        const EMPTY: &Node = &Node::Seq(Vec::new());
        self.rules.get(number).map_or(EMPTY, |rule| &rule.node)
    }
}

fn mark(row: &mut [bool], at: usize) {
    if let Some(it) = row.get_mut(at) {
        *it = true;
    }
}
