//! The seed of a process. This test is a program of its own, because the seed is set once.
#![cfg(feature = "std")]

use toolcall_parsers::Ids;

#[test]
fn ids_of_a_process_follow_its_seed() {
    assert!(Ids::seed_process(7));
    assert!(!Ids::seed_process(8), "the seed is set once");
    let (unique, seeded) = (Ids::default(), Ids::seeded(7));
    for n in 0..3 {
        assert_eq!(unique.id("f", 0), seeded.id("f", n));
    }
}
