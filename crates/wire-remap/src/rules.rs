//! The rule that makes replacement unambiguous.
//!
//! No marker may contain another, and no proper end of a marker may be a proper beginning of
//! another marker or of itself. Any two markers in a text are then disjoint, and text that replaces
//! a marker never forms a marker with its neighbours. The exactness of a remap follows from this
//! rule alone.
//!
//! ```text
//! [[CALL]] and [[/CALL]]   accepted
//! <a> and <a><b>           refused: the second contains the first
//! ab> and >cd              refused: "ab>cd" would contain both
//! ```

use alloc::string::ToString;

use crate::{
    error::{Problem, RemapTableError},
    pair::{MarkerPair, Mode, Settings},
    spelling,
    word::{Word, WordKind},
};

/// Checks the markers of a table, and every pair of its words.
pub(crate) fn check(pairs: &[MarkerPair], settings: &Settings) -> Result<(), RemapTableError> {
    let fail = |entry, marker: &str, problem| {
        Err(RemapTableError { entry, marker: marker.into(), problem })
    };
    for (entry, pair) in pairs.iter().enumerate() {
        if pair.canonical.is_empty() || pair.wire.is_empty() {
            return fail(entry, "", Problem::Empty);
        }
        if settings.mode == Mode::Exact && spelling::escape_point(&pair.wire).is_none() {
            return fail(entry, &pair.wire, Problem::TooShort);
        }
    }
    let words = Word::of_pairs(pairs, settings);
    check_words(&words)?;
    let escaped = words.iter().find(|word| word.text.contains(settings.escape));
    match escaped.filter(|_| settings.mode == Mode::Exact) {
        Some(word) => fail(word.entry, &word.text, Problem::HoldsEscape(settings.escape)),
        None => Ok(()),
    }
}

fn check_words(words: &[Word]) -> Result<(), RemapTableError> {
    // A fault of declared markers is reported before one of forms derived from them.
    let declared = |word: &Word| matches!(word.kind, WordKind::Canonical | WordKind::Wire);
    each_pair(words, |_| true, same)?;
    each_pair(words, declared, contains)?;
    each_pair(words, declared, overlaps)?;
    each_pair(words, |_| true, contains)?;
    each_pair(words, |_| true, overlaps)
}

/// Applies `problem` to every ordered pair of chosen words. The error names the first word of the
/// pair.
fn each_pair(
    words: &[Word],
    chosen: impl Fn(&Word) -> bool,
    problem: impl Fn((usize, &Word), (usize, &Word)) -> Option<Problem>,
) -> Result<(), RemapTableError> {
    let chosen = || words.iter().enumerate().filter(|(_, word)| chosen(word));
    for a in chosen() {
        for b in chosen() {
            if let Some(problem) = problem(a, b) {
                let (entry, marker) = (a.1.entry, a.1.text.clone());
                return Err(RemapTableError { entry, marker, problem });
            }
        }
    }
    Ok(())
}

fn same((i, a): (usize, &Word), (j, b): (usize, &Word)) -> Option<Problem> {
    (i > j && a.text == b.text).then_some(Problem::Same { other: b.entry })
}

fn contains((i, a): (usize, &Word), (j, b): (usize, &Word)) -> Option<Problem> {
    // `[[CALL]` is always a part of `[[CALL]]`, and the longer one matches.
    let piece = a.entry == b.entry && a.kind == WordKind::Wire && b.is_truncated();
    (i != j && !piece && a.text.contains(&*b.text))
        .then(|| Problem::Contains { other: b.entry, part: b.text.clone() })
}

fn overlaps((_, a): (usize, &Word), (_, b): (usize, &Word)) -> Option<Problem> {
    // `[[CALL]` and `[CALL]]` overlap only inside a whole `[[CALL]]`.
    let halves = a.kind == WordKind::NoLast && b.kind == WordKind::NoFirst;
    if halves && a.entry == b.entry {
        return None;
    }
    let shared = overlap(&a.text, &b.text)?.to_string();
    Some(Problem::Overlaps { other: b.entry, next: b.text.clone(), shared })
}

/// Returns the longest proper end of `a` that is a proper beginning of `b`.
fn overlap<'a>(a: &'a str, b: &str) -> Option<&'a str> {
    a.char_indices()
        .skip(1)
        .map(|(at, _)| &a[at..])
        .find(|end| end.len() < b.len() && b.starts_with(end))
}
