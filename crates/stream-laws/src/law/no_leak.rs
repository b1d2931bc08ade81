//! The law L8: markup never becomes text.

use super::coalesced;
use crate::{
    cuts::CutPlan,
    machine::{StreamMachine, run},
    violation::{Law, LawViolation, excerpt},
};

/// Checks L8: none of `markup` occurs in a run of text, under any cut of `plan`.
///
/// The caller chooses input and markup so that every occurrence belongs to a committed call or an
/// open channel. Elsewhere the same characters are text and are emitted.
///
/// # Errors
/// Returns the first text that contains markup. Also returns an error if the input has no markup.
pub fn check_no_leak<M: StreamMachine>(
    machine: &M,
    input: &str,
    markup: &[&str],
    plan: CutPlan,
) -> Result<(), LawViolation> {
    let broken = |cut: &str, detail| LawViolation::new(Law::NoLeak, cut, input, detail);
    if !markup.iter().any(|marker| input.contains(marker)) {
        return Err(broken("as given", format!("the input has none of {markup:?} to leak")));
    }
    for cut in plan.text(input) {
        let record = coalesced(Law::NoLeak, cut, input, &run(machine, input, cut))?;
        for (channel, text) in record.texts() {
            if let Some(marker) = markup.iter().find(|marker| text.contains(**marker)) {
                let text = excerpt(text.as_bytes());
                let detail = format!("{marker:?} leaked into channel {channel}: {text}");
                return Err(broken(&cut.to_string(), detail));
            }
        }
    }
    Ok(())
}
