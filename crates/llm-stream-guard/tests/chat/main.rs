//! Chat-completion streams: chunks with markup in, chunks a strict reader accepts out.

mod calls;
mod envelope;
mod feed;
mod fields;
mod finish;
mod laws;
mod limits;
mod logprobs;
mod model;
mod reader;
mod recordings;
mod shapes;
mod whole;
