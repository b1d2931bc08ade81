//! Exhaustive tests of short inputs: all sequences of a few tokens of a family give equal records
//! at all cuts.
//!
//! `SMALL_SCOPE=5` sets the length of sequences (default 3; 5 takes an hour of processor time).
//! `FAMILY=hermes` selects one family.

use stream_laws::{Cut, RunRecord, StreamMachine, check_grammar, difference, run};
use toolcall_parsers::{Grammar, Whitespace, families, grammar};

use crate::support::{
    ParserMachine,
    families::{end_tags, sorted, tags, texts},
};

/// The default number of tokens in a sequence.
const LENGTH: usize = 3;

/// Sequences of up to this number of tokens are cut at every position. Longer ones are cut at one
/// position.
const EVERYWHERE: usize = 2;

/// The maximum number of markers in an alphabet.
const MARKERS: usize = 7;

/// Number of tests. Each checks a share of the families.
const SHARDS: usize = 8;

/// Returns the tokens of a family: its markers, halves of its openers, and ordinary characters.
pub(crate) fn alphabet(grammar: &Grammar) -> Vec<String> {
    let family = grammar.family();
    let letter = |text: &String| text.len() == 1 && text.as_bytes()[0].is_ascii_alphabetic();
    let mut openers = sorted(grammar.openers().map(String::from).collect());
    openers.retain(|opener| !letter(opener) || opener == "f");
    let whole = texts(family);
    let inner = whole.iter().flat_map(|text| tags(text)).map(String::from);
    let mut markers: Vec<String> = openers.clone();
    markers.extend(end_tags(family));
    markers.extend(inner);
    let mut alphabet: Vec<String> = Vec::new();
    for marker in markers {
        if !marker.is_empty() && !alphabet.contains(&marker) && alphabet.len() < MARKERS {
            alphabet.push(marker);
        }
    }
    for opener in openers.iter().take(2) {
        let scalars = opener.chars().count();
        alphabet.push(opener.chars().take(scalars.div_ceil(2)).collect());
        alphabet.push(opener.chars().skip(scalars.div_ceil(2)).collect());
    }
    let foreign = if grammar.name() == "hermes" { "[TOOL_CALLS]" } else { "<tool_call>" };
    let others =
        ["f", "{", "}", "\"", "'", "\n", " ", "[", foreign, "\"name\": \"f\", \"arguments\": "];
    alphabet.extend(others.map(String::from));
    let mut seen = Vec::new();
    alphabet.retain(|token| {
        let new = !token.is_empty() && !seen.contains(token);
        seen.push(token.clone());
        new
    });
    alphabet
}

/// A machine that has read a prefix, and its record so far.
type Walked = (ParserMachine, RunRecord);

struct Walk<'a> {
    fresh: &'a ParserMachine,
    alphabet: &'a [String],
    length: usize,
    sequences: u64,
}

impl Walk<'_> {
    /// Checks all continuations of `text`. `by_token` has read it token by token, and `by_scalar`
    /// character by character.
    fn go(&mut self, text: &mut String, depth: usize, by_token: &Walked, by_scalar: &Walked) {
        if depth == self.length {
            return;
        }
        for token in self.alphabet {
            let before = text.len();
            text.push_str(token);
            let (mut tokens, mut scalars) = (by_token.clone(), by_scalar.clone());
            tokens.0.push(token, &mut tokens.1);
            for piece in Cut::EachScalar.pieces(token) {
                scalars.0.push(piece, &mut scalars.1);
            }
            self.judge(text, depth + 1, &tokens, &scalars);
            self.go(text, depth + 1, &tokens, &scalars);
            text.truncate(before);
        }
    }

    fn judge(&mut self, text: &str, depth: usize, tokens: &Walked, scalars: &Walked) {
        self.sequences += 1;
        let whole = run(self.fresh, text, Cut::Whole).coalesced().expect("no empty text");
        let same = |how: &str, record: RunRecord| {
            let record = record.coalesced().expect("no empty text");
            if let Some(detail) = difference(&whole, &record) {
                panic!("{text:?} {how}: {detail}");
            }
        };
        let finished = |(machine, record): &Walked| {
            let (mut machine, mut record) = (machine.clone(), record.clone());
            machine.finish(&mut record);
            record
        };
        same("in tokens", finished(tokens));
        same("in scalars", finished(scalars));
        // Another position for each sequence.
        let one = 1 + (self.sequences as usize * 7) % text.len();
        let places =
            if depth <= EVERYWHERE { 1..text.len() } else { one..(one + 1).min(text.len()) };
        for at in places.filter(|&at| text.is_char_boundary(at)) {
            same(&format!("cut at {at}"), run(self.fresh, text, Cut::TwoWay { at }));
        }
        check_grammar(&whole.events).unwrap_or_else(|fault| panic!("{text:?}: {fault}"));
    }
}

/// Checks all sequences of a family, and returns their number.
fn exhaust(grammar: &Grammar, length: usize) -> u64 {
    let alphabet = alphabet(grammar);
    let fresh = ParserMachine::new(grammar.clone(), Whitespace::Framing);
    let start = (fresh.clone(), RunRecord::default());
    let mut walk = Walk { fresh: &fresh, alphabet: &alphabet, length, sequences: 0 };
    walk.go(&mut String::new(), 0, &start, &start);
    walk.sequences
}

fn families_of(shard: usize) {
    let length = std::env::var("SMALL_SCOPE").ok().and_then(|length| length.parse().ok());
    let length = length.unwrap_or(LENGTH);
    let only = std::env::var("FAMILY").ok();
    let names = families().map(|summary| summary.name).skip(shard).step_by(SHARDS);
    for name in names.filter(|name| only.as_deref().is_none_or(|only| only == *name)) {
        let grammar = grammar(name).expect("a registered family");
        let sequences = exhaust(&grammar, length);
        println!("{name}: {sequences} sequences of up to {length} tokens");
        assert!(sequences > 0);
    }
}

macro_rules! short_token_sequences_are_chunk_invariant {
    ($($shard:ident $n:literal),*) => {
        $(
            #[test]
            fn $shard() {
                families_of($n);
            }
        )*
    };
}

mod short_token_sequences_are_chunk_invariant {
    use super::families_of;

    short_token_sequences_are_chunk_invariant!(
        shard_1 0, shard_2 1, shard_3 2, shard_4 3, shard_5 4, shard_6 5, shard_7 6, shard_8 7
    );
}
