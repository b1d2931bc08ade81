//! The contract of `stream-lifecycle`, and the tests there and here, name the same ids.

use std::collections::BTreeSet;

const CONTRACT: &str = include_str!("../../../../stream-lifecycle/CONTRACT.md");
const TESTS: &str = concat!(
    include_str!("chat.rs"),
    include_str!("collected.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/collected.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/context.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/endings.rs"),
    include_str!("enforce.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/enforce.rs"),
    include_str!("guarded.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/panics.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/record.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/starts.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/subscribers.rs"),
    include_str!("../../../../stream-lifecycle/tests/it/window.rs"),
);

/// `S4.7` as tests spell it.
fn spelled(id: &str) -> String {
    let (area, number) = id.split_once('.').unwrap();
    format!("{}_{number:0>2}", area.to_lowercase())
}

#[test]
fn every_line_of_the_contract_has_a_test_and_every_id_a_line() {
    let lines = CONTRACT.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let ids = lines.map(|(id, _)| id).filter(|id| id.contains('.'));
    let contract: BTreeSet<String> = ids.map(spelled).collect();
    assert_eq!(contract.len(), 35);
    let names = TESTS.lines().filter_map(|line| line.trim().strip_prefix("fn ")?.split_once('('));
    let tested: BTreeSet<String> = names
        .flat_map(|(name, _)| name.split("_and_").map(str::to_owned).collect::<Vec<_>>())
        .filter(|name| name.starts_with("s4_") || name.starts_with("x_"))
        .map(|name| name.splitn(3, '_').take(2).collect::<Vec<_>>().join("_"))
        .collect();
    assert_eq!(tested, contract);
}
