//! A stream around which everyone misbehaves.

#![no_main]

// Panics are part of it: the usual hook would abort at the first, caught or not. What is not
// caught still ends the run.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| ())),
    |data: &[u8]| guard_fuzz::lifecycle(data)
);
