//! Instructions for each chunk, counted by valgrind's callgrind. The counts do not depend on the
//! load of the machine. The count of one feed is the difference between a run with one feed and a
//! run with two.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    thread,
};

use super::COMMAND;
use crate::{
    families,
    flags::Counted,
    process::{Invocation, installed, target},
};

/// The figures that the gate compares with.
const KEPT: &str = "crates/llm-stream-guard/benches/instructions.tsv";
/// The engines whose parsers `cargo xtask bench --peers` measures: every profile that they read is
/// counted.
const ENGINES: [&str; 2] = ["dynamo", "smg"];
/// One profile for each way to write calls, for the table.
const PROFILES: [&str; 4] = ["hermes", "pythonic", "qwen3_coder", "glm45"];
/// The share by which a figure may grow before the gate fails.
const SLACK: f64 = 0.03;
/// Works as tokens and as text, by the beginnings of their names, with the maximum ratio of their
/// costs.
const AS_TOKENS: [(&str, &str, f64); 2] =
    [("W1 as tokens", "W1 prose, ", 1.1), ("W3 as tokens", "W3 string", 1.2)];
/// One profile for each way to write values, and one whose tags have suffixes, for the cost of hostile
/// text.
const HOSTILE: [&str; 6] = ["ernie45", "gemma4", "hy_v3", "minimax_m3", "pythonic", "qwen3_coder"];
/// The name of the work for hostile text.
const HOSTILE_WORK: &str = "hostile text";
/// The lengths of hostile text in bytes. Between them the cost of a chunk must not depend on the
/// text before it.
const HOSTILE_LENS: (u64, u64) = (2048, 4096);
/// Length of a chunk of hostile text in bytes.
const HOSTILE_CHUNK: u64 = 4;
const VALGRIND: &str = "valgrind --tool=callgrind --callgrind-out-file=/dev/null";

type Figures = BTreeMap<(String, String), u64>;

/// Counts instructions, prints them, and compares them with the stored figures or stores them.
pub(super) fn run(root: &Path, then: Counted) -> Result<(), String> {
    if !installed("valgrind") {
        return Err("valgrind is not installed: it counts the instructions".into());
    }
    let file = root.join(KEPT);
    let kept = read(&fs::read_to_string(&file).unwrap_or_default());
    let names = families::parser_names(root)?;
    let read = names.iter().filter(|one| ENGINES.contains(&one.engine.as_str()));
    let program = program(root)?;
    let mut now = figures(&program, root, read.map(|one| one.family.as_str()))?;
    for profile in HOSTILE {
        let figure = hostile(&program, root, profile)?;
        now.insert((HOSTILE_WORK.to_owned(), profile.to_owned()), figure);
    }
    for ((work, profile), figure) in &now {
        let before = kept.get(&(work.clone(), profile.clone()));
        let before = before.map_or(String::new(), |before| format!("  ({before} kept)"));
        println!("{work:32} {profile:14} {figure:6} instructions a chunk{before}");
    }
    match then {
        Counted::Printed => Ok(()),
        Counted::Kept => fs::write(&file, written(&now)).map_err(|error| error.to_string()),
        Counted::Compared => compare(&kept, &now),
    }
}

/// Counts a few profiles, and returns the path of a file with the figures.
pub(super) fn counted(root: &Path) -> Result<String, String> {
    let place = target(root)?;
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let file = place.join("instructions.tsv");
    fs::write(&file, written(&figures(&program(root)?, root, PROFILES)?))
        .map_err(|error| error.to_string())?;
    Ok(file.display().to_string())
}

fn figures<'p>(
    program: &Path,
    root: &Path,
    profiles: impl IntoIterator<Item = &'p str>,
) -> Result<Figures, String> {
    let profiles: BTreeSet<&str> = profiles.into_iter().collect();
    let mut all = Figures::new();
    for profile in profiles {
        all.extend(count(program, root, profile)?);
    }
    Ok(all)
}

/// Builds the benchmark, and returns its file.
fn program(root: &Path) -> Result<PathBuf, String> {
    let line = format!("{COMMAND} --no-run --message-format=json");
    built(&Invocation::new(&line).output(root)?).ok_or_else(|| format!("`{line}` names no file"))
}

/// Returns the last executable that cargo reports.
fn built(messages: &str) -> Option<PathBuf> {
    let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
    let executable = |line| Some(read(line)?.get("executable")?.as_str()?.into());
    messages.lines().rev().find_map(executable)
}

/// Fails if a figure grew by more than the slack, or is missing.
fn compare(kept: &Figures, now: &Figures) -> Result<(), String> {
    let grew = |(key, before): (&(String, String), &u64)| {
        let (work, profile) = key;
        match now.get(key) {
            None => Some(format!("{work}, {profile}: not counted")),
            Some(&now) if now as f64 > *before as f64 * (1.0 + SLACK) => {
                Some(format!("{work}, {profile}: {now} instructions a chunk, {before} before"))
            }
            Some(_) => None,
        }
    };
    let grown: Vec<_> = kept.iter().filter_map(grew).chain(costly_tokens(now)).collect();
    match (kept.is_empty(), grown.is_empty()) {
        (true, _) => Err(format!("{KEPT} has no figures to compare with")),
        (_, true) => Ok(()),
        (_, false) => Err(format!("slower:\n{}", grown.join("\n"))),
    }
}

/// Returns the works that cost more as tokens than [`AS_TOKENS`] allows.
fn costly_tokens(now: &Figures) -> impl Iterator<Item = String> {
    AS_TOKENS.iter().flat_map(move |(tokens, text, times)| {
        let of_tokens = now.iter().filter(move |((work, _), _)| work == tokens);
        of_tokens.filter_map(move |((_, profile), &cost)| {
            let alike = |((work, other), _): &(&(String, String), &u64)| {
                work.starts_with(text) && other == profile
            };
            let (_, &plain) = now.iter().find(alike)?;
            let most = plain as f64 * times;
            (cost as f64 > most).then(|| {
                format!("{tokens}, {profile}: {cost} instructions a chunk, {plain} as text")
            })
        })
    })
}

/// Returns the figures of one profile, for every work it can do.
fn count(program: &Path, root: &Path, profile: &str) -> Result<Figures, String> {
    let feed = |tool: &str, work: &str, feeds: u32| {
        Invocation::new(&format!("{tool} {}", program.display()))
            .env("GUARD_BENCH_PROFILE", profile)
            .env("GUARD_BENCH_WORK", work)
            .env("GUARD_BENCH_FEEDS", &feeds.to_string())
            .output(root)
    };
    let counted = |work: &str, feeds| {
        let output = feed(VALGRIND, work, feeds)?;
        instructions(&output).ok_or_else(|| no_count(profile, work, &output))
    };
    let mut figures = Figures::new();
    for (work, chunks) in works(&feed("", "", 0)?) {
        let (once, twice) = thread::scope(|scope| {
            let once = scope.spawn(|| counted(&work, 1));
            let twice = counted(&work, 2);
            (once.join(), twice)
        });
        let once = once.map_err(|_| format!("the count of {profile}, {work} panicked"))??;
        let figure = twice?.saturating_sub(once) / chunks.max(1);
        figures.insert((work, profile.to_owned()), figure);
    }
    Ok(figures)
}

/// Returns the instructions for a chunk of hostile text, as the mean of all texts of the profile.
fn hostile(program: &Path, root: &Path, profile: &str) -> Result<u64, String> {
    let counted = |len: u64| {
        let output = Invocation::new(&format!("{VALGRIND} {}", program.display()))
            .env("GUARD_BENCH_PROFILE", profile)
            .env("GUARD_BENCH_HOSTILE", &len.to_string())
            .output(root)?;
        let count =
            instructions(&output).ok_or_else(|| no_count(profile, HOSTILE_WORK, &output))?;
        Ok::<_, String>((count, hostile_texts(&output)))
    };
    let (short, long) = HOSTILE_LENS;
    let ((less, texts), (more, _)) = (counted(short)?, counted(long)?);
    let chunks = texts * (long - short) / HOSTILE_CHUNK;
    Ok(more.saturating_sub(less) / chunks.max(1))
}

fn no_count(profile: &str, work: &str, output: &str) -> String {
    format!("no count for {profile}, {work}:\n{output}")
}

/// Returns the number of texts in the output of the benchmark.
fn hostile_texts(output: &str) -> u64 {
    output.lines().filter(|line| line.split('\t').count() == 4).count() as u64
}

/// Reads the works and their chunks from the output of the benchmark.
fn works(output: &str) -> Vec<(String, u64)> {
    let work = |line: &str| {
        let mut cells = line.split('\t');
        let (work, _, chunks) = (cells.next()?, cells.next()?, cells.next()?);
        Some((work.to_owned(), chunks.parse().ok()?))
    };
    output.lines().filter_map(work).collect()
}

/// Reads the output of valgrind.
fn instructions(output: &str) -> Option<u64> {
    output.lines().find_map(|line| line.split_once("Collected : "))?.1.trim().parse().ok()
}

fn read(text: &str) -> Figures {
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let key = (cells.next()?.to_owned(), cells.next()?.to_owned());
        Some((key, cells.next()?.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

fn written(figures: &Figures) -> String {
    figures.iter().map(|((work, profile), n)| format!("{work}\t{profile}\t{n}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Figures, built, compare, hostile_texts, instructions, read, works, written};

    fn one(n: u64) -> Figures {
        [(("W1".to_owned(), "hermes".to_owned()), n)].into()
    }

    #[test]
    fn instruction_growth_over_three_percent_fails_the_gate() {
        assert!(compare(&one(100), &one(103)).is_ok());
        assert!(compare(&one(100), &one(50)).is_ok());
        let slower = compare(&one(100), &one(104)).unwrap_err();
        assert!(slower.contains("W1, hermes: 104"), "{slower}");
        assert!(compare(&one(100), &Figures::new()).is_err());
        assert!(compare(&Figures::new(), &one(100)).is_err());
    }

    #[test]
    fn tokens_that_cost_too_much_more_than_their_text_fail_the_gate() {
        let figures = |tokens| {
            let of = |work: &str, n| ((work.to_owned(), "hermes".to_owned()), n);
            Figures::from([of("W3 string, 64 KiB: literals", 300), of("W3 as tokens", tokens)])
        };
        assert!(compare(&figures(360), &figures(360)).is_ok());
        let costly = compare(&figures(361), &figures(361)).unwrap_err();
        assert!(costly.contains("W3 as tokens, hermes: 361") && costly.contains("300 as text"));
    }

    #[test]
    fn written_figures_are_read_back() {
        assert_eq!(read(&written(&one(7))), one(7));
    }

    #[test]
    fn instruction_counts_are_parsed_from_the_output() {
        let output = "W1 prose\thermes\t58\n==1== Collected : 123\n";
        assert_eq!(instructions(output), Some(123));
        assert_eq!(works(output), [("W1 prose".to_owned(), 58)]);
        assert_eq!(instructions("W1 prose\thermes\t58\n"), None);
    }

    #[test]
    fn hostile_texts_are_counted_in_the_output() {
        let output = "minimax_m3\t\"\"\t\"<\"\t1024\n==1== Collected : 123\nW1\thermes\t58\n";
        assert_eq!(hostile_texts(output), 1);
    }

    #[test]
    fn program_is_the_last_executable_that_cargo_names() {
        let messages =
            "{\"executable\": null}\n{\"executable\": \"/t/bench\"}\n{\"reason\": \"end\"}\nx";
        assert_eq!(built(messages), Some("/t/bench".into()));
        assert_eq!(built("{}"), None);
    }
}
