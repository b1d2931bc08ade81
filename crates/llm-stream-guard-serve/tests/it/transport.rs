//! How bytes come: compressed, encrypted, late.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{BareEnd, Config, TimeSpan, Timeouts};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{
    Do, LONG, Replay, STREAM, Served, asks, config, end, piece, stream, text_event, whole,
};

const MODEL: &str = "Qwen/Qwen3-8B";

/// `data: {"choices":[{"index":0,"delta":{"content":"<think>hm</think>yes"}}]}`, an event, compressed.
const GZIP: &[u8] = include_bytes!("compressed/event.gz");
const BROTLI: &[u8] = include_bytes!("compressed/event.br");
const DEFLATE: &[u8] = include_bytes!("compressed/event.zz");

#[tokio::test]
async fn compressed_answers_are_read_in_every_encoding() {
    for (coding, bytes) in [("gzip", GZIP), ("br", BROTLI), ("deflate", DEFLATE)] {
        for size in [1, 20, 1000] {
            let head = String::from_utf8(STREAM.to_vec()).unwrap();
            let head = head.replace("\r\n\r\n", &format!("\r\ncontent-encoding: {coding}\r\n\r\n"));
            let mut script = vec![Do::Send(head.into_bytes())];
            script.extend(bytes.chunks(size).map(piece));
            script.push(end());
            let upstream = Replay::new(script).await;
            let config = Config { bare_end: BareEnd::Accept, ..config() };
            let served = Served::new(upstream.port, config).await;
            let got = served.ask(&asks(MODEL, json!({}))).await;
            assert!(got.headers.get("content-encoding").is_none());
            let whole = got.completion();
            assert_eq!(whole.choices[0].message.text(), Some("yes"), "{coding}");
            assert_eq!(whole.choices[0].message.reasoning_text(), Some("hm"), "{coding}");
        }
    }
}

#[tokio::test]
async fn corrupt_compressed_answer_is_an_upstream_failure() {
    let head = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    let upstream = Replay::new(vec![Do::Send(whole("200 OK", head, "xx"))]).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks(MODEL, json!({"stream": false}))).await;
    assert_eq!(got.json()["error"]["code"], "upstream_broken");
}

fn hasty() -> Config {
    let idle = TimeSpan(Duration::from_millis(100));
    Config { timeouts: Timeouts { idle, ..Timeouts::default() }, ..config() }
}

#[tokio::test]
async fn request_after_a_stream_is_answered_by_a_server_that_closes_its_connection() {
    // A second request on the connection gets no answer.
    let script = vec![Do::Send(STREAM.to_vec()), piece(&text_event("yes")), end(), Do::Hang];
    let upstream = Replay::new(script).await;
    let config = Config { bare_end: BareEnd::Accept, ..config() };
    let served = Served::new(upstream.port, config).await;
    for _ in 0..3 {
        let got = served.ask(&asks(MODEL, json!({}))).await;
        assert!(got.text().contains("yes"), "{}", got.text());
        let get = Request::get("/v1/other").body(Body::empty()).unwrap();
        let body = served.send(get).await.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains("yes"), "{body:?}");
    }
}

#[tokio::test]
async fn idle_timeout_applies_to_forwarded_requests() {
    let script = vec![Do::Send(STREAM.to_vec()), piece(b"one"), Do::Hang];
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, hasty()).await;
    let get = Request::get("/v1/other").body(Body::empty()).unwrap();
    let body = served.send(get).await.into_body();
    let broken = tokio::time::timeout(LONG, body.collect()).await.expect("it ends");
    assert!(broken.is_err());
    upstream.was_left().await;
}

#[tokio::test]
async fn slow_client_does_not_trigger_the_upstream_timeout() {
    let much = vec![b'x'; 1 << 20];
    let mut script = vec![Do::Send(STREAM.to_vec())];
    script.extend((0..16).map(|_| piece(&much)));
    script.push(end());
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, hasty()).await;
    let get = Request::get("/v1/other").body(Body::empty()).unwrap();
    let body = served.send(get).await.into_body();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(body.collect().await.unwrap().to_bytes().len(), 16 << 20);
}

/// Sends the head of a request whose body begins and does not end; the status.
async fn unfinished(served: &Served, path: &str, every: Duration) -> u16 {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", served.port)).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let sends = tokio::spawn(async move {
        while write.write_all(b"1\r\n \r\n").await.is_ok() {
            tokio::time::sleep(every).await;
        }
    });
    let mut got = [0; 12];
    tokio::time::timeout(LONG, read.read_exact(&mut got)).await.expect("it answers").unwrap();
    sends.abort();
    String::from_utf8_lossy(&got[9..]).parse().unwrap()
}

#[tokio::test]
async fn request_body_that_does_not_end_times_out() {
    let upstream = Replay::new(vec![Do::Hang]).await;
    let served = Served::new(upstream.port, hasty()).await;
    for path in ["/v1/chat/completions", "/v1/other"] {
        let status = unfinished(&served, path, LONG).await;
        assert_eq!(status, StatusCode::REQUEST_TIMEOUT.as_u16(), "{path}");
    }
    let timeouts = Timeouts { body: TimeSpan(Duration::from_millis(200)), ..Timeouts::default() };
    let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
    let status = unfinished(&served, "/v1/chat/completions", Duration::from_millis(20)).await;
    assert_eq!(status, StatusCode::REQUEST_TIMEOUT.as_u16());
}

#[tokio::test]
async fn maximum_durations_never_time_out() {
    let [first_byte, idle, body, keep_alive] = [TimeSpan(Duration::MAX); 4];
    let timeouts = Timeouts { first_byte, idle, body, keep_alive, ..Timeouts::default() };
    let wait = Do::Wait(Duration::from_millis(40));
    let script = vec![Do::Send(STREAM.to_vec()), wait, piece(&text_event("late")), end()];
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
    let got = served.ask(&asks(MODEL, json!({}))).await;
    assert!(got.text().contains("late"), "{}", got.text());
}

#[tokio::test]
async fn slow_answer_is_read_while_bytes_arrive() {
    let choice = json!({"index": 0, "message": {"content": "slow"}, "finish_reason": "stop"});
    let answer = json!({"choices": [choice]}).to_string();
    let mut script = vec![Do::Send(
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len()).into_bytes(),
    )];
    for part in answer.as_bytes().chunks(8) {
        script.extend([Do::Send(part.to_vec()), Do::Wait(Duration::from_millis(40))]);
    }
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, hasty()).await;
    let got = served.ask(&asks(MODEL, json!({"stream": false}))).await;
    assert_eq!(got.json()["choices"][0]["message"]["content"], "slow");
}

#[tokio::test]
async fn token_metrics_follow_upstream_usage() {
    let usage =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\n";
    let body = [text_event("x"), usage.into()].concat();
    let upstream = Replay::new(stream(&body, 100)).await;
    let served = Served::new(upstream.port, config()).await;
    served.ask(&asks(MODEL, json!({"stream_options": {"include_usage": true}}))).await;
    let get = Request::get("/metrics").body(Body::empty()).unwrap();
    let text = served.send(get).await.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(text.to_vec()).unwrap();
    for (kind, count) in [("input", 5), ("output", 9)] {
        let line =
            format!("tokens_total{{kind=\"{kind}\",model=\"{MODEL}\",family=\"qwen3\"}} {count}\n");
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
}
