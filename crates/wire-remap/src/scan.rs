//! The resumable scan behind both directions: finds markers and escaped words in a stream.
//!
//! On the wire a word with escapes after its lead has a *level*, their number:
//!
//! | level | `[[CALL]]` example | means |
//! |---|---|---|
//! | 0 | `[[CALL]]` | the canonical marker |
//! | 1 | `[[~CALL]]` | the literal text `[[CALL]]` |
//! | 2 | `[[~~CALL]]` | the literal text `<tool_call>`, not a marker |
//! | n >= 3 | `[[~~~CALL]]` | the literal text with n - 2 escapes |
//!
//! Encoding a literal word therefore maps level 0 to 1 and n >= 1 to n + 2. The matcher finds
//! words and *stems* (a lead and one escape); escapes and the rest of the word are followed here,
//! because their number has no bound. Chunks are cut after each escape character, so that a
//! stem, when found, ends the piece given to the matcher.

#![expect(
    clippy::indexing_slicing,
    reason = "a matcher's id is the place of its token, and tokens, stems and tails name words, \
              pairs and stems by the places they have in the `compiled` that they are of; every \
              stem has a word"
)]

use alloc::sync::Arc;

use jail_match::{Found, Matcher};

use crate::{
    bit::{Bit, Kind, Quoting, Syntax, Way},
    word::Word,
    words::{Compiled, Plan, Stem, Token},
};

/// A stem was found and what follows it is being read.
#[derive(Debug, Clone, Copy)]
struct Tail {
    stem: usize,
    /// Escapes seen; 3 means three or more.
    level: u8,
    /// A word whose rest begins with the `matched` bytes read after the escapes.
    word: usize,
    matched: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Scanner {
    compiled: Arc<Compiled>,
    way: Way,
    matcher: Matcher,
    tail: Option<Tail>,
    followed: u64,
}

impl Scanner {
    pub(crate) fn new(compiled: &Arc<Compiled>, way: Way) -> Self {
        let matcher = plan(compiled, way).matcher.clone();
        Self { compiled: Arc::clone(compiled), way, matcher, tail: None, followed: 0 }
    }

    pub(crate) fn reset(&mut self) {
        self.matcher.reset();
        self.tail = None;
        self.followed = 0;
    }

    /// Bytes received and not yet reported.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the bytes of a stem, three escapes and a word, all short: a table's caller \
                  wrote them"
    )]
    pub(crate) fn held(&self) -> usize {
        let Some(tail) = self.tail else { return self.matcher.held().len() };
        self.unreleased(&self.compiled, &tail) + tail.matched
    }

    /// Text at the end of the input that may yet become a word; `None` while an escaped word is
    /// being read.
    pub(crate) fn pending(&self) -> Option<&str> {
        self.tail.is_none().then(|| self.matcher.held())
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "both count steps over one stream with 64 bits"
    )]
    pub(crate) fn examined(&self) -> u64 {
        self.matcher.examined() + self.followed
    }

    pub(crate) fn push(&mut self, chunk: &str, on: &mut impl FnMut(Bit<'_>)) {
        let compiled = Arc::clone(&self.compiled);
        let mut rest = chunk;
        while !rest.is_empty() {
            rest = match self.tail {
                Some(tail) => self.follow(&compiled, tail, rest, on),
                None => self.search(&compiled, rest, on),
            };
        }
    }

    pub(crate) fn finish(&mut self, on: &mut impl FnMut(Bit<'_>)) {
        let compiled = Arc::clone(&self.compiled);
        if let Some(tail) = self.tail.take() {
            match complete(&compiled, &tail) {
                Some(word) => self.matched(&compiled, &tail, word, on),
                None => self.give_up(&compiled, tail, on),
            }
        }
        let way = self.way;
        self.matcher.finish(|found| found_bit(&compiled, way, found, on));
    }

    /// Gives the matcher the text up to the next escape; returns what is left.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`at` is where an escape was found in `rest`"
    )]
    fn search<'t>(
        &mut self,
        compiled: &Compiled,
        rest: &'t str,
        on: &mut impl FnMut(Bit<'_>),
    ) -> &'t str {
        let escape = compiled.settings.escape;
        let cut = if compiled.stems.is_empty() { None } else { rest.find(escape) };
        let (now, later) = rest.split_at(cut.map_or(rest.len(), |at| at + escape.len_utf8()));
        let (way, tokens) = (self.way, &plan(compiled, self.way).tokens);
        let mut begun = None;
        self.matcher.push(now, |found| match found {
            Found::Marker { id, .. } if matches!(tokens[id], Token::Stem(_)) => {
                let Token::Stem(stem) = tokens[id] else { return };
                let word = compiled.stems[stem].words[0];
                begun = Some(Tail { stem, level: 1, word, matched: 0 });
            }
            found => found_bit(compiled, way, found, on),
        });
        self.tail = begun;
        if let (Some(tail), Way::Encode(_)) = (begun, way) {
            // Encoding only ever adds after the escapes.
            release_stem(compiled, &tail, on);
        }
        later
    }

    /// Reads on after a stem; returns what is left.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`followed` counts the characters of a stream with 64 bits; a level is at most \
                  3; `matched` and `at` are lengths of parts of a word and of `rest`"
    )]
    fn follow<'t>(
        &mut self,
        compiled: &Compiled,
        mut tail: Tail,
        rest: &'t str,
        on: &mut impl FnMut(Bit<'_>),
    ) -> &'t str {
        let escape = compiled.settings.escape;
        let stem = &compiled.stems[tail.stem];
        for (at, c) in rest.char_indices() {
            self.followed += 1;
            if c == escape && tail.matched == 0 {
                let mut buffer = [0; 4];
                let escape = &*escape.encode_utf8(&mut buffer);
                match (self.way, tail.level) {
                    (Way::Encode(_), _) | (Way::Decode(_), 3) => on(Bit::text(escape)),
                    (Way::Decode(_), 2) => release_stem(compiled, &tail, on),
                    (Way::Decode(_), _) => {}
                }
                tail.level = 3.min(tail.level + 1);
                continue;
            }
            match next_word(&compiled.words, stem, &tail, c) {
                Some(word) => {
                    tail.word = word;
                    tail.matched += c.len_utf8();
                }
                None => {
                    self.tail = None;
                    match complete(compiled, &tail) {
                        Some(word) => self.matched(compiled, &tail, word, on),
                        None => self.give_up(compiled, tail, on),
                    }
                    return &rest[at..];
                }
            }
            if let Some(word) = complete(compiled, &tail)
                && !may_grow(&compiled.words, stem, &tail)
            {
                self.tail = None;
                self.matched(compiled, &tail, word, on);
                return &rest[at + c.len_utf8()..];
            }
        }
        self.tail = Some(tail);
        ""
    }

    /// Reports an escaped word that was read to its end.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of words and of at most three escapes, from the table; the lead's is \
                  compared before it is subtracted from"
    )]
    fn matched(&self, compiled: &Compiled, tail: &Tail, word: usize, on: &mut impl FnMut(Bit<'_>)) {
        let word = &compiled.words[word];
        let rest = word.rest();
        let escape = compiled.settings.escape.len_utf8();
        if let Way::Encode(quoting) = self.way {
            let deeper = Bit { consumed: rest.len(), text: &word.deeper, kind: Kind::Escaped };
            on(if quoting == Quoting::Swap { Bit::text(rest) } else { deeper });
            return;
        }
        if tail.level == 3 {
            on(Bit { consumed: 2 * escape + rest.len(), text: rest, kind: Kind::Unescaped });
            return;
        }
        let lead = &compiled.stems[tail.stem].lead;
        if lead.len() > word.point {
            on(Bit::text(&lead[..lead.len() - word.point]));
        }
        let consumed = word.text.len() + usize::from(tail.level) * escape;
        if tail.level == 1 {
            on(Bit { consumed, text: &word.text, kind: Kind::Unescaped });
        } else {
            let text = &compiled.pairs[word.entry].canonical;
            on(Bit { consumed, text, kind: Kind::Unquoted });
        }
    }

    /// It was no escaped word: its beginning is text, and the rest is searched again.
    fn give_up(&mut self, compiled: &Compiled, tail: Tail, on: &mut impl FnMut(Bit<'_>)) {
        if matches!(self.way, Way::Decode(_)) {
            let mut buffer = [0; 4];
            let escape = &*compiled.settings.escape.encode_utf8(&mut buffer);
            match tail.level {
                1 => release_stem(compiled, &tail, on),
                2 => {
                    release_stem(compiled, &tail, on);
                    on(Bit::text(escape));
                }
                _ => {
                    on(Bit::text(escape));
                    on(Bit::text(escape));
                }
            }
        }
        if tail.matched > 0 {
            // Holds no escape, so it is consumed in one step.
            self.search(compiled, &compiled.words[tail.word].rest()[..tail.matched], on);
        }
    }

    /// Bytes of lead and escapes not yet reported.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the length of a lead and of at most three escapes, from the table"
    )]
    fn unreleased(&self, compiled: &Compiled, tail: &Tail) -> usize {
        let escape = compiled.settings.escape.len_utf8();
        match (self.way, tail.level) {
            (Way::Encode(_), _) => 0,
            (Way::Decode(_), 3) => 2 * escape,
            (Way::Decode(_), n) => compiled.stems[tail.stem].lead.len() + usize::from(n) * escape,
        }
    }
}

fn plan(compiled: &Compiled, way: Way) -> &Plan {
    if matches!(way, Way::Decode(_)) { &compiled.decode } else { &compiled.encode }
}

/// Reports a stem as text: its lead and one escape.
fn release_stem(compiled: &Compiled, tail: &Tail, on: &mut impl FnMut(Bit<'_>)) {
    on(Bit::text(&compiled.stems[tail.stem].lead));
    on(Bit::text(compiled.settings.escape.encode_utf8(&mut [0; 4])));
}

fn found_bit(compiled: &Compiled, way: Way, found: Found<'_>, on: &mut impl FnMut(Bit<'_>)) {
    let (id, text) = match found {
        Found::Text(text) => return on(Bit::text(text)),
        Found::Marker { id, text } => (id, text),
    };
    let consumed = text.len();
    match (plan(compiled, way).tokens[id], way) {
        (Token::Canonical(entry), Way::Encode(Quoting::Protocol | Quoting::Swap)) => {
            on(Bit { consumed, text: &compiled.pairs[entry].wire, kind: Kind::Encoded });
        }
        (Token::Canonical(entry), _) => {
            on(Bit { consumed, text: &compiled.quoted[entry], kind: Kind::Encoded });
        }
        (Token::Word(_), Way::Encode(Quoting::Swap)) => on(Bit::text(text)),
        (Token::Word(word), Way::Encode(_)) => {
            let text = &compiled.words[word].literal;
            on(Bit { consumed, text, kind: Kind::Escaped });
        }
        (Token::Word(word), Way::Decode(Syntax::Json)) if compiled.words[word].is_truncated() => {
            on(Bit::text(text));
        }
        (Token::Word(word), Way::Decode(_)) => on(Bit { consumed, text, kind: Kind::Word(word) }),
        (Token::Stem(_), _) => on(Bit::text(text)),
    }
}

/// A word of the stem whose rest begins with what was read and then `c`.
fn next_word(words: &[Word], stem: &Stem, tail: &Tail, c: char) -> Option<usize> {
    let read = &words[tail.word].rest()[..tail.matched];
    stem.words
        .iter()
        .copied()
        .find(|&w| words[w].rest().strip_prefix(read).is_some_and(|rest| rest.starts_with(c)))
}

/// The word whose rest is exactly what was read.
fn complete(compiled: &Compiled, tail: &Tail) -> Option<usize> {
    let read = &compiled.words[tail.word].rest()[..tail.matched];
    let mut words = compiled.stems[tail.stem].words.iter().copied();
    words.find(|&w| compiled.words[w].rest() == read)
}

/// Whether a word goes on after what was read.
fn may_grow(words: &[Word], stem: &Stem, tail: &Tail) -> bool {
    let read = &words[tail.word].rest()[..tail.matched];
    stem.words
        .iter()
        .any(|&w| words[w].rest().len() > read.len() && words[w].rest().starts_with(read))
}
