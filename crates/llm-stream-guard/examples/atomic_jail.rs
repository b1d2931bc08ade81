//! Calls are withheld until they are whole, and each comes out as one chunk. The result keeps
//! the caller's own context beside it.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use llm_stream_guard::{
    JailedStream,
    chat::{Annotated, Annotations},
};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

/// What an engine keeps beside its response: here a name, elsewhere a way to cancel.
struct EngineContext {
    request: String,
}

/// A response with its context.
struct ResponseStream<S> {
    inner: Pin<Box<S>>,
    context: Arc<EngineContext>,
}

impl<S: Stream> Stream for ResponseStream<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.inner.as_mut().poll_next(cx)
    }
}

fn response() -> ResponseStream<impl Stream<Item = Annotated<Value>>> {
    let pieces =
        ["Sure. <TOOL", "CALL>[{\"name\": \"find\",", " \"arguments\": {}}]</TOOL", "CALL>"];
    let items = pieces.into_iter().enumerate().map(|(n, text)| {
        let choice = json!({"index": 0, "delta": {"content": text}});
        let mut item = Annotated::from_data(json!({"id": "c1", "choices": [choice]}));
        item.comment = Some(vec![format!("piece {n}")]);
        item
    });
    let context = Arc::new(EngineContext { request: "r-1".into() });
    ResponseStream { inner: Box::pin(tokio_stream::iter(items)), context }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let response = response();
    let context = response.context.clone();
    let jail = JailedStream::builder()
        .tool_call_parser("nemotron_deci")
        .annotations(Annotations::Coalesce)
        .build()?;
    let jailed = jail.apply(response);
    let mut response = ResponseStream { inner: Box::pin(jailed), context };
    println!("request {}", response.context.request);
    while let Some(item) = response.next().await {
        println!("{}", serde_json::to_string(&item)?);
    }
    Ok(())
}
