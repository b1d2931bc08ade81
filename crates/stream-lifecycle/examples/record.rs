//! Records a stream that fails half-way, and prints its events as JSON.
//!
//! `cargo run -p stream-lifecycle --example record`

use std::{fmt, io, sync::Arc};

use stream_lifecycle::{ErrorInfo, Lifecycle, LifecycleEvent, SystemClock, TextCollector};
use tokio_stream::StreamExt as _;

fn print(event: &Arc<LifecycleEvent>) {
    let json = serde_json::to_string_pretty(&**event);
    println!("{}", json.as_ref().map_or(&"no JSON" as &dyn fmt::Display, |text| text));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let items = [Ok("half of"), Err(io::Error::other("connection reset")), Ok("never seen")];
    let mut stream = Lifecycle::new("call-1")
        .tap("raw")
        .collect_with(TextCollector::default())
        .describe_error(|error: &io::Error| ErrorInfo::class("io").text(error.to_string()))
        .clock(Arc::new(SystemClock::new()))
        .subscriber(Arc::new(print))
        .wrap(tokio_stream::iter(items));
    while let Some(item) = stream.next().await {
        println!("{item:?}");
    }
}
