//! Parses Arrow arrays of texts into Arrow arrays of messages.
//!
//! ```text
//! ["<think>hm</think>Hi.", null]
//! [{content: "Hi.", reasoning: "hm", calls: [], outcome: "complete", diagnostics: [],
//!   finish: "stop", open: "none", error: null}, null]
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
mod texts;

pub use columns::{ColumnOverflow, Columns};
#[cfg(feature = "command")]
pub use parquet_file::parse_parquet;
pub use rows::{BatchError, BatchSettings, count_texts, on_threads, parse_texts};
pub use texts::TextArray;
