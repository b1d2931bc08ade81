//! A jail of one's own over a stream of text: what expressions find is replaced, wherever it is cut.
//!
//! `cargo run -p llm-stream-guard --features regex --example regex_jail`

use llm_stream_guard::{
    Guard, Jail, Jailer, OwnedEvent, Profile, Replacement, guard_text,
    jail_match::{JailPair, Mark},
};
use tokio_stream::StreamExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = Mark::pattern(r"sk-[A-Za-z0-9]{8,40}");
    let jail = Jail::builder().rule(JailPair::single(key)).build()?;
    let jailer = Jailer::new(jail).on_jailed(|_| Replacement::Text("[key]".into()));
    let guard = Guard::builder(&Profile::named("plain")).stage(jailer).build()?;
    let chunks = ["The key s", "k-4f9", "a01c2d77 is mine; sk-", "lift is not."];
    let chunks = tokio_stream::iter(chunks.map(Ok::<_, std::io::Error>));
    let mut guarded = guard_text(chunks, guard);
    while let Some(event) = guarded.next().await {
        if let OwnedEvent::Content(text) = event? {
            print!("{text}");
        }
    }
    println!();
    Ok(())
}
