//! Server-sent events, against another implementation and under limits.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::sse(data));
