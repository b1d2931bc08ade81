//! The driver over any table does what a naive one does, and loses nothing.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::driver(data));
