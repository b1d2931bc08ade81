//! The cost of other parsers for the works of the guard's benchmarks: one table in which every
//! figure is a multiple of the floor measured beside it. A parser with a wrong answer has no
//! figure.
//!
//! Run with `cargo xtask bench --peers`, optionally followed by a work (`W3`) or a profile
//! (`kimi_k2`), which may be one that the table omits. With `--vectors`, it reads cases and writes
//! the answer of each parser instead: see [`vectors`]. With `--costs`, it prints times: see
//! [`costs`].

mod chunks;
mod costs;
mod dynamo;
mod dynamo_v2;
#[expect(dead_code, reason = "the benchmarks of the guard measure more")]
#[path = "../../../crates/llm-stream-guard/benches/throughput/measure.rs"]
mod measure;
mod outcome;
mod peer;
mod smg;
#[expect(dead_code, reason = "the benchmarks of the guard feed more")]
#[path = "../../../crates/llm-stream-guard/benches/throughput/text.rs"]
mod text;
mod vectors;
#[expect(dead_code, reason = "the benchmarks of the guard do more")]
#[path = "../../../crates/llm-stream-guard/benches/throughput/works.rs"]
mod works;

use std::{io::Write, time::Duration};

use allocation_counter::measure as counted;
use llm_stream_guard::{End, Guard, Profile, Tools, profile};

use crate::{
    chunks::whole_tags,
    measure::{Collect, floor, median, seconds},
    outcome::{Outcome, Says},
    peer::{Made, Ours, Peer, Task},
    text::tokens,
    works::{Case, Fed, Work, long_call, small_calls, tools, works},
};

/// Who is compared, each with what makes its parser of a family.
const PEERS: [(&str, fn(Task, &Profile, &Tools) -> Made); 3] = [
    ("tool-, reasoning-parser", smg::peer),
    ("dynamo-parsers", dynamo::peer),
    ("dynamo-parsers-v2", dynamo_v2::peer),
];

/// Profiles for calls: one of each way to write them that peers read.
const CALLS: [&str; 6] = ["hermes", "llama3_json", "pythonic", "qwen3_coder", "glm47", "kimi_k2"];
/// Profiles for reasoning.
const REASONING: [&str; 3] = ["qwen3", "deepseek_r1", "glm47"];

/// How often a time is taken, unless that takes longer than this.
const REPEATS: usize = 21;
const LONGEST: Duration = Duration::from_secs(5);

/// The cost of a parser for a work.
struct Figure {
    ratio: f64,
    /// The time for a chunk.
    nanoseconds: f64,
    allocations: f64,
    /// How often the time was taken.
    runs: usize,
}

/// Runs the streams of one work again and again; an error says what is wrong with what came out.
fn figure(peer: &dyn Peer, chunks: &[&str], says: &Says) -> Result<Figure, String> {
    let len = chunks.iter().map(|chunk| chunk.len()).sum();
    let (mut copy, mut out) = (Collect::room(len), Outcome::room(len, says));
    let (mut first, mut ratios, mut times, mut spent) = (None, Vec::new(), Vec::new(), 0.0);
    while ratios.len() < REPEATS && spent < LONGEST.as_secs_f64() {
        out.clear();
        let stream = peer.stream(chunks);
        // The first figure may be the only one, so its floor must not be a single, cold run.
        let floors = if first.is_none() { REPEATS } else { 1 };
        let floors = (0..floors).map(|_| {
            copy.clear();
            seconds(|| floor(chunks, &mut copy))
        });
        let base = median(floors.collect());
        let mut time = 0.0;
        let run = || time = seconds(|| stream(&mut out));
        if first.is_some() {
            run();
            ratios.push(time / base);
            times.push(time);
        } else {
            let allocations = counted(run).count_total;
            out.check(says)?;
            first = Some((allocations as f64 / chunks.len() as f64, time / base, time));
        }
        spent += time;
    }
    let (allocations, once, first_time) = first.unwrap_or_default();
    let runs = ratios.len().max(1);
    let ratio = if ratios.is_empty() { once } else { median(ratios) };
    let time = if times.is_empty() { first_time } else { median(times) };
    let nanoseconds = time * 1e9 / chunks.len() as f64;
    Ok(Figure { ratio, nanoseconds, allocations, runs })
}

/// A cell of the table, and what is wrong with the answer.
fn cell(peer: &dyn Peer, wire: &str, says: &Says) -> (String, Option<String>) {
    let text = |figure: Figure, mark: &str| {
        let Figure { ratio, allocations, runs, .. } = figure;
        let few = if runs < REPEATS { format!(" {runs}r") } else { String::new() };
        format!("x{ratio:.*} {allocations:.1}{few}{mark}", usize::from(ratio < 100.0) * 2)
    };
    let wrong = match figure(peer, &tokens(wire), says) {
        Ok(figure) => return (text(figure, ""), None),
        Err(wrong) => wrong,
    };
    match figure(peer, &whole_tags(wire), says) {
        Ok(figure) => (text(figure, " *"), Some(wrong)),
        Err(_) => ("wrong".to_owned(), Some(wrong)),
    }
}

/// The expected output for the wire of a work.
fn says(work: &str, wire: &str) -> Says {
    match work.get(..2) {
        Some("W3") => Says::Calls(long_call()),
        Some("W4") => Says::Calls(small_calls()),
        Some("W5") => Says::Reasoning(wire.to_owned()),
        _ => Says::Content(wire.to_owned()),
    }
}

/// Our guard and the peers, each with its parser of the profile.
fn parsers(task: Task, name: &str, guard: Guard) -> Vec<(&'static str, Made)> {
    let Ok(profile) = profile(name) else { return Vec::new() };
    let ours = ("ours", Ok(Some(Box::new(Ours(guard, End::Stop)) as Box<dyn Peer>)));
    let peers = PEERS.map(|(who, make)| (who, make(task, &profile, &tools())));
    [ours].into_iter().chain(peers).collect()
}

/// Prints a line for a profile, and adds to `notes` what is wrong.
fn print(work: &str, task: Task, case: Case, notes: &mut Vec<String>) {
    let Case { profile: name, wire, guard } = case;
    let says = says(work, &wire);
    print!("{work:28} {name:12}");
    for (who, made) in parsers(task, &name, guard) {
        let (text, note) = match made {
            Ok(Some(peer)) => cell(&*peer, &wire, &says),
            Ok(None) => ("-".to_owned(), None),
            Err(why) => ("none".to_owned(), Some(why)),
        };
        print!(" {text:>23}");
        let _ = std::io::stdout().flush();
        notes.extend(note.map(|note| format!("{who}, {work}, {name}: {note}")));
    }
    println!();
}

/// Returns the profiles of a work that are compared: those of the table, or those that the filter
/// selects.
fn chosen(work: Work, task: Task, filter: &str) -> Vec<Case> {
    let table: &[&str] = if task == Task::Calls { &CALLS } else { &REASONING };
    let wanted = |case: &Case| match work.name.contains(filter) {
        true => table.contains(&&*case.profile),
        false => case.profile == filter,
    };
    work.cases.into_iter().filter(wanted).collect()
}

fn main() -> Result<(), String> {
    let filter = std::env::args().nth(1).unwrap_or_default();
    match filter.as_str() {
        "--vectors" => return vectors::run(),
        "--costs" => return costs::run(),
        _ => {}
    }
    let (mut notes, mut rows) = (Vec::new(), 0);
    print!("{:28} {:12} {:>23}", "times the floor, allocations", "", "ours");
    println!("{}", PEERS.map(|(who, _)| format!(" {who:>23}")).concat());
    for work in works().into_iter().filter(|work| work.fed == Fed::Text) {
        let (name, task) = (
            work.name,
            if work.name.starts_with("W5") { Task::Reasoning { open: true } } else { Task::Calls },
        );
        for case in chosen(work, task, &filter) {
            print(name, task, case, &mut notes);
            rows += 1;
        }
    }
    if rows == 0 {
        return Err(format!("no work and no profile is called {filter:?}"));
    }
    println!("\n3r: the median of 3 runs, not {REPEATS}; -: it has no parser for the family");
    println!("*: right only where tags come in chunks of their own, and measured so\n\nwrong:");
    notes.iter().for_each(|note| println!("{note}"));
    Ok(())
}
