//! The places of marker tokens in a text, by their order and number.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::chat::tokens::marker_ids::Awaited;

/// A place where a text spells a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) struct Place {
    pub(in crate::chat) at: usize,
    pub(in crate::chat) len: usize,
    /// Number of the marker in the table.
    pub(in crate::chat) marker: usize,
}

impl Place {
    fn end(self) -> usize {
        self.at.saturating_add(self.len)
    }
}

/// Returns the places where `text` spells an awaited marker, in order. Of overlapping places, the
/// leftmost counts; of those with one start, the longest.
pub(in crate::chat) fn places(
    text: &str,
    finders: &[Finder<'_>],
    awaited: &[Awaited],
) -> Vec<Place> {
    let mut wanted: Vec<usize> = awaited.iter().map(|awaited| awaited.marker).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = Vec::new();
    for marker in wanted {
        let Some(finder) = finders.get(marker) else { continue };
        let len = finder.needle().len();
        found.extend(finder.find_iter(text.as_bytes()).map(|at| Place { at, len, marker }));
    }
    found.sort_unstable_by_key(|place| (place.at, usize::MAX - place.len));
    let mut end = 0;
    found.retain(|place| {
        let free = place.at >= end;
        if free {
            end = place.end();
        }
        free
    });
    found
}

/// Finds the place of each awaited marker token. Tokens are matched in order to the first possible
/// places, then to the last possible ones. A place is certain where both agree. `start` and `end`
/// are the offsets of the first token's start and the last token's end, if known.
///
/// ```text
/// tokens  A B      places  A B B     first A0 B1, last A0 B2: A is certain
/// ```
///
/// Returns whether a token has places and none is certain.
pub(in crate::chat) fn certain_places(
    found: &[Place],
    awaited: &[Awaited],
    (start, end): (Option<usize>, Option<usize>),
    certain: &mut Vec<Option<usize>>,
) -> bool {
    certain.clear();
    certain.resize(awaited.len(), None);
    // There are as many places as tokens, or fewer if the text of the last tokens has not arrived.
    let alike = found.iter().zip(awaited).all(|(place, token)| place.marker == token.marker);
    if alike && found.len() <= awaited.len() {
        certain.iter_mut().zip(0..found.len()).for_each(|(certain, at)| *certain = Some(at));
        return false;
    }
    let (mut from, mut to) = ((0, 0), (awaited.len(), found.len()));
    // Tokens with no text token before them begin where the text or the token before them ends.
    if let Some(mut at) = start {
        while let (Some(token), Some(place)) = (awaited.get(from.0), found.get(from.1)) {
            if token.before > 0 || place.at != at || place.marker != token.marker {
                break;
            }
            certain[from.0] = Some(from.1);
            (at, from) = (place.end(), (from.0 + 1, from.1 + 1));
        }
    }
    if let Some(mut at) = end {
        while to.0 > from.0 && to.1 > from.1 {
            let (token, place) = (awaited[to.0 - 1], found[to.1 - 1]);
            if place.end() != at || place.marker != token.marker {
                break;
            }
            to = (to.0 - 1, to.1 - 1);
            certain[to.0] = Some(to.1);
            at = place.at;
            if token.before > 0 {
                break;
            }
        }
    }
    let tokens = &awaited[from.0..to.0];
    let first = first_places(found, tokens, from.1, to.1);
    let last = last_places(found, tokens, from.1, to.1);
    let mut ambiguous = false;
    for (n, (first, last)) in first.into_iter().zip(last).enumerate() {
        match (first, last) {
            (Some(first), Some(last)) if first == last => certain[from.0 + n] = Some(first),
            (None, None) => {}
            _ => ambiguous = true,
        }
    }
    ambiguous
}

/// Returns the first place of each token that is after the place of the previous token.
fn first_places(found: &[Place], tokens: &[Awaited], from: usize, to: usize) -> Vec<Option<usize>> {
    let (mut next, mut out) = (from, Vec::with_capacity(tokens.len()));
    let mut search = PlaceSearch::new(found, tokens);
    for run in tokens.chunk_by(|_, token| token.before == 0) {
        if let Some(at) = search.run(run, next..to, false) {
            next = at + run.len();
            out.extend((at..next).map(Some));
            continue;
        }
        for token in run.chunks(1) {
            let at = search.run(token, next..to, false);
            next = at.map_or(next, |at| at + 1);
            out.push(at);
        }
    }
    out
}

/// Returns the last place of each token that is before the place of the next token.
fn last_places(found: &[Place], tokens: &[Awaited], from: usize, to: usize) -> Vec<Option<usize>> {
    let (mut next, mut out) = (to, Vec::with_capacity(tokens.len()));
    let mut search = PlaceSearch::new(found, tokens);
    let runs: Vec<&[Awaited]> = tokens.chunk_by(|_, token| token.before == 0).collect();
    for run in runs.into_iter().rev() {
        if let Some(at) = search.run(run, from..next, true) {
            next = at;
            out.extend((at..at + run.len()).rev().map(Some));
            continue;
        }
        for token in run.chunks(1).rev() {
            let at = search.run(token, from..next, true);
            next = at.unwrap_or(next);
            out.push(at);
        }
    }
    out.reverse();
    out
}

/// A search for tokens in one direction, with a limit on its work.
struct PlaceSearch<'f> {
    found: &'f [Place],
    /// Markers without a further place.
    gone: Vec<usize>,
    /// Places that may still be looked at.
    budget: usize,
}

impl<'f> PlaceSearch<'f> {
    fn new(found: &'f [Place], tokens: &[Awaited]) -> Self {
        let budget = found.len().saturating_add(tokens.len()).saturating_mul(16);
        Self { found, gone: Vec::new(), budget }
    }

    /// Returns the first or last place in `range` where the tokens of `run` follow each other.
    fn run(&mut self, run: &[Awaited], range: Range<usize>, back: bool) -> Option<usize> {
        let Self { found, gone, budget } = self;
        if run.iter().any(|token| gone.contains(&token.marker)) {
            return None;
        }
        let mut spells = |at: &usize| {
            *budget = budget.saturating_sub(1);
            let places = found.get(*at..at.saturating_add(run.len()));
            places.filter(|_| at + run.len() <= range.end && *budget > 0).is_some_and(|places| {
                places.iter().zip(run).all(|(place, token)| place.marker == token.marker)
                    && places.windows(2).all(|pair| pair[0].end() == pair[1].at)
            })
        };
        let at = match back {
            false => range.clone().find(&mut spells),
            true => range.clone().rfind(&mut spells),
        };
        if let (None, [token]) = (at, run) {
            gone.push(token.marker);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use memchr::memmem::Finder;

    use super::{certain_places, places};
    use crate::chat::tokens::marker_ids::Awaited;

    /// The places of `tokens` (marker, text tokens before) in `text`: `|` are certain, `?` says
    /// that a token is ambiguous.
    fn read(text: &str, tokens: &[(usize, u64)], after: Option<u64>) -> String {
        let finders = ["<a>", "<b>"].map(Finder::new);
        let awaited: Vec<_> =
            tokens.iter().map(|&(marker, before)| Awaited::new(0, marker, before)).collect();
        let found = places(text, &finders, &awaited);
        let start = after.map(|_| 0);
        let end = after.filter(|&after| after == 0).map(|_| text.len());
        let mut certain = Vec::new();
        let ambiguous = certain_places(&found, &awaited, (start, end), &mut certain);
        let mut shown = text.to_owned();
        for at in certain.iter().rev().flatten() {
            shown.insert(found[*at].at, '|');
        }
        if ambiguous {
            shown.push('?');
        }
        shown
    }

    #[test]
    fn equal_counts_of_places_and_tokens_are_unambiguous() {
        assert_eq!(read("x<a>y<b>z", &[(0, 1), (1, 1)], Some(1)), "x|<a>y|<b>z");
        assert_eq!(read("x<a>y<a>z", &[(0, 1), (0, 1)], None), "x|<a>y|<a>z");
    }

    #[test]
    fn more_places_than_marker_tokens_are_ambiguous() {
        assert_eq!(read("x<a>y<a>z", &[(0, 2)], Some(2)), "x<a>y<a>z?");
        assert_eq!(read("x<a>y<b>z<b>w", &[(0, 1), (1, 4)], Some(1)), "x|<a>y<b>z<b>w?");
    }

    #[test]
    fn adjacent_and_edge_marker_tokens_are_unambiguous() {
        assert_eq!(read("<a>y<a>z", &[(0, 0)], Some(4)), "|<a>y<a>z");
        assert_eq!(read("y<a>z<a>", &[(0, 4)], Some(0)), "y<a>z|<a>");
        assert_eq!(read("<a>x<a><b>y", &[(0, 3), (1, 0)], Some(1)), "<a>x|<a>|<b>y");
        assert_eq!(read("<a>y<a>z", &[(0, 0)], None), "<a>y<a>z?");
    }

    #[test]
    fn marker_tokens_without_a_place_are_unambiguous() {
        assert_eq!(read("x<a>y", &[(1, 1), (0, 0)], Some(1)), "x|<a>y");
        assert_eq!(read("x<a>y", &[(0, 1), (1, 2), (0, 3)], None), "x|<a>y");
        assert_eq!(read("xy", &[(1, 1), (0, 0)], Some(1)), "xy");
        assert_eq!(read("x<b>y<a>", &[(0, 1), (1, 1)], Some(1)), "x<b>y<a>?");
    }

    #[test]
    fn five_thousand_unplaceable_tokens_are_reported_as_ambiguous() {
        let text = "<a>".repeat(5000);
        let tokens: Vec<_> = (0..5000).map(|n| (1 - n % 2, 1)).collect();
        let shown = read(&text, &tokens, Some(1));
        assert!(shown.ends_with('?') && !shown.contains('|'));
    }
}
