//! What the proxy has no business with.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use http_body_util::BodyExt as _;

use crate::support::{Do, Replay, Served, asks, config, event, stream, text_event, whole};

#[tokio::test]
async fn other_paths_and_methods_pass_unchanged() {
    let head = "content-type: text/x\r\nx-own: 1\r\ncontent-encoding: br\r\n";
    let upstream = Replay::new(vec![Do::Send(whole("418 I'm a teapot", head, "short"))]).await;
    let served = Served::new(upstream.port, config()).await;
    for request in [
        Request::put("/v1/files/a?b=c").header("accept-encoding", "br").body(Body::from("data")),
        Request::get("/v1/chat/completions").body(Body::empty()),
    ] {
        let response = served.send(request.unwrap()).await;
        assert_eq!(response.status(), StatusCode::IM_A_TEAPOT);
        assert_eq!(response.headers()["x-own"], "1");
        assert_eq!(response.headers()["content-encoding"], "br");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(&body[..], b"short");
    }
    let asked = upstream.asked.lock().unwrap();
    assert!(asked[0].0.starts_with("PUT /v1/files/a?b=c HTTP/1.1"), "{}", asked[0].0);
    assert!(asked[0].0.contains("accept-encoding: br"));
    assert!(asked[1].0.starts_with("GET /v1/chat/completions"));
}

#[tokio::test]
async fn health_and_metrics_are_served() {
    let last = event(&serde_json::json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    let said = [text_event("<tool_call>{\"name\": \"f\""), last].concat();
    let upstream = Replay::new(stream(&said, 100)).await;
    let served = Served::new(upstream.port, config()).await;
    let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
    let alive = served.send(get("/healthz")).await;
    assert_eq!(alive.status(), StatusCode::OK);
    served.ask(&asks("Qwen/Qwen3-8B", serde_json::json!({}))).await;
    let body = served.send(get("/metrics")).await.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    for line in [
        "llm_stream_guard_requests_total{path=\"/v1/chat/completions\",status=\"200\"} 1",
        "llm_stream_guard_streams_total{end=\"complete\"} 1",
        "llm_stream_guard_streams_open 0",
        "llm_stream_guard_held_bytes 0",
        "llm_stream_guard_calls_total{outcome=\"incomplete\",model=\"Qwen/Qwen3-8B\",family=\"qwen3\"} 1",
        "llm_stream_guard_answers_total{dialect=\"chat\",end=\"complete\",model=\"Qwen/Qwen3-8B\",family=\"qwen3\"} 1",
        "llm_stream_guard_first_token_seconds_count{model=\"Qwen/Qwen3-8B\",family=\"qwen3\"} 1",
        "llm_stream_guard_stream_seconds_count{model=\"Qwen/Qwen3-8B\",family=\"qwen3\"} 1",
        concat!("llm_stream_guard_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "llm_stream_guard_chunks_total 1",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn streams_with_diagnostics_are_recorded_up_to_a_size() {
    use llm_stream_guard_serve::{Config, Record};
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("records");
    let _ = std::fs::remove_dir_all(&dir);
    let broken = |more: &str| {
        text_event(&format!("<tool_call>{{\"name\": \"f\", \"arguments\": {{\"a\": }}}}{more}"))
    };
    let kept = || std::fs::read_dir(&dir).unwrap().count();
    let much = "x".repeat(2000);
    let rows =
        [(text_event("fine"), 1 << 20, 0), (broken(""), 1 << 20, 1), (broken(&much), 1000, 1)];
    for (body, most, count) in rows {
        let record = Some(Record { most, ..Record::to(&dir) });
        let upstream = Replay::new(stream(&body, 50)).await;
        let served = Served::new(upstream.port, Config { record, ..config() }).await;
        served.ask(&asks("Qwen/Qwen3-8B", serde_json::json!({"user": "secret"}))).await;
        // It is written after the answer; what must not come is given as long.
        for _ in 0..100 {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        assert_eq!(kept(), count);
    }
    let file = std::fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with(": family qwen3\n\ndata: {"), "{text}");
    assert!(!text.contains("secret"));
}

#[tokio::test]
async fn complete_answers_with_diagnostics_are_recorded() {
    use llm_stream_guard_serve::{Config, Record};
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole_records");
    let _ = std::fs::remove_dir_all(&dir);
    let record = Some(Record::to(&dir));
    let whole = "{\"choices\": [{\"index\": 0, \"finish_reason\": \"stop\",\n\"message\": {\"content\": \
        \"<tool_call>{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {\\\"a\\\": }}\"}}]}";
    let head = "content-type: application/json\r\n";
    let upstream = Replay::new(vec![Do::Send(crate::support::whole("200 OK", head, whole))]).await;
    let served = Served::new(upstream.port, Config { record, ..config() }).await;
    let more = serde_json::json!({"stream": false, "user": "secret"});
    let got = served.ask(&asks("Qwen/Qwen3-8B", more)).await;
    assert_eq!(got.status, 200, "{}", got.text());
    let mut kept = std::fs::read_dir(&dir).unwrap().next();
    for _ in 0..1000 {
        if kept.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        kept = std::fs::read_dir(&dir).unwrap().next();
    }
    let text = std::fs::read_to_string(kept.unwrap().unwrap().path()).unwrap();
    let lines = whole.replace('\n', "\ndata: ");
    assert_eq!(text, format!(": family qwen3\n\ndata: {lines}\n\n"));
}

#[tokio::test]
async fn http_2_requests_are_served() {
    let upstream = Replay::new(stream(&text_event("hello"), 10)).await;
    let served = Served::new(upstream.port, config()).await;
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .http2_only(true)
        .build_http::<Body>();
    let request = Request::post(format!("http://127.0.0.1:{}/v1/chat/completions", served.port))
        .body(Body::from(asks("Qwen/Qwen3-8B", serde_json::json!({})).to_string()))
        .unwrap();
    let response = client.request(request).await.unwrap();
    assert_eq!(response.version(), axum::http::Version::HTTP_2);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8(body.to_vec()).unwrap().contains("hello"));
}
