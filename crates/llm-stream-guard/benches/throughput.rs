//! Throughput of the guard in token-sized chunks, as ratios to a floor measured in the same run.
//!
//! W1: 256 KiB of prose in chunks of 4.5 bytes on average; nobody can do less than look for a
//! few bytes in every chunk and copy it, which is what the floor does. W3: a call with a 64 KiB
//! string argument. Allocations are counted per chunk in the steady state.
//!
//! Run with `cargo xtask bench` (or `cargo bench -p llm-stream-guard`).

use std::{hint::black_box, time::Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use llm_stream_guard::{End, Event, Guard, Sink, profile};

/// Collects what comes out, as a caller would.
#[derive(Default)]
struct Collect {
    content: String,
    arguments: String,
}

impl Sink for Collect {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) | Event::Reasoning(text) => self.content.push_str(text),
            Event::CallArguments { fragment, .. } => self.arguments.push_str(fragment),
            _ => {}
        }
    }
}

/// Text of at least `len` bytes: sentences with some markup-like bytes, as prose has them.
fn prose(len: usize) -> String {
    const WORDS: [&str; 24] = [
        "the", "harbour", "keeps", "its", "lights", "on", "until", "dawn", "and", "every", "boat",
        "that", "leaves", "finds", "a", "note", "about", "wind", "from", "north", "while",
        "people", "wait", "quietly",
    ];
    let mut text = String::with_capacity(len + 64);
    let mut state = 7u64;
    let mut words = 0;
    while text.len() < len {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
        words += 1;
        text.push_str(match words {
            w if w % 97 == 0 => ".\n\n",
            w if w % 13 == 0 => ". ",
            w if w % 7 == 0 => ", ",
            _ => " ",
        });
    }
    text
}

/// Cuts text into chunks of 1 to 8 bytes, 4.5 on average.
fn chunks(text: &str) -> Vec<&str> {
    let mut state = 11u64;
    let mut rest = text;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let len = (1 + (state >> 33) as usize % 8).min(rest.len());
        let len = (len..=rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
        let (chunk, tail) = rest.split_at(len);
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}

fn floor(chunks: &[&str], out: &mut Collect) {
    for chunk in chunks {
        if memchr::memchr3(b'<', b'`', b'\n', black_box(chunk.as_bytes())).is_some() {
            black_box(());
        }
        out.content.push_str(chunk);
    }
}

fn feed(guard: &mut Guard, chunks: &[&str], out: &mut Collect) {
    for chunk in chunks {
        let pushed = guard.push(black_box(chunk), out);
        debug_assert!(pushed.is_ok());
    }
}

struct Work {
    name: &'static str,
    wire: String,
    profiles: &'static [&'static str],
    aim: f64,
}

fn works() -> [Work; 2] {
    let argument = prose(64 * 1024).replace('\n', "\\n");
    [
        Work {
            name: "W1 prose 256 KiB",
            wire: prose(256 * 1024),
            profiles: &["hermes", "qwen3", "mistral", "llama3_json", "deepseek_v3_1"],
            aim: 1.2,
        },
        Work {
            name: "W3 string argument 64 KiB",
            wire: format!(
                "<tool_call>\n{{\"name\": \"write\", \"arguments\": {{\"text\": \"{argument}\"}}}}\n</tool_call>"
            ),
            profiles: &["hermes", "qwen3"],
            aim: 2.5,
        },
    ]
}

fn new_guard(name: &str) -> Guard {
    let profile = profile(name).expect("a registered profile");
    Guard::builder(&profile).build().expect("registered profiles build")
}

fn benches(criterion: &mut Criterion) {
    for work in works() {
        let chunks = chunks(&work.wire);
        let mut group = criterion.benchmark_group(work.name);
        group.throughput(Throughput::Elements(chunks.len() as u64));
        let room = || Collect {
            content: String::with_capacity(work.wire.len() * 2),
            arguments: String::with_capacity(work.wire.len() * 2),
        };
        group.bench_function("floor: memchr3, then copy", |b| {
            let mut out = room();
            b.iter(|| {
                out.content.clear();
                floor(&chunks, &mut out);
                black_box(&out.content);
            });
        });
        for name in work.profiles {
            group.bench_function(BenchmarkId::new("guard", name), |b| {
                let (mut guard, mut out) = (new_guard(name), room());
                b.iter(|| {
                    guard.reset();
                    out.content.clear();
                    out.arguments.clear();
                    feed(&mut guard, &chunks, &mut out);
                    black_box((&out.content, &out.arguments));
                });
            });
        }
        group.finish();
    }
}

/// The figures that judge the design, in one run: the median of interleaved repetitions.
fn summary() {
    const REPEATS: usize = 41;
    println!("\nratios to the floor (median of {REPEATS} interleaved runs), allocations per chunk");
    for work in works() {
        let chunks = chunks(&work.wire);
        for name in work.profiles {
            let mut guard = new_guard(name);
            let mut out = Collect {
                content: String::with_capacity(work.wire.len() * 2),
                arguments: String::with_capacity(work.wire.len() * 2),
            };
            let mut ratios = Vec::with_capacity(REPEATS);
            let mut nanos = Vec::with_capacity(REPEATS);
            for _ in 0..REPEATS {
                out.content.clear();
                let start = Instant::now();
                floor(&chunks, &mut out);
                let floor = start.elapsed();
                out.content.clear();
                out.arguments.clear();
                guard.reset();
                let start = Instant::now();
                feed(&mut guard, &chunks, &mut out);
                let guarded = start.elapsed();
                ratios.push(guarded.as_secs_f64() / floor.as_secs_f64());
                nanos.push(guarded.as_secs_f64() * 1e9 / chunks.len() as f64);
            }
            ratios.sort_by(f64::total_cmp);
            nanos.sort_by(f64::total_cmp);
            out.content.clear();
            out.arguments.clear();
            guard.reset();
            // The opener and the name allocate once a call; the rest is the steady state.
            let (head, body) = chunks.split_at(64);
            feed(&mut guard, head, &mut out);
            let counted = allocation_counter::measure(|| feed(&mut guard, body, &mut out));
            println!(
                "{:28} {:14} x{:.2} (aim x{}) {:5.1} ns/chunk, {} allocations in {} chunks",
                work.name,
                name,
                ratios[REPEATS / 2],
                work.aim,
                nanos[REPEATS / 2],
                counted.count_total,
                body.len()
            );
            guard.finish(End::Stop, &mut out).expect("no limit");
        }
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    benches(&mut criterion);
    criterion.final_summary();
    if std::env::args().any(|arg| arg == "--bench") {
        summary();
    }
}
