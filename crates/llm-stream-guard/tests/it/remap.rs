//! A guard that decodes remapped delimiters first.

use llm_stream_guard::{
    Call, End, Event, Guard, Ids, Profile, StopString, Whitespace, profile,
    wire_remap::{MarkerDetection, Regime, RemapTable, Truncated},
};

const WIRE: &str = "Let me look.\n[[CALL]]\n{\"name\": \"look\", \"arguments\": {\"file\": \"src\"}}\n\
    [[/CALL]]";

fn guard(table: Option<RemapTable>) -> Guard {
    let builder =
        Guard::builder(&Profile { whitespace: Whitespace::Verbatim, ..profile("qwen3").unwrap() });
    match table {
        Some(table) => builder.stage(table).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

/// What came out: content, reasoning, names of calls, kinds of diagnostics.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    content: String,
    reasoning: String,
    calls: Vec<Call>,
    told: Vec<(&'static str, u64, u64)>,
}

fn run(guard: &Guard, chunks: &[&str]) -> Seen {
    let (mut guard, mut told) = (guard.clone(), Vec::new());
    guard.set_ids(Ids::counting());
    let mut message = llm_stream_guard::Message::default();
    let mut sink = |event: Event<'_>| {
        if let Event::Diagnostic(one) = &event {
            told.push((one.kind.name(), one.at, one.bytes));
        }
        message.collect(event);
    };
    for chunk in chunks {
        guard.push(chunk, &mut sink).unwrap();
    }
    guard.finish(End::Stop, &mut sink).unwrap();
    Seen { content: message.content, reasoning: message.reasoning, calls: message.calls, told }
}

/// The same for the text whole, in scalars, and cut in two anywhere.
fn seen(guard: &Guard, text: &str) -> Seen {
    let whole = run(guard, &[text]);
    let scalars: Vec<String> = text.chars().map(String::from).collect();
    let scalars: Vec<&str> = scalars.iter().map(String::as_str).collect();
    assert_eq!(run(guard, &scalars), whole, "{text:?}");
    for (at, _) in text.char_indices() {
        let (head, tail) = text.split_at(at);
        assert_eq!(run(guard, &[head, tail]), whole, "{text:?} at {at}");
    }
    whole
}

fn hermes() -> Guard {
    guard(Some(RemapTable::hermes()))
}

// Contract: S2.21, X.14.
#[test]
fn wire_form_is_text_until_decoded() {
    let plain = seen(&guard(None), WIRE);
    assert_eq!((plain.content.as_str(), plain.calls.len()), (WIRE, 0));
    let decoded = seen(&hermes(), WIRE);
    assert_eq!(decoded.content, "Let me look.\n");
    assert_eq!(decoded.calls[0].name, "look");
    let canonical = RemapTable::hermes().decode(WIRE).into_owned();
    assert_eq!(seen(&hermes(), &canonical).calls, decoded.calls, "what the model wrote itself");
    let mixed = WIRE.replace("[[/CALL]]", "</tool_call>");
    assert_eq!(seen(&hermes(), &mixed).calls, decoded.calls, "and one end each way");
}

// Contract: S2.13, X.12.
#[test]
fn typed_wire_markers_are_restored_as_text_without_calls() {
    for text in [
        "You typed [[~CALL]]{\"name\": \"f\"}[[/~CALL]].",
        "Write `[[CALL]]` and then {\"name\": \"f\"}.",
        "The user wrote [[~~CALL]]{\"name\": \"f\"}[[/~~CALL]]",
    ] {
        let seen = seen(&hermes(), text);
        assert_eq!((seen.content, seen.calls.len()), (RemapTable::hermes().decode(text).into(), 0));
    }
}

// Contract: X.13.
#[test]
fn marker_in_an_argument_string_is_data() {
    let text = "[[CALL]]\n{\"name\": \"say\", \"arguments\": {\"x\": \"[[~CALL]] [[/~CALL]]\"}}\n[[/CALL]]";
    let seen = seen(&hermes(), text);
    assert_eq!(seen.calls[0].arguments, "{\"x\": \"[[CALL]] [[/CALL]]\"}");
}

#[test]
fn adjacent_calls_in_wire_form_are_all_read() {
    let one = "[[CALL]]{\"name\": \"f\"}[[/CALL]]";
    assert_eq!(seen(&hermes(), &one.repeat(5)).calls.len(), 5);
}

// Contract: S2.15.
#[test]
fn damaged_marker_is_reported_and_kept_or_recovered() {
    let text = "ok\n[[CALL]\n{\"name\": \"f\"}\n[[/CALL]]";
    let diagnosed = seen(&hermes(), text);
    assert_eq!((diagnosed.told[0], diagnosed.calls.len()), (("damaged_marker", 3, 7), 0));
    assert!(diagnosed.content.starts_with("ok\n[[CALL]\n"), "{:?}", diagnosed.content);
    let table = RemapTable::hermes_builder().truncated(Truncated::Recover).build().unwrap();
    assert_eq!(seen(&guard(Some(table)), text).calls.len(), 1);
    assert!(seen(&hermes(), "ok\n[[CALLER] said").told.is_empty());
}

// Contract: X.11.
#[test]
fn reasoning_is_decoded_and_quoted_markers_in_it_are_text() {
    let seen = seen(&hermes(), "<think>use [[CALL]] `[[/CALL]]`</think>Done.");
    assert_eq!(seen.reasoning, "use <tool_call> `</tool_call>`");
    assert_eq!((seen.content.as_str(), seen.calls.len()), ("Done.", 0));
}

/// Two guards whose outcomes must agree: one reads the wire form, one the canonical.
fn both(canonical: &str) -> (Seen, Seen) {
    let table = RemapTable::hermes();
    (seen(&hermes(), &table.encode(canonical)), seen(&guard(None), canonical))
}

// Contract: S2.14, S2.21, X.11, X.14.
#[test]
fn decoded_marker_is_markup_where_the_canonical_marker_is() {
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    for (canonical, calls) in [
        (format!("<think>x</think>{call}"), 1),
        (format!("<think>```\nx</think>\n{call}"), 1),
        (format!("```\n{call}\n```"), 1),
        (format!("Let me check. {call}"), 1),
        (format!("- {call}"), 1),
        (format!("\"quoted {call}"), 1),
        (format!("{call} {call}"), 2),
        (format!("{call} and {call}"), 2),
        (format!("<think>hm {call} so</think>"), 1),
        ("the <tool_call> tag".into(), 0),
        ("`<tool_call>` and </tool_call>.".into(), 0),
    ] {
        let (wire, plain) = both(&canonical);
        assert_eq!(wire, plain, "{canonical}");
        assert_eq!(wire.calls.len(), calls, "{canonical}");
    }
}

fn regime(regime: Regime) -> Guard {
    let builder =
        Guard::builder(&Profile { whitespace: Whitespace::Verbatim, ..profile("qwen3").unwrap() });
    builder.stage(regime).build().unwrap()
}

// Contract: S2.14.
#[test]
fn structural_detection_reads_calls_only_on_their_own_lines() {
    let guard =
        regime(Regime::from(RemapTable::hermes()).with_detection(MarkerDetection::Structural));
    let call = "[[CALL]]{\"name\": \"f\"}[[/CALL]]";
    for (text, calls) in [
        (call.to_owned(), 1),
        (format!("<think>x</think>{call}"), 1),
        (format!("<think>```\nx</think>{call}"), 1),
        (format!("so\n  {call}{call}"), 2),
        (format!("Let me check. {call}"), 0),
        (format!("```\n{call}\n```\n"), 0),
        (format!("```\n{call}\n```\n{call}"), 1),
    ] {
        assert_eq!(seen(&guard, &text).calls.len(), calls, "{text}");
    }
}

// Contract: S2.20, X.15.
#[test]
fn mixed_markers_are_accepted_reported_and_counted() {
    let wire = "[[CALL]]{\"name\": \"f\"}</tool_call> <tool_call>{\"name\": \"f\"}[[/CALL]]";
    let mixed = seen(&hermes(), wire);
    assert_eq!(mixed.calls.len(), 2);
    assert_eq!(mixed.told, [("mixed_markers", 24, 12), ("mixed_markers", 61, 12)]);
    let pure =
        "a </tool_call> [[CALL]]{\"name\": \"f\"}[[/CALL]]<tool_call>{\"name\": \"f\"}</tool_call>";
    assert_eq!(seen(&hermes(), pure).told, []);
    let mut guard = hermes();
    guard.push(wire, &mut |_: Event<'_>| {}).unwrap();
    guard.finish(End::Stop, &mut |_: Event<'_>| {}).unwrap();
    let tally = guard.remap_tally().unwrap();
    assert_eq!((tally.decoded, tally.canonical, tally.mixed), (2, 2, 2));
    assert!(self::guard(None).remap_tally().is_none());
}

// Contract: S2.9.
#[test]
fn stop_strings_match_canonical_text() {
    let builder = || {
        Guard::builder(&Profile { whitespace: Whitespace::Verbatim, ..profile("qwen3").unwrap() })
    };
    for stop in [StopString::hidden("</tool_call>"), StopString::visible("</tool_call>\nx")] {
        let on = builder().stage(RemapTable::hermes()).stop([stop.clone()]).build().unwrap();
        let off = builder().stop([stop]).build().unwrap();
        for canonical in ["a</tool_call>\nxb", "<tool_call>{\"name\": \"f\"}</tool_call>\nx y"] {
            let wire = RemapTable::hermes().encode(canonical).into_owned();
            assert_eq!(seen(&on, &wire), seen(&off, canonical));
            let mut guard = on.clone();
            guard.push(&wire, &mut |_: Event<'_>| {}).unwrap();
            assert!(guard.stopped().is_some(), "{wire:?}");
        }
    }
}

#[test]
fn quoted_call_after_a_refuted_opener_stays_text() {
    let text = "<think>t</think>[[CALL]] is not [[~~CALL]]{\"name\": \"f\"}[[/~~CALL]]";
    let seen = seen(&hermes(), text);
    let content = "<tool_call> is not <tool_call>{\"name\": \"f\"}</tool_call>";
    assert_eq!((seen.content.as_str(), seen.calls.len()), (content, 0));
}

#[test]
fn remap_buffers_stay_bounded_after_a_stop_string_and_in_long_text() {
    let builder = || Guard::builder(&profile("qwen3").unwrap()).stage(RemapTable::hermes());
    let stopped = builder().stop([StopString::hidden("END")]).build().unwrap();
    for (mut guard, first) in [(stopped, "a END"), (builder().build().unwrap(), "a ")] {
        let mut sink = |_: Event<'_>| {};
        guard.push(first, &mut sink).unwrap();
        for _ in 0..2_000 {
            guard.push("[[CALL]] is [[~CALL]] or </tool_call>. ", &mut sink).unwrap();
        }
        assert!(guard.buffered() < 1_000, "{}", guard.buffered());
    }
}
