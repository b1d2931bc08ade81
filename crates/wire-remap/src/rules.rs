//! The rule that makes replacement unambiguous.
//!
//! No marker may contain another, and no proper end of one may be a proper beginning of another
//! or of itself. Then any two occurrences in any text are disjoint, whatever the text; and so
//! text put in the place of a marker can never form a marker together with its neighbours.
//! Exactness of the remap rests on this and on nothing else.

use alloc::string::ToString;

use crate::{
    error::{Problem, TableError},
    words::{Word, WordKind},
};

/// Checks every pair of words.
pub(crate) fn check(words: &[Word]) -> Result<(), TableError> {
    for (i, a) in words.iter().enumerate() {
        for (j, b) in words.iter().enumerate() {
            let kin = a.entry == b.entry && a.origin == b.origin;
            let fail =
                |problem| Err(TableError { entry: a.entry, marker: a.text.clone(), problem });
            if i != j && !(kin && is_part(b.kind, a.kind)) {
                if a.text == b.text {
                    // Report the later of the two.
                    if i > j {
                        return fail(Problem::Same { other: b.entry });
                    }
                    continue;
                }
                if a.text.contains(&*b.text) {
                    return fail(Problem::Contains { other: b.entry, part: b.text.clone() });
                }
            }
            // `[[CALL]` and `[CALL]]` overlap only where the whole `[[CALL]]` stands.
            let halves = kin && a.kind == WordKind::NoLast && b.kind == WordKind::NoFirst;
            if !halves {
                if let Some(shared) = overlap(&a.text, &b.text) {
                    let (next, shared) = (b.text.clone(), shared.to_string());
                    return fail(Problem::Overlaps { other: b.entry, next, shared });
                }
            }
        }
    }
    Ok(())
}

/// Whether a word of kind `part` is by its making a piece of one of kind `whole`.
fn is_part(part: WordKind, whole: WordKind) -> bool {
    whole == WordKind::Wire && matches!(part, WordKind::NoLast | WordKind::NoFirst)
}

/// The longest proper end of `a` that is a proper beginning of `b`.
fn overlap<'a>(a: &'a str, b: &str) -> Option<&'a str> {
    a.char_indices()
        .skip(1)
        .map(|(at, _)| &a[at..])
        .find(|end| end.len() < b.len() && b.starts_with(end))
}
