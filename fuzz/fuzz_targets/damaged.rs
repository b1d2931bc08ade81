//! Several calls of one family, some of them damaged.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::damaged(data));
