//! Response templates.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| guard_fuzz::templates(data));
