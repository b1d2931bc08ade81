//! Random behaviour of all parts. Every stream has one START, one finalizer, one END, and no event
//! after END.

use proptest::prelude::*;

use crate::{
    chaotic::{Acts, Chaos, Wants},
    support::Does,
};

fn acts() -> impl Strategy<Value = Acts> {
    prop_oneof![8 => Just(Acts::Takes), 1 => Just(Acts::Refuses), 1 => Just(Acts::Panics)]
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        6 => Just(Does::Item("a")),
        2 => Just(Does::Wait),
        1 => Just(Does::Fail("x")),
        1 => Just(Does::Panic("y")),
    ]
}

fn wants() -> impl Strategy<Value = Wants> {
    prop_oneof![
        9 => Just(Wants::Poll),
        1 => Just(Wants::Close),
        1 => Just(Wants::MoveToAnotherThread),
        1 => Just(Wants::Drop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Contract: S4.5, S4.6.
    #[test]
    fn arbitrary_stream_ends_exactly_once(
        script in prop::collection::vec(does(), 0..8),
        collects in prop::collection::vec(acts(), 0..8),
        rail in prop::option::of(prop::collection::vec(acts(), 0..8)),
        ends in acts(),
        subscriber in acts(),
        cleanup in prop::option::of(0_u8..3),
        consumer in prop::collection::vec(wants(), 0..16),
    ) {
        Chaos { script, collects, rail, ends, subscriber, cleanup, consumer }.ends_once();
    }
}
