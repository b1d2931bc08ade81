//! Calls: indices, ids, names, upstream's own among the text's.

use std::collections::BTreeSet;

use llm_stream_guard::End;
use llm_stream_guard::{
    CallOptions, Delivery, Ids, Outcome, Parallel,
    chat::{BrokenCalls, ChatGuard, ChatOptions, Note, Violation},
};
use serde_json::json;

use crate::chat::{
    feed::{builder, chat, choice, choices, clean, run, stop, text},
    reader::read_finished,
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

// Contract: S1.16, S1.27.
#[test]
fn first_delta_names_the_call_and_later_deltas_append_arguments() {
    let pieces = ["<tool_call>{\"name\": \"f\", \"arg", "uments\": {\"a\":", " 1}}</tool_call>"];
    let mut chunks: Vec<_> = pieces.iter().map(|piece| text(0, piece)).collect();
    chunks.push(stop(0, "stop"));
    let seen = clean("hermes", chunks);
    let choice = &read_finished(&seen.chunks)[&0];
    assert_eq!(
        (choice.calls[0].name.as_str(), choice.calls[0].arguments.as_str()),
        ("f", "{\"a\": 1}")
    );
    let first = &choices(&seen.chunks)[0]["delta"]["tool_calls"][0];
    assert_eq!((&first["index"], &first["type"]), (&json!(0), &json!("function")));
    assert!(seen.chunks.len() >= 3, "arguments stream");
}

// Contract: S1.5, S1.6, S1.18, S1.21.
#[test]
fn call_indices_increase_and_text_between_calls_keeps_its_place() {
    let seen = clean("hermes", vec![text(0, &format!("a{CALL}b{CALL}c")), stop(0, "stop")]);
    let order: Vec<_> = choices(&seen.chunks)
        .iter()
        .map(|choice| match choice["delta"]["tool_calls"][0]["index"].as_u64() {
            Some(index) => index.to_string(),
            None => choice["delta"]["content"].as_str().unwrap_or_default().to_owned(),
        })
        .collect();
    assert_eq!(order, ["a", "0", "b", "1", "c", ""]);
    assert_eq!(read_finished(&seen.chunks)[&0].calls.len(), 2, "two equal calls are two");
}

// Contract: S1.19.
#[test]
fn call_ids_are_unique_per_response_and_choice_or_supplied_by_the_caller() {
    let ids = |ids: Ids| {
        let mut options = CallOptions::default();
        options.ids = ids;
        let guard = builder("hermes").calls(options).build().expect("builds");
        let mut guard = ChatGuard::new(guard, ChatOptions::default());
        // Servers give one id to many responses.
        let mut chunks = vec![text(0, CALL), text(1, CALL)];
        chunks.iter_mut().for_each(|chunk| drop(chunk.fields.insert("id".into(), "c1".into())));
        let seen = run(&mut guard, chunks, End::Stop);
        let choices = read_finished(&seen.chunks);
        [0, 1].map(|index| choices[&index].calls[0].id.clone())
    };
    let all: BTreeSet<String> = (0..3).flat_map(|_| ids(Ids::default())).collect();
    assert_eq!(all.len(), 6);
    assert_eq!(ids(Ids::seeded(7)), ids(Ids::seeded(7)));
    assert_ne!(ids(Ids::seeded(7)), ids(Ids::seeded(8)));
    assert_eq!(ids(Ids::new(|name: &str, n: u32| format!("{name}-{n}"))), ["f-0", "f-0"]);
}

// Contract: S1.19.
#[test]
fn call_ids_written_by_the_model_are_kept() {
    let call = "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:3\
                <|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>";
    let seen = clean("kimi_k2", vec![text(0, call), stop(0, "stop")]);
    let call = &read_finished(&seen.chunks)[&0].calls[0];
    assert_eq!((call.id.as_str(), call.arguments.as_str()), ("functions.f:3", "{}"));
}

#[test]
fn upstream_calls_without_id_get_one_in_the_form_of_the_family() {
    let name = json!([{"index": 0, "type": "function", "function": {"name": "g"}}]);
    let seen = clean("kimi_k2", vec![native(name), stop(0, "stop")]);
    assert_eq!(read_finished(&seen.chunks)[&0].calls[0].id, "functions.g:0");
}

/// A chunk with deltas of upstream's own calls.
fn native(calls: serde_json::Value) -> llm_stream_guard::chat::Chunk {
    choice(json!({"index": 0, "delta": {"tool_calls": calls}, "finish_reason": null}))
}

// Contract: S1.18, S1.45, X.33.
#[test]
fn upstream_calls_are_numbered_after_calls_of_the_text() {
    let seen = clean(
        "hermes",
        vec![
            text(0, CALL),
            native(
                json!([{"index": 0, "id": "n1", "type": "function", "function": {"name": "g", "arguments": ""}}]),
            ),
            native(json!([{"index": 0, "type": "function", "function": {"arguments": "{\"b\""}}])),
            native(json!([{"index": 0, "function": {"arguments": ":2}"}}])),
            text(0, CALL),
            stop(0, "stop"),
        ],
    );
    let choice = &read_finished(&seen.chunks)[&0];
    let calls: Vec<_> =
        choice.calls.iter().map(|c| (c.name.as_str(), c.arguments.as_str())).collect();
    assert_eq!(calls, [("f", "{\"a\": 1}"), ("g", "{\"b\":2}"), ("f", "{\"a\": 1}")]);
    assert_eq!(choice.calls[1].id, "n1");
    assert_eq!(choice.finish.as_deref(), Some("tool_calls"));
}

// Contract: S1.45.
#[test]
fn upstream_calls_are_separated_under_every_numbering_scheme() {
    let cases = [
        (
            "all at index 0",
            json!([
                [0, "x", "f", "1"],
                [0, null, null, "2"],
                [0, "y", "g", "3"],
                [0, "y", "g", "4"]
            ]),
        ),
        (
            "no indices",
            json!([[null, "x", "f", "1"], [null, null, null, "2"], [null, "y", "g", "34"]]),
        ),
        (
            "no ids behind the first",
            json!([[0, "x", "f", "12"], [1, null, "g", "3"], [1, null, null, "4"]]),
        ),
        (
            "neither",
            json!([[null, null, "f", "1"], [null, null, null, "2"], [null, null, "g", "34"]]),
        ),
        ("counting from 2", json!([[2, "x", "f", "12"], [5, "y", "g", "34"]])),
        ("an id per delta", json!([[0, "x", "f", "{"], [0, "y", null, "}"], [1, "z", "g", "34"]])),
        (
            "an id per delta, no indices",
            json!([[null, "x", "f", "{"], [null, "y", null, "}"], [null, "z", "g", "34"]]),
        ),
        (
            "the id alone first",
            json!([[0, "x", null, ""], [0, null, "f", "12"], [1, "y", "g", "34"]]),
        ),
    ];
    for (what, deltas) in cases {
        let deltas = deltas.as_array().expect("a list").iter().map(|delta| {
            native(json!([{"index": delta[0], "id": delta[1],
                "function": {"name": delta[2], "arguments": delta[3]}}]))
        });
        let seen = clean("hermes", deltas.chain([stop(0, "tool_calls")]).collect());
        let choice = &read_finished(&seen.chunks)[&0];
        let calls: Vec<_> =
            choice.calls.iter().map(|c| (c.name.as_str(), c.arguments.as_str())).collect();
        let first = if what.starts_with("an id per") { "{}" } else { "12" };
        assert_eq!(calls, [("f", first), ("g", "34")], "{what}");
    }
}

// Contract: S1.19, X.33.
#[test]
fn repeated_call_id_gets_a_suffix_and_a_note() {
    let call = json!([{"index": 0, "id": "n1", "function": {"name": "g", "arguments": "{}"}}]);
    let mut other = call.clone();
    other[0]["index"] = json!(1);
    let seen = clean("hermes", vec![native(call), native(other)]);
    let ids: Vec<_> = read_finished(&seen.chunks)[&0].calls.iter().map(|c| c.id.clone()).collect();
    assert_eq!(ids, ["n1", "n1-2"]);
    assert!(seen.notes.iter().any(|note| note.note == Note::Violation(Violation::DuplicateId)));
}

#[test]
fn arguments_given_as_an_object_are_serialized() {
    let call = json!([{"id": "n1", "function": {"name": "g", "arguments": {"b": 2}}}]);
    let seen = clean("hermes", vec![native(call), stop(0, "stop")]);
    assert_eq!(read_finished(&seen.chunks)[&0].calls[0].arguments, "{\"b\":2}");
}

#[test]
fn atomic_delivery_emits_each_call_as_one_delta() {
    let guard = builder("hermes").delivery(Delivery::Atomic).build().expect("builds");
    let mut guard = ChatGuard::new(guard, ChatOptions::default());
    let chunks = CALL.chars().map(|c| text(0, &c.to_string())).chain([stop(0, "stop")]).collect();
    let seen = run(&mut guard, chunks, End::Stop);
    let deltas = choices(&seen.chunks);
    let calls: Vec<_> = deltas.iter().filter(|it| it["delta"]["tool_calls"].is_array()).collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["delta"]["tool_calls"][0]["function"]["arguments"], "{\"a\": 1}");
}

// Contract: S1.23.
#[test]
fn broken_calls_policy_keeps_or_drops_a_truncated_call() {
    let cut = &CALL[..CALL.len() - "}</tool_call>".len() - 2];
    for (policy, calls) in [(BrokenCalls::Keep, 1), (BrokenCalls::Drop, 0)] {
        let mut options = ChatOptions::default();
        options.broken_calls = policy;
        let guard = builder("hermes").delivery(Delivery::Atomic).build().expect("builds");
        let chunks = vec![text(0, "Hi."), text(0, cut), stop(0, "length")];
        let seen = run(&mut ChatGuard::new(guard, options), chunks, End::Stop);
        let choice = &read_finished(&seen.chunks)[&0];
        assert_eq!((choice.calls.len(), choice.finish.as_deref()), (calls, Some("length")));
        let cut = Note::CallEnd { index: 0, outcome: Outcome::Incomplete };
        assert!(seen.notes.iter().any(|note| note.note == cut));
    }
}

// Contract: S1.33.
#[test]
fn parallel_one_emits_only_the_first_of_text_and_upstream_calls() {
    let own =
        || native(json!([{"index": 0, "id": "n", "function": {"name": "g", "arguments": "{}"}}]));
    for (chunks, name) in
        [(vec![text(0, CALL), own()], "f"), (vec![own(), text(0, CALL)], "g"), (vec![own()], "g")]
    {
        let mut options = CallOptions::default();
        options.parallel = Parallel::One;
        let guard = builder("hermes").calls(options).build().expect("builds");
        let mut guard = ChatGuard::new(guard, ChatOptions::default());
        let seen =
            run(&mut guard, chunks.into_iter().chain([stop(0, "stop")]).collect(), End::Stop);
        let calls = &read_finished(&seen.chunks)[&0].calls;
        assert_eq!(calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), [name]);
    }
}

// Contract: S1.20.
#[test]
fn upstream_calls_without_arguments_get_an_empty_object_unless_truncated() {
    for arguments in [json!(""), json!(null)] {
        let own = native(
            json!([{"index": 0, "id": "n", "function": {"name": "g", "arguments": arguments}}]),
        );
        for (reason, expected) in [("stop", "{}"), ("tool_calls", "{}"), ("length", "{,]")] {
            let seen = clean("hermes", vec![own.clone(), stop(0, reason)]);
            let choice = &read_finished(&seen.chunks)[&0];
            assert_eq!(choice.calls[0].arguments, expected, "{reason}");
            let finish = if reason == "stop" { "tool_calls" } else { reason };
            assert_eq!(choice.finish.as_deref(), Some(finish));
        }
    }
}

// Contract: S1.17.
#[test]
fn serialized_arguments_keep_number_spelling_and_member_order() {
    let chunk = r#"{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"n","type":"function",
        "function":{"name":"g","arguments":{"z":12345678901234567890123.50,"a":1e2}}}]}}]}"#;
    let chunk = serde_json::from_str(chunk).expect("a chunk");
    let seen = clean("hermes", vec![chunk, stop(0, "stop")]);
    let arguments = &read_finished(&seen.chunks)[&0].calls[0].arguments;
    assert_eq!(arguments, r#"{"z":12345678901234567890123.50,"a":1e2}"#);
}

#[test]
fn fields_beside_a_dropped_call_are_kept() {
    let mut options = ChatOptions::default();
    options.broken_calls = BrokenCalls::Drop;
    let cut = &CALL[..CALL.len() - "}</tool_call>".len() - 2];
    let guard = builder("hermes").delivery(Delivery::Atomic).build().expect("builds");
    let last = json!({"index": 0, "delta": {"content": cut, "audio": {"id": "u"}}, "finish_reason": "stop"});
    let chunks = vec![text(0, "a"), choice(last)];
    let seen = run(&mut ChatGuard::new(guard, options), chunks, End::Stop);
    let choices = choices(&seen.chunks);
    assert!(choices.iter().any(|it| it["delta"]["audio"]["id"] == "u"), "{choices:?}");
    assert_eq!(read_finished(&seen.chunks)[&0].calls.len(), 0);
}

#[test]
fn upstream_call_without_index_and_id_continues_until_the_next_name() {
    let piece = |name: &str, arguments: &str| {
        native(json!([{"function": {"name": name, "arguments": arguments}}]))
    };
    let bare = native(json!([{"function": {"arguments": "1}"}}]));
    let chunks =
        vec![piece("f", "{\"a\": "), piece("", ""), bare, piece("g", "{}"), stop(0, "tool_calls")];
    let seen = clean("hermes", chunks);
    let calls = &read_finished(&seen.chunks)[&0].calls;
    let calls: Vec<_> = calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
    assert_eq!(calls, [("f", "{\"a\": 1}"), ("g", "{}")]);
}

#[test]
fn dropped_call_emits_no_chunk_and_consumes_no_index() {
    let mut options = ChatOptions::default();
    options.broken_calls = BrokenCalls::Drop;
    let broken = r#"<tool_call>{"name": "f", "arguments": {"a": }}</tool_call>"#;
    let guard = chat("hermes", options);
    let seen = run(&mut guard.clone(), vec![text(0, broken)], End::Stop);
    assert_eq!(seen.chunks, []);
    let chunks = vec![text(0, CALL), text(0, &format!("{broken}{CALL}")), stop(0, "stop")];
    let seen = run(&mut guard.clone(), chunks, End::Stop);
    let deltas = seen.chunks.iter().flat_map(|chunk| &chunk.choices[0].delta.tool_calls);
    let begun = deltas.filter(|call| call.id.is_some()).filter_map(|call| call.index);
    assert_eq!(begun.collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn finish_reason_becomes_tool_calls_only_after_an_emitted_complete_call() {
    let call = |arguments: &str| {
        native(json!([{"index": 0, "id": "n", "function": {"name": "g", "arguments": arguments}}]))
    };
    for (arguments, limit, finish) in
        [("{}", 9, "tool_calls"), ("{}", 0, "stop"), ("{\"a\": ", 9, "stop")]
    {
        let mut options = ChatOptions::default();
        options.limits.calls = limit;
        let chunks = vec![call(arguments), stop(0, "stop")];
        let seen = run(&mut chat("hermes", options), chunks, End::Stop);
        let last = seen.chunks.last().and_then(|chunk| chunk.choices[0].finish_reason.value());
        assert_eq!(last.map(String::as_str), Some(finish), "{arguments} of {limit}");
        let nameless = Note::Violation(Violation::NamelessCall);
        assert!(seen.notes.iter().all(|note| note.note != nameless), "it has a name");
    }
}

#[test]
fn id_after_a_call_without_id_starts_another_call() {
    let call = |call: serde_json::Value| native(json!([call]));
    let chunks = vec![
        call(json!({"index": 0, "function": {"name": "f", "arguments": "{}"}})),
        call(json!({"index": 0, "id": "n", "function": {"name": "g", "arguments": "{}"}})),
        stop(0, "tool_calls"),
    ];
    let seen = clean("hermes", chunks);
    let calls = &read_finished(&seen.chunks)[&0].calls;
    assert_eq!(calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["f", "g"]);
}
