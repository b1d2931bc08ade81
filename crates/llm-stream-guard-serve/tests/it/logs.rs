//! What the log holds, and what it must not.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, UnknownModel};
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
async fn what_upstream_says_of_a_request_reaches_the_client_and_not_the_log() {
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
async fn the_log_has_the_start_of_an_unknown_model_with_nothing_that_acts() {
    for unknown_model in [UnknownModel::Refuse, UnknownModel::Pass] {
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
async fn choices_that_cannot_be_read_are_logged_and_their_text_is_not() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let upstream = stream(&event(&json!({"index": -1, "delta": {"content": "secret"}})), 9);
    let upstream = Replay::new(upstream).await;
    let served = Served::new(upstream.port, config()).await;
    served.ask(&asks("Qwen/Qwen3-8B", json!({}))).await;
    let log = log.text();
    assert!(log.contains("choices that cannot be read") && !log.contains("secret"), "{log}");
}
