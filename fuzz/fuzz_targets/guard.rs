//! Every profile under every option of a guard.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::guard(data));
