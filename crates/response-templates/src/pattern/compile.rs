//! Compilation of patterns to automata.
//!
//! A look-ahead is matched like other text, after a mark that records the end of the match:
//! `x(?=y)` becomes `x`, a mark, `y`. This gives the same result only if nothing follows the
//! look-ahead. Other look-aheads are refused.

use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use regex_automata::{
    nfa::thompson::{self, NFA, State},
    util::look::Look,
};
use regex_syntax::hir::{Capture, Hir, HirKind, Repetition};

use super::{
    Fault, FaultKind,
    translate::{Translated, translate},
};
use crate::limits::{MAX_AUTOMATON_BYTES, MAX_PATTERN_CHARS, MAX_REPEATED};

/// A pattern as an automaton.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) nfa: NFA,
    /// The names of the groups. Group `n` has the slots `2n + 2` and `2n + 3`. The match has 0 and
    /// 1.
    pub(crate) names: Vec<String>,
    /// The slot of the place where a look-ahead begins.
    pub(super) mark: usize,
    /// The first bytes of the characters with which a match may begin, or that may follow an empty
    /// match.
    pub(crate) first: [bool; 256],
    /// Whether the end of the text may be a match.
    pub(super) matches_end: bool,
    /// The groups `key` and `value`, if each occurs once and the value follows the key.
    pub(super) pair: Option<Pair>,
}

/// The groups of a tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// The first slot of each group.
    pub(super) key: usize,
    pub(super) value: usize,
    /// Whether the value may be any text, as in `(?P<value>.*?)`.
    pub(super) is_any_text: bool,
}

impl Program {
    /// Returns the number of the group with this name.
    pub(crate) fn group(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Returns whether a value ends only where the rest of the pattern matches.
    pub(crate) fn has_open_value(&self) -> bool {
        self.pair.is_some_and(|pair| pair.is_any_text)
    }

    pub(super) fn slots(&self) -> usize {
        self.mark.saturating_add(2)
    }
}

/// Compiles a pattern in the syntax of Python.
pub(crate) fn compile(pattern: &str) -> Result<Program, Fault> {
    let translated = translate(pattern)?;
    let mut parser = regex_syntax::ParserBuilder::new().dot_matches_new_line(true).build();
    let hir = parser.parse(&translated.text).map_err(|error| invalid(&error, &translated))?;
    let mut names = Vec::new();
    collect_names(&hir, &mut names);
    let rewriter = GroupRewriter { names: &names, translated: &translated };
    let hir = rewriter.rewrite(hir, true)?;
    build(&hir, names)
}

/// Compiles a list of literals to a program that matches any of them, and prefers longer ones.
pub(crate) fn literals(mut texts: Vec<&str>) -> Result<Program, Fault> {
    texts.sort_by_key(|text| core::cmp::Reverse(text.chars().count()));
    let hir = Hir::alternation(texts.iter().map(|text| Hir::literal(text.as_bytes())).collect());
    build(&hir, Vec::new())
}

fn invalid(error: &regex_syntax::Error, translated: &Translated) -> Fault {
    let (what, at) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.offset)
        }
        _ => (String::new(), 0),
    };
    Fault { kind: FaultKind::Invalid(what), at: translated.origin(at) }
}

fn unsupported<T>(feature: &'static str) -> Result<T, Fault> {
    Err(Fault { kind: FaultKind::Unsupported(feature), at: 0 })
}

fn build(hir: &Hir, names: Vec<String>) -> Result<Program, Fault> {
    let (written, repeated) = lengths(hir);
    if repeated > MAX_PATTERN_CHARS {
        return unsupported("a pattern of more than 20000 characters");
    }
    if repeated.saturating_sub(written) > MAX_REPEATED {
        return unsupported("repetitions of more than 256 characters");
    }
    let config = thompson::Config::new().nfa_size_limit(Some(MAX_AUTOMATON_BYTES));
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(hir);
    let Ok(nfa) = nfa else { return unsupported("an automaton of more than 8 MiB") };
    let (first, matches_end) = first_bytes(&nfa);
    let mark = 2 * names.len() + 2;
    let pair = pair(hir, &names);
    Ok(Program { nfa, names, mark, first, matches_end, pair })
}

/// Adds the names of the groups of `hir` in order.
fn collect_names(hir: &Hir, names: &mut Vec<String>) {
    match hir.kind() {
        HirKind::Capture(capture) => {
            if let Some(name) = capture.name.as_deref().filter(|name| !name.contains('.')) {
                names.push(name.into());
            }
            collect_names(&capture.sub, names);
        }
        HirKind::Repetition(repetition) => collect_names(&repetition.sub, names),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().for_each(|one| collect_names(one, names));
        }
        _ => {}
    }
}

/// A rewriter that numbers the groups and replaces look-aheads by marks.
struct GroupRewriter<'r> {
    names: &'r [String],
    translated: &'r Translated,
}

impl GroupRewriter<'_> {
    /// Rewrites a part of the pattern. `is_last` states whether nothing follows it in its
    /// alternative.
    fn rewrite(&self, hir: Hir, is_last: bool) -> Result<Hir, Fault> {
        Ok(match hir.into_kind() {
            HirKind::Concat(mut all) => {
                let last = all.pop().map(|last| self.rewrite(last, is_last));
                let before = all.into_iter().map(|one| self.rewrite(one, false));
                Hir::concat(before.chain(last).collect::<Result<_, _>>()?)
            }
            HirKind::Alternation(all) => {
                let all = all.into_iter().map(|one| self.rewrite(one, is_last));
                Hir::alternation(all.collect::<Result<_, _>>()?)
            }
            HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
                let sub = Box::new(self.rewrite(*sub, false)?);
                Hir::repetition(Repetition { min, max, greedy, sub })
            }
            HirKind::Capture(Capture { name, sub, .. }) => {
                let name = name.unwrap_or_default();
                let sub = self.rewrite(*sub, false)?;
                match name.strip_prefix("_.").and_then(|number| number.parse().ok()) {
                    Some(_) if is_last => {
                        Hir::concat(vec![capture(self.names.len(), Hir::empty()), sub])
                    }
                    Some(number) => return Err(self.misplaced(number)),
                    None => {
                        let root = name.split('.').next().unwrap_or_default();
                        let number = self.names.iter().position(|known| known == root);
                        capture(number.unwrap_or(0), sub)
                    }
                }
            }
            HirKind::Empty => Hir::empty(),
            HirKind::Literal(literal) => Hir::literal(literal.0),
            HirKind::Class(class) => Hir::class(class),
            HirKind::Look(look) => Hir::look(look),
        })
    }

    fn misplaced(&self, number: usize) -> Fault {
        let known = self.translated.aheads.get(number).copied();
        let (at, feature) = known.unwrap_or((0, "a look-ahead"));
        Fault { kind: FaultKind::Unsupported(feature), at }
    }
}

/// Creates the group with this number, from 0.
fn capture(number: usize, sub: Hir) -> Hir {
    let index = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
    Hir::capture(Capture { index, name: None, sub: Box::new(sub) })
}

/// Returns the number of characters of a pattern: as written, and with its repetitions written out.
fn lengths(hir: &Hir) -> (usize, usize) {
    match hir.kind() {
        HirKind::Literal(literal) => (literal.0.len(), literal.0.len()),
        HirKind::Empty => (0, 0),
        HirKind::Class(_) | HirKind::Look(_) => (1, 1),
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            let (written, repeated) = lengths(sub);
            let times = max.unwrap_or(*min).max(1) as usize;
            (written, repeated.saturating_mul(times))
        }
        HirKind::Capture(capture) => lengths(&capture.sub),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().map(lengths).fold((0, 0), |sum, one| {
                (usize::saturating_add(sum.0, one.0), usize::saturating_add(sum.1, one.1))
            })
        }
    }
}

/// Returns the groups `key` and `value`, if each occurs once and the value follows the key.
fn pair(hir: &Hir, names: &[String]) -> Option<Pair> {
    let HirKind::Concat(parts) = hir.kind() else { return None };
    let find = |name: &str| {
        let number = names.iter().position(|known| known == name)?;
        let is_it = |part: &Hir| matches!(part.kind(), HirKind::Capture(it) if it.index as usize == number + 1);
        Some((2 * number + 2, parts.iter().position(is_it)?))
    };
    let ((key, first), (value, second)) = (find("key")?, find("value")?);
    let HirKind::Capture(group) = parts.get(second)?.kind() else { return None };
    let is_any_text = match group.sub.kind() {
        HirKind::Repetition(Repetition { max: None, sub, .. }) => {
            *sub.kind() == *Hir::dot(regex_syntax::hir::Dot::AnyChar).kind()
        }
        _ => false,
    };
    (first < second).then_some(Pair { key, value, is_any_text })
}

/// Returns the bytes with which a match may begin, and whether the end of the text may be a match.
/// All bytes if an empty match may be followed by any.
fn first_bytes(nfa: &NFA) -> ([bool; 256], bool) {
    let (mut first, mut matches_end, mut is_empty) = ([false; 256], false, false);
    let mut known = vec![[false; 2]; nfa.states().len()];
    // The flag states whether a path requires the end of the text.
    let mut todo = vec![(nfa.start_anchored(), false)];
    while let Some((id, at_end)) = todo.pop() {
        let known = known.get_mut(id.as_usize()).and_then(|it| it.get_mut(usize::from(at_end)));
        if known.is_none_or(|known| core::mem::replace(known, true)) {
            continue;
        }
        match nfa.state(id) {
            State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) if at_end => {}
            state @ (State::ByteRange { .. } | State::Sparse(_) | State::Dense(_)) => {
                for (byte, first) in (0..=u8::MAX).zip(&mut first) {
                    *first |= super::search::after(state, byte).is_some();
                }
            }
            State::Look { look, next } => todo.push((*next, at_end || *look == Look::End)),
            State::Union { alternates } => todo.extend(alternates.iter().map(|&to| (to, at_end))),
            State::BinaryUnion { alt1, alt2 } => todo.extend([(*alt1, at_end), (*alt2, at_end)]),
            State::Capture { next, .. } => todo.push((*next, at_end)),
            State::Fail => {}
            State::Match { .. } => {
                matches_end = true;
                is_empty |= !at_end;
            }
        }
    }
    if is_empty {
        first.fill(true);
    }
    // A character does not begin with one of these bytes.
    first.iter_mut().skip(0x80).take(0x40).for_each(|first| *first = false);
    (first, matches_end)
}
