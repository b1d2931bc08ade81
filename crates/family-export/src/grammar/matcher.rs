//! A matcher of whole texts by the intermediate form of a grammar.

use std::collections::HashMap;

use super::ir::{Node, Rules};
use crate::limits::MAX_RULE_DEPTH;

/// Returns whether the grammar admits exactly this text.
pub(crate) fn admits(rules: &Rules, text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let mut matcher = Matcher { rules, chars: &chars, known: HashMap::new(), depth: 0 };
    matcher.ends(&rules.start, &[0]).contains(&chars.len())
}

struct Matcher<'g> {
    rules: &'g Rules,
    chars: &'g [char],
    /// The ends of rules by their number and start.
    known: HashMap<(usize, usize), Vec<usize>>,
    depth: usize,
}

impl Matcher<'_> {
    /// Returns the sorted places where the node may end if it begins at one of `starts`.
    fn ends(&mut self, node: &Node, starts: &[usize]) -> Vec<usize> {
        let mut ends = Vec::new();
        match node {
            Node::Text(text) => {
                for &start in starts {
                    let rest = self.chars.get(start..).unwrap_or_default();
                    let length = text.chars().count();
                    if rest.len() >= length
                        && text.chars().zip(rest).all(|(one, other)| one == *other)
                    {
                        ends.push(start + length);
                    }
                }
            }
            Node::Char(class) => {
                let fits = |&&at: &&usize| self.chars.get(at).is_some_and(|&c| class.has(c));
                ends.extend(starts.iter().filter(fits).map(|at| at + 1));
            }
            Node::Seq(parts) => {
                ends = starts.to_vec();
                for part in parts {
                    ends = self.ends(part, &ends);
                    if ends.is_empty() {
                        break;
                    }
                }
            }
            Node::Choice(parts) => {
                for part in parts {
                    ends.extend(self.ends(part, starts));
                }
            }
            Node::Repeat(part, least, most) => {
                let mut now = starts.to_vec();
                if *least == 0 {
                    ends.extend(&now);
                }
                let mut count = 0_u32;
                while !now.is_empty() && most.is_none_or(|most| count < most) {
                    now = self.ends(part, &now);
                    count = count.saturating_add(1);
                    if count >= *least {
                        now.retain(|it| !ends.contains(it));
                        ends.extend(&now);
                    }
                }
            }
            Node::Rule(number) => {
                for &start in starts {
                    ends.extend(self.rule(*number, start));
                }
            }
            Node::Dfa(dfa) => {
                for &start in starts {
                    let (mut state, mut at) = (0, start);
                    loop {
                        if dfa.accepts(state) {
                            ends.push(at);
                        }
                        let next = self.chars.get(at).and_then(|&c| dfa.step(state, c));
                        let Some(next) = next else { break };
                        (state, at) = (next, at + 1);
                    }
                }
            }
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    fn rule(&mut self, number: usize, start: usize) -> Vec<usize> {
        if let Some(ends) = self.known.get(&(number, start)) {
            return ends.clone();
        }
        if self.depth >= MAX_RULE_DEPTH {
            return Vec::new();
        }
        // No rule refers to itself before its first character.
        self.depth += 1;
        let ends = self.ends(self.rules.rule(number), &[start]);
        self.depth -= 1;
        self.known.insert((number, start), ends.clone());
        ends
    }
}
