//! Forwards an event stream byte for byte, and replaces the data of events named `secret`.
//!
//! `printf 'event: secret\ndata: hunter2\n\ndata: hi\n\n' | cargo run -p sse-events --example forward`

use sse_events::{Decoder, SseItem};
use std::{
    error::Error,
    io::{Read as _, Write as _, stdin, stdout},
};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut decoder, mut out, mut buffer) = (Decoder::new(), Vec::new(), [0; 4096]);
    let forward = |item: SseItem<'_>, out: &mut Vec<u8>| match item {
        SseItem::Event(event) if event.name == Some(b"secret") => event.with_data(b"[gone]", out),
        item => out.extend_from_slice(item.raw()),
    };
    loop {
        let read = stdin().read(&mut buffer)?;
        if read == 0 {
            break;
        }
        decoder.push(&buffer[..read], |item| forward(item, &mut out))?;
        stdout().write_all(&out)?;
        out.clear();
    }
    decoder.finish(|item| forward(item, &mut out))?;
    stdout().write_all(&out)?;
    Ok(())
}
