//! What a guard takes: memory, making one, many of them at once.

use std::hint::black_box;

use llm_stream_guard::{Guard, profile, profiles};

use crate::{
    measure::{Collect, feed, median, ratio, seconds},
    text::{Numbers, prose, tokens},
};

/// Prints what it finds; `repeats` is how often a time is taken.
pub(crate) fn print(repeats: usize) {
    let mut worst = Made::default();
    for one in profiles() {
        let build = || Guard::builder(&one).build().expect("registered profiles build");
        let guard = build();
        let made = allocation_counter::measure(|| drop(black_box(build())));
        let cloned = allocation_counter::measure(|| drop(black_box(guard.clone())));
        worst.clone_count = worst.clone_count.max(cloned.count_total);
        worst.clone_bytes = worst.clone_bytes.max(cloned.bytes_max);
        worst.build_count = worst.build_count.max(made.count_total);
        worst.build_bytes = worst.build_bytes.max(made.bytes_max);
        let time = median((0..repeats).map(|_| seconds(|| drop(black_box(build())))).collect());
        worst.build_micros = worst.build_micros.max(time * 1e6);
    }
    let looked = (0..repeats * 16).map(|_| seconds(|| drop(black_box(profile("qwen3_coder")))));
    println!(
        "a guard: {} bytes, a clone {} allocations of {} bytes (aims: 1,024 bytes in all, 4)",
        size_of::<Guard>(),
        worst.clone_count,
        worst.clone_bytes,
    );
    println!(
        "building one (worst profile): {} allocations, {} bytes, {:.0} us",
        worst.build_count, worst.build_bytes, worst.build_micros,
    );
    println!("a profile by name: {:.2} us (aim 2)", median(looked.collect()) * 1e6);
    println!("10,000 guards in turn, at random: x{:.2} of one (aim x1.5)", interleaved());
}

#[derive(Default)]
struct Made {
    clone_count: u64,
    clone_bytes: u64,
    build_count: u64,
    build_bytes: u64,
    build_micros: f64,
}

/// What a chunk costs if 10,000 guards take turns at random, as a ratio to one guard's.
fn interleaved() -> f64 {
    const GUARDS: usize = 10_000;
    let text = prose(64 * 1024);
    let chunks = tokens(&text);
    let one = Guard::builder(&profile("qwen3").expect("registered")).build().expect("builds");
    let mut many = vec![one.clone(); GUARDS];
    let mut one = one;
    let (mut out, mut of_one) = (Collect::room(text.len()), Collect::room(text.len()));
    let mut numbers = Numbers(1);
    let alone = || {
        of_one.clear();
        for chunk in &chunks {
            feed(&mut one, &[chunk], &mut of_one);
        }
    };
    let in_turn = || {
        out.clear();
        for chunk in &chunks {
            feed(&mut many[numbers.below(GUARDS)], &[chunk], &mut out);
        }
    };
    ratio(21, alone, in_turn).0
}
