//! The cost of parsers, as `cargo xtask bench --peers` prints it.

use std::{collections::BTreeMap, path::Path};

use crate::process::Invocation;

use super::PEERS;

/// The works that are measured: prose, and a call with a long string.
const WORKS: [&str; 2] = ["W1", "W3"];

/// The columns of the printed table: the work and the profile, then one for each parser.
const COLUMNS: [&str; 4] =
    ["ours", "tool-, reasoning-parser", "dynamo-parsers", "dynamo-parsers-v2"];
const LABELS: usize = 41;
const WIDTH: usize = 24;

/// For each of [`WORKS`], the median ratio to the cost of copying the text, over the profiles that
/// a parser reads correctly.
pub(super) type Cost = [Option<f64>; WORKS.len()];

/// Measures the parsers that the binary of `peers/` has.
///
/// # Errors
/// Returns an error if the binary fails.
pub(super) fn measured(root: &Path) -> Result<BTreeMap<String, Cost>, String> {
    let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
    for (at, work) in WORKS.into_iter().enumerate() {
        let printed = Invocation::new(&format!("{PEERS} {work}")).output(root)?;
        for (parser, ratios) in ratios(&printed, work) {
            costs.entry(parser.to_owned()).or_default()[at] = median(ratios);
        }
    }
    Ok(costs)
}

/// Returns the figures of each parser for a work. A parser with a wrong answer has none.
fn ratios(printed: &str, work: &str) -> BTreeMap<&'static str, Vec<f64>> {
    let mut found: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for line in printed.lines().filter(|line| line.starts_with(work)) {
        let cells: String = line.chars().skip(LABELS).collect();
        for (at, parser) in COLUMNS.into_iter().enumerate() {
            let cell: String = cells.chars().skip(at * WIDTH).take(WIDTH).collect();
            let ratio = cell.trim().strip_prefix('x').and_then(|it| it.split(' ').next());
            found.entry(parser).or_default().extend(ratio.and_then(|it| it.parse::<f64>().ok()));
        }
    }
    found
}

fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::{median, ratios};

    #[test]
    fn cells_are_read_by_their_columns() {
        let cells = ["x1.04 0.0", "x17.00 3.1 *", "-", "wrong"];
        let cells = cells.map(|cell| format!(" {cell:>23}")).concat();
        let line = format!("{:28} {:12}{cells}\nW3 x", "W1 prose", "hermes");
        let found = ratios(&line, "W1");
        assert_eq!(found["ours"], [1.04]);
        assert_eq!(found["tool-, reasoning-parser"], [17.0]);
        assert!(found["dynamo-parsers"].is_empty() && found["dynamo-parsers-v2"].is_empty());
        assert_eq!((median(vec![3.0, 1.0, 2.0]), median(Vec::new())), (Some(2.0), None));
    }
}
