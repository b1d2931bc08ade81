//! The scan of a stream in either direction, which finds markers and escaped words.
//!
//! A word is a wire marker or a damaged form of one. Escapes after its lead give it a *level*:
//!
//! | level | example | meaning |
//! |---|---|---|
//! | 0 | `[[CALL]]` | the canonical marker |
//! | 1 | `[[~CALL]]` | the literal text `[[CALL]]` |
//! | 2 | `[[~~CALL]]` | the literal text `<tool_call>`, not a marker |
//! | n >= 3 | `[[~~~CALL]]` | the literal text with n - 2 escapes |
//!
//! Encoding maps a literal word of level 0 to level 1, and of level n >= 1 to level n + 2.
//!
//! The matcher finds whole words and *stems*: a lead and one escape. A word may have any number of
//! escapes, so this module reads the escapes and the rest of the word without the matcher. Each
//! text given to the matcher ends after an escape character, so that a stem is always at the end of
//! a text.
//!
//! Decoding `a [[~CALL]] b`, in two chunks:
//!
//! ```text
//! chunk          state after it                         reported
//! "a [[~CA"      stem `[[~`, level 1, "CA" matched       "a "
//! "LL]] b"       no word is open                         "[[CALL]]" unescaped, then " b"
//! ```

use alloc::sync::Arc;

use jail_match::{Matcher, MatcherEvent};

use crate::{
    segment::{Direction, Quoting, Segment, SegmentKind, Syntax},
    word::Word,
    words::{Compiled, Plan, Token},
};

/// An escaped word whose stem was found and whose end was not found yet.
#[derive(Debug, Clone, Copy)]
struct EscapedWord {
    stem: usize,
    /// The number of escapes. 3 means three or more.
    level: u8,
    /// A word whose rest begins with the `matched` bytes read after the escapes.
    word: usize,
    matched: usize,
}

impl EscapedWord {
    /// Returns the bytes read after the escapes.
    fn text_read<'c>(&self, compiled: &'c Compiled) -> &'c str {
        &compiled.words[self.word].rest()[..self.matched]
    }

    /// Iterates over the words that begin with this stem.
    fn candidates<'c>(
        &self,
        compiled: &'c Compiled,
    ) -> impl Iterator<Item = (usize, &'c Word)> + use<'c> {
        compiled.stems[self.stem].words.iter().map(|&word| (word, &compiled.words[word]))
    }

    /// Appends `c`, if a candidate continues with it.
    fn grown(&self, compiled: &Compiled, c: char) -> Option<Self> {
        let read = self.text_read(compiled);
        let mut candidates = self.candidates(compiled);
        let (word, _) = candidates.find(|(_, word)| {
            word.rest().strip_prefix(read).is_some_and(|rest| rest.starts_with(c))
        })?;
        Some(Self { word, matched: self.matched + c.len_utf8(), ..*self })
    }

    /// Selects the candidate that ends here, if there is one.
    fn complete(&self, compiled: &Compiled) -> Option<Self> {
        let read = self.text_read(compiled);
        let (word, _) = self.candidates(compiled).find(|(_, word)| word.rest() == read)?;
        Some(Self { word, ..*self })
    }

    /// Returns whether a candidate is longer than what was read.
    fn may_grow(&self, compiled: &Compiled) -> bool {
        let read = self.text_read(compiled);
        self.candidates(compiled)
            .any(|(_, word)| word.rest().len() > read.len() && word.rest().starts_with(read))
    }

    /// Reports the stem as text: its lead and one escape.
    fn release_stem(&self, compiled: &Compiled, on: &mut impl FnMut(Segment<'_>)) {
        on(Segment::text(&compiled.stems[self.stem].lead));
        on(Segment::text(compiled.settings.escape.encode_utf8(&mut [0; 4])));
    }
}

/// A scan of one stream of text in one direction.
#[derive(Debug, Clone)]
pub(crate) struct Scanner {
    compiled: Arc<Compiled>,
    direction: Direction,
    matcher: Matcher,
    escaped: Option<EscapedWord>,
    followed: u64,
}

impl Scanner {
    pub(crate) fn new(compiled: &Arc<Compiled>, direction: Direction) -> Self {
        let matcher = plan(compiled, direction).matcher.clone();
        Self { compiled: Arc::clone(compiled), direction, matcher, escaped: None, followed: 0 }
    }

    pub(crate) fn reset(&mut self) {
        self.matcher.reset();
        self.escaped = None;
        self.followed = 0;
    }

    /// Returns the number of bytes received and not yet reported.
    pub(crate) fn held(&self) -> usize {
        let Some(word) = self.escaped else { return self.matcher.held().len() };
        let escape = self.compiled.settings.escape.len_utf8();
        let unreleased = match (self.direction, word.level) {
            (Direction::Encode(_), _) => 0,
            (Direction::Decode(_), 3) => 2 * escape,
            (Direction::Decode(_), level) => {
                self.compiled.stems[word.stem].lead.len() + usize::from(level) * escape
            }
        };
        unreleased + word.matched
    }

    /// Returns the end of the input that may become a word, or `None` inside an escaped word.
    pub(crate) fn pending(&self) -> Option<&str> {
        self.escaped.is_none().then(|| self.matcher.held())
    }

    /// Returns the number of bytes examined.
    pub(crate) fn examined(&self) -> u64 {
        self.matcher.examined() + self.followed
    }

    /// Scans the next chunk and reports the segments that no later text can change.
    pub(crate) fn push(&mut self, chunk: &str, on: &mut impl FnMut(Segment<'_>)) {
        let compiled = Arc::clone(&self.compiled);
        let mut rest = chunk;
        while !rest.is_empty() {
            rest = if self.escaped.is_some() {
                self.follow(&compiled, rest, on)
            } else {
                self.search(&compiled, rest, on)
            };
        }
    }

    /// Ends the text and reports the rest.
    pub(crate) fn finish(&mut self, on: &mut impl FnMut(Segment<'_>)) {
        let compiled = Arc::clone(&self.compiled);
        if let Some(word) = self.escaped.take() {
            self.end_word(&compiled, word, on);
        }
        let direction = self.direction;
        self.matcher.finish(|found| report(&compiled, direction, found, on));
    }

    /// Searches the text up to the next escape character. Returns the text after it.
    fn search<'t>(
        &mut self,
        compiled: &Compiled,
        rest: &'t str,
        on: &mut impl FnMut(Segment<'_>),
    ) -> &'t str {
        let escape = compiled.settings.escape;
        let cut = if compiled.stems.is_empty() { None } else { rest.find(escape) };
        let (now, later) = rest.split_at(cut.map_or(rest.len(), |at| at + escape.len_utf8()));
        let (direction, tokens) = (self.direction, &plan(compiled, self.direction).tokens);
        let mut begun = None;
        self.matcher.push(now, |found| match found {
            MatcherEvent::Marker { id, .. } if matches!(tokens[id], Token::Stem(_)) => {
                let Token::Stem(stem) = tokens[id] else { return };
                let word = compiled.stems[stem].words[0];
                begun = Some(EscapedWord { stem, level: 1, word, matched: 0 });
            }
            found => report(compiled, direction, found, on),
        });
        self.escaped = begun;
        if let (Some(word), Direction::Encode(_)) = (begun, direction) {
            // Encoding adds escapes after the stem, so that the stem is certain.
            word.release_stem(compiled, on);
        }
        later
    }

    /// Reads on in the open escaped word. Returns the text after it.
    fn follow<'t>(
        &mut self,
        compiled: &Compiled,
        rest: &'t str,
        on: &mut impl FnMut(Segment<'_>),
    ) -> &'t str {
        let Some(mut word) = self.escaped.take() else { return rest };
        for (at, c) in rest.char_indices() {
            self.followed += 1;
            if c == compiled.settings.escape && word.matched == 0 {
                match (self.direction, word.level) {
                    (Direction::Encode(_), _) | (Direction::Decode(_), 3) => {
                        on(Segment::text(c.encode_utf8(&mut [0; 4])));
                    }
                    (Direction::Decode(_), 2) => word.release_stem(compiled, on),
                    (Direction::Decode(_), _) => {}
                }
                word.level = 3.min(word.level + 1);
                continue;
            }
            let Some(grown) = word.grown(compiled, c) else {
                self.end_word(compiled, word, on);
                return &rest[at..];
            };
            word = grown;
            if let Some(complete) = word.complete(compiled)
                && !word.may_grow(compiled)
            {
                self.report_word(compiled, complete, on);
                return &rest[at + c.len_utf8()..];
            }
        }
        self.escaped = Some(word);
        ""
    }

    /// Reports a word that cannot grow: as a word if it is complete, as text otherwise.
    fn end_word(
        &mut self,
        compiled: &Compiled,
        word: EscapedWord,
        on: &mut impl FnMut(Segment<'_>),
    ) {
        match word.complete(compiled) {
            Some(complete) => self.report_word(compiled, complete, on),
            None => self.give_up(compiled, word, on),
        }
    }

    /// Reports a complete escaped word.
    fn report_word(
        &self,
        compiled: &Compiled,
        escaped: EscapedWord,
        on: &mut impl FnMut(Segment<'_>),
    ) {
        let word = &compiled.words[escaped.word];
        let rest = word.rest();
        if let Direction::Encode(_) = self.direction {
            let (consumed, text) = (rest.len(), &word.deeper);
            return on(Segment { consumed, text, kind: SegmentKind::Escaped });
        }
        let escape = compiled.settings.escape.len_utf8();
        if escaped.level == 3 {
            let consumed = 2 * escape + rest.len();
            return on(Segment { consumed, text: rest, kind: SegmentKind::Unescaped });
        }
        let lead = &compiled.stems[escaped.stem].lead;
        if lead.len() > word.point {
            on(Segment::text(&lead[..lead.len() - word.point]));
        }
        let consumed = word.text.len() + usize::from(escaped.level) * escape;
        if escaped.level == 1 {
            on(Segment { consumed, text: &word.text, kind: SegmentKind::Unescaped });
        } else {
            let text = &compiled.pairs[word.entry].canonical;
            on(Segment { consumed, text, kind: SegmentKind::Unquoted });
        }
    }

    /// Reports the beginning of a word that did not become one as text, and searches the rest.
    fn give_up(
        &mut self,
        compiled: &Compiled,
        word: EscapedWord,
        on: &mut impl FnMut(Segment<'_>),
    ) {
        if matches!(self.direction, Direction::Decode(_)) {
            let mut buffer = [0; 4];
            let escape = &*compiled.settings.escape.encode_utf8(&mut buffer);
            if word.level < 3 {
                word.release_stem(compiled, on);
            } else {
                on(Segment::text(escape));
            }
            if word.level > 1 {
                on(Segment::text(escape));
            }
        }
        if word.matched > 0 {
            // The text has no escape character, so one search consumes it.
            self.search(compiled, word.text_read(compiled), on);
        }
    }
}

/// Returns the search plan of a direction.
fn plan(compiled: &Compiled, direction: Direction) -> &Plan {
    match direction {
        Direction::Encode(_) => &compiled.encode,
        Direction::Decode(_) => &compiled.decode,
    }
}

/// Reports a finding of the matcher.
fn report(
    compiled: &Compiled,
    direction: Direction,
    found: MatcherEvent<'_>,
    on: &mut impl FnMut(Segment<'_>),
) {
    let (id, text) = match found {
        MatcherEvent::Text(text) => return on(Segment::text(text)),
        MatcherEvent::Marker { id, text } => (id, text),
    };
    let consumed = text.len();
    let (text, kind) = match (plan(compiled, direction).tokens[id], direction) {
        (Token::Canonical(entry), Direction::Encode(Quoting::Protocol)) => {
            (&*compiled.pairs[entry].wire, SegmentKind::Encoded)
        }
        (Token::Canonical(entry), _) => (&*compiled.quoted[entry], SegmentKind::Encoded),
        (Token::Word(word), Direction::Encode(_)) => {
            (&*compiled.words[word].literal, SegmentKind::Escaped)
        }
        (Token::Word(word), Direction::Decode(Syntax::Json))
            if compiled.words[word].is_truncated() =>
        {
            (text, SegmentKind::Text)
        }
        (Token::Word(word), Direction::Decode(_)) => (text, SegmentKind::Word(word)),
        (Token::Stem(_), _) => (text, SegmentKind::Text),
    };
    on(Segment { consumed, text, kind });
}
