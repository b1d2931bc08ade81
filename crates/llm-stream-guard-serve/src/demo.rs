//! An upstream without a model: streams from `docs/samples/`, replayed.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_core::Stream;
use llm_stream_guard::{
    chat::{Aggregator, Chunk},
    sse::{Decoder, SseItem},
};
use serde_json::{Value, json};
use tokio::time::{Sleep, sleep};

/// Ids of models, each with its stream. The first is the one that the command shows.
const MODELS: [(&str, &[u8]); 7] = [
    ("Qwen/Qwen3-32B", include_bytes!("../../../docs/samples/note.sse")),
    ("Qwen/Qwen3-8B", include_bytes!("../../../docs/samples/hermes_think.sse")),
    ("NousResearch/Hermes-3-Llama-3.1-8B", include_bytes!("../../../docs/samples/hermes.sse")),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", include_bytes!("../../../docs/samples/qwen3_coder.sse")),
    ("mistralai/Mistral-7B-Instruct-v0.3", include_bytes!("../../../docs/samples/mistral.sse")),
    ("meta-llama/Llama-3.1-8B-Instruct", include_bytes!("../../../docs/samples/llama3_json.sse")),
    ("deepseek-ai/DeepSeek-V3.1", include_bytes!("../../../docs/samples/deepseek_v3_1.sse")),
];

/// Returns the ids of the available models.
pub fn models() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(id, _)| *id)
}

/// Returns an upstream that answers each model with its recorded stream, one event per `pace`. An
/// unknown model gets the first recording.
pub fn upstream(pace: Duration) -> Router {
    let list = || async {
        let entry = |id| json!({"id": id, "object": "model", "owned_by": "demo"});
        let list: Vec<Value> = models().map(entry).collect();
        response("application/json", json!({"object": "list", "data": list}).to_string())
    };
    let replay = |form| post(move |body: Bytes| async move { answer(&body, pace, form) });
    Router::new()
        .route("/v1/models", get(list))
        .route("/v1/chat/completions", replay(Form::Chat))
        .route("/v1/completions", replay(Form::Text))
}

/// The form in which recorded chat chunks are replayed.
#[derive(Debug, Clone, Copy)]
enum Form {
    Chat,
    Text,
}

fn answer(body: &[u8], pace: Duration, form: Form) -> Response {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let asked = body.get("model").and_then(Value::as_str);
    let found = MODELS.iter().find(|(id, _)| Some(*id) == asked);
    let (_, recorded) = found.unwrap_or(&MODELS[0]);
    if body.get("stream") == Some(&Value::Bool(true)) {
        let events = events(recorded, form);
        let replay = Replay { events, pace, wait: Box::pin(sleep(pace)) };
        return response("text/event-stream", Body::from_stream(replay));
    }
    let mut whole = Aggregator::default();
    decode(recorded, |_, data| {
        if let Ok(chunk) = serde_json::from_slice::<Chunk>(data) {
            whole.push(&chunk);
        }
    });
    // Strings, numbers and maps with string keys are always valid JSON.
    let whole = serde_json::to_value(whole.finish()).unwrap_or_default();
    response("application/json", form.of(whole, "message").to_string())
}

fn response(kind: &'static str, body: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, kind)], body.into()).into_response()
}

fn events(recorded: &'static [u8], form: Form) -> VecDeque<Bytes> {
    let mut events = VecDeque::new();
    decode(recorded, |raw, data| match (form, serde_json::from_slice(data)) {
        (Form::Text, Ok(chunk)) => {
            let event = format!("data: {}\n\n", form.of(chunk, "delta"));
            events.push_back(event.into());
        }
        _ => events.push_back(Bytes::copy_from_slice(raw)),
    });
    events
}

impl Form {
    /// Converts a chat chunk or answer with its text in `field` into this form.
    fn of(self, mut said: Value, field: &str) -> Value {
        if let (Self::Text, Some(choices)) =
            (self, said.get_mut("choices").and_then(Value::as_array_mut))
        {
            for choice in choices.iter_mut().filter_map(Value::as_object_mut) {
                let message = choice.shift_remove(field).unwrap_or_default();
                let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
                choice.insert("text".into(), text.into());
            }
            said["object"] = "text_completion".into();
        }
        said
    }
}

/// Calls `on` with each event's bytes and its data.
fn decode(recorded: &[u8], mut on: impl FnMut(&[u8], &[u8])) {
    let mut item = |item: SseItem<'_>| {
        if let SseItem::Event(event) = item {
            on(event.raw, event.data.unwrap_or_default());
        }
    };
    let mut decoder = Decoder::new();
    // Recordings are within the limits.
    let _ = decoder.push(recorded, &mut item);
    let _ = decoder.finish(item);
}

struct Replay {
    events: VecDeque<Bytes>,
    pace: Duration,
    wait: Pin<Box<Sleep>>,
}

impl Stream for Replay {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!(self.wait.as_mut().poll(cx));
        let next = sleep(self.pace);
        self.wait.set(next);
        Poll::Ready(self.events.pop_front().map(Ok))
    }
}
