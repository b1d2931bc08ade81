//! L14: no two calls have one id.

use std::collections::HashSet;

use crate::{
    cuts::Cut,
    machine::{StreamMachine, run},
    record::{RecordedEvent, RunRecord},
    violation::{Law, LawViolation},
};

/// Checks L14: in each response of `machine`, one of every input, ids differ; and no id that the
/// machine made, rather than read, comes in two responses.
///
/// `respond` makes the machine of the next response.
///
/// # Errors
/// The first id that comes twice.
pub fn check_ids<'t, M: StreamMachine>(
    mut respond: impl FnMut() -> M,
    inputs: impl IntoIterator<Item = &'t str>,
) -> Result<(), LawViolation> {
    let mut made = HashSet::new();
    for input in inputs {
        let record = run(&respond(), input, Cut::Whole);
        let mut here = HashSet::new();
        for id in ids(&record) {
            let again = if !here.insert(id) {
                "in its response"
            } else if !input.contains(id) && !made.insert(id.to_owned()) {
                "in another response"
            } else {
                continue;
            };
            let detail = format!("another call {again} has the id {id:?}");
            return Err(LawViolation::new(Law::Ids, Cut::Whole, input, detail));
        }
    }
    Ok(())
}

fn ids(record: &RunRecord) -> impl Iterator<Item = &str> {
    record.events.iter().filter_map(|event| match event {
        RecordedEvent::CallStart { id, .. } => Some(id.as_str()),
        _ => None,
    })
}
