//! Text completions.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Completions, Config, UnknownModelPolicy};
use serde_json::{Value, json};

use crate::support::{Do, Got, Replay, STREAM, Served, config, piece, stream, whole_json};

const SAID: &str =
    "<think>hm</think>So.<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";

const SHORT: std::time::Duration = std::time::Duration::from_millis(50);

fn guarding() -> Config {
    Config { completions: Completions::Guard, ..config() }
}

fn asks(more: &Value) -> Value {
    let mut body = json!({"model": "Qwen/Qwen3-8B", "prompt": "?", "stream": true});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// An event of text for a choice.
fn said(index: u32, text: &str, reason: Option<&str>) -> Vec<u8> {
    let choice = json!({
        "index": index, "text": text, "finish_reason": reason,
        "logprobs": {"tokens": [text], "token_logprobs": [-0.5]},
    });
    let chunk = json!({"id": "c1", "object": "text_completion", "choices": [choice]});
    format!("data: {chunk}\n\n").into_bytes()
}

async fn ask(served: &Served, body: &Value, guard: Option<&str>) -> Got {
    let mut request = Request::post("/v1/completions");
    if let Some(guard) = guard {
        request = request.header("x-llm-stream-guard", guard);
    }
    let request = request.body(Body::from(body.to_string())).unwrap();
    let (head, body) = served.send(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body }
}

/// What the chunks say of a choice: text, reasoning, names, arguments, reason.
fn gathered(got: &Got, index: u64) -> [String; 5] {
    let events = got.events();
    let (done, chunks) = events.split_last().unwrap();
    assert_eq!(done, "[DONE]");
    let mut told = <[String; 5]>::default();
    for chunk in chunks {
        let chunk: Value = serde_json::from_str(chunk).unwrap();
        assert_eq!(chunk["object"], "text_completion");
        for choice in chunk["choices"].as_array().unwrap() {
            assert!(choice["text"].is_string() && choice.get("delta").is_none(), "{choice}");
            if choice["index"] != index {
                continue;
            }
            let paths = [
                "/text",
                "/reasoning_content",
                "/tool_calls/0/function/name",
                "/tool_calls/0/function/arguments",
                "/finish_reason",
            ];
            for (told, path) in told.iter_mut().zip(paths) {
                *told += choice.pointer(path).and_then(Value::as_str).unwrap_or_default();
            }
        }
    }
    told
}

#[tokio::test]
async fn text_completion_is_guarded_per_choice_at_every_cut() {
    let mut body: Vec<u8> = SAID
        .as_bytes()
        .chunks(4)
        .flat_map(|it| said(0, std::str::from_utf8(it).unwrap(), None))
        .collect();
    body.extend(said(1, "Other.", Some("length")));
    body.extend(said(0, "", Some("stop")));
    for size in [1, 60, 100_000] {
        let upstream = Replay::new(stream(&body, size)).await;
        let served = Served::new(upstream.port, guarding()).await;
        let got = ask(&served, &asks(&json!({"n": 2})), None).await;
        let told = ["So.", "hm", "f", "{\"a\": 1}", "tool_calls"];
        assert_eq!(gathered(&got, 0), told, "{size}");
        assert_eq!(gathered(&got, 1), ["Other.", "", "", "", "length"], "{size}");
        assert!(got.text().contains("\"token_logprobs\":[-0.5]"));
        let (head, asked) = upstream.last_asked();
        assert!(head.starts_with("POST /v1/completions HTTP/1.1"), "{head}");
        assert_eq!(asked["prompt"], "?");
    }
}

#[tokio::test]
async fn complete_text_completion_equals_its_stream() {
    let answer = json!({
        "id": "c1", "object": "text_completion", "usage": {"total_tokens": 3},
        "choices": [{"index": 0, "text": SAID, "logprobs": null, "finish_reason": "stop"}],
    });
    let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &answer))]).await;
    let served = Served::new(upstream.port, guarding()).await;
    let whole = ask(&served, &asks(&json!({"stream": false})), None).await.json();
    let choice = &whole["choices"][0];
    assert_eq!(choice["text"], "So.");
    assert_eq!(choice["reasoning_content"], "hm");
    assert_eq!(choice["tool_calls"][0]["function"]["arguments"], "{\"a\": 1}");
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert!(choice.get("message").is_none());
    assert_eq!(
        (&whole["object"], &whole["usage"]["total_tokens"]),
        (&json!("text_completion"), &json!(3))
    );
}

#[tokio::test]
async fn text_completions_are_guarded_by_configuration_or_header() {
    let body = said(0, "<think>hm</think>yes", Some("stop"));
    let rows = [
        (Completions::Pass, None, false),
        (Completions::Pass, Some("on"), true),
        (Completions::Guard, Some("off"), false),
    ];
    for (completions, header, guarded) in rows {
        let upstream = Replay::new(stream(&body, 1000)).await;
        let config = Config { completions, ..config() };
        let served = Served::new(upstream.port, config).await;
        let got = ask(&served, &asks(&json!({})), header).await;
        assert_eq!(got.body != body, guarded, "{completions:?} {header:?}");
        assert!(!upstream.last_asked().0.to_ascii_lowercase().contains("x-llm-stream-guard"));
    }
    let served = Served::new(1, config()).await;
    let got = ask(&served, &asks(&json!({})), Some("perhaps")).await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    assert_eq!(got.json()["error"]["param"], "x-llm-stream-guard");
}

#[tokio::test]
async fn prompt_determines_the_start_and_tools_are_not_forwarded() {
    let body = said(0, "hm</think>yes", Some("stop"));
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {}}}]);
    for prompt in [json!("<|im_start|>assistant\n<think>\n"), json!(["<think>\n"])] {
        let upstream = Replay::new(stream(&body, 7)).await;
        let served = Served::new(upstream.port, guarding()).await;
        let more = json!({"prompt": prompt, "tools": tools, "tool_choice": "auto", "top_k": 3});
        let got = ask(&served, &asks(&more), None).await;
        assert_eq!(gathered(&got, 0)[..2], ["yes", "hm"]);
        let (_, asked) = upstream.last_asked();
        assert!(asked.get("tools").is_none() && asked.get("tool_choice").is_none());
        assert_eq!((&asked["prompt"], &asked["top_k"]), (&prompt, &json!(3)));
    }
}

#[tokio::test]
async fn unsupported_completion_fields_are_refused_by_name() {
    let served = Served::new(1, guarding()).await;
    let rows = [("prompt", json!(["a", "b"])), ("echo", json!(true))];
    for (field, value) in rows {
        let got = ask(&served, &asks(&json!({field: value})), None).await;
        assert_eq!(got.status, StatusCode::BAD_REQUEST);
        assert_eq!(got.json()["error"]["param"], field);
    }
}

#[tokio::test]
async fn unknown_model_passes_and_a_broken_stream_is_reported() {
    let upstream = Replay::new(stream(&said(0, "<think>", None), 1000)).await;
    let served = Served::new(upstream.port, guarding()).await;
    let got = ask(&served, &asks(&json!({"model": "nobody-knows"})), None).await;
    assert_eq!(got.body, said(0, "<think>", None));
    let refuse = Config { unknown_model: UnknownModelPolicy::Refuse, ..guarding() };
    let served = Served::new(upstream.port, refuse).await;
    let got = ask(&served, &asks(&json!({"model": "nobody-knows"})), None).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    let script =
        vec![Do::Send(STREAM.to_vec()), piece(&said(0, "So. ", None)), Do::Wait(SHORT), Do::Reset];
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, guarding()).await;
    let got = ask(&served, &asks(&json!({})), None).await;
    assert!(got.text().contains("So. ") && !got.text().contains("[DONE]"));
    assert!(got.events().last().unwrap().contains("upstream_broken"));
}
