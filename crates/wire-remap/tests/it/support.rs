//! Checks, fragments of markers, and a second, simple implementation.

use proptest::prelude::*;
use wire_remap::{DecodedPiece, RemapTable, StreamDecoder, StreamEncoder};

/// Pieces of markers, of escapes, and of text around them.
pub(crate) const FRAGMENTS: &[&str] = &[
    "<",
    ">",
    "</",
    "/",
    "[",
    "]",
    "[[",
    "]]",
    "~",
    "~~",
    "~~~",
    "CALL",
    "/CALL",
    "CALLER",
    "TOOL",
    "call",
    "Call",
    "tool",
    "_call>",
    "tool_call>",
    "toolcall",
    "<tool_call>",
    "</tool_call>",
    "<toolcall>",
    "</toolcall>",
    "[[CALL]]",
    "[[/CALL]]",
    "[[TOOLCALL]]",
    "[[/TOOLCALL]]",
    "[[~CALL]]",
    "[[/~CALL]]",
    "[[~~CALL]]",
    "[[~~~TOOLCALL]]",
    "[[CALL]",
    "[CALL]]",
    "[[CALL",
    "[[~",
    "[[/~",
    "[[call]]",
    "[[ CALL ]]",
    "[[ /CALL ]]",
    "\n",
    " ",
    "x",
    "é",
    "◁",
    "`",
    "```",
    "\"",
    "\\",
    "{\"a\":1}",
];

pub(crate) fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(FRAGMENTS), 0..14).prop_map(|parts| parts.concat())
}

/// Returns whether `decode` undoes `encode` and no canonical marker is left on the wire.
pub(crate) fn check_exact(
    text: &str,
    reserved: &[&str],
    encode: impl Fn(&str) -> String,
    decode: impl Fn(&str) -> String,
) -> Result<(), String> {
    let wire = encode(text);
    if let Some(marker) = reserved.iter().find(|marker| wire.contains(**marker)) {
        return Err(format!("{text:?} -> {wire:?} holds {marker:?}"));
    }
    let back = decode(&wire);
    if back != text {
        return Err(format!("{text:?} -> {wire:?} -> {back:?}"));
    }
    let again = encode(&back);
    if again != wire {
        return Err(format!("{wire:?} -> {back:?} -> {again:?}"));
    }
    Ok(())
}

pub(crate) fn reserved(table: &RemapTable) -> Vec<&str> {
    table.pairs().iter().map(|pair| pair.canonical()).collect()
}

/// A streaming machine from text to text.
pub(crate) trait Machine: Clone {
    fn push(&mut self, chunk: &str, out: &mut String);
    fn finish(&mut self, out: &mut String);
}

impl Machine for StreamEncoder {
    fn push(&mut self, chunk: &str, out: &mut String) {
        Self::push(self, chunk, out);
    }
    fn finish(&mut self, out: &mut String) {
        Self::finish(self, out);
    }
}

impl Machine for StreamDecoder {
    fn push(&mut self, chunk: &str, out: &mut String) {
        self.push_str(chunk, out);
    }
    fn finish(&mut self, out: &mut String) {
        self.finish_str(out);
    }
}

pub(crate) fn run<'c>(new: &impl Machine, chunks: impl IntoIterator<Item = &'c str>) -> String {
    let (mut machine, mut out) = (new.clone(), String::new());
    for chunk in chunks {
        machine.push(chunk, &mut out);
    }
    machine.finish(&mut out);
    out
}

/// Returns whether the output is the same at every two-way cut and one scalar at a time.
pub(crate) fn check_cuts(new: &impl Machine, text: &str, whole: &str) -> Result<(), String> {
    let wrong = |how: &str, out: String| {
        if out == whole { Ok(()) } else { Err(format!("{text:?} {how}: {out:?}, not {whole:?}")) }
    };
    for (at, _) in text.char_indices() {
        wrong(&format!("cut at {at}"), run(new, [&text[..at], &text[at..]]))?;
    }
    let mut scalars = Vec::new();
    for (at, c) in text.char_indices() {
        scalars.push(&text[at..at + c.len_utf8()]);
    }
    wrong("by scalars", run(new, scalars))
}

/// Returns a piece in words, neighbouring texts joined.
pub(crate) fn pieces<'c>(
    new: &StreamDecoder,
    chunks: impl IntoIterator<Item = &'c str>,
) -> Vec<String> {
    let mut decoder = new.clone();
    let mut seen: Vec<String> = Vec::new();
    let mut on = |piece: DecodedPiece<'_>| match piece {
        DecodedPiece::Text(text) => match seen.last_mut() {
            Some(last) if last.starts_with("text ") => last.push_str(text),
            _ => seen.push(format!("text {text}")),
        },
        DecodedPiece::Literal(text) => seen.push(format!("literal {text}")),
        DecodedPiece::Marker(m) => {
            let counts = if m.counts { "" } else { " as text" };
            seen.push(format!("{:?} {:?} {}{counts}", m.form, m.place, m.text));
        }
        DecodedPiece::Suspect(s) => seen.push(format!("suspect {:?} {}", s.form, s.text)),
        _ => unreachable!("a new kind of piece"),
    };
    for chunk in chunks {
        decoder.push(chunk, &mut on);
    }
    decoder.finish(&mut on);
    seen
}

/// A second implementation of the default remap, by brute force: at each position it takes the
/// longest spelling that matches.
pub(crate) struct Naive;

const PAIRS: &[(&str, &str, &str)] = &[
    ("<tool_call>", "[[", "CALL]]"),
    ("</tool_call>", "[[/", "CALL]]"),
    ("<toolcall>", "[[", "TOOLCALL]]"),
    ("</toolcall>", "[[/", "TOOLCALL]]"),
];

impl Naive {
    pub(crate) fn encode(text: &str) -> String {
        Self::rewrite(text, |rest| {
            for (canonical, lead, core) in PAIRS {
                if let Some(rest) = rest.strip_prefix(canonical) {
                    return Some((format!("{lead}{core}"), rest));
                }
            }
            let (lead, core, level, rest) = Self::word(rest)?;
            let level = if level == 0 { 1 } else { level + 2 };
            Some((format!("{lead}{}{core}", "~".repeat(level)), rest))
        })
    }

    pub(crate) fn decode(text: &str) -> String {
        Self::rewrite(text, |rest| {
            let (lead, core, level, rest) = Self::word(rest)?;
            let canonical = PAIRS.iter().find(|(_, l, c)| *l == lead && *c == core)?.0;
            let out = match level {
                0 | 2 => canonical.to_string(),
                1 => format!("{lead}{core}"),
                n => format!("{lead}{}{core}", "~".repeat(n - 2)),
            };
            Some((out, rest))
        })
    }

    fn word(rest: &str) -> Option<(&'static str, &'static str, usize, &str)> {
        PAIRS.iter().find_map(|(_, lead, core)| {
            let after = rest.strip_prefix(lead)?;
            let bare = after.trim_start_matches('~');
            Some((*lead, *core, after.len() - bare.len(), bare.strip_prefix(core)?))
        })
    }

    fn rewrite(mut text: &str, step: impl Fn(&str) -> Option<(String, &str)>) -> String {
        let mut out = String::new();
        while let Some(c) = text.chars().next() {
            match step(text) {
                Some((piece, rest)) => {
                    out.push_str(&piece);
                    text = rest;
                }
                None => {
                    out.push(c);
                    text = &text[c.len_utf8()..];
                }
            }
        }
        out
    }
}
