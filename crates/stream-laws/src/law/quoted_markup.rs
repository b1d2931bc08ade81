//! The law L15: markup that a value quotes is data.

use super::round_trip::{EncodedCall, check_round_trip};
use crate::{
    cuts::{Cut, CutPlan},
    machine::{StreamMachine, run},
    record::RecordedEvent,
    violation::{Law, LawViolation},
};

/// Checks L15 under every cut of `plan`: `wire` gives exactly `call`, complete, without other calls
/// and without text. The arguments of `call` quote markup.
///
/// # Errors
/// Returns the first difference.
pub fn check_quoted_markup<M: StreamMachine>(
    machine: &M,
    wire: &str,
    call: EncodedCall<'_>,
    plan: CutPlan,
) -> Result<(), LawViolation> {
    let renamed = |violation| LawViolation { law: Law::QuotedMarkup, ..violation };
    check_round_trip(machine, wire, &[call], plan).map_err(renamed)?;
    let text = run(machine, wire, Cut::Whole).events.into_iter().find_map(|event| match event {
        RecordedEvent::Text { text, .. } if !text.trim().is_empty() => Some(text),
        _ => None,
    });
    match text {
        None => Ok(()),
        Some(text) => {
            let detail = format!("a part of the call is text: {text:?}");
            Err(LawViolation::new(Law::QuotedMarkup, Cut::Whole, wire, detail))
        }
    }
}
