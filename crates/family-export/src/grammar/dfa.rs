//! Automata for free text: text that must not contain some markup.
//!
//! ```text
//! a value before </parameter>:   any text | </param | </parameter>
//! states:                        root       partial   accepted
//! ```

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::{class::CharClass, ir::Node};

/// A deterministic automaton over characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Dfa {
    /// All states; the first is the start.
    pub(crate) states: Vec<State>,
    /// The same text as a description, for targets that can express it in a shorter way.
    pub(crate) text: FreeText,
}

/// Text that does not contain some texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FreeText {
    pub(crate) not: Vec<String>,
    /// The text that ends the free text, or empty. It is not contained before.
    pub(crate) end: String,
    /// The characters and escapes of the text, or `None` for any.
    pub(crate) body: Option<Box<Node>>,
}

/// A state of a [`Dfa`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// Transitions by disjoint classes of characters. Other characters are refused.
    pub(crate) edges: Vec<(CharClass, usize)>,
    pub(crate) accepts: bool,
}

impl Dfa {
    /// Returns the automaton without unreachable states.
    fn reachable(self) -> Self {
        let mut numbers = BTreeMap::from([(0, 0)]);
        let mut order = vec![0];
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for (_, to) in self.states.get(at).into_iter().flat_map(|state| &state.edges) {
                numbers.entry(*to).or_insert_with(|| {
                    order.push(*to);
                    order.len() - 1
                });
            }
        }
        let states = order.iter().filter_map(|at| {
            let mut state = self.states.get(*at)?.clone();
            for (_, to) in &mut state.edges {
                *to = numbers.get(to).copied().unwrap_or(0);
            }
            Some(state)
        });
        Self { states: states.collect(), text: self.text.clone() }
    }

    /// Returns the state after `c`.
    pub(crate) fn step(&self, state: usize, c: char) -> Option<usize> {
        let edges = &self.states.get(state)?.edges;
        edges.iter().find(|(class, _)| class.has(c)).map(|&(_, to)| to)
    }

    pub(crate) fn accepts(&self, state: usize) -> bool {
        self.states.get(state).is_some_and(|it| it.accepts)
    }

    /// Returns a shortest text from `state` to an accepting state.
    pub(crate) fn ending(&self, state: usize) -> String {
        let mut known = BTreeMap::from([(state, String::new())]);
        let mut open = VecDeque::from([state]);
        while let Some(at) = open.pop_front() {
            let text = known.get(&at).cloned().unwrap_or_default();
            if self.accepts(at) {
                return text;
            }
            for (class, to) in self.states.get(at).into_iter().flat_map(|it| &it.edges) {
                if let (false, Some(c)) = (known.contains_key(to), class.example()) {
                    known.insert(*to, format!("{text}{c}"));
                    open.push_back(*to);
                }
            }
        }
        String::new()
    }
}

/// Returns a node for text that contains none of `not`, with `end` after it. The first occurrence
/// of `end` ends the text, even if one of `not` ends there. With an empty `end` the text continues
/// to the end of the message.
pub(crate) fn until(not: &[String], end: &str) -> Node {
    // Markup inside `end` already decides that the text ends: the rest of `end` is certain.
    let inside = not.iter().filter_map(|text| end.find(text).map(|at| at + text.len()));
    let (end, rest) = end.split_at(inside.min().unwrap_or(end.len()));
    let finder = Finder::new(not, end);
    let text = FreeText { not: not.to_vec(), end: end.to_owned(), body: None };
    let dfa = Dfa {
        text,
        states: (0..finder.nodes.len())
            .map(|from| {
                let edges = finder.edges(from, CharClass::not(&[]));
                State { edges, accepts: finder.is_accepted(from, end) }
            })
            .collect(),
    };
    Node::seq([Node::Dfa(Arc::new(dfa.reachable())), rest.into()])
}

/// Returns a JSON string in double quotes, its text without any of `not`.
pub(crate) fn json_string(not: &[String]) -> Node {
    // An escape whose digits begin with `d8` to `df` is a surrogate, which is half a character.
    let hex = "0123456789abcdefABCDEF";
    let plain = "0123456789abcefABCEF";
    let escapes: &[&[&str]] =
        &[&["\"\\/bfnrt"], &["u", plain, hex, hex, hex], &["u", "dD", "01234567", hex, hex]];
    quoted(not, '"', &[('\0', '\u{1f}')], escapes)
}

/// Returns a Python string between `quote`, its text without any of `not`.
pub(crate) fn python_string(not: &[String], quote: char) -> Node {
    let hex = "0123456789abcdef";
    let escapes: &[&[&str]] = &[&["\\'\"nrt"], &["x", hex, hex]];
    quoted(not, quote, &[('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')], escapes)
}

/// Returns a string between `quote` without the characters of `refused` and the texts of `not`. An
/// escape is a backslash and one character of each set of a row.
fn quoted(not: &[String], quote: char, refused: &[(char, char)], escapes: &[&[&str]]) -> Node {
    // No markup begins with the characters of escapes, so that an escape ends every partial match.
    let letters = "\"'\\/bfnrtux0123456789abcdefABCDEF";
    let not: Vec<_> =
        not.iter().filter(|it| !it.starts_with(|c| letters.contains(c))).cloned().collect();
    let finder = Finder::new(&not, "");
    let body = CharClass::not(&[refused, &[(quote, quote), ('\\', '\\')]].concat());
    let class =
        |set: &&str| CharClass::from_ranges(&set.chars().map(|c| (c, c)).collect::<Vec<_>>());
    let ways = escapes.iter().map(|row| Node::seq(row.iter().map(|set| Node::Char(class(set)))));
    let escaped = Node::seq(["\\".into(), Node::choice(ways)]);
    let one = Node::choice([Node::Char(body.clone()), escaped]);
    let text = FreeText {
        not: not.clone(),
        end: quote.to_string(),
        body: Some(Box::new(Node::many(one))),
    };
    let (escape, end) = (finder.nodes.len(), finder.nodes.len() + 1);
    let one = |c: char| CharClass::from_ranges(&[(c, c)]);
    let mut states: Vec<State> = (0..escape)
        .map(|from| {
            let mut edges = finder.edges(from, body.clone());
            edges.extend([(one('\\'), escape), (one(quote), end)]);
            State { edges, accepts: false }
        })
        .collect();
    states.push(State::default());
    states.push(State { edges: Vec::new(), accepts: true });
    for row in escapes {
        let mut from = escape;
        for (n, set) in row.iter().enumerate() {
            let class = class(set);
            let shared = states.get(from).and_then(|it| {
                it.edges.iter().find(|(known, _)| *known == class).map(|&(_, to)| to)
            });
            let to = match shared {
                Some(to) => to,
                None if n + 1 == row.len() => 0,
                None => {
                    states.push(State::default());
                    states.len() - 1
                }
            };
            if let (None, Some(state)) = (shared, states.get_mut(from)) {
                state.edges.push((class, to));
            }
            from = to;
        }
    }
    let open = Node::Text(quote.to_string());
    Node::seq([open, Node::Dfa(Arc::new(Dfa { states, text }.reachable()))])
}

/// A node of the tree of all texts to find.
#[derive(Default)]
struct Found {
    children: BTreeMap<char, usize>,
    /// The node of the longest proper suffix that begins a text.
    fail: usize,
    is_end: bool,
    is_refused: bool,
}

/// An automaton that finds texts (Aho and Corasick).
struct Finder {
    nodes: Vec<Found>,
}

impl Finder {
    fn new(not: &[String], end: &str) -> Self {
        let mut finder = Self { nodes: vec![Found::default()] };
        for text in not.iter().filter(|text| !text.is_empty()) {
            let at = finder.add(text);
            if let Some(node) = finder.nodes.get_mut(at) {
                node.is_refused = true;
            }
        }
        if !end.is_empty() {
            let at = finder.add(end);
            if let Some(node) = finder.nodes.get_mut(at) {
                node.is_end = true;
            }
        }
        finder.link();
        finder
    }

    fn add(&mut self, text: &str) -> usize {
        let mut at = 0;
        for c in text.chars() {
            let next = self.nodes.len();
            let to = self.nodes.get_mut(at).map_or(0, |it| *it.children.entry(c).or_insert(next));
            if to == next {
                self.nodes.push(Found::default());
            }
            at = to;
        }
        at
    }

    /// Sets the suffix links, from short texts to long ones.
    fn link(&mut self) {
        let mut open = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            let Some(node) = self.nodes.get(at) else { continue };
            let (children, fail) = (node.children.clone(), node.fail);
            for (c, child) in children {
                open.push_back(child);
                let suffix = if at == 0 { 0 } else { self.next(fail, c) };
                let refused = self.nodes.get(suffix).is_some_and(|it| it.is_refused);
                let ended = self.nodes.get(suffix).is_some_and(|it| it.is_end);
                if let Some(child) = self.nodes.get_mut(child) {
                    child.fail = suffix;
                    child.is_refused |= refused;
                    child.is_end |= ended;
                }
            }
        }
    }

    /// Returns the node after `c`, without regard to what was found.
    fn next(&self, mut at: usize, c: char) -> usize {
        loop {
            let Some(node) = self.nodes.get(at) else { return 0 };
            match node.children.get(&c) {
                Some(&to) => return to,
                None if at == 0 => return 0,
                None => at = node.fail,
            }
        }
    }

    fn is_accepted(&self, at: usize, end: &str) -> bool {
        let Some(node) = self.nodes.get(at) else { return false };
        if end.is_empty() { !node.is_refused } else { node.is_end }
    }

    /// Returns the transitions of a node, for the characters of `within`.
    fn edges(&self, at: usize, within: CharClass) -> Vec<(CharClass, usize)> {
        let Some(node) = self.nodes.get(at) else { return Vec::new() };
        if node.is_end || node.is_refused {
            return Vec::new();
        }
        let (mut chars, mut suffix): (Vec<char>, usize) = (Vec::new(), at);
        while let Some(node) = self.nodes.get(suffix) {
            chars.extend(node.children.keys());
            if suffix == 0 {
                break;
            }
            suffix = node.fail;
        }
        chars.sort_unstable();
        chars.dedup();
        chars.retain(|&c| within.has(c));
        let mut to: BTreeMap<usize, Vec<(char, char)>> = BTreeMap::new();
        for &c in &chars {
            let next = self.next(at, c);
            if self.nodes.get(next).is_some_and(|it| it.is_end || !it.is_refused) {
                to.entry(next).or_default().push((c, c));
            }
        }
        let rest = within.without(&chars);
        let mut edges: Vec<_> =
            to.into_iter().map(|(next, ranges)| (CharClass::from_ranges(&ranges), next)).collect();
        if !rest.is_empty() {
            edges.push((rest, 0));
        }
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, json_string, until};

    fn accepted(node: &Node, text: &str) -> bool {
        let Node::Dfa(dfa) = node else { return false };
        let end = text.chars().try_fold(0, |state, c| dfa.step(state, c));
        end.is_some_and(|state| dfa.accepts(state))
    }

    #[test]
    fn free_text_ends_at_its_first_end_and_excludes_other_markup() {
        let node = until(&["</a>".into(), "<b".into()], "\n</a>");
        for (text, is) in [
            ("\n</a>", true),
            ("x</a\n</a>", true),
            ("\n\n</a>", true),
            ("x</a>", false),
            ("x<b\n</a>", false),
            ("\n</a>x", false),
            ("x", false),
        ] {
            assert_eq!(accepted(&node, text), is, "{text:?}");
        }
        let open = until(&["<b".into()], "");
        assert!(accepted(&open, "") && accepted(&open, "a<") && !accepted(&open, "a<b"));
    }

    #[test]
    fn json_string_grammar_has_complete_escapes_and_no_markup() {
        let Node::Seq(parts) = json_string(&["</a>".into()]) else { panic!("not a sequence") };
        for (text, is) in [
            ("\"", true),
            ("a</a\"", true),
            ("\\u003c/a>\\n\"", true),
            ("</a>\"", false),
            ("\\ud83d\"", false),
            ("\\x\"", false),
            ("a", false),
        ] {
            assert_eq!(accepted(&parts[1], text), is, "{text:?}");
        }
    }
}
