//! Markup of one family and pieces of calls, under every option of calls.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::calls(data));
