//! Whole responses: the same guard, the same outcome as the stream put together.

use llm_stream_guard::{
    DiagnosticKind, End, Outcome, StopString,
    chat::{
        BrokenCalls, ChatError, ChatGuard, ChatNote, ChatOptions, Completion, Note,
        ReasoningTokens, Synthesis,
    },
};
use serde_json::json;

use crate::chat::feed::{aggregate, builder, chat, choice, chunk, run, stop, text, usage};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;

fn with(synthesis: Synthesis) -> ChatOptions {
    let mut options = ChatOptions::default();
    options.synthesis = synthesis;
    options
}

fn completion(json: serde_json::Value) -> Completion {
    serde_json::from_value(json).expect("a completion")
}

#[test]
fn complete_response_is_guarded_like_its_stream() {
    let raw = "<think>look</think>Hi. <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
    let entries = json!([{"token": "x", "bytes": null}]);
    let response = completion(json!({
        "id": "c1", "object": "chat.completion", "created": 7, "model": "m", "x": 1,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": raw, "refusal": null},
             "finish_reason": "stop", "logprobs": {"content": entries}, "stop_reason": null},
            {"index": 1, "message": {"role": "assistant", "content": "plain"}, "finish_reason": "length"},
        ],
        "usage": {"total_tokens": 9},
    }));
    let clean = chat("qwen3", ChatOptions::default()).complete(response).expect("no limit");
    let clean = serde_json::to_value(clean).expect("JSON");
    let id = clean["choices"][0]["message"]["tool_calls"][0]["id"].clone();
    assert_eq!(
        clean,
        json!({
            "id": "c1", "object": "chat.completion", "created": 7, "model": "m", "x": 1,
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "Hi. ", "reasoning_content": "look", "refusal": null,
                    "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]},
                 "finish_reason": "tool_calls", "logprobs": {"content": entries}, "stop_reason": null},
                {"index": 1, "message": {"role": "assistant", "content": "plain"}, "finish_reason": "length"},
            ],
            "usage": {"total_tokens": 9, "completion_tokens_details":
                {"reasoning_tokens": 1, "reasoning_tokens_estimated": true}},
        })
    );
}

// Contract: X.36.
#[test]
fn aggregated_stream_equals_the_complete_response() {
    let chunks = vec![
        choice(
            json!({"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}),
        ),
        text(0, "<think>lo"),
        text(1, "a"),
        text(0, "ok</think><tool_call>{\"name\": \"f\", "),
        choice(json!({"index": 1, "delta": {"refusal": "I c"}})),
        text(0, "\"arguments\": {}}</tool_call>"),
        choice(json!({"index": 1, "delta": {"refusal": "an't"}})),
        choice(json!({"index": 1, "delta": {"audio": {"id": "u", "data": "AA"}}})),
        choice(json!({"index": 1, "delta": {"audio": {"data": "BB"}}})),
        stop(0, "stop"),
        stop(1, "stop"),
        usage(),
    ];
    // An estimate counts deltas.
    let mut options = ChatOptions::default();
    options.reasoning_tokens = ReasoningTokens::Upstream;
    let mut guard = chat("qwen3", options);
    let whole = guard.complete(aggregate(&chunks)).expect("no limit");
    assert_eq!(aggregate(&run(&mut guard, chunks, End::Stop).chunks), whole);
    assert_eq!(whole.choices[0].message.content, llm_stream_guard::chat::Field::Null);
    assert_eq!(whole.choices[1].message.extra["refusal"], "I can't");
    assert_eq!(whole.choices[1].message.extra["audio"], json!({"id": "u", "data": "AABB"}));
}

// Contract: X.36.
#[test]
fn complete_response_without_a_finish_reason_was_cut() {
    for (said, last) in [("Hi.", vec![]), ("Hi.", vec![usage()]), (CALL, vec![usage()])] {
        for ended in [vec![], vec![text(1, "Yes."), stop(1, "stop")]] {
            let chunks = [text(0, said)].into_iter().chain(ended).chain(last.clone());
            let response = aggregate(&chunks.collect::<Vec<_>>());
            for synthesis in [Synthesis::Off, Synthesis::Proven] {
                let result = chat("hermes", with(synthesis)).complete(response.clone());
                assert_eq!(result, Err(ChatError::Unfinished), "{synthesis:?}, {said}");
            }
            let whole = chat("hermes", with(Synthesis::Always)).complete(response).expect("whole");
            let reason = whole.choices[0].finish_reason.value().map(String::as_str);
            assert_eq!(reason, Some(if said == CALL { "tool_calls" } else { "stop" }));
        }
    }
}

#[test]
fn complete_response_that_a_stop_string_ended_needs_no_finish_reason() {
    let guard = builder("hermes").stop([StopString::hidden("END")]).build().expect("builds");
    let response = aggregate(&[text(0, "a END b")]);
    let whole = ChatGuard::new(guard, ChatOptions::default()).complete(response).expect("whole");
    assert_eq!(whole.choices[0].message.text(), Some("a "));
    assert_eq!(whole.choices[0].finish_reason.value().map(String::as_str), Some("stop"));
}

#[test]
fn upstream_calls_and_content_parts_are_aggregated() {
    let delta = |delta| choice(json!({"index": 0, "delta": delta}));
    let whole = aggregate(&[
        delta(json!({"role": "assistant", "content": [{"type": "text", "text": "a"}]})),
        delta(json!({"content": [{"type": "text", "text": "b"}, {"type": "image_url"}]})),
        delta(
            json!({"tool_calls": [{"index": 1, "id": "y", "type": "function", "function": {"name": "g", "arguments": "{"}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 1, "function": {"arguments": "}"}}]})),
        delta(json!({"reasoning_details": [{"index": 0, "text": "c"}]})),
        delta(json!({"reasoning_details": [{"index": 0, "text": "d"}, {"index": 1, "text": "e"}]})),
        chunk(json!({"choices": [], "usage": {"n": 1}})),
    ]);
    let message = serde_json::to_value(&whole.choices[0].message).expect("JSON");
    assert_eq!(
        message,
        json!({
            "role": "assistant",
            "content": [{"type": "text", "text": "ab"}, {"type": "image_url"}],
            "tool_calls": [{"id": "y", "type": "function", "function": {"name": "g", "arguments": "{}"}}],
            "reasoning_details": [{"index": 0, "text": "cd"}, {"index": 1, "text": "e"}],
        })
    );
    assert_eq!(whole.usage, llm_stream_guard::chat::Field::Value(json!({"n": 1})));
}

// Contract: X.33.
#[test]
fn calls_of_a_complete_response_with_equal_ids_stay_separate() {
    let call = |name: &str| json!({"id": "n", "type": "function", "function": {"name": name, "arguments": "{}"}});
    let unnamed =
        json!({"id": "n", "type": "function", "function": {"name": "h", "arguments": ""}});
    let response = completion(json!({"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": null, "tool_calls": [call("f"), call("f"), unnamed]}}]}));
    let clean = chat("hermes", ChatOptions::default()).complete(response).expect("no limit");
    let calls = &clean.choices[0].message.tool_calls;
    let calls: Vec<_> = calls
        .iter()
        .map(|call| {
            let function = call.function.as_ref().expect("a function");
            (call.id.as_deref().expect("an id"), function.arguments.as_deref().expect("arguments"))
        })
        .collect();
    assert_eq!(calls, [("n", "{}"), ("n-2", "{}"), ("n-3", "{}")]);
}

#[test]
fn repeated_metadata_is_kept_and_token_ids_are_concatenated() {
    let filter = json!({"hate": {"filtered": false, "severity": "safe"}});
    let piece = |text: &str| {
        choice(json!({"index": 0, "delta": {"content": text}, "severity": "safe",
            "content_filter_results": filter, "token_ids": [1]}))
    };
    let whole = aggregate(&[piece("a"), piece("b"), piece("c")]);
    let extra = &whole.choices[0].extra;
    assert_eq!((&extra["severity"], &extra["content_filter_results"]), (&json!("safe"), &filter));
    assert_eq!(extra["token_ids"], json!([1, 1, 1]));
}

// Contract: X.36.
#[test]
fn notes_of_a_complete_response_are_reported() {
    let call = r#"<tool_call>{"name": "f", "arguments": {"a": "cut"#;
    let response = completion(json!({"choices": [
        {"index": 2, "finish_reason": "length", "message": {"role": "assistant", "content": call}}]}));
    let mut options = ChatOptions::default();
    options.broken_calls = BrokenCalls::Keep;
    let mut notes = Vec::new();
    let guard = chat("hermes", options);
    guard.complete_noting(response, |note| notes.push(note)).expect("no limit");
    let cut = Note::CallEnd { index: 0, outcome: Outcome::Incomplete };
    assert!(notes.iter().any(|note| (note.choice, note.note) == (2, cut)), "{notes:?}");
}

#[test]
fn malformed_call_is_not_a_call_of_a_complete_response() {
    let broken = r#"Hi. <tool_call>{"name": "f", "arguments": {"a": ?"#;
    let whole = r#"<tool_call>{"name": "g", "arguments": {}}</tool_call>"#;
    for (text, content, calls) in [
        (broken.to_owned(), Some(broken), 0),
        (format!("{whole}{broken}"), Some(broken), 1),
        (whole.to_owned(), None, 1),
    ] {
        let response = completion(json!({"choices": [
            {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": text}}]}));
        let mut notes = Vec::new();
        let guard = chat("hermes", ChatOptions::default());
        let clean = guard.complete_noting(response, |note| notes.push(note)).expect("no limit");
        let clean = serde_json::to_value(clean).expect("JSON");
        let message = &clean["choices"][0]["message"];
        let written = message["tool_calls"].as_array().map_or(0, Vec::len);
        assert_eq!((message["content"].as_str(), written), (content, calls), "{text}");
        let broken = |note: &&ChatNote| matches!(note.note, Note::Diagnostic(it) if it.kind == DiagnosticKind::BrokenBlock);
        assert_eq!(notes.iter().filter(broken).count(), usize::from(text.ends_with('?')));
    }
}
