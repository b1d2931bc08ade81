//! Readiness, the end, and new configurations while streams are open.

use std::time::{Duration, Instant};

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{
    Config, EndpointName, Model, Models, ProxyLimits, TimeSpan, Timeouts, Upstream, check_health,
};
use serde_json::json;

use crate::support::{
    Do, LONG, Replay, STREAM, Served, asks, config, end, piece, text_event, whole, whole_json,
};

const MODEL: &str = "Qwen/Qwen3-8B";

async fn get(served: &Served, path: &str) -> (StatusCode, String) {
    let request = Request::get(path).header("connection", "close").body(Body::empty()).unwrap();
    let (head, body) = served.send(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, String::from_utf8(body.to_vec()).unwrap())
}

/// An answer that goes on after `wait`.
fn slow(wait: Duration) -> Vec<Do> {
    let last = json!({"index": 0, "delta": {"content": "two"}, "finish_reason": "stop"});
    vec![
        Do::Send(STREAM.to_vec()),
        piece(&text_event("one ")),
        Do::Wait(wait),
        piece(&crate::support::event(&last)),
        piece(b"data: [DONE]\n\n"),
        end(),
    ]
}

async fn text(body: Body) -> String {
    let body = tokio::time::timeout(LONG, body.collect()).await.expect("it ends").unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn proxy_is_ready_if_its_upstream_answers() {
    for (status, ready) in [
        ("200 OK", true),
        ("401 Unauthorized", true),
        ("404 Not Found", true),
        ("503 Service Unavailable", false),
    ] {
        let upstream = Replay::new(vec![Do::Send(whole(status, "", "{}"))]).await;
        let served = Served::new(upstream.port, config()).await;
        for _ in 0..3 {
            let (got, body) = get(&served, "/readyz").await;
            assert_eq!(got == StatusCode::OK, ready, "{status}: {body}");
        }
        // The answer holds for a while.
        assert_eq!(upstream.asked.lock().unwrap().len(), 1, "{status}");
        assert_eq!(get(&served, "/healthz").await.0, StatusCode::OK);
    }
    let served = Served::new(1, config()).await;
    let (status, body) = get(&served, "/readyz").await;
    assert_eq!((status, &*body), (StatusCode::SERVICE_UNAVAILABLE, "default: no answer\n"));
}

#[tokio::test]
async fn readiness_check_does_not_wait_for_a_hanging_upstream() {
    let hangs = Replay::new(vec![Do::Hang]).await;
    let served = Served::new(hangs.port, config()).await;
    let began = Instant::now();
    assert_eq!(get(&served, "/readyz").await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn readiness_is_reported_per_upstream() {
    let up = Replay::new(vec![Do::Send(whole("200 OK", "", "{}"))]).await;
    let upstream = Some(EndpointName::At(Upstream::local(up.port)));
    let models = Models::from([("a".to_owned(), Model { upstream, ..Model::default() })]);
    let served = Served::new(1, Config { models, ..config() }).await;
    let (status, body) = get(&served, "/readyz").await;
    let expected = format!("default: no answer\nhttp://127.0.0.1:{}: ok\n", up.port);
    assert_eq!((status, body), (StatusCode::OK, expected));
}

#[tokio::test]
async fn draining_proxy_refuses_new_requests_and_finishes_open_streams() {
    let upstream = Replay::new(slow(Duration::from_millis(800))).await;
    let mut served = Served::new(upstream.port, config()).await;
    let open = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await;
    served.stop();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(get(&served, "/healthz").await.0, StatusCode::OK);
    let (status, body) = get(&served, "/readyz").await;
    assert_eq!((status, &*body), (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n"));
    let refused = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["connection"], "close");
    assert_eq!(refused.headers()["retry-after"], "1");
    assert!(text(refused.into_body()).await.contains("overloaded"));
    let said = text(open.into_body()).await;
    assert!(said.contains("two") && said.contains("[DONE]"), "{said}");
    tokio::time::timeout(LONG, served.ended).await.expect("it ends").unwrap();
    assert_eq!(upstream.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn endless_stream_is_cut_after_the_shutdown_time() {
    let upstream = Replay::new(slow(LONG)).await;
    let shutdown = TimeSpan(Duration::from_millis(300));
    let timeouts = Timeouts { shutdown, ..Timeouts::default() };
    let mut served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
    let open = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await;
    served.stop();
    tokio::time::timeout(Duration::from_secs(5), &mut served.ended)
        .await
        .expect("it ends")
        .unwrap();
    drop(open);
}

#[tokio::test]
async fn reload_affects_new_requests_only() {
    let first = Replay::new(slow(Duration::from_millis(500))).await;
    let answer =
        json!({"choices": [{"index": 0, "message": {"content": "new"}, "finish_reason": "stop"}]});
    let second = Replay::new(vec![Do::Send(whole_json("200 OK", &answer))]).await;
    let served = Served::new(first.port, config()).await;
    let open = served.post("/v1/chat/completions", &asks(MODEL, json!({}))).await;
    let bad = Config { limits: ProxyLimits { body: 0, ..ProxyLimits::default() }, ..config() };
    assert_eq!(served.proxy.reload(bad).unwrap_err().field.as_deref(), Some("limits.body"));
    assert_eq!(served.proxy.config().upstream, Upstream::local(first.port));
    let upstream = Upstream::local(second.port);
    served.proxy.reload(Config { upstream, ..config() }).unwrap();
    let got = served.ask(&asks(MODEL, json!({"stream": false}))).await;
    assert_eq!(got.json()["choices"][0]["message"]["content"], "new");
    let said = text(open.into_body()).await;
    assert!(said.contains("two") && said.contains("[DONE]"), "{said}");
    // Counters go on.
    let (_, metrics) = get(&served, "/metrics").await;
    let line = "requests_total{path=\"/v1/chat/completions\",status=\"200\"} 2";
    assert!(metrics.contains(line), "{metrics}");
}

#[tokio::test]
async fn health_check_connects_to_the_listen_address() {
    let served = Served::new(1, config()).await;
    for address in ["127.0.0.1", "0.0.0.0"] {
        let address = format!("{address}:{}", served.port).parse().unwrap();
        assert_eq!(check_health(address).await, Ok(()));
    }
    let error = check_health("127.0.0.1:1".parse().unwrap()).await.unwrap_err();
    assert!(error.starts_with("127.0.0.1:1 does not answer"), "{error}");
    let hangs = Replay::new(vec![Do::Hang]).await;
    let error = check_health(([127, 0, 0, 1], hangs.port).into()).await.unwrap_err();
    assert!(error.ends_with("in time"), "{error}");
}
