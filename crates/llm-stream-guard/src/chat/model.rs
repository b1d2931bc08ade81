//! Chunks and whole responses: their fields, and their conversion from and to JSON.

#[cfg(feature = "async-openai")]
pub(super) mod async_openai;
pub(super) mod chunk;
pub(super) mod completion;
pub(super) mod condensed;
pub(super) mod condensed_string;
pub(super) mod condenser;
pub(super) mod content;
pub(super) mod convert;
pub(super) mod event_data;
pub(super) mod field;
pub(super) mod merge;
pub(super) mod parsed_size;
pub(super) mod repair;
