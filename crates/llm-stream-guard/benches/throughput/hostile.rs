//! The slowest text anyone finds: a search over all profiles, after every place of a call.

use llm_stream_guard::{
    Guard, Profile, Tools,
    toolcall_parsers::{EncodeCall, encode},
};

use crate::{
    measure::{Collect, feed, seconds},
    text::pieces,
    works::{chosen, grammar, guard},
};

/// What is repeated.
const REPEATED: [&str; 12] = ["<", "</", "`", "[", "\n", "{", "\"", "\\", " ", "<|", "'", "<a>"];
/// Bytes of it.
const LEN: usize = 16 * 1024;
/// Bytes a chunk.
const CHUNK: usize = 4;

/// A text, and what a byte of it costs.
pub(crate) struct Cost {
    pub(crate) nanos: f64,
    pub(crate) profile: String,
    pub(crate) head: String,
    pub(crate) repeated: &'static str,
}

/// The highest costs, which are measured again: a pause of the machine can be longer than a
/// measurement.
const AGAIN: usize = 400;

/// The costs of all texts searched, the highest first.
pub(crate) fn search() -> Vec<Cost> {
    let profiles = chosen();
    let mut costs: Vec<_> = profiles.iter().flat_map(of_profile).collect();
    costs.sort_by(|a, b| b.nanos.total_cmp(&a.nanos));
    for Cost { nanos, profile, head, repeated } in costs.iter_mut().take(AGAIN) {
        let named = profiles.iter().find(|known| known.name == *profile);
        let again = named.map_or(f64::INFINITY, |known| cost(known, head, repeated));
        *nanos = nanos.min(again);
    }
    costs.sort_by(|a, b| b.nanos.total_cmp(&a.nanos));
    costs
}

/// Feeds `len` bytes of each text once, for tools that count what [`counted`] takes. Prints the
/// texts in that order, each with its bytes; only those whose line holds `wanted`.
pub(crate) fn feed_each(len: usize, wanted: &str) {
    for profile in chosen() {
        let heads = heads(&profile);
        let texts = heads.iter().flat_map(|head| REPEATED.map(|repeated| (head, repeated)));
        for (head, repeated) in texts {
            let text = repeated.repeat(len / repeated.len());
            let line = format!("{}\t{head:?}\t{repeated:?}\t{}", profile.name, text.len());
            if !line.contains(wanted) {
                continue;
            }
            let mut guard = guard(&profile);
            let mut out = Collect::room(len * 2);
            feed(&mut guard, &[head], &mut out);
            counted(&mut guard, &pieces(&text, CHUNK), &mut out);
            println!("{line}");
        }
    }
}

#[inline(never)]
fn counted(guard: &mut Guard, chunks: &[&str], out: &mut Collect) {
    feed(guard, chunks, out);
}

fn of_profile(profile: &Profile) -> Vec<Cost> {
    let heads = heads(profile);
    let mut costs = Vec::new();
    for head in heads {
        for repeated in REPEATED {
            let nanos = cost(profile, &head, repeated);
            costs.push(Cost { nanos, profile: profile.name.clone(), head: head.clone(), repeated });
        }
    }
    costs
}

/// What may stand in front: nothing, every opener, and a call up to each of its corners.
fn heads(profile: &Profile) -> Vec<String> {
    let mut heads = vec![String::new()];
    let Some(grammar) = grammar(profile) else { return heads };
    heads.extend(grammar.openers().map(str::to_owned));
    heads.extend(grammar.removed().map(str::to_owned));
    let call = EncodeCall::new("get_tide", r#"{"port":"Brest"}"#);
    if let Ok(wire) = encode(&grammar, &[call], &Tools::none()) {
        let corner = |&(_, c): &(usize, char)| !c.is_alphanumeric() && c != '_';
        heads.extend(
            wire.char_indices().filter(corner).map(|(at, c)| wire[..at + c.len_utf8()].to_owned()),
        );
        heads.push(wire);
    }
    heads.sort();
    heads.dedup();
    heads
}

fn cost(profile: &Profile, head: &str, repeated: &'static str) -> f64 {
    let text = repeated.repeat(LEN / repeated.len());
    let chunks = pieces(&text, CHUNK);
    let mut guard = guard(profile);
    let mut out = Collect::room(LEN * 2);
    let best = (0..3)
        .map(|_| {
            guard.reset();
            out.clear();
            feed(&mut guard, &[head], &mut out);
            seconds(|| feed(&mut guard, &chunks, &mut out))
        })
        .fold(f64::INFINITY, f64::min);
    best * 1e9 / text.len() as f64
}
