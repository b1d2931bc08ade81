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

/// Reads one request, as far as its length says.
async fn read_request(stream: &mut tokio::net::TcpStream) -> Option<()> {
    let mut came = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let len = stream.read(&mut piece).await.ok().filter(|len| *len > 0)?;
        came.extend_from_slice(&piece[..len]);
        let text = String::from_utf8_lossy(&came).to_lowercase();
        let Some(end) = text.find("\r\n\r\n") else { continue };
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if came.len() >= end + 4 + length.unwrap_or(0) {
            return Some(());
        }
    }
}

/// An upstream that answers the first request of each connection, and closes the connection at the
/// second one. Returns its port and the number of requests it read.
async fn forgetful(answer: Vec<u8>) -> (u16, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (answer, count) = (answer.clone(), counted.clone());
            tokio::spawn(async move {
                for first in [true, false] {
                    read_request(&mut stream).await?;
                    count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    if first {
                        stream.write_all(&answer).await.ok()?;
                    }
                }
                Some(())
            });
        }
    });
    (port, count)
}

#[tokio::test]
async fn request_that_a_dead_connection_lost_is_sent_once_more() {
    let answer = json!({"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hi."}}]});
    for status in ["200 OK", "500 Internal Server Error"] {
        let (port, count) = forgetful(crate::support::whole_json(status, &answer)).await;
        let served = Served::new(port, config()).await;
        for path in ["/v1/chat/completions", "/v1/messages", "/v1/embeddings"] {
            for _ in 0..3 {
                let asked = asks(MODEL, json!({"stream": false, "max_tokens": 9}));
                let got = served.post(path, &asked).await;
                let expected = if status == "200 OK" { 200 } else { 500 };
                // A body that passes unread cannot be sent again.
                let passes = path == "/v1/embeddings" && got.status() == StatusCode::BAD_GATEWAY;
                assert!(passes || got.status().as_u16() == expected, "{path} {}", got.status());
                got.into_body().collect().await.unwrap();
            }
        }
        assert!(count.load(std::sync::atomic::Ordering::SeqCst) > 6);
    }
}

#[tokio::test]
async fn key_that_is_refused_does_not_hide_the_kind_of_server_from_others() {
    let list = json!({"data": [{"id": MODEL, "owned_by": "vllm"}]});
    let answer = json!({"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hi."}}]});
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = asked.clone();
    let app = axum::Router::new()
        .route(
            "/v1/models",
            axum::routing::get(move |headers: axum::http::HeaderMap| async move {
                match headers.get("authorization").is_some_and(|key| key == "Bearer good") {
                    true => (StatusCode::OK, list.to_string()),
                    false => (StatusCode::UNAUTHORIZED, json!({"error": "no"}).to_string()),
                }
            }),
        )
        .route(
            "/v1/chat/completions",
            axum::routing::post(move |body: String| async move {
                kept.lock()
                    .unwrap()
                    .push(serde_json::from_str::<serde_json::Value>(&body).unwrap());
                ([("content-type", "application/json")], answer.to_string())
            }),
        );
    tokio::spawn(async move { axum::serve(listener, app).await });
    let auto = Config { server: llm_stream_guard_serve::ServerName::Auto, ..config() };
    let served = Served::new(port, auto).await;
    for key in ["bad", "good", "bad"] {
        let body = Body::from(asks(MODEL, json!({"stream": false})).to_string());
        let request =
            Request::post("/v1/chat/completions").header("authorization", format!("Bearer {key}"));
        served.send(request.body(body).unwrap()).await.into_body().collect().await.unwrap();
    }
    let asked = asked.lock().unwrap();
    let special = asked.iter().map(|body| body["skip_special_tokens"] == false);
    assert_eq!(special.collect::<Vec<_>>(), [false, true, true]);
}

#[tokio::test]
async fn near_misses_of_guarded_paths_are_guarded_or_refused() {
    let answer = json!({"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "<think>hm</think>Hi."}}]});
    let upstream = Replay::new(vec![Do::Send(crate::support::whole_json("200 OK", &answer))]).await;
    let served = Served::new(upstream.port, config()).await;
    let asked = asks(MODEL, json!({"stream": false}));
    for path in
        ["/chat/completions", "/v1/v1/chat/completions", "/v1/chat/completions/chat/completions"]
    {
        let got = served.post(path, &asked).await;
        let body = got.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["choices"][0]["message"]["content"], "Hi.", "{path}");
        assert!(upstream.last_asked().0.starts_with("POST /v1/chat/completions HTTP"), "{path}");
    }
    let got = served.post("/api/v1/chat/completions", &asked).await;
    assert_eq!(got.status(), StatusCode::NOT_FOUND);
    assert_eq!(got.headers()["access-control-allow-origin"], "*");
    let body = got.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&body).contains("base URL"));
}
