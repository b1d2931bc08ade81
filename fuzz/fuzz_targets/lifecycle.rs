//! A stream around which everyone misbehaves.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::lifecycle(data));
