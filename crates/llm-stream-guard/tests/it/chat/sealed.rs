//! Calls that must not run: sealed arguments, late names, calls in one piece.

use llm_stream_guard::{
    End, Outcome, Tools,
    chat::{
        Balance, CallForm, ChatGuard, ChatOptions, ChatSink, ChatSse, ChatStep, Chunk, Delta, Note,
        Violation,
    },
};
use serde_json::{Value, json};

use crate::chat::{
    feed::{aggregate, builder, chat, choice, choices, clean, run, stop, text},
    reader::read_finished,
};

const MALFORMED: &str =
    "<tool_call>{\"name\": \"rm\", \"arguments\": {\"path\": \"/home\", \"all\": ]}}</tool_call>";

fn native(calls: Value) -> Chunk {
    choice(json!({"index": 0, "delta": {"tool_calls": calls}, "finish_reason": null}))
}

fn options(calls: CallForm) -> ChatOptions {
    let mut options = ChatOptions::default();
    options.calls = calls;
    options
}

/// Name and arguments of each call of choice 0.
fn calls(chunks: &[Chunk]) -> Vec<(String, String)> {
    let read = read_finished(chunks);
    let calls = read[&0].calls.iter();
    calls.map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

/// Deltas in words.
#[derive(Default)]
struct Words(Vec<String>);

impl ChatSink for Words {
    fn step(&mut self, step: ChatStep<'_>) {
        step.deltas(|_, delta| match delta {
            Delta::CallStart { index, name, .. } => self.0.push(format!("{index}={name}")),
            Delta::CallArguments { index, fragment } => self.0.push(format!("{index}{fragment}")),
            Delta::CallEnd { index, outcome, seal } => {
                self.0.push(format!("{index}.{}{seal}", outcome.name()));
            }
            Delta::Content(text) | Delta::Reasoning(text) | Delta::Signature(text) => {
                self.0.push(text.to_owned());
            }
            _ => {}
        });
    }
}

fn words(chunks: Vec<Chunk>) -> Vec<String> {
    words_of(&mut chat("hermes", ChatOptions::default()), chunks)
}

fn words_of(guard: &mut ChatGuard, chunks: Vec<Chunk>) -> Vec<String> {
    let mut words = Words::default();
    for chunk in chunks {
        guard.push(chunk, &mut words).expect("no limit");
    }
    guard.finish(End::Stop, &mut words).expect("no limit");
    words.0
}

#[test]
fn malformed_call_of_a_stream_has_arguments_that_no_reader_accepts() {
    for cut in 1..MALFORMED.len() {
        let (first, second) = MALFORMED.split_at(cut);
        let seen = clean("hermes", vec![text(0, first), text(0, second), stop(0, "stop")]);
        let calls = calls(&seen.chunks);
        let [(name, arguments)] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!(name, "rm");
        assert!(arguments.ends_with(",]"), "{arguments}");
        let mut balance = Balance::default();
        balance.feed(arguments);
        assert!(!balance.is_closed() && balance.seal().is_empty(), "{arguments}");
    }
}

#[test]
fn last_bracket_of_arguments_is_written_with_the_end_of_the_call() {
    let wire = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}";
    let mut chunks = vec![text(0, wire)];
    let mut guard = chat("hermes", ChatOptions::default());
    let mut begun: Vec<Chunk> = Vec::new();
    guard.push(chunks.remove(0), &mut begun).expect("no limit");
    let arguments = |chunks: &[Chunk]| {
        let text = |choice: &Value| {
            choice["delta"]["tool_calls"][0]["function"]["arguments"].as_str().map(str::to_owned)
        };
        choices(chunks).iter().filter_map(text).collect::<String>()
    };
    assert_eq!(arguments(&begun), "{\"a\": 1");
    guard.push(text(0, "}</tool_call>"), &mut begun).expect("no limit");
    assert_eq!(arguments(&begun), "{\"a\": 1}");
}

#[test]
fn cut_call_is_sealed_in_chunks_and_unchanged_in_deltas() {
    let wire = "<tool_call>{\"name\": \"f\", \"arguments\": {\"city\": \"Par";
    let chunks = || vec![text(0, wire), stop(0, "length")];
    let seen = clean("hermes", chunks());
    assert_eq!(calls(&seen.chunks), [("f".into(), "{\"city\": \"Par\",]".into())]);
    assert_eq!(words(chunks()), ["0=f", "0{\"city\": \"Par", "0.incomplete\",]"]);
}

#[test]
fn upstream_call_that_is_cut_or_malformed_is_sealed() {
    let own = native(json!([{"index": 0, "id": "a",
        "function": {"name": "f", "arguments": "{\"a\": [1"}}]));
    for (reason, outcome) in [("length", Outcome::Incomplete), ("tool_calls", Outcome::Malformed)] {
        let seen = clean("hermes", vec![own.clone(), stop(0, reason)]);
        assert_eq!(calls(&seen.chunks), [("f".into(), "{\"a\": [1,}".into())]);
        let words = words(vec![own.clone(), stop(0, reason)]);
        assert_eq!(words.last(), Some(&format!("0.{},}}", outcome.name())));
    }
}

#[test]
fn declared_name_inside_the_name_of_an_upstream_call_is_written() {
    let tools = Tools::new([("bash", json!({"type": "object"}))]);
    for (written, expected) in [
        ("bash<|channel|>commentary", ["0=bash", "0{}", "0.repaired"]),
        ("functions.bash:0", ["0=bash", "0{}", "0.repaired"]),
        ("functions_bash_2", ["0=bash", "0{}", "0.repaired"]),
        ("bash", ["0=bash", "0{}", "0.complete"]),
        ("bash_2", ["0=bash_2", "0{}", "0.complete"]),
        ("zsh<|channel|>commentary", ["0=zsh<|channel|>commentary", "0{}", "0.complete"]),
    ] {
        let guard = builder("hermes").tools(tools.clone()).build().expect("a family");
        let own = native(json!([{"index": 0, "id": "a",
            "function": {"name": written, "arguments": "{}"}}]));
        let mut guard = ChatGuard::new(guard, ChatOptions::default());
        assert_eq!(words_of(&mut guard, vec![own, stop(0, "tool_calls")]), expected);
    }
}

#[test]
fn name_that_comes_after_arguments_begins_the_call() {
    let chunks = || {
        vec![
            native(json!([{"index": 0, "id": "a", "function": {"arguments": "{\"a\""}}])),
            native(json!([{"index": 0, "function": {"name": "f", "arguments": ": 1"}}])),
            native(json!([{"index": 0, "function": {"arguments": "}"}}])),
            stop(0, "tool_calls"),
        ]
    };
    let seen = clean("hermes", chunks());
    assert_eq!(calls(&seen.chunks), [("f".into(), "{\"a\": 1}".into())]);
    assert_eq!(words(chunks()), ["0=f", "0{\"a\": 1", "0}", "0.complete"]);
}

#[test]
fn call_without_a_name_is_dropped_and_reported() {
    let own = native(json!([{"index": 0, "id": "a", "function": {"arguments": "{}"}}]));
    let seen = clean("hermes", vec![own, stop(0, "tool_calls")]);
    assert!(calls(&seen.chunks).is_empty());
    assert!(seen.notes.iter().any(|it| it.note == Note::Violation(Violation::NamelessCall)));
}

#[test]
fn name_and_arguments_beside_the_function_are_read() {
    for own in [
        json!([{"index": 0, "id": "a", "name": "f", "arguments": "{\"a\":1}"}]),
        json!([{"index": 0, "id": "a", "name": "f", "arguments": {"a": 1}, "function": null}]),
        json!([{"index": 0, "id": "a", "name": "f", "function": {"arguments": "{\"a\":1}"}}]),
    ] {
        let seen = clean("hermes", vec![native(own.clone()), stop(0, "tool_calls")]);
        assert_eq!(calls(&seen.chunks), [("f".into(), "{\"a\":1}".into())], "{own}");
        assert!(!serde_json::to_string(&seen.chunks).expect("JSON").contains("\"}},{\"name"));
    }
}

#[test]
fn text_inside_an_upstream_call_does_not_end_it() {
    let own = |arguments: &str| {
        native(json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}]))
    };
    let mixed = vec![own("{\"a\": "), text(0, "So."), own("1}"), text(0, "Done."), stop(0, "stop")];
    assert_eq!(words(mixed), ["0=f", "0{\"a\": ", "So.", "01}", "0.complete", "Done."]);
}

#[test]
fn calls_in_one_piece_have_the_whole_answers_outcome() {
    let good = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
    let chunks = || {
        let wire = format!("{MALFORMED}{good}");
        let text = wire.chars().map(|sign| text(0, &sign.to_string()));
        text.chain([stop(0, "stop")]).collect::<Vec<_>>()
    };
    let guard = chat("hermes", options(CallForm::Whole));
    let seen = run(&mut guard.clone(), chunks(), End::Stop);
    let pieces = choices(&seen.chunks);
    let pieces: Vec<_> = pieces.iter().filter(|it| it["delta"]["tool_calls"].is_array()).collect();
    assert_eq!(pieces.len(), 1);
    assert_eq!(pieces[0]["delta"]["tool_calls"][0]["function"]["arguments"], "{\"a\": 1}");
    let whole = guard.complete(aggregate(&chunks())).expect("no limit");
    assert_eq!(aggregate(&seen.chunks), whole);
}

#[test]
fn upstream_calls_in_one_piece_wait_for_their_arguments() {
    let own = |arguments: &str| {
        native(json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}]))
    };
    let mut guard = chat("hermes", options(CallForm::Whole));
    let seen = run(&mut guard, vec![own("{\"a\": "), own("1}"), stop(0, "stop")], End::Stop);
    assert_eq!(calls(&seen.chunks), [("f".into(), "{\"a\": 1}".into())]);
    assert_eq!(
        choices(&seen.chunks).iter().filter(|it| it["delta"]["tool_calls"].is_array()).count(),
        1
    );
}

#[test]
fn character_divided_between_two_events_is_joined() {
    let guard: ChatGuard = chat("hermes", ChatOptions::default());
    let event = |text: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    for (halves, expected) in
        [(["a\\ud83d", "\\ude00b"], "a\u{1F600}b"), (["a\\ud83d", "b"], "a\u{fffd}b")]
    {
        let mut sse = ChatSse::new(guard.clone());
        let mut out = Vec::new();
        let upstream = format!("{}{}data: [DONE]\n\n", event(halves[0]), event(halves[1]));
        sse.push(upstream.as_bytes(), &mut out).expect("no limit");
        sse.finish(End::Stop, &mut out).expect("no limit");
        let out = String::from_utf8(out).expect("UTF-8");
        let data = out.lines().filter_map(|line| line.strip_prefix("data: {"));
        let text = data.map(|data| {
            let chunk: Value = serde_json::from_str(&format!("{{{data}")).expect("JSON");
            chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
        });
        assert_eq!(text.collect::<String>(), expected);
    }
}

#[test]
fn signatures_and_reasoning_in_parts_are_deltas() {
    let part = choice(json!({"index": 0, "delta": {"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Hi."}]}}));
    assert_eq!(words(vec![part, stop(0, "stop")]), ["hm", "Hi."]);
    let signed = choice(json!({"index": 0, "delta": {"reasoning_content": "hm",
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}}));
    assert_eq!(words(vec![signed, stop(0, "stop")]), ["hm", "s"]);
}
