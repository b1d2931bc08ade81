//! The commands that the documentation shows: each runs, and prints what the page says it prints.

use std::{fs, path::PathBuf, process::Command};

use crate::support::root;

/// A command of a page, with the output that the page shows below it.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    line: String,
    output: String,
}

/// The commands in the `console` blocks of a page.
fn commands(page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(line) if inside => {
                let line = line.split("  #").next().unwrap_or_default().trim().to_owned();
                found.push(Shown { line, output: String::new() });
            }
            _ if inside => {
                if let Some(last) = found.last_mut() {
                    last.output.push_str(line);
                    last.output.push('\n');
                }
            }
            _ => {}
        }
    }
    found
}

/// The arguments of a command that can run here: the program itself, but for its server.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let line =
        ["llm-stream-guard ", "cargo run -- "].iter().find_map(|it| line.strip_prefix(it))?;
    let arguments: Vec<&str> = line.split_whitespace().collect();
    (arguments.first() != Some(&"serve")).then_some(arguments)
}

/// Why a shown command is wrong, if it is.
fn fault(shown: &Shown) -> Option<String> {
    let arguments = arguments(&shown.line)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_llm-stream-guard"));
    let output = command.args(arguments).env("COLUMNS", "90").current_dir(root()).output();
    let output = output.expect("the binary runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Some(format!("`{}` fails: {error}", shown.line));
    }
    let same = printed.contains(shown.output.trim_end());
    (!same).then(|| format!("`{}` prints\n{printed}", shown.line))
}

#[test]
fn documented_commands_print_the_documented_output() {
    let mut pages: Vec<PathBuf> = vec![root().join("README.md")];
    let docs = fs::read_dir(root().join("docs")).expect("the pages");
    pages.extend(docs.map(|entry| entry.expect("a page").path()));
    pages.retain(|page| page.extension().is_some_and(|kind| kind == "md"));
    let mut ran = 0;
    let mut faults = Vec::new();
    for page in pages {
        for shown in commands(&fs::read_to_string(&page).expect("a page")) {
            ran += usize::from(arguments(&shown.line).is_some());
            faults.extend(fault(&shown).map(|fault| format!("{}: {fault}", page.display())));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(ran > 10, "only {ran} commands were found");
}

#[test]
fn failing_or_outdated_documented_commands_are_found() {
    let page = "```console\n$ llm-stream-guard families --resolve qwen3-8b   # an id\nqwen3-8b\tqwen2\n\
                $ llm-stream-guard no-such-command\n```\n$ not in a block\n";
    let shown = commands(page);
    assert_eq!(shown.len(), 2);
    assert!(fault(&shown[0]).is_some_and(|fault| fault.contains("qwen3-8b\tqwen3")));
    assert!(fault(&shown[1]).is_some_and(|fault| fault.contains("fails")));
}
