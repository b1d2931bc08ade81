//! The vectors of every family, cut at every position.

use stream_laws::{CutPlan, vector::run_case};
use toolcall_parsers::{grammar, same_name};

use crate::support::{ParserMachine, families_with_vectors, vectors};

/// Families that must have vectors and pass them.
const VETTED: &[&str] =
    &["hermes", "mistral", "llama3_json", "pythonic", "qwen3_coder", "deepseek_v3_1"];

#[test]
fn every_vector_passes_at_every_cut() {
    let mut failures = Vec::new();
    for family in families_with_vectors() {
        for case in vectors(&family) {
            let Ok(grammar) = grammar(&case.family) else { continue };
            let machine = || ParserMachine::of_case(&grammar, &case);
            failures.extend(run_case(&case, machine, CutPlan::standard(11)).err());
        }
    }
    let report: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert!(report.is_empty(), "{} failures\n{}", report.len(), report.join("\n"));
}

#[test]
fn vetted_families_are_registered_and_have_vectors() {
    let with_vectors = families_with_vectors();
    let missing: Vec<_> = VETTED
        .iter()
        .filter(|name| {
            grammar(name).is_err() || !with_vectors.iter().any(|family| same_name(family, name))
        })
        .collect();
    assert!(missing.is_empty(), "not registered, or without vectors: {missing:?}");
}
