//! The time that parsers take for a token.
//!
//! The binary of `xtask/peers/` measures the crates and prints the wires. The Python packages are
//! measured with the same wires in the same pieces.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    families::{ParserName, Reads},
    process::Invocation,
};

use super::{PEERS, cases::names_of};

/// The works that are measured: prose, and a call with a long string.
const WORKS: [&str; 2] = ["W1", "W3"];

/// The time for a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time {
    pub(super) nanoseconds: f64,
    /// The run was stopped, so the time is longer.
    pub(super) at_least: bool,
}

/// For each of [`WORKS`], the median over the profiles that a parser reads correctly.
pub(super) type Cost = [Option<Time>; WORKS.len()];

/// A wire of a work, with the times of the crates.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Wire {
    work: String,
    profile: String,
    /// Nanoseconds for a token, by crate.
    #[serde(default, skip_serializing)]
    times: BTreeMap<String, f64>,
    #[serde(default)]
    names: BTreeMap<String, Vec<String>>,
    /// The pieces, the tools and the expected result.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A time of a Python package.
#[derive(Debug, Deserialize)]
struct Measured {
    work: String,
    nanoseconds: f64,
    at_least: bool,
}

/// Measures the crates.
///
/// # Errors
/// Returns an error if the binary fails.
pub(super) fn measured(root: &Path, parsers: &[ParserName]) -> Result<Vec<Wire>, String> {
    let printed = Invocation::new(&format!("{PEERS} --costs")).output(root)?;
    let wires = printed.lines().filter(|line| line.starts_with('{')).map(|line| {
        let mut wire: Wire = serde_json::from_str(line).map_err(|error| error.to_string())?;
        wire.names = names_of(parsers, &wire.profile, Reads::Calls);
        Ok(wire)
    });
    wires.collect()
}

/// Writes the wires for the Python packages.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(super) fn write(wires: &[Wire], path: &Path) -> Result<(), String> {
    let lines: Result<Vec<_>, _> = wires.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| error.to_string())?.join("\n");
    fs::write(path, lines).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the cost of each crate.
pub(super) fn of_crates(wires: &[Wire]) -> BTreeMap<String, Cost> {
    let names = wires.iter().flat_map(|wire| wire.times.keys());
    let cost = |name: &String| {
        cost(wires.iter().filter_map(|wire| {
            let time = wire.times.get(name)?;
            Some((wire.work.as_str(), Time { nanoseconds: *time, at_least: false }))
        }))
    };
    names.map(|name| (name.clone(), cost(name))).collect()
}

/// Reads what a Python package took.
///
/// # Errors
/// Returns an error if a line is not a time.
pub(super) fn of_package(lines: &str) -> Result<Cost, String> {
    let times: Result<Vec<Measured>, _> = lines.lines().map(serde_json::from_str).collect();
    let times = times.map_err(|error| error.to_string())?;
    let time = |one: &Measured| Time { nanoseconds: one.nanoseconds, at_least: one.at_least };
    Ok(cost(times.iter().map(|one| (one.work.as_str(), time(one)))))
}

fn cost<'t>(times: impl Iterator<Item = (&'t str, Time)> + Clone) -> Cost {
    WORKS.map(|work| {
        let of_it = times.clone().filter(|(name, _)| *name == work);
        median(of_it.map(|(_, time)| time).collect())
    })
}

fn median(mut times: Vec<Time>) -> Option<Time> {
    times.sort_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds));
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::{Time, Wire, of_crates, of_package};

    #[test]
    fn cost_is_the_median_over_the_profiles_that_are_read() {
        let wire = |profile: &str, ours: f64| {
            let line = format!(
                r#"{{"work": "W1", "profile": "{profile}", "times": {{"ours": {ours}}}, "pieces": []}}"#
            );
            serde_json::from_str::<Wire>(&line).unwrap()
        };
        let costs = of_crates(&[wire("a", 3.0), wire("b", 1.0), wire("c", 2.0)]);
        let exact = Time { nanoseconds: 2.0, at_least: false };
        assert_eq!(costs["ours"], [Some(exact), None]);

        let line = r#"{"work": "W3", "nanoseconds": 7.0, "at_least": true}"#;
        let long = Time { nanoseconds: 7.0, at_least: true };
        assert_eq!(of_package(line).unwrap(), [None, Some(long)]);
    }
}
