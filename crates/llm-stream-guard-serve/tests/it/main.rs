//! The proxy between clients and upstreams that do as a script says.

mod agents;
mod agreement;
mod answers;
mod completions;
mod dashboards;
mod dialects;
mod encoders;
mod ends;
mod failures;
mod foreign;
mod generated;
mod hostile;
mod lifecycle;
mod logs;
mod ollama;
mod parse;
mod recorded;
mod requests;
mod soak;
mod support;
mod templates;
#[cfg(feature = "tls")]
mod tls;
mod token_ids;
mod tool_grammars;
mod transport;
mod untouched;
mod upstreams;
