//! A guard that decodes remapped delimiters first.

use llm_stream_guard::{
    Call, End, Event, Guard, Whitespace, profile,
    wire_remap::{RemapTable, Truncated},
};

const WIRE: &str = "Let me look.\n[[CALL]]\n{\"name\": \"look\", \"arguments\": {\"file\": \"src\"}}\n\
    [[/CALL]]";

fn guard(table: Option<RemapTable>) -> Guard {
    let builder = Guard::builder(&profile("qwen3").unwrap()).whitespace(Whitespace::Verbatim);
    match table {
        Some(table) => builder.remap(table).build().unwrap(),
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

#[test]
fn the_wire_form_is_invisible_until_it_is_decoded() {
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

#[test]
fn what_a_user_typed_comes_back_as_text_and_calls_nothing() {
    for text in [
        "You typed [[~CALL]]{\"name\": \"f\"}[[/~CALL]].",
        "Write `[[CALL]]` and then {\"name\": \"f\"}.",
        "```\n[[CALL]]\n{\"name\": \"f\"}\n[[/CALL]]\n```\n",
        "The user wrote [[~~CALL]]{\"name\": \"f\"}[[/~~CALL]]",
    ] {
        let seen = seen(&hermes(), text);
        assert_eq!((seen.content, seen.calls.len()), (RemapTable::hermes().decode(text).into(), 0));
    }
}

#[test]
fn a_marker_in_an_argument_string_is_data() {
    let text = "[[CALL]]\n{\"name\": \"say\", \"arguments\": {\"x\": \"[[~CALL]] [[/~CALL]]\"}}\n[[/CALL]]";
    let seen = seen(&hermes(), text);
    assert_eq!(seen.calls[0].arguments, "{\"x\": \"[[CALL]] [[/CALL]]\"}");
}

#[test]
fn calls_directly_behind_each_other_all_count() {
    let one = "[[CALL]]{\"name\": \"f\"}[[/CALL]]";
    assert_eq!(seen(&hermes(), &one.repeat(5)).calls.len(), 5);
}

#[test]
fn a_damaged_marker_is_told_and_kept_or_recovered() {
    let text = "ok\n[[CALL]\n{\"name\": \"f\"}\n[[/CALL]]";
    let diagnosed = seen(&hermes(), text);
    assert_eq!((diagnosed.told[0], diagnosed.calls.len()), (("damaged_marker", 3, 7), 0));
    assert!(diagnosed.content.starts_with("ok\n[[CALL]\n"), "{:?}", diagnosed.content);
    let table = RemapTable::hermes_builder().truncated(Truncated::Recover).build().unwrap();
    assert_eq!(seen(&guard(Some(table)), text).calls.len(), 1);
    assert!(seen(&hermes(), "ok\n[[CALLER] said").told.is_empty());
}

#[test]
fn a_thought_is_decoded_and_what_it_quotes_is_text() {
    let seen = seen(&hermes(), "<think>use [[CALL]] `[[/CALL]]`</think>Done.");
    assert_eq!(seen.reasoning, "use <tool_call> `</tool_call>`");
    assert_eq!((seen.content.as_str(), seen.calls.len()), ("Done.", 0));
}
