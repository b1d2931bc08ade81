//! Detection of other families' markup that passes as text.

use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::MAX_SHARED_MARKERS;
use jail_match::{Edge, MarkerSet, MarkerSetBuilder, Matcher, MatcherEvent};
use toolcall_parsers::{Grammar, grammars};

/// Minimum length of a marker. Shorter markers are often ordinary text.
const SHORTEST: usize = 5;

/// The searches of recent guards, by their own markers. Guards of one family share a search: the
/// markers of all other families take tens of kilobytes.
static SHARED: Mutex<Vec<(Vec<String>, Foreign)>> = Mutex::new(Vec::new());

/// Returns the texts that show a family: its markers, and those of calls without a section.
pub(crate) fn marks(grammar: &Grammar) -> impl Iterator<Item = &str> {
    grammar.markers().chain(grammar.call_heads())
}

/// A search for the markers of other families.
#[derive(Debug, Clone)]
pub(crate) struct Foreign {
    matcher: Matcher,
    markers: Arc<[String]>,
}

impl Foreign {
    /// Collects the markers of families other than that of a guard with these edges and this
    /// grammar.
    pub(crate) fn beside(edges: &[Edge], grammar: Option<&Grammar>) -> Self {
        let of_grammar = |grammar: &'_ Grammar| {
            let texts = grammar.openers().chain(grammar.call_heads());
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        let of_grammar = grammar.map(of_grammar).unwrap_or_default();
        let edges = edges.iter().map(|edge| edge.marker.as_ref());
        Self::new(edges.chain(of_grammar.iter().map(String::as_str)))
    }

    /// Collects all registered markers except those that contain, or are part of, one of `own`.
    pub(crate) fn new<'m>(own: impl IntoIterator<Item = &'m str>) -> Self {
        let own: Vec<&str> = own.into_iter().filter(|own| own.len() >= SHORTEST).collect();
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = shared.iter().find(|(of, _)| *of == own) {
            return known.clone();
        }
        let new = Self::compile(&own);
        if shared.len() == MAX_SHARED_MARKERS {
            shared.remove(0);
        }
        shared.push((own.into_iter().map(str::to_owned).collect(), new.clone()));
        new
    }

    fn compile(own: &[&str]) -> Self {
        let mut markers: Vec<String> = grammars()
            .flat_map(|family| marks(&family).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let formats = think_filter::formats();
        markers.extend(formats.iter().flat_map(|format| &format.open).map(ToString::to_string));
        markers.retain(|marker| {
            let ours = own.iter().any(|own| marker.contains(own) || own.contains(marker.as_str()));
            marker.len() >= SHORTEST && marker.contains(|c: char| !c.is_alphanumeric()) && !ours
        });
        markers.sort_unstable();
        markers.dedup();
        let mut set = MarkerSetBuilder::new();
        for marker in &markers {
            set.marker(marker, false, 1);
        }
        let set: Arc<MarkerSet> = Arc::new(set.build());
        Self { matcher: Matcher::with_set(set), markers: markers.into() }
    }

    /// Searches content, or handles its end if `text` is `None`. Calls `on` for each marker.
    pub(crate) fn see(&mut self, text: Option<&str>, mut on: impl FnMut(&str)) {
        let Self { matcher, markers } = self;
        let on = |found: MatcherEvent<'_>| {
            if let MatcherEvent::Marker { id, .. } = found {
                on(&markers[id]);
            }
        };
        match text {
            Some(text) => matcher.push(text, on),
            None => matcher.finish(on),
        }
    }

    pub(crate) fn reset(&mut self) {
        self.matcher.reset();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, PoisonError};

    use super::{Foreign, MAX_SHARED_MARKERS, SHARED};

    #[test]
    fn guards_with_the_same_markers_share_a_search() {
        let new = |own: &str| Foreign::new([own]);
        let (one, other) = (new("<of this test>"), new("<of another>"));
        assert!(Arc::ptr_eq(&one.markers, &new("<of this test>").markers));
        assert!(!Arc::ptr_eq(&one.markers, &other.markers));
        for n in 0..=MAX_SHARED_MARKERS {
            drop(new(&format!("<number {n}>")));
        }
        assert!(SHARED.lock().unwrap_or_else(PoisonError::into_inner).len() <= MAX_SHARED_MARKERS);
        assert!(
            !Arc::ptr_eq(&one.markers, &new("<of this test>").markers),
            "the oldest is dropped"
        );
    }
}
