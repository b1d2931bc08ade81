//! An HTTP server in front of another: the event stream that comes holds markup, the one that
//! goes on does not. Comments and unchanged events pass as they came.
//!
//! `curl -N localhost:8080/v1/chat/completions -d '{}'`

use axum::{
    Router,
    body::{Body, Bytes},
    http::header,
    response::{IntoResponse, Response},
    routing::post,
};
use llm_stream_guard::{
    Guard,
    chat::{ChatGuard, ChatOptions, ChatSse, guard_sse},
    profile,
};
use std::{convert::Infallible, error::Error};
use tokio_stream::Stream;

/// Stands for the body of an upstream response, as an HTTP client's stream of bytes gives it.
fn upstream() -> impl Stream<Item = Result<Bytes, Infallible>> {
    let recorded = include_bytes!("../../../docs/samples/servers/vllm.sse");
    tokio_stream::iter(recorded.chunks(512).map(|chunk| Ok(Bytes::from_static(chunk))))
}

async fn completions(guard: ChatSse) -> Response {
    let events = Body::from_stream(guard_sse(upstream(), guard));
    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let guard = Guard::builder(&profile("qwen3")?).build()?;
    let guard = ChatSse::new(ChatGuard::new(guard, ChatOptions::default()));
    let handler = move |_request: Bytes| completions(guard.clone());
    let app = Router::new().route("/v1/chat/completions", post(handler));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on {}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
