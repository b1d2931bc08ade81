//! The vectors as cases for any parser. All parsers get the same cuts.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::{ParserName, Reads};

/// The folders of vectors: calls alone, reasoning alone, and both.
const FOLDERS: [&str; 3] = ["tools", "reasoning", "profiles"];

/// The kinds of vectors that have a text and a message. Others, such as those of response templates,
/// are left out.
const KINDS: [&str; 3] = ["tools", "reasoning", "both"];

/// The maximum length of a tag that stays whole, in characters.
const TAG_LENGTH: usize = 48;

/// The maximum length of a piece of a random cut, in tokens or characters.
const PIECE_LENGTH: u64 = 9;

/// Words in the ids of cases in which markup is quoted, mentioned, or part of a value.
const QUOTED: [&str; 11] = [
    "quoted",
    "prose",
    "mention",
    "fence",
    "marker-in",
    "marker_in",
    "markup-in",
    "think-in-value",
    "closer-in",
    "not-a-call",
    "not_a_call",
];

/// The runs of a case, by their place in [`Vector::runs`].
pub(super) mod run {
    /// The whole text, for a function that reads whole texts.
    pub(crate) const WHOLE: usize = 0;
    /// A stream of tokens: a tag is one piece, and so is every other character.
    pub(crate) const TOKENS: usize = 2;
    /// The first stream that cuts tags. The streams from [`TOKENS`] to this one keep tags whole,
    /// and have several pieces.
    pub(crate) const CUT_TAGS: usize = 5;
}

/// A vector with the data that a runner needs to feed it to a parser.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Vector {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) family: String,
    #[serde(default)]
    pub(super) whitespace: Option<String>,
    #[serde(default)]
    pub(super) start: Option<String>,
    #[serde(default)]
    pub(super) finish: Option<String>,
    #[serde(default)]
    pub(super) tools: Option<Value>,
    #[serde(default)]
    pub(super) wire: String,
    #[serde(default, skip_serializing)]
    pub(super) expect: Expected,
    #[serde(default, skip_serializing)]
    options: Option<Value>,
    #[serde(default, skip_serializing)]
    policy: Option<String>,
    /// The tools for parsers that read only calls of declared tools: those of the case, or else
    /// tools with the names that it calls.
    #[serde(default)]
    declared: Value,
    /// The names of parsers of the family, by engine.
    #[serde(default)]
    names: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) runs: Vec<Vec<String>>,
}

/// The expectation of a vector.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Expected {
    #[serde(default)]
    pub(super) content: Option<String>,
    #[serde(default)]
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) calls: Option<Vec<ExpectedCall>>,
    #[serde(default)]
    pub(super) incomplete: Option<ExpectedCall>,
}

/// A call in the text. A cut call may have no arguments.
#[derive(Debug, Deserialize)]
pub(super) struct ExpectedCall {
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

impl Vector {
    pub(super) fn reads_calls(&self) -> bool {
        self.reads() != Reads::Reasoning
    }

    fn reads(&self) -> Reads {
        match self.kind.as_str() {
            "tools" => Reads::Calls,
            "both" => Reads::Both,
            _ => Reads::Reasoning,
        }
    }

    /// Returns whether the answer was cut or has a malformed call. Parsers differ by intent there.
    pub(super) fn is_cut(&self) -> bool {
        self.finish.as_deref() == Some("length") || self.expect.incomplete.is_some()
    }

    /// Returns whether the expectation is a decision of this project that others need not share.
    pub(super) fn is_decided(&self) -> bool {
        self.policy.is_some()
    }

    pub(super) fn is_quoted(&self) -> bool {
        QUOTED.iter().any(|word| self.id.contains(word)) && !self.is_cut()
    }

    fn declare(&mut self) {
        if let Some(tools) = &self.tools {
            self.declared = tools.clone();
            return;
        }
        let calls = self.expect.calls.iter().flatten().chain(&self.expect.incomplete);
        let mut names: Vec<&str> = calls.map(|call| call.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            names.push("noop");
        }
        let tool = |name: &&str| {
            let parameters = json!({"type": "object", "properties": {}});
            json!({"type": "function", "function": {"name": name, "parameters": parameters}})
        };
        self.declared = names.iter().map(tool).collect();
    }

    fn cut(&mut self) {
        let seed =
            self.id.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(131) + u64::from(byte));
        let mut random = Lcg(seed);
        let tokens = tokens(&self.wire);
        let chars: Vec<&str> = self.wire.split("").filter(|one| !one.is_empty()).collect();
        let runs = [
            vec![self.wire.clone()],
            vec![self.wire.clone()],
            owned(&tokens),
            joined(&tokens, &mut random),
            joined(&tokens, &mut random),
            owned(&chars),
            joined(&chars, &mut random),
        ];
        self.runs = runs.into();
    }
}

fn owned(pieces: &[&str]) -> Vec<String> {
    pieces.iter().map(|&piece| piece.to_owned()).collect()
}

/// Joins neighbours to pieces of random length.
fn joined(pieces: &[&str], random: &mut Lcg) -> Vec<String> {
    let (mut out, mut rest) = (Vec::new(), pieces);
    while !rest.is_empty() {
        let length = usize::try_from(random.next(PIECE_LENGTH)).unwrap_or_default() + 1;
        let (piece, after) = rest.split_at(length.min(rest.len()));
        out.push(piece.concat());
        rest = after;
    }
    out
}

/// A linear congruential generator. The cuts must be the same in every run of the program.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Cuts text into characters, except that tags stay whole.
fn tokens(text: &str) -> Vec<&str> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = tag_length(rest).unwrap_or(first.len_utf8());
        let (token, after) = rest.split_at(length);
        out.push(token);
        rest = after;
    }
    out
}

/// Returns the length of the tag at the start of the text, `<name>` or `[NAME]`, in bytes.
fn tag_length(text: &str) -> Option<usize> {
    let capitals = text.starts_with('[');
    if !capitals && !text.starts_with('<') {
        return None;
    }
    let close = if capitals { ']' } else { '>' };
    let inside = |c: char| match capitals {
        true => c == '_' || c.is_ascii_uppercase(),
        false => c != '<' && !c.is_whitespace(),
    };
    let name = text.char_indices().skip(1).take(TAG_LENGTH);
    let (at, _) = name.take_while(|&(_, c)| c == close || inside(c)).find(|&(_, c)| c == close)?;
    (at > 1).then_some(at + close.len_utf8())
}

/// Reads the vectors of the project and of `further`, and prepares each for all parsers. Cases with
/// options of our library are left out, and so is a text that occurs again with another policy for
/// white space.
///
/// # Errors
/// Returns an error if a file cannot be read, or a line is not a vector.
pub(super) fn read(
    root: &Path,
    further: Option<&Path>,
    parsers: &[ParserName],
) -> Result<Vec<Vector>, String> {
    let mut out: Vec<Vector> = Vec::new();
    for vector in all(root, further)? {
        add(&mut out, vector, parsers);
    }
    Ok(out)
}

/// Reads the vectors of the project and of `further`, except those with options of our library.
///
/// # Errors
/// Returns an error if a file cannot be read, or a line is not a vector.
pub(super) fn all(root: &Path, further: Option<&Path>) -> Result<Vec<Vector>, String> {
    let mut out: Vec<Vector> = Vec::new();
    let own = root.join("families/vectors");
    let directories = FOLDERS.map(|folder| (folder, own.join(folder)));
    let further = further.map(|directory| ("further", directory.to_owned()));
    for (folder, directory) in directories.into_iter().chain(further) {
        let listed = fs::read_dir(&directory);
        let listed = listed.map_err(|error| format!("{}: {error}", directory.display()))?;
        let files = listed.filter_map(|file| Some(file.ok()?.path()));
        let mut files: Vec<_> =
            files.filter(|path| path.extension() == Some("jsonl".as_ref())).collect();
        files.sort();
        for file in files {
            let named = |error: String| format!("{}: {error}", file.display());
            let text = fs::read_to_string(&file).map_err(|error| named(error.to_string()))?;
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let read = |error: serde_json::Error| named(error.to_string());
                let value: Value = serde_json::from_str(line).map_err(read)?;
                if !value["kind"].as_str().is_some_and(|kind| KINDS.contains(&kind)) {
                    continue;
                }
                let mut vector: Vector = serde_json::from_value(value).map_err(read)?;
                // Ids are unique in a file only.
                let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                vector.id = format!("{folder}/{stem}:{}", vector.id);
                if vector.options.is_none() {
                    out.push(vector);
                }
            }
        }
    }
    Ok(out)
}

fn add(out: &mut Vec<Vector>, mut vector: Vector, parsers: &[ParserName]) {
    let same = |other: &Vector| {
        (&other.family, &other.kind, &other.wire, &other.start, &other.tools)
            == (&vector.family, &vector.kind, &vector.wire, &vector.start, &vector.tools)
    };
    if out.iter().any(same) {
        return;
    }
    vector.names = names_of(parsers, &vector.family, vector.reads());
    // Most parsers read one of the two.
    if vector.reads() == Reads::Both && vector.names.is_empty() {
        return;
    }
    vector.declare();
    vector.cut();
    out.push(vector);
}

/// Returns the names of parsers of a family, by engine.
pub(super) fn names_of(
    parsers: &[ParserName],
    family: &str,
    reads: Reads,
) -> BTreeMap<String, Vec<String>> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in parsers.iter().filter(|one| one.reads == reads) {
        if toolcall_parsers::same_name(&one.family, family) {
            names.entry(one.engine.clone()).or_default().push(one.name.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{Lcg, Vector, add, joined, tokens};
    use crate::families::{ParserName, Reads};

    #[test]
    fn vector_of_both_is_a_case_only_of_a_parser_of_both() {
        let line = r#"{"id": "a", "kind": "both", "family": "harmony", "wire": "x", "expect": {}}"#;
        let vector = || serde_json::from_str::<Vector>(line).unwrap();
        let parser = |reads| {
            let [engine, name, family] = ["e", "n", "harmony"].map(str::to_owned);
            ParserName { engine, name, family, reads }
        };
        for (reads, count) in [(Reads::Calls, 0), (Reads::Reasoning, 0), (Reads::Both, 1)] {
            let mut cases = Vec::new();
            add(&mut cases, vector(), &[parser(reads)]);
            assert_eq!(cases.len(), count, "{reads:?}");
        }
    }

    #[test]
    fn tags_stay_whole_among_characters() {
        assert_eq!(
            tokens("a <b c> <|x|>é[TOOL_CALLS][no"),
            ["a", " ", "<", "b", " ", "c", ">", " ", "<|x|>", "é", "[TOOL_CALLS]", "[", "n", "o",]
        );
        assert_eq!(tokens("<>[]"), ["<", ">", "[", "]"]);
    }

    #[test]
    fn random_cuts_lose_nothing_and_repeat() {
        let pieces = ["a"; 40];
        let cut = joined(&pieces, &mut Lcg(3));
        assert_eq!(cut.concat(), pieces.concat());
        assert!(cut.len() > 4 && cut.len() < 40, "{cut:?}");
        assert_eq!(cut, joined(&pieces, &mut Lcg(3)));
    }
}
