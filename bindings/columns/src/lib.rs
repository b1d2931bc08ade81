//! Parses Arrow arrays of texts into Arrow arrays of messages.
//!
//! ```text
//! ["<think>hm</think>Hi.", null]
//! [{content: "Hi.", reasoning: "hm", calls: [], outcome: "complete", diagnostics: []}, null]
//! ```
//!
//! The Python package reads columns with this crate. The crate's binary is the `llm-stream-guard`
//! command with support for Parquet.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod columns;
#[cfg(feature = "command")]
mod parquet_file;
mod rows;

pub use columns::{Columns, Overflow};
#[cfg(feature = "command")]
pub use parquet_file::parse_parquet;
pub use rows::{BatchError, How, on_threads, parse_texts};
