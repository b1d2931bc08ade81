//! What clients get of what upstream sends.

use std::time::Duration;

use llm_stream_guard_serve::{Config, TimeSpan, Timeouts};
use serde_json::{Value, json};

use crate::support::{
    Do, Replay, STREAM, Served, asks, config, end, numbered, piece, sample, stream, text_event,
    whole_json,
};

/// Names and arguments of the calls of choice 0.
fn calls(completion: &llm_stream_guard::chat::Completion) -> Vec<(String, Value)> {
    let calls = &completion.choices[0].message.tool_calls;
    let function = calls.iter().map(|call| call.function.clone().unwrap());
    function
        .map(|it| (it.name.unwrap(), serde_json::from_str(&it.arguments.unwrap()).unwrap()))
        .collect()
}

#[tokio::test]
async fn stream_is_guarded_at_every_cut() {
    let body = sample("hermes_think.sse");
    let mut seen = Vec::new();
    for size in [1, 7, 64, 1000, body.len()] {
        let upstream = Replay::new(stream(&body, size)).await;
        let served = Served::new(upstream.port, config()).await;
        let got = served.ask(&asks("Qwen/Qwen3-8B", json!({}))).await;
        assert_eq!(got.headers["content-type"], "text/event-stream");
        assert!(got.headers.get("content-length").is_none());
        let whole = got.completion();
        assert_eq!(calls(&whole), [("get_weather".to_owned(), json!({"city": "Paris"}))]);
        assert!(whole.choices[0].message.reasoning_text().unwrap().starts_with("Myself"));
        assert_eq!(whole.choices[0].finish_reason.value().unwrap(), "tool_calls");
        assert!(whole.usage.value().is_some());
        seen.push(numbered(&got.body));
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]));
}

#[tokio::test]
async fn complete_answer_equals_the_stream() {
    let text = "<think>hm</think>\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
    let answer = json!({
        "id": "c1", "object": "chat.completion", "system": "kept",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"total_tokens": 3},
    });
    let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &answer))]).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({"stream": false}))).await;
    let message = &got.json()["choices"][0]["message"];
    assert_eq!(message["content"], Value::Null);
    assert_eq!(message["reasoning_content"], "hm");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{\"a\": 1}");
    assert_eq!(got.json()["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(got.json()["system"], "kept");
    assert_eq!(got.headers["content-length"], got.body.len().to_string());
}

#[tokio::test]
async fn choices_are_separate_and_usage_is_last() {
    let upstream = Replay::new(stream(&sample("two_choices.sse"), 11)).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({"n": 2}))).await;
    let whole = got.completion();
    assert_eq!(whole.choices.len(), 2);
    assert_eq!(calls(&whole).len(), 1);
    let events = got.events();
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert!(last["usage"].is_object() && last["choices"] == json!([]));
}

#[tokio::test]
async fn tool_choice_of_the_request_is_applied() {
    let said = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
    let bare = "{\"a\": 1}";
    let tools = json!([
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}},
    ]);
    let named = json!({"type": "function", "function": {"name": "f"}});
    let rows = [
        (json!("auto"), said, 1, "tool_calls"),
        (json!("required"), said, 1, "tool_calls"),
        (json!("none"), said, 0, "stop"),
        (named, bare, 1, "stop"),
    ];
    for (choice, text, count, reason) in rows {
        let body = [text_event(text), sample_end()].concat();
        let upstream = Replay::new(stream(&body, 9)).await;
        let served = Served::new(upstream.port, config()).await;
        let more = json!({"tools": tools, "tool_choice": choice});
        let whole = served.ask(&asks("Qwen/Qwen3-8B", more)).await.completion();
        assert_eq!(calls(&whole).len(), count, "{choice}");
        assert_eq!(whole.choices[0].finish_reason.value().unwrap(), reason, "{choice}");
    }
}

fn sample_end() -> Vec<u8> {
    let last = crate::support::event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    [last, b"data: [DONE]\n\n".to_vec()].concat()
}

#[tokio::test]
async fn done_is_sent_once_even_if_upstream_omits_it() {
    let upstream = Replay::new(stream(&sample("missing_done.sse"), 100)).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks("NousResearch/Hermes-3-Llama-3.1-8B", json!({}))).await;
    assert_eq!(calls(&got.completion()).len(), 1);
    assert_eq!(got.text().matches("[DONE]").count(), 1);
}

#[tokio::test]
async fn upstream_comments_pass_and_keep_alives_fill_silence() {
    let timeouts =
        Timeouts { keep_alive: TimeSpan(Duration::from_millis(40)), ..Timeouts::default() };
    let upstream = Replay::new(vec![
        Do::Send(STREAM.to_vec()),
        piece(b": upstream's\n\n"),
        Do::Wait(Duration::from_millis(200)),
        piece(&text_event("Hello.")),
        piece(&sample_end()),
        end(),
    ])
    .await;
    let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({}))).await;
    assert!(got.text().starts_with(": upstream's\n\n: keep-alive\n\n"), "{}", got.text());
    assert_eq!(got.completion().choices[0].message.text(), Some("Hello."));
}

#[tokio::test]
async fn stop_string_ends_upstream_early_unless_usage_is_requested() {
    let long = |end: Do| {
        vec![
            Do::Send(STREAM.to_vec()),
            piece(&text_event("one, two, th")),
            piece(&text_event("ree, four")),
            end,
        ]
    };
    let upstream = Replay::new(long(Do::Hang)).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({"stop": "three"}))).await;
    let whole = got.completion();
    assert_eq!(whole.choices[0].message.text(), Some("one, two, "));
    assert_eq!(whole.choices[0].finish_reason.value().unwrap(), "stop");
    upstream.was_left().await;

    let mut script =
        long(piece(b"data: {\"choices\":[],\"usage\":{\"total_tokens\":9}}\n\ndata: [DONE]\n\n"));
    script.push(end());
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, config()).await;
    let more = json!({"stop": "three", "stream_options": {"include_usage": true}});
    let whole = served.ask(&asks("Qwen/Qwen3-8B", more)).await.completion();
    assert_eq!(whole.choices[0].message.text(), Some("one, two, "));
    assert_eq!(whole.usage.value().unwrap()["total_tokens"], 9);
}
