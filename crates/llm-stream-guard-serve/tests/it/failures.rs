//! What breaks, and what clients are told.

use std::time::Duration;

use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, Proxy, ProxyLimits, TimeSpan, Timeouts};
use serde_json::{Value, json};

use crate::support::{
    Do, LONG, Replay, STREAM, Served, asks, config, end, piece, sample, stream, text_event, whole,
    whole_json,
};

const MODEL: &str = "Qwen/Qwen3-8B";

/// What came before the error that must come last, and its code.
fn broken(got: &crate::support::Got) -> (Vec<Value>, String) {
    let mut events: Vec<Value> =
        got.events().iter().map(|data| serde_json::from_str(data).unwrap()).collect();
    let error = events.pop().expect("an error");
    (events, error["error"]["code"].as_str().expect("a code").to_owned())
}

#[tokio::test]
async fn connection_reset_in_a_call_emits_held_text_then_an_error() {
    let whole_call = text_event("Hi <tool_call>{\"name\": \"f\", \"argum");
    for cut in [whole_call.len(), whole_call.len() - 9] {
        let script = vec![
            Do::Send(STREAM.to_vec()),
            piece(&text_event("So. ")),
            piece(&whole_call[..cut]),
            Do::Wait(Duration::from_millis(50)),
            Do::Reset,
        ];
        let upstream = Replay::new(script).await;
        let served = Served::new(upstream.port, config()).await;
        let got = served.ask(&asks(MODEL, json!({}))).await;
        let (chunks, code) = broken(&got);
        assert_eq!(code, "upstream_broken");
        assert_eq!(chunks[0]["choices"][0]["delta"]["content"], "So. ");
        assert!(chunks.iter().all(|chunk| chunk["choices"][0]["finish_reason"].is_null()));
        assert!(!got.text().contains("[DONE]"));
    }
}

#[tokio::test]
async fn idle_upstream_times_out_and_is_closed() {
    let timeouts = Timeouts { idle: TimeSpan(Duration::from_millis(100)), ..Timeouts::default() };
    let script = vec![Do::Send(STREAM.to_vec()), piece(&text_event("So. ")), Do::Hang];
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
    let got = served.ask(&asks(MODEL, json!({}))).await;
    assert_eq!(broken(&got).1, "upstream_timeout");
    upstream.was_left().await;
}

#[tokio::test]
async fn upstream_without_a_first_byte_times_out_and_is_closed() {
    let timeouts =
        Timeouts { first_byte: TimeSpan(Duration::from_millis(100)), ..Timeouts::default() };
    for script in [vec![Do::Hang], vec![Do::Send(STREAM.to_vec()), Do::Hang]] {
        let begun = script.len() > 1;
        let upstream = Replay::new(script).await;
        let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
        let got = served.ask(&asks(MODEL, json!({}))).await;
        match begun {
            true => assert_eq!(broken(&got).1, "upstream_timeout"),
            false => assert_eq!(got.status, StatusCode::GATEWAY_TIMEOUT),
        }
        upstream.was_left().await;
    }
}

#[tokio::test]
async fn unreachable_upstream_is_a_bad_gateway() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let served = Served::new(port, config()).await;
    let got = served.ask(&asks(MODEL, json!({}))).await;
    assert_eq!(got.status, StatusCode::BAD_GATEWAY);
    assert_eq!(got.json()["error"]["code"], "upstream_unreachable");
}

#[tokio::test]
async fn upstream_refusal_passes_with_status_and_retry_after() {
    let error = json!({"error": {"message": "busy", "type": "overloaded"}});
    let head = "content-type: application/json\r\nretry-after: 7\r\n";
    let refusal = whole("429 Too Many Requests", head, &error.to_string());
    let upstream = Replay::new(vec![Do::Send(refusal)]).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks(MODEL, json!({}))).await;
    assert_eq!(got.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(got.headers["retry-after"], "7");
    assert_eq!(got.json(), error);
}

#[tokio::test]
async fn error_in_the_stream_passes_once() {
    let upstream = Replay::new(stream(&sample("error.sse"), 13)).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks("NousResearch/Hermes-3-Llama-3.1-8B", json!({}))).await;
    let events = got.events();
    let errors = events.iter().filter(|data| data.contains("\"error\"")).count();
    assert_eq!(errors, 1, "{events:?}");
}

#[test]
fn invalid_configuration_value_is_refused_with_its_field() {
    let limits = ProxyLimits { head: 1, ..ProxyLimits::default() };
    let fault = Proxy::new(Config { limits, ..config() }).unwrap_err();
    assert_eq!(fault.field.as_deref(), Some("limits.head"));
    assert_eq!(fault.message, "expected at least 8192");
}

#[tokio::test]
async fn answer_with_an_unknown_content_encoding_is_refused() {
    let head = "content-type: application/json\r\ncontent-encoding: rot13\r\n";
    let upstream = Replay::new(vec![Do::Send(whole("200 OK", head, "xx"))]).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks(MODEL, json!({"stream": false}))).await;
    assert_eq!(got.status, StatusCode::BAD_GATEWAY);
    assert!(got.json()["error"]["message"].as_str().unwrap().contains("rot13"));
    let (head, _) = upstream.last_asked();
    assert!(head.to_ascii_lowercase().contains("accept-encoding: identity"), "{head}");
}

#[tokio::test]
async fn disconnected_client_ends_upstream_before_the_next_event() {
    let script = vec![Do::Send(STREAM.to_vec()), piece(&text_event("So. ")), Do::Hang];
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, config()).await;
    let response = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await;
    let mut body = response.into_body();
    let frame = tokio::time::timeout(LONG, body.frame()).await.expect("a frame");
    assert!(frame.is_some());
    drop(body);
    upstream.was_left().await;
}

#[tokio::test]
async fn client_disconnected_before_the_answer_ends_upstream() {
    use tokio::io::AsyncWriteExt as _;
    let upstream = Replay::new(vec![Do::Hang]).await;
    let served = Served::new(upstream.port, config()).await;
    let body = asks(MODEL, json!({"stream": false})).to_string();
    let mut client = tokio::net::TcpStream::connect(("127.0.0.1", served.port)).await.unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length";
    client.write_all(format!("{head}: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    while upstream.asked.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(client);
    upstream.was_left().await;
}

#[tokio::test]
async fn slow_reader_keeps_upstream_from_sending() {
    // More than sockets and their buffers hold.
    let much = text_event(&"x".repeat(1 << 16));
    let count = 1000;
    let mut script = vec![Do::Send(STREAM.to_vec())];
    script.extend((0..count).map(|_| piece(&much)));
    script.push(end());
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, config()).await;
    let response = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let metrics =
        served.send(axum::http::Request::get("/metrics").body(Default::default()).unwrap());
    let metrics = metrics.await.into_body().collect().await.unwrap().to_bytes();
    let metrics = String::from_utf8(metrics.to_vec()).unwrap();
    let read = metrics.lines().find(|line| line.contains("stream_bytes_total{direction=\"in\"}"));
    let read: usize = read.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0);
    assert!(read < much.len() * count / 2, "{read} bytes were read ahead");
    let all = response.into_body().collect().await.unwrap().to_bytes();
    assert!(all.len() > (1 << 16) * count);
}

#[tokio::test]
async fn malformed_or_oversized_answers_are_reported() {
    let upstream = Replay::new(vec![Do::Send(whole("200 OK", "", "<html>"))]).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks(MODEL, json!({"stream": false}))).await;
    assert_eq!(got.json()["error"]["code"], "upstream_broken");
    let limits = ProxyLimits { answer: 100, ..ProxyLimits::default() };
    let answer = json!({"choices": [], "x": "y".repeat(200)});
    let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &answer))]).await;
    let served = Served::new(upstream.port, Config { limits, ..config() }).await;
    let got = served.ask(&asks(MODEL, json!({"stream": false}))).await;
    assert_eq!(got.json()["error"]["code"], "limit_exceeded");
}

#[tokio::test]
async fn shutdown_lets_open_streams_finish() {
    let script = vec![
        Do::Send(STREAM.to_vec()),
        piece(&text_event("one ")),
        Do::Wait(Duration::from_millis(300)),
        piece(&text_event("two")),
        piece(b"data: [DONE]\n\n"),
        end(),
    ];
    let upstream = Replay::new(script).await;
    let mut served = Served::new(upstream.port, config()).await;
    let response = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await;
    served.stop();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    assert!(text.contains("two") && text.contains("[DONE]"));
    let (port, ended) = (served.port, served.ended);
    tokio::time::timeout(LONG, ended).await.expect("it ends").unwrap();
    assert!(tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err());
}
