//! The defaults that `docs/limits.md` names are those of the code.

use std::num::NonZeroUsize;

use jail_match::SuffixRule;
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

macro_rules! source {
    ($path:literal) => {
        include_str!(concat!("../../../", $path))
    };
}

/// The value of a constant as the source writes it: a number, a shift, a product, or seconds.
fn value(source: &str) -> u64 {
    let number = |text: &str| -> u64 { text.trim().replace('_', "").parse().expect("a number") };
    let source = source.strip_prefix("Duration::from_secs(").unwrap_or(source);
    let source = source.trim_end_matches([')', ';']);
    match source.split_once("<<") {
        Some((factor, bits)) => number(factor) << number(bits),
        None => source.split('*').map(number).product(),
    }
}

/// The value of a constant as the page writes it: digits, perhaps in groups, and a unit.
fn page_value(cell: &str) -> u64 {
    let is_digit = |c: char| c.is_ascii_digit();
    let digits: String = cell.chars().filter(|&c| is_digit(c)).collect();
    let unit = cell.trim_start_matches(|c: char| is_digit(c) || c == ' ');
    let factor = match unit {
        "" | "bytes" | "s" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => panic!("docs/limits.md: the unit `{unit}`"),
    };
    digits.parse::<u64>().expect("digits") * factor
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
fn page_names_every_constant_with_its_value() {
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
            let (constant, found) = constant.1.split_once(": ").expect("a type");
            let found = value(found.split_once(" = ").expect("a value").1);
            let row = format!("| `MAX_{constant}` | ");
            let row = rows.lines().find_map(|line| line.strip_prefix(&row));
            let row = row.unwrap_or_else(|| panic!("docs/limits.md, {name}: no row `{constant}`"));
            let written = row.split(" | ").next().unwrap_or_default();
            assert_eq!(page_value(written), found, "docs/limits.md, {name}: `{constant}`");
        }
    }
    let suffix = format!("| `SuffixRule::MAX_CHARS` | {} bytes |", SuffixRule::MAX_CHARS);
    assert!(PAGE.contains(&suffix), "docs/limits.md: expected a row `{suffix}`");
}
