//! Remapping tables over text and streams.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::remap(data));
