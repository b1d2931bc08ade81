//! L12: a machine that finished is at rest, and may be used again.

use super::coalesced;
use crate::{
    cuts::CutPlan,
    machine::{Held, Machine, push_all},
    record::Record,
    violation::{Law, Violation, difference},
};

/// Checks L12 under every cut of `plan`: after the end of the stream nothing is held or kept, a
/// second end says nothing, and after a reset the machine does what it did the first time.
///
/// # Errors
/// The first cut that leaves something behind, and what.
pub fn check_idle<M: Machine>(machine: &M, input: &str, plan: CutPlan) -> Result<(), Violation> {
    for cut in plan.text(input) {
        let broken = |detail: String| Err(Violation::new(Law::Idle, cut, input, detail));
        let (mut machine, mut first) = (machine.clone(), Record::default());
        push_all(&mut machine, input, cut, &mut first);
        machine.finish(&mut first);
        let (held, kept) = (machine.held(), machine.state_size());
        if held != Held::NOTHING || kept > 0 {
            return broken(format!("after the end {held:?}, and {kept} bytes are kept"));
        }
        let mut again = Record::default();
        machine.finish(&mut again);
        if again != Record::default() {
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
