//! The law L14: no two calls have the same id.

use std::collections::HashSet;

use crate::{
    cuts::Cut,
    machine::{StreamMachine, run},
    record::{RecordedEvent, RunRecord},
    violation::{Law, LawViolation},
};

/// Checks L14 with one response for each of the inputs. The ids in a response differ, and an id
/// that the machine generated occurs in one response only.
///
/// `respond` makes the machine of the next response.
///
/// # Errors
/// Returns the first id that occurs twice.
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
