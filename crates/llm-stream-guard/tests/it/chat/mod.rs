//! Chat-completion streams: chunks with markup in, chunks a strict reader accepts out.

mod aggregate;
mod annotations;
mod broken;
mod calls;
mod chaos;
mod choices;
mod ends;
mod envelope;
mod failures;
mod feed;
mod fields;
mod finish;
mod foreign;
mod frames;
mod interplay;
mod laws;
mod limits;
mod logprobs;
mod model;
mod odd;
#[cfg(feature = "async-openai")]
mod openai_types;
mod order;
mod reader;
mod reasoning;
mod recordings;
mod remap;
mod sealed;
mod shapes;
mod sse;
mod state;
mod streams;
mod token_ids;
mod unchanged;
mod usage;
mod whole;
