//! The law L12: a finished machine holds nothing and can be used again.

use super::coalesced;
use crate::{
    cuts::CutPlan,
    machine::{HeldBytes, StreamMachine, push_all},
    record::RunRecord,
    violation::{Law, LawViolation, difference},
};

/// Checks L12 under every cut of `plan`. After the end of the stream nothing is held or kept, a
/// second end emits nothing, and after a reset the record is the same as the first time.
///
/// # Errors
/// Returns the first cut after which something is held or kept.
pub fn check_idle<M: StreamMachine>(
    machine: &M,
    input: &str,
    plan: CutPlan,
) -> Result<(), LawViolation> {
    for cut in plan.text(input) {
        let broken = |detail: String| Err(LawViolation::new(Law::Idle, cut, input, detail));
        let (mut machine, mut first) = (machine.clone(), RunRecord::default());
        push_all(&mut machine, input, cut, &mut first);
        machine.finish(&mut first);
        let (held, kept) = (machine.held(), machine.state_size());
        if held != HeldBytes::NOTHING || kept > 0 {
            return broken(format!("after the end {held:?}, and {kept} bytes are kept"));
        }
        let mut again = RunRecord::default();
        machine.finish(&mut again);
        if again != RunRecord::default() {
            return broken(format!("a second end says {again:?}"));
        }
        machine.reset();
        push_all(&mut machine, input, cut, &mut again);
        machine.finish(&mut again);
        let first = coalesced(Law::Idle, cut, input, &first)?;
        let again = coalesced(Law::Idle, cut, input, &again)?;
        if let Some(detail) = difference(&first, &again) {
            return broken(format!("the second use is not the first: {detail}"));
        }
    }
    Ok(())
}
