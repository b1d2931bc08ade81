//! The defaults that `docs/limits.md` names are those of the code.

use std::num::NonZeroUsize;

use llm_stream_guard::{
    CallLimits, Guard, Limits, Profile, chat::ChatLimits, lifecycle::ByteBudget,
    lifecycle::Windows, sse, wire_remap::bodies::ResponseRemap,
};

const PAGE: &str = include_str!("../../../../docs/limits.md");

/// The field of a type whose fields are private, as its debug output has it.
fn field(debug: &str, name: &str) -> usize {
    let (_, value) = debug.split_once(&format!(" {name}: ")).expect("the field is there");
    let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

/// A default as the page writes it.
fn written(bytes: usize, unit: &str) -> String {
    match unit {
        "MiB" => format!("{} MiB", bytes >> 20),
        "KiB" => format!("{} KiB", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// A limit without a setting: how its row begins, its default there, its constant, and the source
/// file with the constant.
type Fixed = (&'static str, &'static str, &'static str, &'static str);

macro_rules! source {
    ($path:literal) => {
        include_str!(concat!("../../../", $path))
    };
}

const FIXED: &[Fixed] = &[
    (
        "refuted candidates over the same text",
        "16",
        "MAX_RESCANS: u32 = 16;",
        source!("jail-match/src/limits.rs"),
    ),
    (
        "text of a value from the first tag on",
        "64 KiB at most",
        "MAX_LOOKAHEAD: usize = 64 * 1024;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "quoted calls inside each other whose values are distinguished",
        "32",
        "MAX_QUOTED_CALLS: usize = 32;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "names of a call's parameters together",
        "64 KiB",
        "MAX_PARAMETER_NAMES: usize = 64 * 1024;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "the keys of a call's open objects",
        "1 MiB",
        "MAX_MEMBER_NAMES: usize = 1024 * 1024;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "a word or a number that may have to be mended",
        "32 bytes",
        "MAX_MENDED_TOKEN: usize = 32;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "text after an end of the call inside a value",
        "16 KiB at most",
        "MAX_TEXT_AFTER_END: usize = 16 * 1024;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "parsed members that a guard reads",
        "8 MiB, and twice the length of the event",
        "MAX_PARSED_BYTES: usize = 8 << 20;",
        source!("llm-stream-guard/src/limits.rs"),
    ),
    (
        "parsed log probabilities and token ids",
        "32 MiB",
        "MAX_PARSED_TOKEN_BYTES: usize = 32 << 20;",
        source!("llm-stream-guard/src/limits.rs"),
    ),
    (
        "levels of JSON in arguments",
        "128",
        "MAX_ARGUMENT_DEPTH: usize = 128;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "ids of calls",
        "256 KiB a message",
        "MAX_ID_BYTES: usize = 256 * 1024;",
        source!("toolcall-parsers/src/limits.rs"),
    ),
    (
        "a checkpoint's suffix in tags",
        "32 bytes",
        "MAX_CHARS: usize = 32;",
        source!("jail-match/src/suffix.rs"),
    ),
    (
        "chunks without choices that may be the tail",
        "16",
        "MAX_TAIL_CHUNKS: usize = 16;",
        source!("llm-stream-guard/src/limits.rs"),
    ),
    (
        "annotations that wait for their chunk",
        "1024",
        "MAX_WAITING_ANNOTATIONS: usize = 1024;",
        source!("llm-stream-guard/src/limits.rs"),
    ),
    (
        "texts checked apart",
        "1024",
        "MAX_TEXTS: usize = 1024;",
        source!("stream-lifecycle/src/limits.rs"),
    ),
    (
        "choices of a stream whose chunks are redacted",
        "1024",
        "MAX_TRACKED_CHOICES: usize = 1024;",
        source!("llm-stream-guard/src/limits.rs"),
    ),
    (
        "choices of a refused stream",
        "1024",
        "MAX_TRACKED_CHOICES: usize = 1024;",
        source!("llm-stream-guard/src/limits.rs"),
    ),
    (
        "choices of a collected answer",
        "1024",
        "MAX_TRACKED_CHOICES: usize = 1024;",
        source!("llm-stream-guard/src/limits.rs"),
    ),
    (
        "faults of components in the END event",
        "16",
        "MAX_FAULTS: usize = 16;",
        source!("stream-lifecycle/src/limits.rs"),
    ),
];

#[test]
fn fixed_limits_of_the_page_match_the_constants() {
    for (row, written, constant, source) in FIXED {
        assert!(source.contains(constant), "{row}: the code has no `{constant}`");
        let start = format!("| {row}");
        let found = PAGE.lines().find(|line| line.starts_with(&start)).expect("a row of the page");
        assert_eq!(found.split(" | ").nth(2), Some(*written), "{row}");
        let name = constant.split(':').next().unwrap_or_default();
        assert!(found.contains(&format!("{name}`")), "{row}: the page does not name `{name}`");
    }
    let known = |line: &str| FIXED.iter().any(|(row, ..)| line.starts_with(&format!("| {row}")));
    let unknown: Vec<&str> =
        PAGE.lines().filter(|line| line.contains(" | fixed: ") && !known(line)).collect();
    assert!(unknown.is_empty(), "fixed limits that no test pins: {unknown:?}");
}

#[test]
fn default_limits_of_the_page_match_the_code() {
    let (guard, call, chat) = (Limits::default(), CallLimits::default(), ChatLimits::default());
    let event = sse::SseLimits::default();
    let builder = format!("{:?}", Guard::builder(&Profile::named("hermes")));
    let windows = format!("{:?}", Windows::chars(NonZeroUsize::MIN));
    let all = [
        ("Limits::candidate", guard.candidate, 16 << 10, "KiB"),
        ("Limits::whitespace", guard.whitespace, 4 << 10, "KiB"),
        ("Limits::depth", guard.depth, 16, ""),
        ("CallLimits::name", call.name, 1 << 10, "KiB"),
        ("CallLimits::early_arguments", call.early_arguments, 16 << 10, "KiB"),
        ("CallLimits::value", call.value, 1 << 20, "MiB"),
        ("CallOptions::atomic_limit", field(&builder, "atomic_limit"), 1 << 20, "MiB"),
        ("ChatLimits::choices", chat.choices, 128, ""),
        ("ChatLimits::calls", chat.calls, 1024, ""),
        ("ChatLimits::waiting", chat.waiting, 65536, ""),
        ("sse::SseLimits::line", event.line, 8 << 20, "MiB"),
        ("ResponseRemap::with_limit", ResponseRemap::TEXTS, 1024, ""),
        ("its budget", ByteBudget::DEFAULT, 16 << 20, "MiB"),
        ("Windows::limit", field(&windows, "limit"), 1 << 20, "MiB"),
    ];
    for (setting, found, expected, unit) in all {
        assert_eq!(found, expected, "{setting}");
        let row = PAGE.lines().find(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            cells.get(1).is_some_and(|cell| cell.trim_matches('`') == setting)
                && cells.get(2).is_some_and(|cell| *cell == written(found, unit))
        });
        assert!(row.is_some(), "docs/limits.md: `{setting}` with {}", written(found, unit));
    }
    assert_eq!(event.event, event.line);
    assert!(PAGE.contains("| an event | `sse::SseLimits::event` | 8 MiB |"));
}

#[test]
fn page_names_every_constant() {
    for (name, source) in [
        ("jail-match", source!("jail-match/src/limits.rs")),
        ("stream-lifecycle", source!("stream-lifecycle/src/limits.rs")),
        ("toolcall-parsers", source!("toolcall-parsers/src/limits.rs")),
        ("wire-remap", source!("wire-remap/src/limits.rs")),
        ("response-templates", source!("response-templates/src/limits.rs")),
        ("llm-stream-guard", source!("llm-stream-guard/src/limits.rs")),
        ("family-export", source!("family-export/src/limits.rs")),
        ("llm-stream-guard-serve", source!("llm-stream-guard-serve/src/limits.rs")),
        ("llm-stream-guard-cli", source!("llm-stream-guard-cli/src/limits.rs")),
    ] {
        let (_, rows) = PAGE.split_once(&format!("| **`{name}`** | | |\n")).expect("a part");
        let rows = rows.split("| **").next().unwrap_or_default();
        for constant in source.lines().filter_map(|line| line.split_once(" const MAX_")) {
            let constant = constant.1.split(':').next().unwrap_or_default();
            let row = format!("| `MAX_{constant}` | ");
            assert!(rows.contains(&row), "docs/limits.md, {name}: expected a row `{row}`");
        }
    }
}
