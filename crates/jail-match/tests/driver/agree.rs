//! Checks of each machine against its second implementation and the laws, for one text. Property
//! tests and fuzz targets provide the texts.

use jail_match::{DriverSettings, Edge, LimitPolicy, Table, Whitespace};
use stream_laws::{
    Cut, CutPlan, RunRecord, check_chunk_invariance, check_nothing_lost, run, unplaced,
};

use crate::{
    bodies::Cursor,
    jail_spec::Spec,
    machines::{Jailed, Plain},
    naive, naive_jail, naive_plain,
};

fn normal(record: &RunRecord) -> RunRecord {
    let mut record = record.coalesced().expect("no empty text");
    // Held whitespace is reported late. Sorting by offset restores the order of the stream.
    record.diagnostics.sort_by_key(|one| one.offset);
    record
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, expected: &T) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    Err(format!("{what}\n  expected: {expected:?}\n  got:      {got:?}"))
}

/// Checks the driver over `edges`.
pub(crate) fn driver(
    edges: &[Edge],
    settings: DriverSettings,
    text: &str,
    plan: CutPlan,
) -> Result<(), String> {
    let table = Table::new(edges.to_vec()).map_err(|error| error.to_string())?;
    let cursor = Cursor::new(table, settings);
    let expected = naive::record(edges, settings, text);
    let got = normal(&run(&cursor, text, Cut::Whole));
    same("events", &got.events, &expected.events)?;
    same("spans", &got.spans, &expected.spans)?;
    let mut notices = unplaced(got.diagnostics);
    let mut wanted = unplaced(expected.diagnostics);
    for list in [&mut notices, &mut wanted] {
        list.sort_by_key(|one| (one.offset, one.kind.clone(), one.bytes));
    }
    same("notices", &notices, &wanted)?;
    let drops: &[&str] = match settings.limits.policy {
        LimitPolicy::Drop => &["cut_opener", "candidate_limit"],
        _ => &["cut_opener"],
    };
    check_chunk_invariance(&cursor, text, plan).map_err(|it| it.to_string())?;
    if settings.whitespace == Whitespace::Trim {
        // Held whitespace is emitted after the call or reasoning that follows it.
        return Ok(());
    }
    check_nothing_lost(&cursor, text, drops, plan).map_err(|it| it.to_string())
}

/// Checks the matcher for `markers`.
pub(crate) fn matcher(markers: &[String], text: &str, plan: CutPlan) -> Result<(), String> {
    let plain = Plain::new(markers);
    let expected = naive_plain::matches(markers, text);
    same("found", &normal(&run(&plain, text, Cut::Whole)), &expected)?;
    check_chunk_invariance(&plain, text, plan).map_err(|it| it.to_string())
}

/// Checks the jail of `spec`, which must build.
pub(crate) fn jail(spec: &Spec, text: &str, plan: CutPlan) -> Result<(), String> {
    let jail = Jailed::new(spec.build().map_err(|error| error.to_string())?);
    let got = run(&jail, text, Cut::Whole).coalesced().expect("no empty text");
    same("blocks", &got, &naive_jail::record(spec, text))?;
    check_chunk_invariance(&jail, text, plan).map_err(|it| it.to_string())?;
    if !spec.is_flat() {
        return Ok(());
    }
    let drops = ["jail_markup", "jail_dropped", "jail_dropped_limit"];
    check_nothing_lost(&jail, text, &drops, plan).map_err(|it| it.to_string())
}
