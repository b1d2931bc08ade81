//! Stop strings: text is passed on up to the first of them, and hidden stop strings are removed.
//!
//! ```text
//! stop string "END" (hidden), text in two pieces
//! "a E"      "a " is emitted; "E" is held: it may begin "END"
//! "ND b"     the stop string is complete: the message ends, " b" is dropped
//! ```

use std::{fmt, sync::Arc};

use jail_match::{Haystack, MarkerSet, MarkerSetBuilder, Match, Search};

/// A text that ends a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopString {
    /// Text of the stop string.
    pub text: String,
    /// Whether the stop string is emitted.
    pub shown: Shown,
}

/// Whether a stop string is emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shown {
    /// The stop string is removed, including its beginning.
    #[default]
    Hidden,
    /// The stop string is emitted as it arrives.
    Visible,
}

impl StopString {
    /// Creates a stop string that is not emitted.
    pub fn hidden(text: impl Into<String>) -> Self {
        Self { text: text.into(), shown: Shown::Hidden }
    }

    /// Creates a stop string that is emitted before the message ends.
    pub fn visible(text: impl Into<String>) -> Self {
        Self { text: text.into(), shown: Shown::Visible }
    }
}

/// The place where a stop string ended a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// Position of the stop string in the list given to [`StopStrings::new`].
    pub string: usize,
    /// Offset of the stop string's first byte.
    pub at: u64,
    /// Offset after the stop string's last byte.
    pub end: u64,
    /// Offset after the last emitted byte: `at` or `end`.
    pub shown: u64,
    /// Number of bytes after the stop string, which were dropped.
    pub dropped: u64,
}

/// A filter that passes text on until a stop string is complete.
///
/// The string that ends first counts; of several that end together, the longest. Only the possible
/// beginning of a hidden stop string is held. The result does not depend on how the text was cut.
///
/// ```
/// use llm_stream_guard::{StopString, StopStrings};
/// let mut stop = StopStrings::new([StopString::hidden("\n\nUser:"), StopString::visible("</answer>")])?;
/// let mut text = String::new();
/// for chunk in ["4\n", "\nUs", "ed: 2\n\nUs", "er: and 3?"] {
///     stop.push(chunk, |piece| text.push_str(piece));
/// }
/// stop.finish(|piece| text.push_str(piece));
/// assert_eq!(text, "4\n\nUsed: 2");
/// assert_eq!(stop.stopped().map(|stopped| stopped.string), Some(0));
/// # Ok::<(), llm_stream_guard::EmptyStop>(())
/// ```
#[derive(Debug, Clone)]
pub struct StopStrings {
    strings: Arc<CompiledStops>,
    /// The beginning of a stop string.
    kept: String,
    /// Number of its bytes that were passed on, because they begin only visible stop strings.
    passed: usize,
    /// Offset of the first byte kept.
    at: u64,
    stopped: Option<Stopped>,
    examined: u64,
}

#[derive(Debug)]
struct CompiledStops {
    set: MarkerSet,
    /// For each marker of the set: its index in the caller's list, and whether it is shown.
    listed: Vec<(usize, Shown)>,
    /// Whether some strings are shown.
    mixed: bool,
    /// Texts in the caller's order.
    texts: Box<[String]>,
}

/// Search classes of the set.
const ALL: u8 = 0;
const HIDDEN: u8 = 1;

impl StopStrings {
    /// Compiles the strings. A string that is listed twice is hidden if one of the two is hidden.
    ///
    /// # Errors
    /// A string is empty.
    pub fn new(strings: impl IntoIterator<Item = StopString>) -> Result<Self, EmptyStop> {
        let all: Vec<StopString> = strings.into_iter().collect();
        if let Some(entry) = all.iter().position(|string| string.text.is_empty()) {
            return Err(EmptyStop { entry });
        }
        let mut builder = MarkerSetBuilder::new();
        let mut listed = Vec::new();
        for (entry, string) in all.iter().enumerate() {
            // A string that contains another string before its end can never be the first to end.
            // Without such strings, the leftmost match is also the first to end.
            let inner = &string.text[..string.text.len() - last_len(&string.text)];
            let hopeless = all.iter().any(|other| inner.contains(&other.text));
            let again = |(at, other): (usize, &StopString)| {
                other.text == string.text
                    && at != entry
                    && match (other.shown, string.shown) {
                        (Shown::Hidden, Shown::Visible) => true,
                        (Shown::Visible, Shown::Hidden) => false,
                        _ => at < entry,
                    }
            };
            if hopeless || all.iter().enumerate().any(again) {
                continue;
            }
            let hidden = jail_match::Classes::from(string.shown == Shown::Hidden) << HIDDEN;
            builder.marker(&string.text, false, 1 << ALL | hidden);
            listed.push((entry, string.shown));
        }
        let mixed = listed.iter().any(|(_, shown)| *shown == Shown::Visible);
        let texts = all.into_iter().map(|string| string.text).collect();
        let strings = Arc::new(CompiledStops { set: builder.build(), listed, mixed, texts });
        let kept = String::new();
        Ok(Self { strings, kept, passed: 0, at: 0, stopped: None, examined: 0 })
    }

    /// Feeds the next piece; `on` receives the text that is certain to be emitted.
    pub fn push(&mut self, chunk: &str, mut on: impl FnMut(&str)) {
        let mut rest = chunk;
        while self.stopped.is_none() && !rest.is_empty() {
            if self.kept.is_empty() {
                let keep = self.scan(rest, false, &mut on);
                if self.stopped.is_none() {
                    self.kept.push_str(&rest[keep..]);
                }
                return;
            }
            // Decide about the kept text with as little of the chunk as possible.
            let more = self.strings.set.longest();
            let cut = (more..rest.len()).find(|&at| rest.is_char_boundary(at));
            let (head, behind) = rest.split_at(cut.unwrap_or(rest.len()));
            let mut text = std::mem::take(&mut self.kept);
            let before = text.len();
            text.push_str(head);
            let keep = self.scan(&text, false, &mut on);
            if self.stopped.is_none() && keep >= before {
                // The text to keep came from this chunk.
                rest = &rest[keep - before..];
                text.clear();
            } else {
                rest = behind;
                text.drain(..keep);
            }
            self.kept = text;
        }
        if let Some(stopped) = &mut self.stopped {
            self.kept.clear();
            stopped.dropped += rest.len() as u64;
        }
    }

    /// Ends the text, and passes on the held beginning of a stop string.
    pub fn finish(&mut self, mut on: impl FnMut(&str)) {
        let text = std::mem::take(&mut self.kept);
        if !text.is_empty() {
            self.scan(&text, true, &mut on);
        }
    }

    /// Passes on the certain part of `text`, which begins with the kept text. Returns the index
    /// from which text must be kept.
    fn scan(&mut self, text: &str, ended: bool, on: &mut impl FnMut(&str)) -> usize {
        let passed = std::mem::take(&mut self.passed);
        let (keep, found) = self.look(ALL, text, 0, ended);
        let mut until = keep;
        if let Some((len, marker)) = found {
            let (string, shown) = self.strings.listed[marker];
            if shown == Shown::Visible {
                until = keep + len;
            }
            let offset = |index: usize| self.at + index as u64;
            self.stopped = Some(Stopped {
                string,
                at: offset(keep),
                end: offset(keep + len),
                shown: offset(until),
                dropped: (text.len() - keep - len) as u64,
            });
        } else if keep < text.len() && self.strings.mixed {
            // Only hidden strings must be held back.
            until = self.look(HIDDEN, text, keep, ended).0;
        }
        if until > passed {
            on(&text[passed..until]);
        }
        // Nothing is kept after a stop string, even if part of it was passed on.
        self.passed = if found.is_some() { 0 } else { until.max(passed) - keep };
        self.at += keep as u64;
        keep
    }

    /// Returns where a stop string is in `text`, with its length and marker, or where one may
    /// begin.
    fn look(
        &mut self,
        class: u8,
        text: &str,
        from: usize,
        ended: bool,
    ) -> (usize, Option<(usize, usize)>) {
        let (set, bytes) = (&self.strings.set, text.as_bytes());
        let mut pos = from;
        self.examined += (bytes.len() - from) as u64;
        while let Some(hit) = set.next_stop(class, &bytes[pos..]) {
            let stop = pos + hit;
            self.examined += set.longest() as u64;
            let hay = Haystack { text: bytes, class, floor: from, ended };
            match set.search_at(hay, stop, |_, _| true) {
                Search::Miss => pos = stop + 1,
                Search::Partial { at } => return (at, None),
                Search::Match(Match { at, len, id, .. }) => return (at, Some((len, id))),
            }
        }
        (bytes.len(), None)
    }

    /// Returns where a stop string ended the message, if one did.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// Returns the string at an index of the list given to [`StopStrings::new`], or an empty text
    /// beyond its end.
    #[must_use]
    pub fn text(&self, string: usize) -> &str {
        self.strings.texts.get(string).map_or("", String::as_str)
    }

    /// Returns the number of bytes received before a string ended the message.
    pub(crate) fn given(&self) -> u64 {
        self.at + self.kept.len() as u64
    }

    /// Returns the number of held bytes, which may still be emitted.
    #[must_use]
    pub fn held(&self) -> usize {
        self.kept.len() - self.passed
    }

    /// Returns the number of examined bytes, a measure of work that does not depend on time.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.examined
    }

    /// Resets the state to that of a new value.
    pub fn reset(&mut self) {
        self.kept.clear();
        (self.passed, self.at, self.stopped, self.examined) = (0, 0, None, 0);
    }
}

/// Returns the length of the last character in bytes.
fn last_len(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// The error for an empty stop string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyStop {
    entry: usize,
}

impl fmt::Display for EmptyStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stop string {}: it is empty", self.entry)
    }
}

impl std::error::Error for EmptyStop {}
