//! Remapping of requests and responses of three dialects.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::remap_bodies(data));
