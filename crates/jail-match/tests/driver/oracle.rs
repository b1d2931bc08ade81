//! Random tables over random texts: the streaming machines give what a naive scan gives.

use jail_match::{Edge, Settings, Table, Whitespace};
use proptest::prelude::*;
use stream_laws::{Cut, CutPlan, Record, check_chunk_invariance, check_nothing_lost, run};

use crate::{
    bodies::Cursor,
    machines::{Jailed, Plain},
    naive, naive_jail, naive_plain,
    random::{edge, marker, settings, text},
    random_jail::spec_and_text,
};

fn normal(record: &Record) -> Record {
    let mut record = record.coalesced().expect("no empty text");
    // Held whitespace is reported late: by offset the order is that of the stream.
    record.diagnostics.sort_by_key(|one| one.offset);
    record
}

fn driver_agrees(edges: &[Edge], settings: Settings, text: &str) -> Result<(), TestCaseError> {
    let table = Table::new(edges.to_vec()).expect("a good table");
    let cursor = Cursor::new(table, settings);
    let expected = naive::record(edges, settings, text);
    let got = normal(&run(&cursor, text, Cut::Whole));
    prop_assert_eq!(&got.events, &expected.events, "events");
    prop_assert_eq!(&got.spans, &expected.spans, "spans");
    let mut notices = got.diagnostics;
    let mut wanted = expected.diagnostics;
    for list in [&mut notices, &mut wanted] {
        list.sort_by_key(|one| (one.offset, one.kind.clone(), one.bytes));
    }
    prop_assert_eq!(notices, wanted, "notices");
    let drops: &[&str] = match settings.limits.policy {
        jail_match::LimitPolicy::Drop => &["cut_opener", "candidate_limit"],
        _ => &["cut_opener"],
    };
    let fail = |broken| TestCaseError::fail(format!("{broken}"));
    check_chunk_invariance(&cursor, text, CutPlan::quick(7)).map_err(fail)?;
    if settings.whitespace == Whitespace::Trim {
        // Whitespace stands behind the call or the thought that it came before.
        return Ok(());
    }
    check_nothing_lost(&cursor, text, drops, CutPlan::quick(8)).map_err(fail)
}

fn table_and_text() -> impl Strategy<Value = (Vec<Edge>, String)> {
    prop::collection::vec(edge(), 1..7).prop_flat_map(|edges| {
        let markers = edges.iter().map(|edge| edge.marker.clone().into_owned()).collect();
        (Just(edges), text(markers))
    })
}

fn markers_and_text() -> impl Strategy<Value = (Vec<String>, String)> {
    prop::collection::vec(marker(), 1..6)
        .prop_flat_map(|markers| (Just(markers.clone()), text(markers)))
}

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases.unwrap_or(default))
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn driver_equals_a_naive_scan_at_every_cut(
        (edges, text) in table_and_text(),
        settings in settings(),
    ) {
        driver_agrees(&edges, settings, &text)?;
    }

    #[test]
    fn matcher_equals_a_naive_scan_at_every_cut((markers, text) in markers_and_text()) {
        let plain = Plain::new(&markers);
        let expected = naive_plain::matches(&markers, &text);
        prop_assert_eq!(normal(&run(&plain, &text, Cut::Whole)), expected);
        check_chunk_invariance(&plain, &text, CutPlan::quick(9))
            .map_err(|broken| TestCaseError::fail(format!("{broken}")))?;
    }

    #[test]
    fn jail_equals_a_naive_scan_at_every_cut((spec, text) in spec_and_text()) {
        let jail = Jailed::new(spec.build().expect("good rules"));
        let got = run(&jail, &text, Cut::Whole).coalesced().expect("no empty text");
        prop_assert_eq!(got, naive_jail::record(&spec, &text));
        check_chunk_invariance(&jail, &text, CutPlan::quick(10))
            .map_err(|broken| TestCaseError::fail(format!("{broken}")))?;
        if spec.is_flat() {
            let drops = ["jail_markup", "jail_dropped", "jail_dropped_limit"];
            check_nothing_lost(&jail, &text, &drops, CutPlan::quick(11))
                .map_err(|broken| TestCaseError::fail(format!("{broken}")))?;
        }
    }
}
