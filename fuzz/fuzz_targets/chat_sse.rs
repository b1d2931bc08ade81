//! The same as bytes of an event stream.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::chat_sse(data));
