//! The cut plans are complete, reproducible, and cut nothing but the input.

use stream_laws::{Cut, CutPlan};

const TEXT: &str = "aü◁🦀z";

#[test]
fn pieces_of_every_cut_concatenate_to_the_input() {
    for cut in CutPlan::standard(1).text(TEXT) {
        assert_eq!(cut.pieces(TEXT).collect::<String>(), TEXT, "{cut}");
    }
    for cut in CutPlan::standard(1).bytes(TEXT.as_bytes()) {
        assert_eq!(cut.byte_pieces(TEXT.as_bytes()).collect::<Vec<_>>().concat(), TEXT.as_bytes());
    }
}

#[test]
fn splits_of_short_inputs_are_exhaustive() {
    let plan = CutPlan { random: 0, ..CutPlan::standard(0) };
    // Five scalars have four inner boundaries, eleven bytes have ten.
    assert_eq!(plan.text(TEXT).count(), 3 + 4 + 4 * 3 / 2);
    assert_eq!(plan.bytes(TEXT.as_bytes()).count(), 2 + 10 + 10 * 9 / 2);
}

#[test]
fn long_inputs_are_split_at_random_only() {
    let text = "x".repeat(2049);
    assert_eq!(CutPlan::standard(0).text(&text).count(), 3 + 64);
    assert_eq!(CutPlan::standard(0).text(&text[..2048]).count(), 3 + 2047 + 64);
}

#[test]
fn text_is_cut_between_scalars_and_bytes_anywhere() {
    let scalars: Vec<&str> = Cut::EachScalar.pieces(TEXT).collect();
    assert_eq!(scalars, ["a", "ü", "◁", "🦀", "z"]);
    assert_eq!(Cut::EachByte.pieces(TEXT).count(), 5);
    assert_eq!(Cut::EachByte.byte_pieces(TEXT.as_bytes()).count(), 11);
    assert_eq!(Cut::TwoWay { at: 2 }.pieces(TEXT).collect::<Vec<_>>(), ["aü", "◁🦀z"]);
    let bytes: Vec<&[u8]> = Cut::TwoWay { at: 2 }.byte_pieces(TEXT.as_bytes()).collect();
    assert_eq!(bytes[0], b"a\xC3");
}

#[test]
fn empty_pieces_are_between_scalars_on_request() {
    let pieces: Vec<&str> = Cut::EachScalarAndEmpty.pieces("aü").collect();
    assert_eq!(pieces, ["a", "", "ü", ""]);
}

#[test]
fn random_splits_depend_on_the_seed_alone() {
    let text = "0123456789".repeat(30);
    let lengths = |seed| {
        let pieces = Cut::Random { seed }.pieces(&text).map(str::len);
        pieces.collect::<Vec<_>>()
    };
    assert_eq!(lengths(5), lengths(5));
    assert_ne!(lengths(5), lengths(6));
    let plan = |seed| CutPlan::standard(seed).text(&text).last();
    assert_eq!(plan(1), plan(1));
    assert_ne!(plan(1), plan(2));
}

#[test]
fn random_splits_have_few_or_many_pieces() {
    let text = "x".repeat(1000);
    let cuts = CutPlan { two_way_up_to: 0, ..CutPlan::standard(9) };
    let counts: Vec<usize> =
        cuts.text(&text).skip(3).map(|cut| cut.pieces(&text).count()).collect();
    assert!(counts.iter().any(|&count| count > 400), "{counts:?}");
    assert!(counts.iter().any(|&count| count < 5), "{counts:?}");
}

#[test]
fn cut_names_describe_the_cut() {
    assert_eq!(Cut::TwoWay { at: 17 }.to_string(), "two-way at 17");
    assert_eq!(Cut::ThreeWay { first: 1, second: 4 }.to_string(), "three-way at 1 and 4");
    assert_eq!(Cut::Random { seed: 255 }.to_string(), "random, seed 0xff");
}

#[test]
fn empty_input_has_no_pieces() {
    assert_eq!(CutPlan::standard(0).text("").flat_map(|cut| cut.pieces("")).count(), 0);
}
