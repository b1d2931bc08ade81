//! Patterns of boundaries and tags, searched for in text that arrives in pieces.
//!
//! A pattern is translated from the syntax of Python to that of `regex-syntax`, compiled to an NFA
//! of `regex-automata`, and run by a [`Search`]. A search reads each character once. After each
//! character it reports one of three answers:
//!
//! | pattern `a(?:bc)?` after | answer |
//! |---|---|
//! | `x` | nothing that was read is part of a match |
//! | `xa`, `xab` | a match may begin at offset 1 |
//! | `xab!` | `a` at offset 1 is the match, whatever follows |
//!
//! The leftmost match counts. Of alternatives, the first in the pattern counts, not the longest.

mod compile;
mod scan;
mod search;
mod translate;

use alloc::string::String;

pub(crate) use compile::{Program, compile, literals};
pub(crate) use scan::{Matches, Scan, group};
pub(crate) use search::{Found, Neighbours, Search};

/// An error: a pattern was refused, with the number of the faulty character, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) at: usize,
}

/// The reason why a pattern was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The text is not a pattern in the syntax of Python.
    Invalid(String),
    /// The pattern is valid, but uses the feature of this name.
    Unsupported(&'static str),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;
    use std::{format, string::String, vec::Vec};

    use super::{Matches, Neighbours, Search, compile};

    /// Patterns that mean the same in the syntax of Python and of the crate `regex`.
    const PATTERNS: [&str; 12] = [
        r"\s*<t>",
        r"<t>\s*(?P<n>\w+?)\s*>",
        r"(?:ab|a)(?P<n>[^<]*)<",
        r"[^<]*<a|<b",
        r"(?i)É+(?P<n>b??)",
        r"\ba.*?b|^<",
        r"(?:a*)*b",
        r"(?:(?P<n>a)??)+",
        r"a{1,3}?b{2,}\z",
        r"(?m)^a|b$",
        r"\B<|日",
        r"a|ab|abc",
    ];

    fn text() -> impl Strategy<Value = String> {
        let pieces = ["a", "b", "ab", "<", "<t>", ">", " ", "\n", "é", "É", "日", "abc"];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..10)
            .prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn first_match_and_groups_equal_those_of_the_regex_crate(text in text()) {
            for pattern in PATTERNS {
                let program = compile(pattern).expect("a pattern");
                let expected = Regex::new(&format!("(?s){}", pattern.replace(r"\Z", r"\z")))
                    .expect("a pattern");
                let expected = expected.captures(&text).map(|found| {
                    let place = |at: regex::Match<'_>| (at.start() as u64, at.end() as u64);
                    (found.get(0).map(place), found.name("n").map(place))
                });
                let found = Matches::new(&program, &text).next().map(|found| {
                    let group = program.group("n").and_then(|number| found.group(number));
                    (Some((found.start, found.end)), group)
                });
                prop_assert_eq!(found, expected, "{} in {:?}", pattern, text);
            }
        }
    }

    /// The certain match, and the start of a possible match.
    type Answer = (Option<(u64, u64)>, Option<u64>);

    /// Returns the answers after each character, and at the end of the text.
    fn answers(pattern: &str, text: &str) -> Vec<Answer> {
        let (program, mut search) = (compile(pattern).expect("a pattern"), Search::default());
        let mut previous = None;
        let nexts = text.char_indices().map(|(at, c)| (at, Some(c))).chain([(text.len(), None)]);
        let answer = |(at, next): (usize, Option<char>)| {
            search.step(&program, Neighbours { at: at as u64, previous, next });
            previous = next;
            (search.found().map(|found| (found.start, found.end)), search.pending())
        };
        nexts.map(answer).collect()
    }

    #[test]
    fn optional_tail_waits_for_the_next_character() {
        let after_a = (None, Some(0));
        assert_eq!(answers("a(?:bc)?", "ab!")[..2], [after_a, after_a]);
        assert_eq!(answers("a(?:bc)?", "ab!")[2], (Some((0, 1)), None));
    }

    #[test]
    fn look_ahead_is_not_part_of_the_match() {
        assert_eq!(answers(r"a\s*(?=<b)", "a <b")[3], (Some((0, 2)), None));
        assert_eq!(answers(r"a\s*(?=<b)", "a <c")[3], (None, None));
        assert_eq!(answers(r"(?=[\s\S]*?</t>)", "x</t>")[4], (Some((0, 0)), None));
    }

    #[test]
    fn dollar_matches_at_the_end_and_before_a_last_newline() {
        assert_eq!(answers("b$", "b\n")[..2], [(None, Some(0)), (None, Some(0))]);
        assert_eq!(answers("b$", "b\n")[2], (Some((0, 1)), None));
        assert_eq!(answers("b$", "b\nc")[2], (None, None));
    }
}
