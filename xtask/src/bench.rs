//! `cargo xtask bench`: the benchmarks behind every performance claim.

mod instructions;

use std::path::Path;

use crate::{flags::Pace, process::Invocation};

const COMMAND: &str = "cargo bench -p llm-stream-guard --bench throughput";

/// Runs the benchmarks as `pace` says; of all of them only those whose names contain `filter`.
pub(crate) fn run(root: &Path, pace: Pace, filter: Option<&str>) -> Result<(), String> {
    match pace {
        Pace::Full | Pace::Table | Pace::EachProfile => invocation(pace, filter).run(root),
        Pace::Count(then) => instructions::run(root, then),
    }
}

fn invocation(pace: Pace, filter: Option<&str>) -> Invocation {
    let line = filter.map_or(COMMAND.to_owned(), |filter| format!("{COMMAND} -- {filter}"));
    match pace {
        Pace::Table => Invocation::new(&line).env("GUARD_BENCH", "summary"),
        Pace::EachProfile => Invocation::new(&line).env("GUARD_BENCH", "all"),
        Pace::Full | Pace::Count(_) => Invocation::new(&line),
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, invocation};

    #[test]
    fn pace_and_filter_reach_the_benchmark() {
        let line = invocation(Pace::Table, None).to_string();
        assert!(line.starts_with("GUARD_BENCH=\"summary\" cargo bench"), "{line}");
        assert!(invocation(Pace::Full, Some("W3")).to_string().ends_with("throughput -- W3"));
    }
}
