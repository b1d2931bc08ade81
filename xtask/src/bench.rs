//! `cargo xtask bench`: the benchmarks for every performance claim.

mod instructions;

use std::path::Path;

use crate::{
    flags::Pace,
    process::{Invocation, installed},
};

const COMMAND: &str = "cargo bench -p llm-stream-guard --bench throughput";
/// The separate workspace of other parsers. Its dependencies are not in our lock file and checks.
const PEERS: &str = "cargo run --release --manifest-path xtask/peers/Cargo.toml";

/// Runs the benchmarks that `pace` selects. `filter` restricts those of other parsers to names that
/// contain it.
pub(crate) fn run(root: &Path, pace: Pace, filter: Option<&str>) -> Result<(), String> {
    match pace {
        Pace::Peers => invocation(pace, filter).run(root),
        // The counts are a column of the table.
        Pace::Table | Pace::EachProfile if installed("valgrind") => {
            let counted = instructions::counted(root)?;
            invocation(pace, filter).env("GUARD_BENCH_INSTRUCTIONS", &counted).run(root)
        }
        Pace::Table | Pace::EachProfile => invocation(pace, filter).run(root),
        Pace::Count(then) => instructions::run(root, then),
    }
}

fn invocation(pace: Pace, filter: Option<&str>) -> Invocation {
    let command = if pace == Pace::Peers { PEERS } else { COMMAND };
    let line = filter.map_or(command.to_owned(), |filter| format!("{command} -- {filter}"));
    match pace {
        Pace::EachProfile => Invocation::new(&line).env("GUARD_BENCH", "all"),
        Pace::Table | Pace::Peers | Pace::Count(_) => Invocation::new(&line),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{PEERS, Pace, invocation};
    use crate::manifest::{Manifest, Publish};

    #[test]
    fn pace_and_filter_are_passed_to_the_benchmark() {
        let line = invocation(Pace::EachProfile, None).to_string();
        assert!(line.starts_with("GUARD_BENCH=\"all\" cargo bench"), "{line}");
    }

    #[test]
    fn peers_are_built_and_run_outside_the_workspace() {
        assert_eq!(invocation(Pace::Peers, None).to_string(), PEERS);
        assert_eq!(invocation(Pace::Peers, Some("W4")).to_string(), format!("{PEERS} -- W4"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        let package = Manifest::parse(&read(PEERS.rsplit_once(' ').unwrap().1));
        assert_eq!(package.publish, Publish::No);
        for peer in ["tool-parser", "reasoning-parser", "dynamo-parsers", "dynamo-parsers-v2"] {
            assert!(package.dependencies.iter().any(|one| one.name == peer), "{peer}");
            assert!(!read("Cargo.lock").contains(&format!("name = \"{peer}\"")), "{peer}");
        }
    }
}
