//! `cargo xtask compare --old REVISION`: the commands of a revision and of the working tree read the
//! same texts, and what they make of them is compared.
//!
//! The texts are
//!
//! - the vectors, whole and cut at a few places,
//! - calls as each family's encoder writes them, with values that quote such calls, whole and cut,
//! - the recordings of `docs/samples/`,
//! - the answers of the public suite, if its package can be installed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcall_parsers::{EncodeCall, Tools, encode, grammars};

use super::{
    cases::{self, Vector},
    judge::Answer,
    suite_read,
};
use crate::process::{Invocation, target};

/// The number of places at which a text is cut.
const CUTS: usize = 6;

/// The number of differences that are printed. The file has all of them.
const SHOWN: usize = 40;

/// The options of the command that rows are read with, which count for all rows of a run.
type Options = (Option<String>, Option<String>);

/// A text, as the command reads rows.
#[derive(Debug, Clone, Serialize)]
struct Row {
    id: String,
    family: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    finish: String,
    text: String,
}

/// A row as the command writes it.
#[derive(Debug, Deserialize)]
struct Read {
    id: String,
    message: Value,
}

/// The result of the comparison of two messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// The new message is the expected one, and the old one is not.
    Better,
    /// The old message is the expected one, and the new one is not.
    Worse,
    /// Nothing says which is right, or both are wrong.
    Neither,
}

/// A text of which the two commands make different messages.
#[derive(Debug, Serialize)]
struct Difference {
    id: String,
    verdict: Verdict,
    old: Value,
    new: Value,
}

/// Builds the command at `revision` and in the working tree, and prints what they read differently.
/// With `further`, the vectors of that directory are read, too.
///
/// # Errors
/// Returns an error if a vector cannot be read, the revision does not exist, a command cannot be
/// built or does not read a text, or if an expected message got lost.
pub(super) fn run(root: &Path, revision: &str, further: Option<&Path>) -> Result<(), String> {
    let place = target(root)?.join("compare/old");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let commands = [old_command(root, &place, revision)?, new_command(root)?];
    let vectors = cases::all(root, further)?;
    let mut differences = Vec::new();
    let mut count = 0;
    for (options, rows) in rows(&vectors)? {
        count += rows.len();
        let [old, new] =
            both(&commands, |command| read_rows(root, &place, command, &options, &rows))?;
        differences.extend(differing(&vectors, old, new));
    }
    let (samples, found) = samples(root, &commands)?;
    differences.extend(found);
    differences.extend(suite(root, &commands)?);
    let file = place.join("differences.jsonl");
    let lines: Result<Vec<_>, _> = differences.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| error.to_string())?.join("\n");
    fs::write(&file, lines).map_err(|error| format!("{}: {error}", file.display()))?;
    println!("{count} texts and {samples} recordings, {} read differently", differences.len());
    for one in differences.iter().take(SHOWN) {
        println!("{:?}\t{}", one.verdict, one.id);
    }
    println!("{}", file.display());
    match differences.iter().filter(|one| one.verdict == Verdict::Worse).count() {
        0 => Ok(()),
        worse => Err(format!("{worse} texts were read as expected and no longer are")),
    }
}

/// Returns the command of the working tree.
fn new_command(root: &Path) -> Result<PathBuf, String> {
    Invocation::new("cargo build --quiet -p llm-stream-guard-cli").output(root)?;
    Ok(target(root)?.join("debug/llm-stream-guard"))
}

/// Returns the command of `revision`, built in a separate tree, which is removed.
fn old_command(root: &Path, place: &Path, revision: &str) -> Result<PathBuf, String> {
    let (tree, built) = (place.join("tree"), place.join("target"));
    let [path, into] = [&tree, &built].map(|it| it.display().to_string());
    let remove = || Invocation::new("git worktree remove --force").arg(&path).output(root);
    if tree.exists() {
        remove()?;
    }
    let add = Invocation::new("git worktree add --quiet --detach");
    add.arg(&path).arg(revision).output(root)?;
    let build = Invocation::new("cargo build --quiet -p llm-stream-guard-cli");
    let ran = build.arg("--target-dir").arg(&into).output(&tree);
    remove()?;
    ran.map(|_| built.join("debug/llm-stream-guard"))
}

/// Runs `read` with the old command and the new one.
fn both<T>(
    commands: &[PathBuf; 2],
    read: impl Fn(&Path) -> Result<T, String>,
) -> Result<[T; 2], String> {
    let [old, new] = commands;
    let named = |which: &str, error: String| format!("the {which} command: {error}");
    Ok([
        read(old).map_err(|error| named("old", error))?,
        read(new).map_err(|error| named("new", error))?,
    ])
}

/// Returns the rows by the options they are read with.
fn rows(vectors: &[Vector]) -> Result<BTreeMap<Options, Vec<Row>>, String> {
    let mut rows: BTreeMap<Options, Vec<Row>> = BTreeMap::new();
    for vector in vectors {
        let options = (vector.whitespace.clone(), vector.start.clone());
        rows.entry(options).or_default().extend(whole_and_cut(Row {
            id: vector.id.clone(),
            family: vector.family.clone(),
            tools: vector.tools.clone(),
            finish: vector.finish.clone().unwrap_or_else(|| "stop".to_owned()),
            text: vector.wire.clone(),
        }));
    }
    let of_it = rows.entry((None, None)).or_default();
    of_it.extend(encoded()?.into_iter().flat_map(whole_and_cut));
    Ok(rows)
}

/// Returns a row, and rows with the beginnings of its text.
fn whole_and_cut(whole: Row) -> Vec<Row> {
    let cut = |(at, text): (usize, &str)| Row {
        id: format!("{}, cut at {at}", whole.id),
        finish: "length".to_owned(),
        text: text.to_owned(),
        ..whole.clone()
    };
    let mut rows: Vec<Row> = cuts(&whole.text).map(cut).collect();
    rows.push(whole);
    rows
}

/// Returns the beginnings of a text, evenly long, with their lengths in bytes.
fn cuts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let places = (1..=CUTS).map(|n| n * text.len() / (CUTS + 1));
    let mut places: Vec<usize> = places.filter(|&at| at > 0 && text.is_char_boundary(at)).collect();
    places.dedup();
    places.into_iter().map(|at| (at, &text[..at]))
}

/// Returns the wires that the encoders write: of each family a call, two calls, and a call whose value
/// quotes the first.
fn encoded() -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for grammar in grammars() {
        let plain = json!({"port": "Brest", "note": "low \"tide\"\nat \\ noon"}).to_string();
        let write = |calls: &[&String]| {
            let calls: Vec<_> = calls.iter().map(|it| EncodeCall::new("tide_at", it)).collect();
            encode(&grammar, &calls, &Tools::none()).ok()
        };
        // A family whose calls have no such arguments has no wire.
        let Some(single) = write(&[&plain]) else { continue };
        let quoting = json!({"port": single, "note": "end"}).to_string();
        let (two, quoting) = (write(&[&plain, &plain]), write(&[&quoting]));
        for (kind, wire) in [("one", Some(single)), ("two", two), ("quoting", quoting)] {
            rows.extend(wire.map(|text| Row {
                id: format!("encoded/{}:{kind}", grammar.name()),
                family: grammar.name().to_owned(),
                tools: None,
                finish: "stop".to_owned(),
                text,
            }));
        }
    }
    if rows.is_empty() { Err("no family has a wire".to_owned()) } else { Ok(rows) }
}

/// Reads rows with a command.
fn read_rows(
    root: &Path,
    place: &Path,
    command: &Path,
    (whitespace, start): &Options,
    rows: &[Row],
) -> Result<Vec<Read>, String> {
    let file = place.join("rows.jsonl");
    let lines: Result<Vec<_>, _> = rows.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| error.to_string())?.join("\n");
    fs::write(&file, lines).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut parse = Invocation::new(&format!(
        "{} parse {} --column text --row family=family --row tools=tools --row finish=finish --row key=id",
        command.display(),
        file.display()
    ));
    for (option, value) in [("--whitespace", whitespace), ("--start", start)] {
        if let Some(value) = value {
            parse = parse.arg(option).arg(value);
        }
    }
    let printed = parse.output(root)?;
    let lines = printed.lines().filter(|line| line.starts_with('{'));
    let read: Result<Vec<Read>, _> = lines.map(serde_json::from_str).collect();
    let read = read.map_err(|error| error.to_string())?;
    match read.len() == rows.len() {
        true => Ok(read),
        false => Err(format!("{} of {} rows were written", read.len(), rows.len())),
    }
}

/// Returns the rows that differ.
fn differing(vectors: &[Vector], old: Vec<Read>, new: Vec<Read>) -> Vec<Difference> {
    let by_id: BTreeMap<&str, &Vector> = vectors.iter().map(|one| (one.id.as_str(), one)).collect();
    let new: BTreeMap<String, Value> = new.into_iter().map(|one| (one.id, one.message)).collect();
    let mut found = Vec::new();
    for Read { id, message: old } in old {
        let new = new.get(&id).cloned().unwrap_or_default();
        if old != new {
            let verdict = by_id.get(&*id).map_or(Verdict::Neither, |it| verdict(it, &old, &new));
            found.push(Difference { id, verdict, old, new });
        }
    }
    found
}

/// Returns which of two messages is the one that the vector expects.
fn verdict(vector: &Vector, old: &Value, new: &Value) -> Verdict {
    let right = |message: &Value| vector.is_right(&answer(message));
    match (right(old), right(new)) {
        (false, true) => Verdict::Better,
        (true, false) => Verdict::Worse,
        _ => Verdict::Neither,
    }
}

/// Returns the message as an answer, with the calls that run.
fn answer(message: &Value) -> Answer {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let runs = |call: &&Value| matches!(call["outcome"].as_str(), Some("complete" | "repaired"));
    let calls = message["calls"].as_array().into_iter().flatten().filter(runs);
    Answer {
        content: text(&message["content"]),
        reasoning: text(&message["reasoning"]),
        calls: calls.map(|call| (text(&call["name"]), text(&call["arguments"]))).collect(),
        failure: message["error"].as_str().map(str::to_owned),
    }
}

/// Reads the recordings with both commands. Returns their number and those that differ.
fn samples(root: &Path, commands: &[PathBuf; 2]) -> Result<(usize, Vec<Difference>), String> {
    let directory = root.join("docs/samples");
    let listed = fs::read_dir(&directory).map_err(|error| error.to_string())?;
    let mut files: Vec<PathBuf> = listed.filter_map(|file| Some(file.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "sse" || it == "txt"));
    files.sort();
    let mut found = Vec::new();
    for file in &files {
        let read = |command: &Path| {
            let line = format!("{} parse --output jsonl", command.display());
            // A recording that is refused is compared by its error.
            let printed = Invocation::new(&line).arg(&file.display().to_string()).output(root);
            let text = printed.unwrap_or_else(|error| error);
            Ok(text.replace(&command.display().to_string(), ""))
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        found.extend(unjudged(format!("docs/samples/{name}"), both(commands, read)?));
    }
    Ok((files.len(), found))
}

/// Reads the answers of the public suite with both commands, if it can be installed. Returns what
/// differs: the counts, and the answers that are wrong.
fn suite(root: &Path, commands: &[PathBuf; 2]) -> Result<Option<Difference>, String> {
    let python = match super::suite(root) {
        Ok(python) => python,
        Err(error) => {
            println!("skipped: the public suite: {}", error.lines().next().unwrap_or_default());
            return Ok(None);
        }
    };
    let read = both(commands, |command| suite_read(root, &python, command))?;
    Ok(unjudged("the public suite".to_owned(), read))
}

/// Returns the difference of two texts of which nothing says which is right.
fn unjudged(id: String, [old, new]: [String; 2]) -> Option<Difference> {
    let verdict = Verdict::Neither;
    (old != new).then(|| Difference { id, verdict, old: old.into(), new: new.into() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Read, Verdict, cuts, differing, encoded};
    use crate::compare::cases::Vector;

    #[test]
    fn difference_is_judged_by_the_expectation() {
        let line = r#"{"id": "a", "kind": "tools", "family": "hermes", "wire": "x",
            "expect": {"content": "x", "calls": [{"name": "f", "arguments": {}}]}}"#;
        let vectors = [serde_json::from_str::<Vector>(line).unwrap()];
        let message = |outcome: &str| {
            let call = json!({"name": "f", "arguments": "{}", "outcome": outcome});
            json!({"content": "x", "reasoning": "", "calls": [call], "error": null})
        };
        let read =
            |id: &str, outcome: &str| vec![Read { id: id.to_owned(), message: message(outcome) }];
        let judged = |id: &str, old: &str, new: &str| {
            let found = differing(&vectors, read(id, old), read(id, new));
            found.first().map(|one| one.verdict)
        };
        assert_eq!(judged("a", "malformed", "complete"), Some(Verdict::Better));
        assert_eq!(judged("a", "complete", "malformed"), Some(Verdict::Worse));
        assert_eq!(judged("a", "incomplete", "malformed"), Some(Verdict::Neither));
        assert_eq!(judged("a", "complete", "complete"), None);
        assert_eq!(judged("other", "complete", "malformed"), Some(Verdict::Neither));
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let found: Vec<_> = cuts("aéé12345").collect();
        assert_eq!(found, [(1, "a"), (5, "aéé"), (7, "aéé12"), (8, "aéé123")]);
        assert_eq!(cuts("").count(), 0);
    }

    #[test]
    fn most_families_have_a_wire_that_quotes_a_call() {
        let wires = encoded().unwrap();
        let quoting = wires.iter().filter(|row| row.id.ends_with(":quoting")).count();
        assert!(quoting > 60, "{quoting} of {}", wires.len());
    }
}
