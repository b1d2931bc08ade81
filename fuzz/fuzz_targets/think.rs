//! Reasoning formats under every option.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::think(data));
