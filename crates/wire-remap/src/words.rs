//! The words of a table, compiled to one search plan per direction.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use jail_match::Matcher;

use crate::{
    pair::{MarkerPair, Settings},
    spelling,
    word::{Word, WordKind},
};

/// Meaning of a matcher's id.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token {
    /// The canonical marker of a pair, by the pair's index.
    Canonical(usize),
    /// A word, by its index.
    Word(usize),
    /// The beginning of escaped words: a lead and one escape, by the stem's index.
    Stem(usize),
}

/// The beginning of escaped words, such as `[[~` of `[[~CALL]]` and `[[~TOOLCALL]]`.
#[derive(Debug, Clone)]
pub(crate) struct Stem {
    /// The lead, without the escape.
    pub(crate) lead: String,
    /// Indices of the words that may follow. Their lead is an end of this one. Never empty.
    pub(crate) words: Vec<usize>,
}

/// The search of one direction.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) matcher: Matcher,
    /// Meaning of each id of the matcher.
    pub(crate) tokens: Vec<Token>,
    /// Length of the longest text searched for.
    longest: usize,
}

impl Plan {
    fn new(texts: Vec<(String, Token)>) -> Self {
        let (texts, tokens): (Vec<String>, _) = texts.into_iter().unzip();
        let longest = texts.iter().map(String::len).max().unwrap_or(0);
        Self { matcher: Matcher::new(&texts), tokens, longest }
    }
}

/// A table's pairs with everything derived from them.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) pairs: Vec<MarkerPair>,
    pub(crate) settings: Settings,
    pub(crate) version: u64,
    /// All words except canonical markers.
    pub(crate) words: Vec<Word>,
    pub(crate) stems: Vec<Stem>,
    /// For each pair, the canonical marker quoted for the wire (with two escapes).
    pub(crate) quoted: Vec<String>,
    pub(crate) encode: Plan,
    pub(crate) decode: Plan,
    /// A matcher of canonical markers only. Its ids are indices of pairs.
    pub(crate) canonical: Matcher,
    /// Maximum number of bytes a scan holds back.
    pub(crate) max_held: usize,
}

impl Compiled {
    /// Compiles pairs that [`rules::check`](crate::rules::check) accepted.
    pub(crate) fn new(pairs: Vec<MarkerPair>, settings: Settings, version: u64) -> Self {
        let mut words = Word::of_pairs(&pairs, &settings);
        words.retain(|word| word.kind != WordKind::Canonical);
        let escape = settings.escape;
        let stems = stems(&words, &settings);
        let stem_tokens = stems.iter().enumerate().map(|(id, stem)| {
            let mut text = stem.lead.clone();
            text.push(escape);
            (text, Token::Stem(id))
        });
        let literals = words.iter().enumerate().filter(|(_, word)| word.is_escapable(&settings));
        let canonical = pairs.iter().map(|pair| &*pair.canonical);
        let encode = (canonical.clone().map(String::from).zip((0..).map(Token::Canonical)))
            .chain(literals.map(|(id, word)| (word.text.clone(), Token::Word(id))))
            .chain(stem_tokens.clone());
        let decode = (words.iter().enumerate())
            .map(|(id, word)| (word.text.clone(), Token::Word(id)))
            .chain(stem_tokens);
        let quoted = pairs.iter().map(|pair| {
            let point = spelling::escape_point(&pair.wire).unwrap_or(0);
            spelling::escaped(&pair.wire, point, escape, 2)
        });
        let (encode, decode) = (Plan::new(encode.collect()), Plan::new(decode.collect()));
        let escapes = if stems.is_empty() { 0 } else { 2 * escape.len_utf8() };
        Self {
            version,
            quoted: quoted.collect(),
            canonical: Matcher::new(canonical),
            max_held: (encode.longest.max(decode.longest) + escapes).saturating_sub(1),
            encode,
            decode,
            stems,
            words,
            pairs,
            settings,
        }
    }
}

/// Returns the stems of the words that encoding escapes. Each lead occurs once.
fn stems(words: &[Word], settings: &Settings) -> Vec<Stem> {
    let lead = |word: &Word| word.text[..word.point].to_owned();
    let escapable = || words.iter().enumerate().filter(|(_, word)| word.is_escapable(settings));
    let mut stems: Vec<Stem> = Vec::new();
    for (_, word) in escapable() {
        let lead_here = lead(word);
        if stems.iter().all(|stem| stem.lead != lead_here) {
            let words = escapable().filter(|(_, other)| lead_here.ends_with(&lead(other)));
            stems.push(Stem { words: words.map(|(id, _)| id).collect(), lead: lead_here });
        }
    }
    stems
}
