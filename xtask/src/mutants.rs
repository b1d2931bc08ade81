//! `cargo xtask mutants`: runs `cargo mutants`, whose changes of the code must make a test fail.
//!
//! Mutants that cannot make a test fail are excluded in `.cargo/mutants.toml`, each with its
//! reason.

use std::{fs, path::Path};

use crate::process::{Invocation, required};

/// The program that runs as `cargo mutants`.
const TOOL: &str = "cargo-mutants";

/// The directory of the results. The program does not create its parent.
const OUT: &str = "target/mutants";

/// The parts that can be mutated: the name, the package, and the files.
const PARTS: [(&str, &str, &str); 6] = [
    ("jail-match", "jail-match", "crates/jail-match/src/**"),
    ("think-filter", "think-filter", "crates/think-filter/src/**"),
    ("machine", "toolcall-parsers", "crates/toolcall-parsers/src/machine/**"),
    ("chat", "llm-stream-guard", "crates/llm-stream-guard/src/chat/**"),
    ("sse-events", "sse-events", "crates/sse-events/src/**"),
    ("stream-lifecycle", "stream-lifecycle", "crates/stream-lifecycle/src/**"),
];

/// Mutates the part called `part`, or every part. `shard` selects a share of the mutants, `K/N`.
///
/// # Errors
/// Returns the mutants with which all tests pass.
pub(crate) fn run(root: &Path, part: Option<&str>, shard: Option<&str>) -> Result<(), String> {
    let commands = commands(part, shard)?;
    [TOOL, "cargo-nextest"].into_iter().try_for_each(required)?;
    fs::create_dir_all(root.join(OUT)).map_err(|error| format!("{OUT}: {error}"))?;
    let missed: Vec<String> =
        commands.iter().filter_map(|command| command.run(root).err()).collect();
    if missed.is_empty() { Ok(()) } else { Err(missed.join("\n")) }
}

fn commands(part: Option<&str>, shard: Option<&str>) -> Result<Vec<Invocation>, String> {
    let command = |&(name, package, files): &(&str, &str, &str)| {
        let mut line = format!("cargo mutants -p {package} -f {files} -o {OUT}/{name}");
        if let Some(shard) = shard {
            // Round-robin puts mutants of every file into each shard.
            line += &format!(" --shard {shard} --sharding round-robin");
        }
        // Incremental compilation compiles only what a mutant changes.
        let invocation = Invocation::new(&line).env("CARGO_PROFILE_DEV_DEBUG", "0");
        invocation.env("CARGO_INCREMENTAL", "1")
    };
    let chosen = PARTS.iter().filter(|(name, ..)| part.is_none_or(|part| part == *name));
    let commands: Vec<_> = chosen.map(command).collect();
    if commands.is_empty() {
        let names = PARTS.map(|(name, ..)| name).join(", ");
        return Err(format!(
            "nothing called {:?} is mutated; there are {names}",
            part.unwrap_or("")
        ));
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{PARTS, commands};

    #[test]
    fn one_part_or_all_are_mutated_in_shards() {
        assert_eq!(commands(None, None).unwrap().len(), PARTS.len());
        let line = commands(Some("machine"), Some("3/40")).unwrap()[0].to_string();
        let wanted = "cargo mutants -p toolcall-parsers -f crates/toolcall-parsers/src/machine/** \
                      -o target/mutants/machine --shard 3/40 --sharding round-robin";
        assert!(line.ends_with(wanted), "{line}");
        let error = commands(Some("door"), None).unwrap_err();
        assert!(error.starts_with("nothing called \"door\" is mutated; there are jail-match"));
    }

    #[test]
    fn mutated_files_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (_, package, files) in PARTS {
            let directory = files.strip_suffix("/**").expect("a directory");
            assert!(root.join(directory).is_dir(), "{files}");
            assert!(root.join("crates").join(package).is_dir(), "{package}");
        }
    }
}
