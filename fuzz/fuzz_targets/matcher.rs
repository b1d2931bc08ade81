//! The marker search finds what a naive one finds.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::matcher(data));
