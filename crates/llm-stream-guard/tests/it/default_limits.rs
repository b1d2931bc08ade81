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

#[test]
fn the_page_names_the_default_limits_of_the_code() {
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
        ("GuardBuilder::atomic_limit", field(&builder, "atomic_limit"), 1 << 20, "MiB"),
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
