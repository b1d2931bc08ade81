//! Log probabilities of every profile's wires: the tokens of the content are the content.

use llm_stream_guard::{
    End, Guard, Profile,
    chat::{Aggregator, ChatGuard, ChatOptions, Chunk, Completion, Field},
};
use serde_json::{Value, json};
use stream_laws::{Cut, Random};

use super::inputs::of_shard;

/// The text as tokens that are cut at random, in chunks of one to three.
fn chunks(text: &str, seed: u64) -> Vec<Chunk> {
    let random = &mut Random::new(seed);
    let mut tokens = Cut::Random { seed }.pieces(text).peekable();
    let mut chunks = Vec::new();
    while tokens.peek().is_some() {
        let tokens: Vec<_> = tokens.by_ref().take(1 + random.below(3)).collect();
        let bytes = random.below(2) == 0;
        let entry = |token: &&str| {
            let bytes = if bytes { json!(token.as_bytes()) } else { Value::Null };
            json!({"token": token, "logprob": -0.5, "bytes": bytes})
        };
        let entries: Vec<_> = tokens.iter().map(entry).collect();
        chunks.push(json!({"choices": [{"index": 0, "delta": {"content": tokens.concat()},
            "logprobs": {"content": entries}, "finish_reason": null}]}));
    }
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    let chunk = |chunk| serde_json::from_value(chunk).expect("a chunk");
    chunks.into_iter().map(chunk).collect()
}

pub(super) fn aggregate(chunks: &[Chunk]) -> Completion {
    let mut whole = Aggregator::default();
    chunks.iter().for_each(|chunk| whole.push(chunk));
    whole.finish()
}

/// The content, and the texts of the entries in its list by their tokens and by their bytes.
fn content(whole: &Completion) -> (String, String, String) {
    let choice = &whole.choices[0];
    let list = match &choice.logprobs {
        Field::Value(logprobs) => logprobs["content"].as_array().cloned().unwrap_or_default(),
        Field::Null | Field::Missing => Vec::new(),
    };
    let token = |entry: &Value| entry["token"].as_str().unwrap_or_default().to_owned();
    let bytes = |entry: &Value| match &entry["bytes"] {
        Value::Array(bytes) => bytes.iter().map(|byte| byte.as_u64().unwrap_or(0) as u8).collect(),
        _ => token(entry).into_bytes(),
    };
    let tokens = list.iter().map(token).collect();
    let bytes: Vec<u8> = list.iter().flat_map(bytes).collect();
    let text = choice.message.text().unwrap_or_default().to_owned();
    (text, tokens, String::from_utf8_lossy(&bytes).into_owned())
}

fn check(profile: &Profile, text: &str, seed: u64) {
    let guard = Guard::builder(profile).build().expect("a registered profile builds");
    let guard = ChatGuard::new(guard, ChatOptions::default());
    let (mut streaming, mut seen) = (guard.clone(), Vec::new());
    let chunks = chunks(text, seed);
    for chunk in chunks.clone() {
        streaming.push(chunk, &mut seen).expect("limits release");
    }
    streaming.finish(End::Stop, &mut seen).expect("limits release");
    let whole = guard.complete(aggregate(&chunks)).expect("limits release");
    for (way, whole) in [("streamed", aggregate(&seen)), ("whole", whole)] {
        let (content, tokens, bytes) = content(&whole);
        assert_eq!(tokens, content, "{way}, {} {text:?} seed {seed}", profile.name);
        assert_eq!(bytes, content, "{way}, {} {text:?} seed {seed}", profile.name);
    }
}

// Contract: S1.43.
#[test]
fn tokens_of_the_content_concatenate_to_the_content() {
    for inputs in of_shard(0, 1) {
        for (n, text) in inputs.all().enumerate().filter(|(_, text)| text.len() < 2000) {
            for seed in 0..2 {
                check(&inputs.profile, text, seed + n as u64);
            }
        }
    }
}
