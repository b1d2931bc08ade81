//! The life of a guarded stream on record. Ids like `s4_07` are explained in the contract of
//! `stream-lifecycle`.

/// Chat-completion chunks.
mod chat;
/// Messages that are collected.
mod collected;
/// Every line of the contract has a test.
/// Redaction.
mod enforce;
/// Behind, and in front of, a guard.
mod guarded;
/// Upstreams and logs, shared with the tests of the crate below.
#[expect(dead_code, reason = "those tests need more of it")]
#[path = "../../../../stream-lifecycle/tests/it/support.rs"]
mod support;
