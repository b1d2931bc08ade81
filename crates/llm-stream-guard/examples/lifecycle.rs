//! A guarded stream on record: secrets are redacted from what the user sees as it streams, phone
//! numbers only from the record; the END event is printed.
//!
//! ```text
//! cargo run -p llm-stream-guard --example lifecycle
//! ```

use std::{io, sync::Arc};

use llm_stream_guard::{
    Guard, Guarded, OwnedEvent, guard_text,
    jail_match::Jail,
    lifecycle::{Lifecycle, LifecycleEvent, MessageCollector, RedactEvents, Redactor, SystemClock},
    profile,
};
use tokio_stream::StreamExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chunks = [
        "<think>They want the staging login.</th",
        "ink>Use <sec",
        "ret>hunter2</secret>, or call tel:555-0100; ask for Ann.\n<tool_call>{\"name\": \"page",
        "\", \"arguments\": {\"who\": \"Ann\"}}</tool_call>",
    ];
    let upstream = tokio_stream::iter(chunks.map(Ok::<_, io::Error>));
    let guard = Guard::builder(&profile("qwen3")?).build()?;

    let secrets = Jail::builder().start("<secret>").end("</secret>").build()?;
    let phones = Jail::builder().start("tel:").end(";").build()?;
    let stream = Lifecycle::new("call-1")
        .model("qwen3")
        .clock(Arc::new(SystemClock::new()))
        .enforce(RedactEvents::new(Redactor::new(secrets, "[secret]")))
        .collect_with(MessageCollector::default())
        .sanitizer(Redactor::new(phones, "[phone];").sanitizer("phones", 0))
        .subscriber(Arc::new(print_end))
        .wrap(guard_text(upstream, guard))
        .probe(Guarded::progress);

    let mut stream = std::pin::pin!(stream);
    while let Some(event) = stream.next().await {
        match event? {
            OwnedEvent::Content(text) => println!("content    {text:?}"),
            OwnedEvent::Reasoning(text) => println!("reasoning  {text:?}"),
            other => println!("           {other:?}"),
        }
    }
    Ok(())
}

fn print_end(event: &Arc<LifecycleEvent>) {
    if let Some(end) = event.end() {
        match serde_json::to_string_pretty(end) {
            Ok(json) => println!("{json}"),
            Err(error) => eprintln!("{error}"),
        }
    }
}
