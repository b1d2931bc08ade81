//! `cargo xtask bench`: the benchmarks behind every performance claim.

use std::path::Path;

use crate::{flags::Pace, process::Invocation};

/// Runs the benchmarks whose names contain `filter`, or all; the summary of ratios and allocations
/// closes the output.
pub(crate) fn run(root: &Path, pace: Pace, filter: Option<&str>) -> Result<(), String> {
    invocation(pace, filter).run(root)
}

fn invocation(pace: Pace, filter: Option<&str>) -> Invocation {
    let mut line = "cargo bench -p llm-stream-guard --bench throughput --".to_owned();
    if pace == Pace::Quick {
        line.push_str(" --warm-up-time 0.3 --measurement-time 0.5 --sample-size 10");
    }
    if let Some(filter) = filter {
        line.push(' ');
        line.push_str(filter);
    }
    Invocation::new(&line)
}

#[cfg(test)]
mod tests {
    use super::{Pace, invocation};

    #[test]
    fn pace_and_filter_reach_the_benchmark() {
        let line = invocation(Pace::Quick, Some("W3")).to_string();
        assert!(line.ends_with("--sample-size 10 W3"), "{line}");
        assert!(invocation(Pace::Full, None).to_string().ends_with("throughput --"));
    }
}
