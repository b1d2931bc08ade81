//! Chat-completion chunks: the aggregate, whole answers, marks.

use std::num::NonZeroU64;

use llm_stream_guard::{
    chat::Chunk,
    lifecycle::{ChatCollector, Ending, Lifecycle, Marks},
};
use serde_json::{Value, json};

use crate::support::{Broken, Log, drain, next};

fn chunk(value: Value) -> Result<Chunk, Broken> {
    Ok(serde_json::from_value(value).unwrap())
}

fn delta(index: u32, delta: Value) -> Result<Chunk, Broken> {
    chunk(json!({"id": "c", "object": "chat.completion.chunk", "choices": [
        {"index": index, "delta": delta, "finish_reason": null},
    ]}))
}

fn finish(index: u32, reason: &str) -> Result<Chunk, Broken> {
    chunk(json!({"choices": [{"index": index, "delta": {}, "finish_reason": reason}]}))
}

fn usage() -> Result<Chunk, Broken> {
    chunk(json!({"choices": [], "usage": {"total_tokens": 7}}))
}

fn record(log: &Log) -> Lifecycle<Chunk, Broken> {
    Lifecycle::new("a").subscriber(log.subscriber()).collect_with(ChatCollector::default())
}

#[test]
fn s4_22_chunks_become_the_response_with_every_field() {
    let log = Log::default();
    let chunks = [
        chunk(json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
        "system_fingerprint": "fp", "service_tier": "flex", "choices": [
            {"index": 1, "delta": {"role": "assistant", "content": "B"}, "finish_reason": null},
        ]})),
        delta(0, json!({"role": "assistant", "reasoning_content": "h", "refusal": "n"})),
        delta(
            0,
            json!({"reasoning_content": "m", "refusal": "o", "function_call":
            {"name": "f", "arguments": "{}"}}),
        ),
        delta(
            0,
            json!({"tool_calls": [{"index": 0, "id": "i", "type": "function",
            "function": {"name": "g", "arguments": "{\"a\""}}]}),
        ),
        delta(0, json!({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]})),
        chunk(json!({"choices": [{"index": 1, "delta": {"content": "!"},
            "logprobs": {"content": [{"token": "!"}]}, "finish_reason": "stop"}]})),
        finish(0, "tool_calls"),
        usage(),
    ];
    drain(record(&log).wrap(tokio_stream::iter(chunks)));
    let data = log.end().data.unwrap();
    let calls = json!([{"id": "i", "type": "function",
        "function": {"name": "g", "arguments": "{\"a\": 1}"}}]);
    assert_eq!(data["object"], "chat.completion");
    assert_eq!(
        (&data["system_fingerprint"], &data["service_tier"]),
        (&json!("fp"), &json!("flex"))
    );
    assert_eq!(data["usage"], json!({"total_tokens": 7}));
    let [first, second] = &data["choices"].as_array().unwrap()[..] else { panic!("{data}") };
    assert_eq!((&first["index"], &first["finish_reason"]), (&json!(0), &json!("tool_calls")));
    let message = &first["message"];
    assert_eq!((&message["reasoning_content"], &message["tool_calls"]), (&json!("hm"), &calls));
    assert_eq!((&message["refusal"], &message["content"]), (&json!("no"), &Value::Null));
    assert_eq!(message["function_call"], json!({"name": "f", "arguments": "{}"}));
    assert_eq!(second["message"], json!({"role": "assistant", "content": "B!"}));
    assert_eq!(second["logprobs"], json!({"content": [{"token": "!"}]}));
}

/// How a stream of these chunks ends when the consumer leaves behind the last.
fn left_behind(chunks: impl IntoIterator<Item = Result<Chunk, Broken>>) -> Ending {
    let chunks: Vec<_> = chunks.into_iter().collect();
    let (log, count) = (Log::default(), chunks.len());
    let mut stream = Box::pin(record(&log).wrap(tokio_stream::iter(chunks)));
    (0..count).for_each(|_| drop(next(&mut stream)));
    drop(stream);
    log.end().ending
}

#[test]
fn s4_08_an_answer_is_whole_when_every_choice_finished_and_usage_came() {
    let text = |index| delta(index, json!({"content": "x"}));
    assert_eq!(left_behind([text(0), finish(0, "stop"), usage()]), Ending::Complete);
    assert_eq!(left_behind([text(0), finish(0, "stop")]), Ending::Dropped);
    assert_eq!(left_behind([text(0), usage()]), Ending::Dropped);
    assert_eq!(left_behind([text(0), text(2), finish(2, "stop"), usage()]), Ending::Dropped);
    assert_eq!(left_behind([text(0), finish(0, "abort"), usage()]), Ending::Dropped);
    assert_eq!(left_behind([usage()]), Ending::Dropped);
}

#[test]
fn s4_20_a_chunks_mark_tells_its_choices_finish_and_usage() {
    let log = Log::default();
    let chunks = [delta(2, json!({"content": "secret"})), finish(2, "stop"), usage()];
    let record = record(&log).marks(Marks::Every(NonZeroU64::MIN));
    drain(record.wrap(tokio_stream::iter(chunks)));
    let marks: Vec<Value> =
        log.all()[1..4].iter().map(|event| serde_json::to_value(&**event).unwrap()).collect();
    let item = |n: usize| &marks[n]["item"];
    let first = json!({"bytes": 6, "visible": true, "choices": [2], "finish": [], "usage": null});
    assert_eq!(*item(0), first);
    assert_eq!((&item(1)["finish"], &item(1)["visible"]), (&json!(["stop"]), &json!(false)));
    assert_eq!(item(2)["usage"], json!({"total_tokens": 7}));
    assert!(!marks[0].to_string().contains("secret"));
}

#[test]
fn s4_23_a_response_over_the_limit_is_cut_and_says_so() {
    let log = Log::default();
    let record = Lifecycle::<Chunk, Broken>::new("a").subscriber(log.subscriber());
    let chunks = (0..4).map(|_| delta(0, json!({"content": "abc"})));
    drain(record.collect_with(ChatCollector::with_limit(7)).wrap(tokio_stream::iter(chunks)));
    let end = log.end();
    assert!(end.truncated);
    assert_eq!(end.data.unwrap()["choices"][0]["message"]["content"], "abcabc");
}
