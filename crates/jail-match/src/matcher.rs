//! The plain streaming matcher: reports markers and the text between them.
//!
//! For uses that need no channels, anchors or bodies, such as delimiter remapping and redaction.

use alloc::sync::Arc;
use core::convert::Infallible;

use crate::{
    marker::{Haystack, MarkerSet, MarkerSetBuilder, Match, Search},
    pending::Pending,
};

/// A part of the stream, as a [`Matcher`] divides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherEvent<'a> {
    /// Text without a marker. Never empty; neighbouring pieces may be one run of text.
    Text(&'a str),
    /// A marker, as it was written.
    Marker {
        /// The position of the marker in the list given to [`Matcher::new`].
        id: usize,
        /// The text of the marker in the stream.
        text: &'a str,
    },
}

/// A search for leftmost-longest literal markers in a stream, independent of its chunks.
///
/// At most the longest marker less one byte is held back. Held text is a proper prefix of a marker,
/// or a marker that may still become a longer one.
///
/// ```
/// use jail_match::{MatcherEvent, Matcher};
/// let mut matcher = Matcher::new(["[[CALL]]", "[[/CALL]]"]);
/// let mut seen = String::new();
/// for chunk in ["go [[CA", "LL]]x", "[[/CALL"] {
///     matcher.push(chunk, |found| match found {
///         MatcherEvent::Text(text) => seen.push_str(text),
///         MatcherEvent::Marker { id, .. } => seen.push_str(["<open>", "<close>"][id]),
///     });
/// }
/// assert_eq!(matcher.held(), "[[/CALL");
/// matcher.finish(|found| if let MatcherEvent::Text(text) = found { seen.push_str(text) });
/// assert_eq!(seen, "go <open>x[[/CALL");
/// ```
#[derive(Debug, Clone)]
pub struct Matcher {
    set: Arc<MarkerSet>,
    held: Pending,
    examined: u64,
}

impl Matcher {
    /// Compiles `markers`. Their positions in the list are the ids reported. Empty markers never
    /// match.
    pub fn new<M: AsRef<str>>(markers: impl IntoIterator<Item = M>) -> Self {
        let mut builder = MarkerSetBuilder::new();
        for marker in markers {
            builder.marker(marker.as_ref(), false, 1);
        }
        Self::with_set(Arc::new(builder.build()))
    }

    /// Creates a matcher over class 0 of a compiled set, which may be shared.
    #[must_use]
    pub fn with_set(set: Arc<MarkerSet>) -> Self {
        Self { set, held: Pending::default(), examined: 0 }
    }

    /// Returns the text received and not yet reported.
    #[must_use]
    pub fn held(&self) -> &str {
        self.held.as_str()
    }

    /// Returns the number of bytes looked at so far, a measure of work that does not depend on a
    /// clock.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.examined
    }

    /// Feeds the next piece of the stream and reports all that is certain.
    pub fn push(&mut self, chunk: &str, mut on: impl FnMut(MatcherEvent<'_>)) {
        let mut held = core::mem::take(&mut self.held);
        let step = self.set.longest() + 4;
        let Ok(()) =
            held.push(chunk, step, |text| Ok::<_, Infallible>(self.scan(text, false, &mut on)));
        self.held = held;
    }

    /// Ends the stream. Complete markers in the held text are reported as markers, the rest as
    /// text. The matcher can then read another stream.
    pub fn finish(&mut self, mut on: impl FnMut(MatcherEvent<'_>)) {
        let mut held = core::mem::take(&mut self.held);
        let Ok(_) = held.rescan(|text| Ok::<_, Infallible>(self.scan(text, true, &mut on)));
        self.held = held;
    }

    /// Forgets everything received.
    pub fn reset(&mut self) {
        self.held.clear();
        self.examined = 0;
    }

    /// Reports all that is certain in `text`. Returns the index from which the text must stay
    /// pending.
    fn scan(&mut self, text: &str, ended: bool, on: &mut impl FnMut(MatcherEvent<'_>)) -> usize {
        let bytes = text.as_bytes();
        let (mut out, mut pos) = (0, 0);
        self.examined += bytes.len() as u64;
        while let Some(hit) = self.set.next_stop(0, &bytes[pos..]) {
            let stop = pos + hit;
            self.examined += self.set.longest() as u64;
            let hay = Haystack { text: bytes, class: 0, floor: out, ended };
            match self.set.search_at(hay, stop, |_, _| true) {
                Search::Miss => pos = stop + 1,
                Search::Partial { at } => {
                    if at > out {
                        on(MatcherEvent::Text(&text[out..at]));
                    }
                    return at;
                }
                Search::Match(Match { at, len, id }) => {
                    if at > out {
                        on(MatcherEvent::Text(&text[out..at]));
                    }
                    on(MatcherEvent::Marker { id, text: &text[at..at + len] });
                    out = at + len;
                    pos = out;
                }
            }
        }
        if bytes.len() > out {
            on(MatcherEvent::Text(&text[out..]));
        }
        bytes.len()
    }
}
