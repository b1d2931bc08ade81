//! Vectors of the rules in `docs/semantics.md`, which `check --rule N` runs.
//!
//! A vector names its rule in the field `policy`:
//!
//! ```text
//! {"id": "surplus/end-twice", "family": "hermes", ..., "policy": "rule 7"}
//! ```

use std::collections::BTreeSet;

use super::read::{AnyCase, CaseLine, lines_of};
use crate::error::{Error, misuse};

/// The project's own vectors of all rules.
const VECTORS: &str = include_str!("../../../../families/vectors/rules.jsonl");

/// Returns the cases of [`VECTORS`].
pub(super) fn lines() -> Vec<CaseLine> {
    lines_of("families/vectors/rules.jsonl", VECTORS.as_bytes(), None)
}

/// Keeps the cases of `rule`, and the lines that are not cases, which fail.
///
/// # Errors
/// None of the cases is one of `rule`. The message lists the rules that have cases.
pub(super) fn retain(lines: &mut Vec<CaseLine>, rule: u32) -> Result<(), Error> {
    let known: BTreeSet<u32> = lines.iter().filter_map(rule_of).collect();
    lines.retain(|line| line.case.is_err() || rule_of(line) == Some(rule));
    if !known.contains(&rule) {
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        let known = known.join(", ");
        return Err(misuse(format!("no case of rule {rule}; rules with cases: {known}")));
    }
    Ok(())
}

/// Returns the number of the rule that a case belongs to.
fn rule_of(line: &CaseLine) -> Option<u32> {
    match &line.case {
        Ok(AnyCase::Family(case)) => case.policy.strip_prefix("rule ")?.parse().ok(),
        _ => None,
    }
}
