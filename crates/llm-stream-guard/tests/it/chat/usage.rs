//! Usage chunks without choices: the last of a stream, or one of several in its middle.

use llm_stream_guard::{
    End,
    chat::{ChatOptions, Chunk, Synthesis},
};
use serde_json::{Value, json};
use stream_laws::{Cut, CutPlan};

use crate::chat::{
    feed::{chat, clean, run, stop, text, usage},
    reader::{Read, read, read_finished},
    sse::{data, machine, written},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

/// The server sends usage when each choice ends, the first in the middle of the other's calls.
const LLAMA_CPP_N2: &str = include_str!("../../../../../docs/samples/servers/llama_cpp_n2.sse");

fn chunks(recording: &str) -> Vec<Chunk> {
    let data = recording.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

fn calls(choice: &Read) -> Vec<Value> {
    choice.calls.iter().map(|call| serde_json::from_str(&call.arguments).expect("JSON")).collect()
}

// Contract: X.20.
#[test]
fn usage_after_each_of_two_choices_ends_neither() {
    let all = [
        vec![json!({"port": "Brest"}), json!({"port": "Hull", "days": 3})],
        vec![json!({"port": "Kiel"}), json!({"port": "Riga"})],
    ];
    let chunks = chunks(LLAMA_CPP_N2);
    let seen = clean("hermes", chunks);
    let choices = read_finished(&seen.chunks);
    for (index, expected) in (0..).zip(&all) {
        assert_eq!(calls(&choices[&index]), *expected);
        assert_eq!(choices[&index].finish.as_deref(), Some("tool_calls"));
        assert!(!choices[&index].content.contains('<'), "{}", choices[&index].content);
    }
    let usages = seen.chunks.iter().filter_map(|chunk| chunk.usage.value());
    let counts: Vec<_> = usages.map(|usage| usage["completion_tokens"].clone()).collect();
    assert_eq!(counts, [json!(40), json!(50)]);
}

#[test]
fn usage_events_after_each_of_two_choices_pass_byte_for_byte() {
    let machine = machine("hermes");
    let whole = written(&machine, LLAMA_CPP_N2.as_bytes(), Cut::Whole, End::Stop);
    let plan = CutPlan::random(20, 3);
    for cut in plan.bytes(LLAMA_CPP_N2.as_bytes()) {
        assert_eq!(written(&machine, LLAMA_CPP_N2.as_bytes(), cut, End::Stop), whole, "{cut}");
    }
    let out = String::from_utf8(whole).expect("text");
    let bare =
        LLAMA_CPP_N2.split_inclusive("\n\n").filter(|event| event.contains("\"choices\":[]"));
    assert!(bare.clone().count() == 2 && bare.clone().all(|event| out.contains(event)), "{out}");
    assert_eq!(data(out.as_bytes()).last().map(String::as_str), Some("[DONE]"));
}

// Contract: S1.40, X.20.
#[test]
fn usage_inside_a_call_waits_and_does_not_end_it() {
    for cut in 1..CALL.len() {
        let (one, two) = CALL.split_at(cut);
        let input =
            vec![text(0, one), usage(), text(0, two), text(0, "ok"), stop(0, "stop"), usage()];
        let seen = clean("hermes", input);
        let choice = &read_finished(&seen.chunks)[&0];
        assert_eq!((choice.calls.len(), choice.content.as_str()), (1, "ok"), "cut at {cut}");
        assert_eq!(choice.finish.as_deref(), Some("tool_calls"));
        let usages = seen.chunks.iter().filter(|chunk| chunk.usage.value().is_some());
        assert_eq!(usages.count(), 2);
    }
}

// Contract: X.20.
#[test]
fn last_usage_follows_synthesized_finish_reasons() {
    let other = serde_json::from_value::<Chunk>(json!({"id": "c1", "choices": [], "x": 1}));
    let other = other.expect("a chunk");
    for (synthesis, finish) in [(Synthesis::Off, None), (Synthesis::Proven, Some("stop"))] {
        let mut options = ChatOptions::default();
        options.synthesis = synthesis;
        let input = vec![text(0, "a <"), usage(), other.clone()];
        let seen = run(&mut chat("hermes", options), input, End::Stop);
        let choice = &read(&seen.chunks)[&0];
        assert_eq!((choice.content.as_str(), choice.finish.as_deref()), ("a <", finish));
        let count = seen.chunks.len();
        assert_eq!(seen.chunks[count - 2..], [usage(), other.clone()]);
    }
    let input = vec![text(0, "a <"), usage()];
    let seen = run(&mut chat("hermes", ChatOptions::default()), input, End::Aborted);
    assert_eq!(read(&seen.chunks)[&0].finish, None, "an error proves nothing");
    assert_eq!(seen.chunks.last(), Some(&usage()));
}

#[test]
fn usage_after_all_finish_reasons_is_emitted_at_once() {
    for before in [vec![], vec![text(0, "a"), stop(0, "stop")]] {
        let mut guard = chat("hermes", ChatOptions::default());
        let mut out: Vec<Chunk> = Vec::new();
        for chunk in before.into_iter().chain([usage()]) {
            guard.push(chunk, &mut out).expect("no limit");
        }
        assert_eq!(out.last(), Some(&usage()));
    }
}

// Contract: X.20.
#[test]
fn chunks_without_choices_do_not_accumulate() {
    let mut guard = chat("hermes", ChatOptions::default());
    let mut out: Vec<Chunk> = Vec::new();
    guard.push(text(0, "a"), &mut out).expect("no limit");
    for _ in 0..100 {
        guard.push(usage(), &mut out).expect("no limit");
    }
    assert!(out.len() > 80, "{} came out", out.len());
    guard.finish(End::Stop, &mut out).expect("no limit");
    assert_eq!(out.iter().filter(|chunk| chunk.usage.value().is_some()).count(), 100);
}
