//! Whatever upstream sends up to the finish reason, the strict reader accepts what comes out,
//! and nothing that is no text is lost.

use llm_stream_guard::{
    Delivery, End,
    chat::{ChatGuard, ChatOptions, Chunk, Content, Field, Logprobs},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::chat::{
    feed::{aggregate, builder, choice, run, stop, usage},
    reader::read,
};

const TEXTS: [&str; 12] = [
    "word ",
    "<",
    "tool_call>",
    "<tool_call>",
    "{\"name\": \"f\", ",
    "\"arguments\": {\"a\": ",
    "\"b\"}}",
    "</tool_call>",
    "<think>",
    "</think>",
    "\n\n",
    "é🎉",
];

/// A delta of some kind, and what stands beside it in the choice.
fn piece(kind: usize, n: usize) -> Value {
    let entry = json!({"token": n.to_string(), "logprob": -1.0});
    match kind {
        0 => json!({"delta": {"role": "assistant", "content": ""}}),
        1 => json!({"delta": {"content": null, "refusal": null}, "logprobs": null}),
        2 => json!({"delta": {"reasoning": "hm"}}),
        3 => json!({"delta": {"reasoning_content": "hm", "content": TEXTS[n % 12]}}),
        4 => json!({"delta": {"tool_calls": [{"index": n % 3, "id": format!("n{}", n % 4),
            "function": {"name": "g", "arguments": "{"}}]}}),
        5 => json!({"delta": {"tool_calls": [{"function": {"name": "g", "arguments": "{}"}}]}}),
        6 => json!({"delta": {"refusal": format!("no{n}"), "content": TEXTS[n % 12]}}),
        7 => json!({"delta": {"content": [{"type": "image_url", "n": n}]}}),
        8 => json!({"delta": {"content": ""}, "logprobs": {"content": [entry]}}),
        9 => json!({"delta": {}, "token_ids": [n]}),
        _ => {
            let text = TEXTS[n % 12];
            json!({"delta": {"content": text}, "logprobs": {"content": [entry]}})
        }
    }
}

fn parts(response: &Field<Content>) -> Vec<Value> {
    match response {
        Field::Value(Content::Parts(parts)) => {
            parts.iter().filter(|part| part["type"] != "text").cloned().collect()
        }
        _ => Vec::new(),
    }
}

proptest! {
    #[test]
    fn arbitrary_streams_pass_the_strict_reader_and_lose_nothing(
        pieces in prop::collection::vec((0..3u32, 0..20usize, 0..64usize), 1..60),
        finished in prop::array::uniform3(prop::option::of(0..4usize)),
        usage_comes: bool,
        atomic: bool,
        aborted: bool,
    ) {
        let delivery = if atomic { Delivery::Atomic } else { Delivery::Streaming };
        let mut chunks: Vec<Chunk> = pieces
            .iter()
            .map(|&(index, kind, n)| {
                let mut piece = piece(kind, n);
                piece["index"] = json!(index);
                choice(piece)
            })
            .collect();
        for (index, reason) in (0..).zip(finished) {
            let reasons = ["stop", "length", "tool_calls", "abort"];
            chunks.extend(reason.map(|reason| stop(index, reasons[reason])));
        }
        chunks.extend(usage_comes.then(usage));
        let guard = builder("qwen3").delivery(delivery).build().expect("builds");
        let end = if aborted { End::Aborted } else { End::Stop };
        let mut options = ChatOptions::default();
        options.logprobs = Logprobs::All;
        let seen = run(&mut ChatGuard::new(guard, options), chunks.clone(), end);
        read(&seen.chunks);

        let (before, after) = (aggregate(&chunks), aggregate(&seen.chunks));
        for choice in &before.choices {
            let same = after.choices.iter().find(|other| other.index == choice.index);
            let message = same.map(|choice| choice.message.clone()).unwrap_or_default();
            let logprobs = same.map(|choice| choice.logprobs.clone()).unwrap_or_default();
            let silent = |field: &Field<Value>| field.value().is_none();
            prop_assert!(logprobs == choice.logprobs || silent(&logprobs) && silent(&choice.logprobs));
            prop_assert_eq!(
                message.extra.get("refusal").filter(|it| !it.is_null()),
                choice.message.extra.get("refusal").filter(|it| !it.is_null())
            );
            prop_assert_eq!(
                parts(&message.content),
                parts(&choice.message.content)
            );
            prop_assert_eq!(
                same.and_then(|choice| choice.extra.get("token_ids")),
                choice.extra.get("token_ids")
            );
        }
    }
}
