//! Recordings of llama.cpp's server with token ids: reasoning is counted as its tokenizer counts it.

use llm_stream_guard::{
    AddedTokens, End, Guard, GuardBuilder, Message, RoleCounts, RoleReader, Whitespace,
    chat::{Aggregator, ChatGuard, ChatOptions, Chunk, TokenIds},
    profile,
};
use serde_json::{Value, json};

/// The tokens of `/completion`. Its tokenizer makes 28 tokens of the text between the tags.
const TOKENS: &str = include_str!("../../../../docs/samples/tokens.jsonl");
/// The events of a chat. The tokenizer makes 25 tokens of the text between the tags.
const CHAT: &str = include_str!("../../../../docs/samples/chat_ids.sse");

fn added() -> AddedTokens {
    let list =
        r#"{"added_tokens": [{"id": 8, "content": "<think>"}, {"id": 10, "content": "</think>"}]}"#;
    AddedTokens::from_json(list).expect("a list")
}

fn builder() -> GuardBuilder {
    let mut profile = profile("qwen3").expect("registered");
    // A newline after the opener is a token of its own, which counts.
    profile.whitespace = Whitespace::Verbatim;
    Guard::builder(&profile)
}

#[test]
fn roles_of_recorded_tokens_count_reasoning_as_the_tokenizer_does() {
    let added = added();
    let guard = builder().marker_tokens(added.texts()).build().expect("builds");
    let mut reader = RoleReader::new(guard).expect("nothing moves text");
    let (mut counts, mut message) = (RoleCounts::default(), Message::default());
    for line in TOKENS.lines() {
        let token: Value = serde_json::from_str(line).expect("JSON");
        let (id, text) = (token["id"].as_u64(), token["text"].as_str().expect("a text"));
        let id = id.and_then(|id| u32::try_from(id).ok()).expect("an id");
        let mut sink = |event: llm_stream_guard::Event<'_>| message.collect(event);
        reader.push(added.token(id, text), &mut sink, |span| counts.add(span)).expect("no limit");
    }
    let mut sink = |event: llm_stream_guard::Event<'_>| message.collect(event);
    reader.finish(End::Length, &mut sink, |span| counts.add(span)).expect("no limit");
    assert_eq!(counts.reasoning, 28);
    assert!(message.reasoning.ends_with("The tides are influenced by the"), "{message:?}");
    assert!(message.content.ends_with("You must generate a task"), "{message:?}");
}

#[test]
fn usage_of_a_recorded_chat_counts_reasoning_as_the_tokenizer_does() {
    let added = added();
    let by_tokens = builder().marker_tokens(added.texts()).build().expect("builds");
    let mut options = ChatOptions::default();
    options.token_ids = TokenIds::RemoveLogprobs;
    let guard = ChatGuard::new(builder().build().expect("builds"), options);
    let mut guard = guard.token_ids(by_tokens, &added);
    let mut clean: Vec<Chunk> = Vec::new();
    let data = CHAT.lines().filter_map(|line| line.strip_prefix("data: "));
    for data in data.filter(|data| *data != "[DONE]") {
        guard.push(serde_json::from_str(data).expect("a chunk"), &mut clean).expect("no limit");
    }
    guard.finish(End::Stop, &mut clean).expect("no limit");
    let written = serde_json::to_string(&clean).expect("JSON");
    assert!(!written.contains("logprobs") && !written.contains("<think>"), "{written}");
    let mut whole = Aggregator::default();
    clean.iter().for_each(|chunk| whole.push(chunk));
    let whole = whole.finish();
    let usage = whole.usage.value().expect("usage");
    assert_eq!(usage["completion_tokens"], 48);
    assert_eq!(usage["completion_tokens_details"], json!({"reasoning_tokens": 25}));
}
