//! Runs every target over its seeds and a few random inputs.

use std::path::Path;

use guard_fuzz::{TARGETS, dictionary, seeds, shrink, vector};
use stream_laws::Random;

/// The number of seeds that are run for each target, spread evenly over all seeds.
const SEEDS: usize = 40;

/// The number of random inputs for each target, and their maximum length.
const RANDOM: (u64, usize) = (60, 300);

/// Inputs that failed once.
const FAILED: [(&str, &[u8]); 13] = [
    // A stop string and an invalid byte in one chunk, after which a limit with the error policy was hit.
    (
        "raw_bytes",
        b"\x0f\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xa0n\0\0\0\0\0te\0\xad\0\0\0\xb5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0<|\xa0",
    ),
    // Markers in two forms inside a value.
    (
        "damaged",
        b"\x1cT\x8c\xc4\xfc\0\0\0\0\0\0\0x\0\0\0\0\0\0\0\0\0\x97\0\0\0\0\0\0\0\x85\0\0\0\xc9\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xd4",
    ),
    // A stop string after the limit of a remapping, in the chunk of its error.
    (
        "damaged",
        b"\x19\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xa0\0\0x\xf5\0\x17\0\0\0[\0\0\0\0\xb0",
    ),
    // A key that comes twice, with text after it.
    (
        "guard",
        b"\x18\0\0\0\0\0\0\0\0x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x8ex{b:,b:,\0:\0",
    ),
    // The server's reasoning while content is held.
    ("chat", b"\0\0\0k\0\0\0S\0\0\0\0\0\0\xb5\0\0\0\0\0\0\0\0\0\x87\x9c\xb1\x0a\x83\0"),
    // A header of a parameter beyond the limit of a value.
    ("calls", b"\x0b\0\0\0\0\0\0\0\0x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x9bx\x9e\xa5x\xa8false\xab{\xad]\xa5\0"),
    // A block that becomes text because of a key beyond the limit.
    ("damaged", b"\0\0x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x8d"),
    // A key beyond the limit after a quote.
    ("guard", b"\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x8ex{\0:<escape>\0<escape>,\0\0:"),
    // The limits of a candidate and of a jail in one chunk.
    ("damaged", b"\0\0w\0\0\0\0\0\0\0\0\xf1\0\0\0x\0\0\x17A\0\0\0\0\0\0i\0\0\0\xbd\0\0\0\0\0\0\0ex\0\xa4\xe3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xba\x9b\x97\xc1\xd6\xeb"),
    // A key of bytes that JSON escapes.
    ("calls", b"#\0\0\0\0\0\0\0\0x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x8a{\x91\xa0\x22\0\x22,\x95\x22\xa0\x22\x22,\x22\0\0\0\0\0\0\0\0\0\0"),
    // Whitespace after the error of a limit.
    ("damaged", b"\x1b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0+a\0\0\0\0\xa5\0\x11\0\0\0\x1f"),
    // Text after a tag that ends a value whose own end is missing.
    ("damaged", b"x\x229Pg\0\0\0\0\0\0\0x\0xx\0\0\0\0\xc7"),
    // A key that an object has twice, with two types.
    ("round_trip", b"\x15\0\0x\0\0\0\x03\0x"),
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let seeds = seeds(name, root()).expect("files of the workspace");
    assert!(!seeds.is_empty());
    let some = seeds.iter().step_by(seeds.len().div_ceil(SEEDS)).cloned();
    let random = (0..RANDOM.0).map(|seed| {
        let mut random = Random::new(seed);
        let len = random.below(RANDOM.1);
        (0..len).map(|_| random.next() as u8).collect()
    });
    let failed = FAILED.iter().filter(|(target, _)| *target == name).map(|(_, it)| it.to_vec());
    for input in some.chain(random).chain(failed) {
        if let Some((small, message)) = shrink(target.run, &input) {
            panic!("{message}\n{} bytes: {small:?}", small.len());
        }
    }
}

macro_rules! runs {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })+

        #[test]
        fn every_fuzz_target_has_a_test() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }
    };
}

runs! {
    matcher driver jail think calls guard raw_bytes damaged family templates round_trip remap
    remap_bodies sse chat chat_sse lifecycle window queue tokens
}

#[test]
fn every_fuzz_target_has_a_binary_a_nightly_run_and_a_docs_row() {
    let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("readable");
    let nightly = root().join(".github/workflows/fuzz.yml");
    let nightly = std::fs::read_to_string(nightly).expect("readable");
    let docs = std::fs::read_to_string(root().join("docs/fuzzing.md")).expect("readable");
    for target in TARGETS {
        let name = target.name;
        assert!(nightly.contains(&format!("\"{name}\"")), "{name} does not run each night");
        assert!(docs.contains(&format!("| `{name}` |")), "{name} is not told of");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        let body = std::fs::read_to_string(root().join(format!("fuzz/fuzz_targets/{name}.rs")));
        assert!(body.expect("readable").contains(&format!("guard_fuzz::{name}(data)")), "{name}");
    }
}

#[test]
fn dictionaries_are_written_in_libfuzzer_syntax() {
    let words = dictionary("calls");
    assert!(words.lines().any(|line| line == "\"<tool_call>\""), "{words}");
    let good = |line: &str| line.len() > 2 && line.is_ascii() && line.ends_with('"');
    assert!(words.lines().all(good), "{words}");
}

#[test]
fn fuzz_input_of_calls_is_printed_as_a_vector() {
    let seed = &seeds("calls", root()).expect("files of the workspace")[0];
    let line = vector("calls", seed).expect("a line");
    let cases = stream_laws::vector::read_cases(&line).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(cases.len(), 1);
    assert_eq!(vector("queue", seed), None);
}
