//! What the log holds, and what it must not.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, UnknownModelPolicy};
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::support::{Do, Replay, Served, asks, config, event, stream, whole_json};

/// Keeps the fields of every event of its thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line<'l>(&'l mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0, "{field}={value:?}").unwrap();
    }
}

#[tokio::test]
async fn upstream_error_text_reaches_the_client_but_not_the_log() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let error = json!({"error": {"message": "cannot read `my secret`", "type": "bad"}});
    let upstream = Replay::new(vec![Do::Send(whole_json("400 Bad Request", &error))]).await;
    let served = Served::new(upstream.port, config()).await;
    let asked = asks("Qwen/Qwen3-8B", json!({"max_tokens": 5}));
    let (head, body) = served.post("/v1/messages", &asked).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    assert_eq!(head.status, StatusCode::BAD_REQUEST);
    assert!(String::from_utf8_lossy(&body).contains("my secret"));
    let log = log.text();
    assert!(log.contains("kind=\"upstream_error\"\nstatus=400\n"), "{log}");
    assert!(!log.contains("my secret"), "{log}");
}

#[tokio::test]
async fn unknown_model_is_logged_shortened_and_escaped() {
    for unknown_model in [UnknownModelPolicy::Refuse, UnknownModelPolicy::Pass] {
        let log = Log::default();
        let _guard = tracing::subscriber::set_default(log.clone());
        let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &json!({})))]).await;
        let served = Served::new(upstream.port, Config { unknown_model, ..config() }).await;
        let model = format!("\u{1b}[31m\n{}", "x".repeat(5000));
        served.ask(&asks(&model, json!({}))).await;
        let log = log.text();
        assert!(log.contains("the model `\\u{1b}[31m\\nxxx"), "{log}");
        assert!(!log.contains('\u{1b}') && !log.contains(&"x".repeat(100)), "{log}");
    }
}

#[tokio::test]
async fn unreadable_choices_are_logged_without_their_text() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let upstream = stream(&event(&json!({"index": -1, "delta": {"content": "secret"}})), 9);
    let upstream = Replay::new(upstream).await;
    let served = Served::new(upstream.port, config()).await;
    served.ask(&asks("Qwen/Qwen3-8B", json!({}))).await;
    let log = log.text();
    assert!(log.contains("choices that cannot be read") && !log.contains("secret"), "{log}");
}

/// The line that was logged for an answer, as one text.
fn line(log: &Log) -> String {
    let log = log.text();
    let at = log.find("message=answer").unwrap_or_else(|| panic!("no line for an answer: {log}"));
    assert_eq!(log.matches("message=answer").count(), 1, "{log}");
    log[at..].to_owned()
}

#[tokio::test]
async fn answer_is_logged_as_one_line_at_its_end() {
    let said = r#"<tool_call>{"name": "f", "arguments": {"a": "secret"}}</tool_call>"#;
    let usage =
        b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\n";
    let body = [crate::support::whole_event(said), usage.to_vec()].concat();
    for (path, dialect) in [
        ("/v1/chat/completions", "chat"),
        ("/v1/messages", "messages"),
        ("/v1/responses", "responses"),
    ] {
        let log = Log::default();
        let _guard = tracing::subscriber::set_default(log.clone());
        let upstream = Replay::new(stream(&body, 50)).await;
        let served = Served::new(upstream.port, config()).await;
        let more = json!({"max_tokens": 9, "input": "secret"});
        let asked = axum::body::Body::from(asks("Qwen/Qwen3-8B", more).to_string());
        let request = axum::http::Request::post(path).header("x-request-id", "req-7");
        let (head, body) = served.send(request.body(asked).unwrap()).await.into_parts();
        body.collect().await.unwrap();
        assert_eq!(head.headers["x-request-id"], "req-7");
        assert!(upstream.last_asked().0.contains("x-request-id: req-7"));
        let line = line(&log);
        for field in [
            "request_id=\"req-7\"",
            &format!("dialect=\"{dialect}\""),
            "model=\"Qwen/Qwen3-8B\"",
            "family=\"qwen3\"",
            "server=\"unknown\"",
            "status=200",
            "end=\"complete\"",
            "ms=",
            "first_token_ms=",
            "input_tokens=5",
            "output_tokens=9",
            "calls_complete=1",
            "calls_malformed=0",
            "diagnostics=0",
        ] {
            assert!(line.contains(&format!("\n{field}")), "{field} is not in {line}");
        }
        assert!(!log.text().contains("secret"), "{}", log.text());
    }
}

#[tokio::test]
async fn every_answer_end_is_logged_with_its_request_id() {
    let refused = json!({"error": {"message": "secret"}});
    let whole = json!({"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "secret"}}]});
    for (script, more, expected) in [
        (vec![Do::Send(whole_json("200 OK", &whole))], json!({"stream": false}), "complete"),
        (vec![Do::Send(whole_json("400 Bad Request", &refused))], json!({}), "failed"),
        (vec![Do::Reset], json!({}), "failed"),
        (stream(&crate::support::text_event("secret"), 9), json!({}), "failed"),
        (vec![], json!({"n": 1000}), "refused"),
        (vec![Do::Send(whole_json("200 OK", &whole))], json!({"model": "nobody's"}), "passed"),
    ] {
        let log = Log::default();
        let _guard = tracing::subscriber::set_default(log.clone());
        let upstream = Replay::new(script).await;
        let served = Served::new(upstream.port, config()).await;
        let got = served.ask(&asks("Qwen/Qwen3-8B", more)).await;
        let id = got.headers["x-request-id"].to_str().unwrap();
        let line = line(&log);
        assert!(line.contains(&format!("end=\"{expected}\"")), "{expected}: {line}");
        assert!(line.contains(&format!("request_id=\"{id}\"")), "{line}");
        assert!(!log.text().contains("secret"), "{}", log.text());
        assert!(!line.contains("first_token_ms") || expected == "failed", "{line}");
    }
}

#[tokio::test]
async fn client_disconnect_is_logged() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let mut script = stream(&crate::support::text_event("secret"), 999);
    script.pop();
    script.push(Do::Hang);
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, config()).await;
    let asked = asks("Qwen/Qwen3-8B", json!({}));
    let mut body = served.post("/v1/chat/completions", &asked).await.into_body();
    body.frame().await.unwrap().unwrap();
    drop(body);
    upstream.was_left().await;
    assert!(line(&log).contains("end=\"client_gone\""), "{}", log.text());
}

/// Returns the log of one answer to a request, with tools if there are any.
async fn log_of(body: &[u8], more: serde_json::Value) -> Log {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let upstream = Replay::new(stream(body, 50)).await;
    let served = Served::new(upstream.port, config()).await;
    served.ask(&asks("moonshotai/Kimi-K2-Instruct", more)).await;
    log
}

#[tokio::test]
async fn likely_causes_are_in_the_line_and_warned_of_once() {
    let tool = |name: &str| json!([{"type": "function", "function": {"name": name}}]);
    let own = json!({"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a",
        "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"});
    let stripped = "functions.get_weather:0{\"city\": \"Oslo\"}";
    for (body, tools, expected, mends) in [
        (crate::support::whole_event(stripped), tool("get_weather"), "stripped_markers", true),
        (event(&own), tool("f"), "native_fields", true),
        (
            crate::support::whole_event("<|channel|>commentary to=functions.f<|message|>{}"),
            tool("f"),
            "wrong_family",
            true,
        ),
        (crate::support::whole_event("<think>hm"), json!([]), "no_answer", true),
    ] {
        let log = log_of(&body, json!({"tools": tools})).await;
        let line = line(&log);
        let found = line.lines().find_map(|it| it.strip_prefix("findings=")).unwrap_or_default();
        assert!(found.contains(expected), "{expected}: {line}");
        let warned = log.text().contains(&format!("finding=\"{expected}\""));
        assert_eq!(warned, mends, "{}", log.text());
    }
    let body = crate::support::whole_event("Hi. {\"a\": 1}");
    let plain = log_of(&body, json!({"tools": tool("get_weather")})).await;
    assert!(!line(&plain).contains("findings="));
}

#[tokio::test]
async fn calls_of_the_servers_own_parser_are_counted() {
    let own = json!({"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a",
        "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"});
    let log = log_of(&event(&own), json!({})).await;
    assert!(line(&log).contains("calls_complete=1"), "{}", log.text());
}

#[tokio::test]
async fn client_that_leaves_after_the_last_event_has_the_whole_answer() {
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses"] {
        let log = Log::default();
        let _guard = tracing::subscriber::set_default(log.clone());
        let body = [crate::support::whole_event("Hi."), b"data: [DONE]\n\n".to_vec()].concat();
        let mut script = stream(&body, 999);
        script.pop();
        script.push(Do::Hang);
        let upstream = Replay::new(script).await;
        let served = Served::new(upstream.port, config()).await;
        let asked = asks("Qwen/Qwen3-8B", json!({"max_tokens": 9, "input": "?"}));
        let mut body = served.post(path, &asked).await.into_body();
        let mut came = Vec::new();
        let is_over = |came: &[u8]| {
            let came = String::from_utf8_lossy(came);
            ["[DONE]", "message_stop", "response.completed"].iter().any(|end| came.contains(end))
        };
        while !is_over(&came) {
            came.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
        }
        drop(body);
        upstream.was_left().await;
        assert!(line(&log).contains("end=\"complete\""), "{path}: {}", log.text());
    }
}

#[tokio::test]
async fn warnings_name_the_request_the_model_and_the_server() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let served = Served::new(port, config()).await;
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({}))).await;
    let id = got.headers["x-request-id"].to_str().unwrap().to_owned();
    assert!(got.text().contains(&format!("http://127.0.0.1:{port}")), "{}", got.text());
    let log = log.text();
    let at = log.find("message=no answer").unwrap_or_else(|| panic!("{log}"));
    for field in [
        format!("request_id=\"{id}\""),
        "model=\"Qwen/Qwen3-8B\"".into(),
        format!("upstream=\"http://127.0.0.1:{port}\""),
        "reason=no connection to upstream".into(),
    ] {
        assert!(log[at..].contains(&field), "{field} is not in {log}");
    }
}
