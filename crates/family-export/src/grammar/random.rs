//! Random texts of a grammar.

use super::ir::{Node, Rules};
use crate::limits::MAX_RANDOM_DEPTH;

/// Fragments of free text: markup, quotes, escapes and ordinary words.
const FRAGMENTS: [&str; 24] = [
    "a", "Brest", " ", "\n", "<", ">", "</", "<|", "|>", "[", "]", "{", "}", "\"", "'", "\\", "é",
    "日", "😀", "null", "12", "`", "</think", "<tool",
];

/// Returns a text that the grammar admits. `next` returns a random number below its argument.
pub(crate) fn text(rules: &Rules, next: &mut dyn FnMut(usize) -> usize) -> String {
    let mut markup = Vec::new();
    rules.rules.iter().map(|rule| &rule.node).chain([&rules.start]).for_each(|node| {
        add_texts(node, &mut markup);
    });
    let mut sampler = Sampler { rules, next, markup, out: String::new(), depth: 0 };
    sampler.write(&rules.start);
    sampler.out
}

struct Sampler<'g> {
    rules: &'g Rules,
    next: &'g mut dyn FnMut(usize) -> usize,
    /// The fixed texts of the grammar: free text that contains one must be refused.
    markup: Vec<&'g str>,
    out: String,
    depth: usize,
}

impl Sampler<'_> {
    fn write(&mut self, node: &Node) {
        match node {
            Node::Text(text) => self.out.push_str(text),
            Node::Char(class) => {
                let c = self.character(|c| class.has(c)).or_else(|| {
                    let &(from, to) = class.ranges().first()?;
                    let width = u32::from(to).saturating_sub(u32::from(from)).saturating_add(1);
                    let offset = u32::try_from((self.next)(width as usize)).unwrap_or(0);
                    char::from_u32(u32::from(from).saturating_add(offset))
                });
                self.out.extend(c);
            }
            Node::Seq(parts) => parts.iter().for_each(|part| self.write(part)),
            Node::Choice(parts) => {
                let short = || parts.iter().find(|part| !has_rule(part));
                let drawn = parts.get((self.next)(parts.len()));
                let part =
                    if self.depth > MAX_RANDOM_DEPTH { short().or(parts.first()) } else { drawn };
                part.into_iter().for_each(|part| self.write(part));
            }
            Node::Repeat(part, least, most) => {
                let more = if self.depth > MAX_RANDOM_DEPTH && has_rule(part) {
                    0
                } else {
                    (self.next)(4)
                };
                let more = if more == 3 { (self.next)(12) } else { more };
                let count = least.saturating_add(u32::try_from(more).unwrap_or(0));
                for _ in 0..most.map_or(count, |most| count.min(most)) {
                    self.write(part);
                }
            }
            Node::Rule(number) => {
                self.depth += 1;
                self.write(self.rules.rule(*number));
                self.depth -= 1;
            }
            Node::Dfa(dfa) => self.walk(dfa),
        }
    }

    /// Returns a random character of the fragments, or another one.
    fn character(&mut self, has: impl Fn(char) -> bool) -> Option<char> {
        for _ in 0..8 {
            let fragment = FRAGMENTS.get((self.next)(FRAGMENTS.len())).copied().unwrap_or("a");
            if let Some(c) = fragment.chars().next().filter(|&c| has(c)) {
                return Some(c);
            }
        }
        ['a', '0', ' '].into_iter().find(|&c| has(c))
    }

    /// Writes random fragments, then the shortest text to an accepting state.
    fn walk(&mut self, dfa: &super::dfa::Dfa) {
        let mut state = 0;
        for _ in 0..(self.next)(9) {
            // Most of the text uses edges out of the start. The others are beginnings of markup.
            let edges = dfa.states.get(state).map_or(&[][..], |it| &it.edges);
            if edges.is_empty() {
                break;
            }
            let way = match (self.next)(4) {
                1 => self.markup.get((self.next)(self.markup.len())).map(|&it| it.to_owned()),
                0 => edges.get((self.next)(edges.len())).and_then(|(class, _)| {
                    let &(from, _) = class.ranges().first().filter(|_| !class.is_negated())?;
                    Some(from.to_string())
                }),
                _ => FRAGMENTS.get((self.next)(FRAGMENTS.len())).map(|&it| it.to_owned()),
            };
            let way = way.unwrap_or_else(|| "a".to_owned());
            let to = way.chars().try_fold(state, |state, c| dfa.step(state, c));
            // An edge to an end is not taken before enough text was written.
            if let Some(to) =
                to.filter(|&to| !dfa.states.get(to).is_none_or(|it| it.edges.is_empty()))
            {
                self.out.push_str(&way);
                state = to;
            }
        }
        let ending = dfa.ending(state);
        self.out.push_str(&ending);
    }
}

fn has_rule(node: &Node) -> bool {
    let mut has = false;
    node.each_rule(&mut |_| has = true);
    has
}

/// Collects the fixed texts of a node.
fn add_texts<'g>(node: &'g Node, texts: &mut Vec<&'g str>) {
    match node {
        Node::Text(text) => texts.push(text),
        Node::Seq(parts) | Node::Choice(parts) => {
            parts.iter().for_each(|part| add_texts(part, texts));
        }
        Node::Repeat(part, ..) => add_texts(part, texts),
        Node::Dfa(dfa) => texts.push(&dfa.text.end),
        Node::Char(_) | Node::Rule(_) => {}
    }
}
