//! Random tables and texts: the streaming machines give the results of the second implementations.

use jail_match::{Closed, Edge, Jail, JailEvent, JailSignal, OnFail};
use proptest::prelude::*;
use stream_laws::CutPlan;

use crate::{
    agree,
    jail_spec::Spec,
    random::{edge, marker, settings, tags, text},
    random_jail::spec_and_text,
};

pub(crate) fn table_and_text() -> impl Strategy<Value = (Vec<Edge>, String)> {
    prop::collection::vec(edge(), 1..7).prop_flat_map(|edges| {
        let markers = edges.iter().map(|edge| edge.marker.clone().into_owned()).collect();
        (Just(edges), text(markers))
    })
}

/// Generates a table of reasoning tags with one other edge, and text with many of the tags.
pub(crate) fn tags_and_text() -> impl Strategy<Value = (Vec<Edge>, String)> {
    (tags(), edge()).prop_flat_map(|(mut edges, other)| {
        edges.push(other);
        let markers = edges.iter().map(|edge| edge.marker.clone().into_owned()).collect();
        (Just(edges), text(markers))
    })
}

pub(crate) fn markers_and_text() -> impl Strategy<Value = (Vec<String>, String)> {
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
        agree::driver(&edges, settings, &text, CutPlan::quick(7)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn shown_reasoning_tags_equal_a_naive_scan_at_every_cut(
        (edges, text) in tags_and_text(),
        settings in settings(),
    ) {
        agree::driver(&edges, settings, &text, CutPlan::quick(8)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn matcher_equals_a_naive_scan_at_every_cut((markers, text) in markers_and_text()) {
        agree::matcher(&markers, &text, CutPlan::quick(9)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn jail_equals_a_naive_scan_at_every_cut((spec, text) in spec_and_text()) {
        agree::jail(&spec, &text, CutPlan::quick(10)).map_err(TestCaseError::fail)?;
    }
    // Needs no second implementation: limits that let blocks continue do not move their ends.
    #[test]
    fn limits_that_strip_or_drop_do_not_move_the_end_of_a_block(
        (mut spec, text) in spec_and_text(),
        over in prop::sample::select(&[OnFail::Strip, OnFail::Drop]),
        limits in prop::collection::vec(1usize..12, 4),
    ) {
        spec.blocks = (u64::MAX, OnFail::End);
        let ends = |spec: &Spec| ends(spec.build().expect("good rules"), &text);
        for rule in &mut spec.rules {
            (rule.over, rule.unclosed, rule.limit) = (over, OnFail::End, usize::MAX);
        }
        let without = ends(&spec);
        for (rule, limit) in spec.rules.iter_mut().zip(limits) {
            rule.limit = limit;
        }
        prop_assert_eq!(ends(&spec), without);
    }
}

/// Returns the places where the blocks of `text` open and close.
fn ends(mut jail: Jail, text: &str) -> Vec<(usize, u64, u64, Closed)> {
    let mut ends = Vec::new();
    let mut on = |event: JailEvent<'_>| {
        if let JailEvent::Signal(JailSignal::Closed { pair, at, bytes, why }) = event {
            ends.push((pair, at, bytes, why));
        }
    };
    jail.push(text, &mut on).expect("no limit is an error");
    jail.finish(&mut on).expect("no limit is an error");
    ends
}
