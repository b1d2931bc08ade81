//! A jail of any rules does what a naive one does.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::jail(data));
