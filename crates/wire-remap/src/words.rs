//! The words a table knows, and the two search plans compiled from them.

use alloc::{string::String, vec::Vec};

use jail_match::Matcher;

use crate::{
    error::{Problem, TableError},
    pair::{Mode, Pair, Settings},
    rules, spelling,
    word::{Word, WordKind, is_escapable, words_of},
};

/// What a matcher id stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token {
    /// The canonical marker of a pair.
    Canonical(usize),
    /// A word.
    Word(usize),
    /// The beginning of an escaped word: its lead and one escape.
    Stem(usize),
}

/// The beginning of escaped words.
#[derive(Debug, Clone)]
pub(crate) struct Stem {
    /// The lead, without the escape.
    pub(crate) lead: String,
    /// The words that may follow: those whose lead ends this one.
    pub(crate) words: Vec<usize>,
}

/// What one direction searches for.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) matcher: Matcher,
    pub(crate) tokens: Vec<Token>,
}

/// Everything derived from a table's pairs.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) settings: Settings,
    pub(crate) version: u64,
    pub(crate) words: Vec<Word>,
    pub(crate) stems: Vec<Stem>,
    /// By pair: the canonical marker quoted for the wire (two escapes).
    pub(crate) quoted: Vec<String>,
    pub(crate) encode: Plan,
    pub(crate) decode: Plan,
    /// Canonical markers only; ids are pairs.
    pub(crate) canonical: Matcher,
    /// The most bytes either direction holds back.
    pub(crate) max_held: usize,
}

impl Compiled {
    #[expect(
        clippy::indexing_slicing,
        reason = "words, pairs and stems are told by the places they were given in this function"
    )]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of markers and of two escapes, from the caller's table in memory"
    )]
    pub(crate) fn new(
        pairs: Vec<Pair>,
        settings: Settings,
        version: u64,
    ) -> Result<Self, TableError> {
        let mut words = Vec::new();
        for (entry, pair) in pairs.iter().enumerate() {
            words.extend(words_of(entry, pair, &settings)?);
        }
        rules::check(&words)?;
        if settings.mode == Mode::Exact
            && let Some(word) = words.iter().find(|word| word.text.contains(settings.escape))
        {
            let problem = Problem::HoldsEscape(settings.escape);
            return Err(TableError { entry: word.entry, marker: word.text.clone(), problem });
        }
        words.retain(|word| word.kind != WordKind::Canonical);
        let escapable: Vec<usize> = if settings.mode == Mode::Exact {
            (0..words.len()).filter(|&w| is_escapable(words[w].kind, &settings)).collect()
        } else {
            Vec::new()
        };
        let stems = stems(&words, &escapable);
        let quoted = (0..pairs.len())
            .map(|entry| {
                let wire = &pairs[entry].wire;
                let point = spelling::escape_point(wire).unwrap_or(0);
                spelling::escaped(wire, point, settings.escape, 2)
            })
            .collect();
        let stem_text = |stem: &Stem| {
            let mut text = stem.lead.clone();
            text.push(settings.escape);
            text
        };
        let mut out = (Vec::new(), Vec::new());
        for (entry, pair) in pairs.iter().enumerate() {
            out.0.push(pair.canonical.clone());
            out.1.push(Token::Canonical(entry));
        }
        let canonical = Matcher::new(&out.0);
        for &word in &escapable {
            out.0.push(words[word].text.clone());
            out.1.push(Token::Word(word));
        }
        let mut back = (Vec::new(), Vec::new());
        for (id, word) in words.iter().enumerate() {
            back.0.push(word.text.clone());
            back.1.push(Token::Word(id));
        }
        for (id, stem) in stems.iter().enumerate() {
            for way in [&mut out, &mut back] {
                way.0.push(stem_text(stem));
                way.1.push(Token::Stem(id));
            }
        }
        let longest = out.0.iter().chain(&back.0).map(String::len).max().unwrap_or(0);
        let escapes = if escapable.is_empty() { 0 } else { 2 * settings.escape.len_utf8() };
        let plan =
            |way: (Vec<String>, Vec<Token>)| Plan { matcher: Matcher::new(&way.0), tokens: way.1 };
        Ok(Self {
            pairs,
            version,
            stems,
            quoted,
            encode: plan(out),
            decode: plan(back),
            canonical,
            max_held: (longest + escapes).saturating_sub(1),
            words,
            settings,
        })
    }
}

#[expect(clippy::indexing_slicing, reason = "the escapable words are places in `words`")]
fn stems(words: &[Word], escapable: &[usize]) -> Vec<Stem> {
    let lead = |word: usize| &words[word].text[..words[word].point];
    let mut stems: Vec<Stem> = Vec::new();
    for &word in escapable {
        if stems.iter().all(|stem| stem.lead != lead(word)) {
            let fits = |&other: &usize| lead(word).ends_with(lead(other));
            let words = escapable.iter().copied().filter(fits).collect();
            stems.push(Stem { lead: lead(word).into(), words });
        }
    }
    stems
}
