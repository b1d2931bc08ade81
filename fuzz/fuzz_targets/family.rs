//! Files of families, read by `toml`, and text read by them.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::family(data));
