//! Long runs of one character, after every kind of position in a family's calls.

use toolcall_parsers::{EncodeCall, Grammar, Tools, encode};

use super::{
    families::{sorted, ways},
    inputs::Endless,
};

/// Characters with a meaning in some family.
const SIGNS: [&str; 17] =
    ["\n", " ", "x", "{", "}", "[", "]", "(", ")", "\"", "'", "\\", "<", ">", "`", "|", ","];

/// The maximum number of positions in a call's wire after which a run begins.
const PLACES: usize = 12;

/// Returns runs of each sign and of the first character of each marker, after each of [`heads`].
pub(crate) fn runs(grammar: &Grammar) -> Vec<Endless> {
    let firsts = grammar.markers().filter_map(|marker| marker.chars().next());
    let units = SIGNS.map(String::from).into_iter().chain(firsts.map(String::from));
    let units = sorted(units.collect());
    let after = |head: &String| {
        let run = |unit: &String| Endless { head: head.clone(), unit: unit.clone() };
        units.iter().map(run).collect::<Vec<_>>()
    };
    heads(grammar).iter().flat_map(after).collect()
}

/// Returns runs of common characters, at the start and after each opener.
pub(crate) fn common_runs(grammar: &Grammar) -> Vec<Endless> {
    let after = |head: String| {
        ["\n", " ", "x"].map(|unit| Endless { head: head.clone(), unit: unit.to_owned() })
    };
    sorted(openers(grammar)).into_iter().flat_map(after).collect()
}

/// Returns the empty text, each opener, and prefixes of calls in each way to write them.
fn heads(grammar: &Grammar) -> Vec<String> {
    let mut heads = openers(grammar);
    for way in ways(grammar) {
        let call = EncodeCall::new("f", "{\"a\": \"x\"}");
        let Ok(wire) = encode(&way, &[call], &Tools::none()) else { continue };
        let places: Vec<usize> = wire.char_indices().map(|(at, _)| at).skip(1).collect();
        let some = places.iter().step_by(places.len().div_ceil(PLACES).max(1));
        heads.extend(some.map(|&at| wire[..at].to_owned()));
        heads.push(wire);
    }
    sorted(heads)
}

fn openers(grammar: &Grammar) -> Vec<String> {
    // If names are openers, every letter is one. A single letter represents all of them.
    let letter = |marker: &str| marker.len() == 1 && marker.as_bytes()[0].is_ascii_alphabetic();
    let openers = grammar.openers().filter(|opener| !letter(opener) || *opener == "f");
    openers.map(String::from).chain([String::new()]).collect()
}
