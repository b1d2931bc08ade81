//! Answers that a token limit cut anywhere: a whole response is what its stream was.

use llm_stream_guard::{
    CallOptions, End, Guard, Ids, Outcome,
    chat::{BrokenCalls, ChatGuard, ChatNote, ChatOptions, ChatSink, ChatStep, Chunk, Note},
};
use serde_json::{Value, json};
use stream_laws::{Cut, Random};

use super::{inputs::of_shard, tokens::aggregate};

#[derive(Default)]
struct Seen {
    chunks: Vec<Chunk>,
    malformed: bool,
}

impl ChatSink for Seen {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, _| self.chunks.push(chunk));
    }

    fn note(&mut self, note: ChatNote) {
        self.malformed |= matches!(note.note, Note::CallEnd { outcome: Outcome::Malformed, .. });
    }
}

fn chunk(delta: Value, reason: Value) -> Chunk {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    serde_json::from_value(json!({"choices": [choice]})).expect("a chunk")
}

/// Checks the law under a policy; where a call is `malformed`, a whole response may differ.
fn check(broken_calls: BrokenCalls, malformed: bool) {
    let mut cut_calls = 0;
    for inputs in of_shard(0, 1) {
        let mut calls = CallOptions::default();
        calls.ids = Ids::counting();
        let guard = Guard::builder(&inputs.profile).calls(calls).build().expect("it builds");
        let mut options = ChatOptions::default();
        options.broken_calls = broken_calls;
        let guard = ChatGuard::new(guard, options);
        for (n, wire) in inputs.wires.iter().enumerate().filter(|(_, wire)| wire.len() < 2000) {
            let random = &mut Random::new(n as u64);
            for _ in 0..4 {
                let most = random.below(wire.len() + 1);
                let at = (0..=most).rev().find(|&at| wire.is_char_boundary(at)).unwrap_or(0);
                let text = &wire[..at];
                let pieces = Cut::Random { seed: random.next() }.pieces(text);
                let chunks = pieces.map(|piece| chunk(json!({"content": piece}), Value::Null));
                let chunks: Vec<_> = chunks.chain([chunk(json!({}), "length".into())]).collect();
                let (mut streaming, mut seen) = (guard.clone(), Seen::default());
                for chunk in chunks.clone() {
                    streaming.push(chunk, &mut seen).expect("limits release");
                }
                streaming.finish(End::Stop, &mut seen).expect("limits release");
                if seen.malformed && !malformed {
                    continue;
                }
                let whole = guard.complete(aggregate(&chunks)).expect("limits release");
                let name = &inputs.profile.name;
                assert_eq!(aggregate(&seen.chunks), whole, "{broken_calls:?}, {name} {text:?}");
                let choice = &whole.choices[0];
                assert_eq!(choice.finish_reason.value().map(String::as_str), Some("length"));
                cut_calls += usize::from(!choice.message.tool_calls.is_empty());
            }
        }
    }
    assert!(cut_calls > 100, "{cut_calls}");
}

#[test]
fn truncated_answer_with_kept_calls_is_equal_streamed_and_complete() {
    check(BrokenCalls::Keep, true);
}

#[test]
fn truncated_answer_is_equal_streamed_and_complete() {
    check(BrokenCalls::Auto, false);
}
