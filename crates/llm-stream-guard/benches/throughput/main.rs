//! What the guard costs, as ratios to a floor measured in the same run.
//!
//! The floor is what nobody can do without: look for a few bytes in every chunk of the size of a
//! token (4.5 bytes on average), and copy it. Every work runs for every profile that can do it;
//! the table shows the median and the worst, `GUARD_BENCH=all` each of them. Allocations are
//! counted in the steady state, from the 64th chunk on.
//!
//! Run with `cargo xtask bench` (or `cargo bench -p llm-stream-guard`).

mod facade;
mod footprint;
mod growth;
mod hostile;
mod measure;
mod text;
mod whole;
mod works;

use std::hint::black_box;

use guard_laws::markers_in;
use llm_stream_guard::{Guard, Token};

use crate::{
    measure::{Collect, as_tokens, feed, feed_bytes, feed_tokens, floor, median, ratio},
    text::tokens,
    works::{Case, Fed, Work, works},
};

/// The chunks of a wire.
struct Chunks<'w> {
    texts: Vec<&'w str>,
    /// The same as tokens, if they are fed as such.
    tokens: Vec<Token<'w>>,
}

/// The chunks of a wire: in tokens, none but a marker token holds a part of one.
fn chunks_of<'w>(wire: &'w str, guard: &Guard, fed: Fed) -> Chunks<'w> {
    if fed != Fed::Tokens {
        return Chunks { texts: tokens(wire), tokens: Vec::new() };
    }
    let markers: Vec<String> = guard.marker_tokens().map(String::from).collect();
    let (mut chunks, mut at) = (Vec::new(), 0);
    for (from, len) in markers_in(wire, &markers) {
        chunks.extend(tokens(&wire[at..from]));
        chunks.push(&wire[from..from + len]);
        at = from + len;
    }
    chunks.extend(tokens(&wire[at..]));
    let tokens = as_tokens(&chunks, &markers);
    Chunks { texts: chunks, tokens }
}

fn run(fed: Fed, guard: &mut Guard, chunks: &Chunks<'_>, out: &mut Collect) {
    guard.reset();
    out.clear();
    match fed {
        Fed::Text => feed(guard, &chunks.texts, out),
        Fed::Bytes => feed_bytes(guard, &chunks.texts, out),
        Fed::Tokens => feed_tokens(guard, &chunks.tokens, out),
    }
    black_box((&out.content, &out.arguments));
}

/// The greatest time for a byte of hostile text that is aimed at, in nanoseconds.
const HOSTILE_AIM: f64 = 100.0;

/// How often a time is taken.
const REPEATS: usize = 21;

/// What one profile takes for one work.
struct Figure {
    profile: String,
    ratio: f64,
    nanos: f64,
    allocations: f64,
}

/// Instructions a chunk that were counted before, by work and profile: a line each, with tabs
/// between the cells, in the file that the environment names.
fn instructions() -> Vec<(String, String, u64)> {
    let path = std::env::var("GUARD_BENCH_INSTRUCTIONS").unwrap_or_default();
    let row = |line: &str| {
        let mut cells = line.split('\t').map(str::to_owned);
        Some((cells.next()?, cells.next()?, cells.next()?.parse().ok()?))
    };
    std::fs::read_to_string(path).unwrap_or_default().lines().filter_map(row).collect()
}

fn figure(fed: Fed, case: &mut Case) -> Figure {
    let chunks = chunks_of(&case.wire, &case.guard, fed);
    let texts = &chunks.texts;
    let (mut out, mut copy) = (Collect::room(case.wire.len()), Collect::room(case.wire.len()));
    let base = || {
        copy.clear();
        floor(texts, &mut copy);
        black_box(&copy.content);
    };
    let (ratio, time) = ratio(REPEATS, base, || run(fed, &mut case.guard, &chunks, &mut out));
    case.guard.reset();
    out.clear();
    // The first call's opener and name take their buffers; the rest is the steady state.
    let (head, body) = texts.split_at(texts.len().min(64));
    let (first, rest) = chunks.tokens.split_at(chunks.tokens.len().min(64));
    let feed_part = |guard: &mut Guard, out: &mut Collect, texts, tokens| match fed {
        Fed::Tokens => feed_tokens(guard, tokens, out),
        Fed::Text | Fed::Bytes => feed(guard, texts, out),
    };
    feed_part(&mut case.guard, &mut out, head, first);
    let counted = allocation_counter::measure(|| feed_part(&mut case.guard, &mut out, body, rest));
    Figure {
        profile: case.profile.clone(),
        ratio,
        nanos: time * 1e9 / texts.len() as f64,
        allocations: counted.count_total as f64 / body.len().max(1) as f64,
    }
}

fn print_work(mut work: Work, all: bool, counted: &[(String, String, u64)]) {
    let fed = work.fed;
    let mut figures: Vec<_> = work.cases.iter_mut().map(|case| figure(fed, case)).collect();
    figures.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let middle = median(figures.iter().map(|one| one.ratio).collect());
    let met = figures.iter().filter(|one| one.ratio <= work.aim).count();
    let allocations = figures.iter().map(|one| one.allocations).fold(0.0, f64::max);
    let of_work = counted.iter().filter(|(name, _, _)| name == work.name);
    let counted: Vec<u64> = of_work.map(|(_, _, count)| *count).collect();
    let counted = match (counted.iter().min(), counted.iter().max()) {
        (Some(least), Some(most)) => format!("{least}-{most}"),
        _ => String::new(),
    };
    if let Some(worst) = figures.first() {
        println!(
            "{:28} x{middle:5.2}  x{:5.2} {:16} {:6.1} ns  {allocations:5.3}  {counted:9}  x{:4.2}: {met} of {}",
            work.name,
            worst.ratio,
            worst.profile,
            worst.nanos,
            work.aim,
            figures.len(),
        );
    }
    for one in figures.iter().filter(|_| all) {
        let Figure { profile, ratio, nanos, allocations } = one;
        println!("    {profile:24} x{ratio:5.2}  {nanos:6.1} ns  {allocations:5.3}");
    }
}

/// The figures that judge the design.
fn summary() {
    let all = std::env::var("GUARD_BENCH").is_ok_and(|what| what == "all");
    let counted = instructions();
    println!(
        "\nin chunks the size of tokens; ratios to the floor, allocations and instructions a chunk"
    );
    println!("{:28} median  worst profile, a chunk             alloc.  instr.     aim: met", "");
    for work in works() {
        print_work(work, all, &counted);
    }
    println!("\nin one chunk; times a search for three bytes, or a parser that skips JSON");
    for row in whole::rows(REPEATS) {
        let mut ratios = row.ratios;
        ratios.sort_by(|a, b| b.1.total_cmp(&a.1));
        let middle = median(ratios.iter().map(|one| one.1).collect());
        let met = ratios.iter().filter(|one| one.1 <= row.aim).count();
        let (worst, ratio) = ratios.first().cloned().unwrap_or_default();
        let (name, aim, of) = (row.name, row.aim, ratios.len());
        println!("{name:28} x{middle:5.2}  x{ratio:5.2} {worst:16} x{aim:4.2}: {met} of {of}");
        for (profile, ratio) in ratios.iter().filter(|_| all) {
            println!("    {profile:24} x{ratio:5.2}");
        }
    }
    println!("\nchat completions; times one parse into a value and one writing of it");
    for row in facade::rows(REPEATS) {
        let facade::Row { name, aim, ratio, nanos, allocations, allocations_aim } = row;
        let aim = aim.map_or_else(String::new, |aim| format!("(aim x{aim:3.1})"));
        println!(
            "{name:28} x{ratio:5.2} {aim:10} {nanos:7.0} ns, {allocations:4.1} allocations \
             (aim {allocations_aim})"
        );
    }
    println!("\nwhat a guard takes");
    footprint::print(REPEATS);
    println!(
        "\nthe exponent by which cost grows, events in to events out (aim {:4.2})",
        growth::AIM
    );
    for (name, exponent) in growth::rows(REPEATS / 2) {
        println!("{name:28} {exponent:6.2}");
    }
    println!(
        "\nhostile text in chunks of 4 bytes: the most expensive found (aim {HOSTILE_AIM} ns a byte)"
    );
    let costs = hostile::search();
    let over = costs.iter().filter(|cost| cost.nanos > HOSTILE_AIM).count();
    for cost in costs.iter().take(if all { 60 } else { 12 }) {
        let hostile::Cost { nanos, profile, head, repeated } = cost;
        println!("{nanos:6.1} ns  {profile:20} {head:?} then {repeated:?} again and again");
    }
    println!("{over} of {} texts are above the aim", costs.len());
}

/// Feeds one work to one profile a number of times, for tools that count instructions: what a
/// feed takes is the difference between two numbers. Prints the chunks of one.
fn feed_only(feeds: usize) {
    let wanted = std::env::var("GUARD_BENCH_WORK").unwrap_or_default();
    for mut work in works().into_iter().filter(|work| work.name.starts_with(&wanted)) {
        let fed = work.fed;
        for case in &mut work.cases {
            let chunks = chunks_of(&case.wire, &case.guard, fed);
            let mut out = Collect::room(case.wire.len());
            println!("{}\t{}\t{}", work.name, case.profile, chunks.texts.len());
            (0..feeds).for_each(|_| run(fed, &mut case.guard, &chunks, &mut out));
        }
    }
    // Event streams are read by one profile.
    if works::chosen().iter().any(|profile| profile.name == facade::PROFILE) {
        facade::feed_only(&wanted, feeds);
    }
}

fn main() {
    if let Ok(feeds) = std::env::var("GUARD_BENCH_FEEDS") {
        return feed_only(feeds.parse().unwrap_or(1));
    }
    if let Ok(len) = std::env::var("GUARD_BENCH_HOSTILE") {
        let wanted = std::env::var("GUARD_BENCH_WORK").unwrap_or_default();
        return hostile::feed_each(len.parse().unwrap_or(1024), &wanted);
    }
    summary();
}
