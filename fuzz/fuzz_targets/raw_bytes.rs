//! The same with bytes that need not be text.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::raw_bytes(data));
