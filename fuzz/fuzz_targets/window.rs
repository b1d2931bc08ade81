//! Checks of passages.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::window(data));
