//! Marker tokens among text.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::tokens(data));
