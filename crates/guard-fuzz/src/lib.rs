//! The bodies of the fuzz targets. Each accepts any bytes and panics if a guarantee is broken.
//!
//! The directory `fuzz/` wraps each body for libFuzzer. The tests of this crate run each over its
//! seeds and a few random inputs, so that faults show between campaigns. Projects that use these
//! crates can run the bodies unchanged: see `docs/fuzzing.md`.
//!
//! ```
//! for target in guard_fuzz::TARGETS {
//!     (target.run)(b"any bytes");
//! }
//! ```
//! [`TARGETS`] lists each [`Target`] with its name.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a promise that is broken ends in a panic: the fuzzer waits for it"
)]

mod chat;
mod damage;
mod engine;
mod guard;
mod input;
mod judge;
mod record;
mod round_trip;
mod seeds;
mod shrink;
mod sse;
mod templates;
mod think;
mod tokens;
mod wire;

pub use {
    seeds::{dictionary, seeds, vector},
    shrink::shrink,
};

// The checks that tests of other crates share.
#[allow(dead_code, reason = "a file of tests, of which this crate uses a part")]
#[path = "../../jail-match/tests/driver/agree.rs"]
mod agree;
#[allow(dead_code, reason = "a file of tests, of which this crate uses a part")]
#[path = "../../jail-match/tests/driver/bodies.rs"]
mod bodies;
#[path = "../../stream-lifecycle/tests/it/chaotic.rs"]
mod chaotic;
#[allow(dead_code, reason = "a file of tests, of which this crate uses a part")]
#[path = "../../llm-stream-guard/tests/it/chat/reader.rs"]
mod chat_reader;
#[allow(dead_code, reason = "a file of tests, of which this crate uses a part")]
#[path = "../../jail-match/tests/driver/jail_spec.rs"]
mod jail_spec;
#[allow(dead_code, reason = "a file of tests, of which this crate uses a part")]
#[path = "../../jail-match/tests/driver/machines.rs"]
mod machines;
#[path = "../../jail-match/tests/driver/naive.rs"]
mod naive;
#[path = "../../jail-match/tests/driver/naive_code.rs"]
mod naive_code;
#[path = "../../jail-match/tests/driver/naive_jail.rs"]
mod naive_jail;
#[path = "../../jail-match/tests/driver/naive_plain.rs"]
mod naive_plain;
#[path = "../../jail-match/tests/driver/naive_space.rs"]
mod naive_space;
#[path = "../../think-filter/tests/it/shown_tags.rs"]
mod shown_tags;
#[allow(dead_code, reason = "a file of tests, of which this crate uses a part")]
#[path = "../../stream-lifecycle/tests/it/support.rs"]
mod support;
#[allow(dead_code, reason = "a file of tests, of which this crate uses a part")]
#[path = "../../think-filter/tests/it/machine.rs"]
mod think_machine;

/// A fuzz target with its name.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Target {
    /// The name of the target.
    pub name: &'static str,
    /// The function that checks one input.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($(#[$about:meta])* $name:ident = $body:path),+ $(,)?) => {
        $($(#[$about])*
        ///
        /// # Panics
        /// Panics if a guarantee is broken.
        pub fn $name(data: &[u8]) {
            $body(data);
        })+

        /// The list of all targets.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: $name }),+];
    };
}

targets! {
    /// Compares the marker search with a second implementation.
    matcher = engine::matcher,
    /// Compares the driver over any table with a second implementation, and checks that nothing is
/// lost.
    driver = engine::driver,
    /// Compares a jail of any rules with a second implementation.
    jail = engine::jail,
    /// Checks reasoning formats under every option.
    think = think::formats_and_options,
    /// Checks markup of one family and pieces of calls, under every option of calls.
    calls = guard::calls,
    /// Checks every profile under every option of a guard.
    guard = guard::every_option,
    /// Checks every profile with bytes that may be invalid UTF-8.
    raw_bytes = guard::raw_bytes,
    /// Checks several calls of one family, some of them damaged, under every option of a guard.
    damaged = damage::blocks,
    /// Checks files of families, and text that is read with them.
    family = guard::family_file,
    /// Checks parsers of response templates.
    templates = templates::templates,
    /// Checks that calls written by an encoder are read back.
    round_trip = round_trip::calls,
    /// Checks remapping tables over text and streams.
    remap = wire::text,
    /// Checks the remapping of requests and responses of three dialects.
    remap_bodies = wire::bodies,
    /// Checks server-sent events against another implementation and under limits.
    sse = sse::decoder,
    /// Checks chunks of chat completions.
    chat = chat::operations,
    /// Checks chunks of chat completions as bytes of an event stream.
    chat_sse = chat::bytes,
    /// Checks the record of a stream whose parts misbehave.
    lifecycle = record::life,
    /// Checks the passages of text that a check receives.
    window = record::window,
    /// Checks a queue of events and its limits.
    queue = record::queue,
    /// Checks marker tokens and text, under every option of a guard.
    tokens = tokens::tokens,
}
