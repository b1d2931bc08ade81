//! Clients that send nothing, take nothing, or send what is not meant to be read.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, ProxyLimits, TimeSpan, Timeouts};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    Do, LONG, Replay, STREAM, Served, asks, config, event, piece, stream, text_event,
};

const MODEL: &str = "Qwen/Qwen3-8B";
const SHORT: TimeSpan = TimeSpan(Duration::from_millis(100));

async fn connected(served: &Served, says: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).await.unwrap();
    stream.write_all(says).await.unwrap();
    stream
}

/// All that comes until the other side closes.
async fn rest(stream: &mut TcpStream) -> String {
    let mut came = Vec::new();
    let read = tokio::time::timeout(LONG, stream.read_to_end(&mut came)).await;
    // A reset is an end, too.
    let _ = read.expect("it is closed");
    String::from_utf8_lossy(&came).into_owned()
}

#[tokio::test]
async fn connection_without_a_request_is_closed() {
    let timeouts = Timeouts { head: SHORT, idle: SHORT, ..Timeouts::default() };
    let served = Served::new(1, Config { timeouts, ..config() }).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = b"\0\0\0\x04\0\0\0\0\0";
    for says in [
        &b""[..],
        b"P",
        &preface[..16],
        preface,
        &[&preface[..], settings].concat(),
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        let mut stream = connected(&served, says).await;
        let came = rest(&mut stream).await;
        assert_eq!(came.starts_with("HTTP/1.1 200"), says.starts_with(b"GET"), "{came}");
    }
}

#[tokio::test]
async fn client_that_reads_nothing_is_dropped_and_upstream_closed() {
    let much = text_event(&"x".repeat(1 << 16));
    let script = || {
        let mut script = vec![Do::Send(STREAM.to_vec())];
        script.extend((0..1000).map(|_| piece(&much)));
        script.push(Do::Hang);
        script
    };
    let timeouts = Timeouts { write: SHORT, ..Timeouts::default() };
    let body = asks(MODEL, json!({})).to_string();
    for path in ["/v1/chat/completions", "/v1/other"] {
        let upstream = Replay::new(script()).await;
        let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", body.len());
        let stream = connected(&served, format!("{head}{body}").as_bytes()).await;
        // It is left in the middle of what it sends.
        while upstream.left.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::time::timeout(LONG, upstream.changed.notified()).await.expect("it is left");
        }
        drop(stream);
    }
}

#[tokio::test]
async fn slow_but_steady_client_receives_everything() {
    let timeouts = Timeouts { write: TimeSpan(Duration::from_millis(400)), ..Timeouts::default() };
    let last = event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    let much = [text_event(&"x".repeat(1 << 20)).repeat(4), last].concat();
    let upstream = Replay::new(stream(&much, 1 << 20)).await;
    let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
    let mut body = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await.into_body();
    let mut came = 0;
    while let Some(frame) = body.frame().await {
        came += frame.unwrap().data_ref().map_or(0, |data| data.len());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(came > 4 << 20);
}

#[tokio::test]
async fn connect_and_requests_without_a_host_are_refused() {
    let upstream = Replay::new(vec![Do::Hang]).await;
    let served = Served::new(upstream.port, config()).await;
    for (says, status) in [
        ("CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n", "405"),
        ("POST /v1/other HTTP/1.1\r\ncontent-length: 0\r\n\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\n\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n", "200"),
    ] {
        let mut stream = connected(&served, says.as_bytes()).await;
        let mut got = [0; 12];
        tokio::time::timeout(LONG, stream.read_exact(&mut got)).await.unwrap().unwrap();
        assert_eq!(&got[9..], status.as_bytes(), "{says}");
    }
    assert!(upstream.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn no_path_spelling_bypasses_the_guard() {
    let last = event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    let said = [text_event("<think>hm</think>yes"), last].concat();
    for path in [
        "/v1/chat/completions/",
        "/v1//chat/completions",
        "//v1/chat/completions?a=b",
        "/v1/chat/./completions",
        "/v1/%63hat/completions",
        "/v1/chat%2Fcompletions",
    ] {
        let upstream = Replay::new(stream(&said, 100)).await;
        let served = Served::new(upstream.port, config()).await;
        let body = asks(MODEL, json!({})).to_string();
        let request = Request::post(path).body(Body::from(body)).unwrap();
        let got = served.send(request).await.into_body().collect().await.unwrap().to_bytes();
        let got = String::from_utf8(got.to_vec()).unwrap();
        assert!(got.contains("reasoning_content") && !got.contains("<think>"), "{path}: {got}");
        let line = upstream.last_asked().0;
        assert!(line.starts_with("POST /v1/chat/completions"), "{line}");
    }
}

#[tokio::test]
async fn bodies_over_the_shared_memory_limit_are_refused_until_memory_is_free() {
    let limits = ProxyLimits { body: 2000, bodies: 6000, ..ProxyLimits::default() };
    let served = Served::new(1, Config { limits, ..config() }).await;
    let half = format!("{:x}\r\n{}\r\n", 1500, " ".repeat(1500));
    let head = "POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    let first = connected(&served, format!("{head}{half}").as_bytes()).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let body = asks(MODEL, json!({"user": "x".repeat(1000)}));
    let got = served.ask(&body).await;
    assert_eq!(got.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        (&got.headers["retry-after"], got.json()["error"]["code"].as_str()),
        (&"1".parse().unwrap(), Some("overloaded"))
    );
    // A body that is given up frees its memory.
    drop(first);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let got = served.ask(&body).await;
    assert_eq!(got.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn compressed_request_is_an_unsupported_media_type() {
    let served = Served::new(1, config()).await;
    let request = Request::post("/v1/chat/completions").header("content-encoding", "gzip");
    let response = served.send(request.body(Body::from("xx")).unwrap()).await;
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn request_of_many_small_values_is_refused_or_passed_unread() {
    let many = format!("[{}0]", "{\"\":0},".repeat(600_000));
    let upstream = Replay::new(vec![Do::Send(crate::support::whole("200 OK", "", "{}"))]).await;
    let served = Served::new(upstream.port, config()).await;
    for (path, field, refused) in [
        ("/v1/chat/completions", "tools", true),
        ("/v1/chat/completions", "messages", false),
        ("/v1/chat/completions", "metadata", false),
        ("/v1/messages", "messages", true),
        ("/v1/responses", "input", true),
        ("/v1/responses", "metadata", true),
    ] {
        let body = format!("{{\"model\": \"{MODEL}\", \"{field}\": {many}}}");
        let request = Request::post(path).body(Body::from(body)).unwrap();
        let status = served.send(request).await.status();
        assert_eq!(status.is_client_error(), refused, "{path} {field}: {status}");
    }
}
