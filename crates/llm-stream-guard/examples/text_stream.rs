//! A stream of raw text becomes typed events.

use llm_stream_guard::{Guard, OwnedEvent, guard_text, profile};
use tokio_stream::StreamExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let raw = [
        "<think>The user greets",
        " me.</thi",
        "nk>Hello! <tool_call>{\"name\": \"weather\", ",
        "\"arguments\": {\"city\": \"Oslo\"}}</tool_call>",
    ];
    let guard = Guard::builder(&profile("qwen3")?).build()?;
    let mut events = guard_text(tokio_stream::iter(raw.map(Ok::<_, std::io::Error>)), guard);
    while let Some(event) = events.next().await {
        match event? {
            OwnedEvent::Reasoning(text) => println!("thinks: {text}"),
            OwnedEvent::Content(text) => println!("says:   {text}"),
            OwnedEvent::CallStart { name, .. } => println!("calls:  {name}"),
            OwnedEvent::CallArguments { fragment, .. } => println!("        {fragment}"),
            other => println!("        {other:?}"),
        }
    }
    Ok(())
}
