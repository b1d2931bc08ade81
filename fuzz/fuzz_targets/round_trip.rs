//! Calls written by an encoder are read back.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::round_trip(data));
