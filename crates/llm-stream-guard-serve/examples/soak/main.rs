//! Many streams through the proxy and past it, for minutes: `soak PROGRAM [STREAMS [SECONDS]]`.
//!
//! Two instances of PROGRAM stand in front of one upstream: one guards, through the other the same
//! streams pass untouched. Every third stream is in trouble in the middle of its call: reset,
//! truncated or stalled. None may be lost, mixed with another or cut wrong, and memory may not grow.
//! Reported are latency, processor time for each event and memory for each open stream.

mod client;
mod instance;
mod upstream;

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use self::{client::Seen, instance::Instance};

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How often memory is looked at.
const LOOK: Duration = Duration::from_secs(2);
/// The most that memory may grow over the second half, beside what a page more or less makes.
const GROWTH: f64 = 1.1;

#[tokio::main]
async fn main() -> Fallible<()> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or("soak PROGRAM [STREAMS [SECONDS]]")?;
    let streams: u64 = args.next().as_deref().unwrap_or("1000").parse()?;
    let seconds: u64 = args.next().as_deref().unwrap_or("180").parse()?;
    let epoch = Instant::now();
    let upstream = upstream::start(epoch).await?;
    let mut guard = Instance::start(&program, upstream)?;
    let mut pass = Instance::start(&program, upstream)?;
    let over = Arc::new(AtomicBool::new(false));
    let number = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for (port, guarded) in [(guard.port, true), (pass.port, false)] {
        for _ in 0..streams {
            let (over, number) = (over.clone(), number.clone());
            tasks.push(tokio::spawn(async move {
                // They do not all begin at once.
                let first = number.load(Ordering::Relaxed) % 1000 * 5;
                let mut seen = Seen::default();
                tokio::time::sleep(Duration::from_millis(first)).await;
                while !over.load(Ordering::Relaxed) {
                    let number = number.fetch_add(1, Ordering::Relaxed);
                    client::ask(port, guarded, number, epoch, &mut seen).await?;
                }
                Ok::<_, Box<dyn Error + Send + Sync>>(seen)
            }));
        }
    }
    let warm = Duration::from_secs(seconds / 6);
    tokio::time::sleep(warm).await;
    guard.begin()?;
    pass.begin()?;
    let began = Instant::now();
    while began.elapsed() + warm < Duration::from_secs(seconds) {
        tokio::time::sleep(LOOK).await;
        guard.look()?;
        pass.look()?;
    }
    let open = client::metric(guard.port, "llm_stream_guard_streams_open").await?;
    let (used, passed) = (guard.used()?, pass.used()?);
    over.store(true, Ordering::Relaxed);
    let (mut guarded, mut untouched) = (Seen::default(), Seen::default());
    for (n, task) in (0..).zip(tasks) {
        let all = if n < streams { &mut guarded } else { &mut untouched };
        all.add(task.await??);
    }
    println!("{open} streams were open at a time, {seconds} s");
    for (name, seen) in [("guarded", &mut guarded), ("untouched", &mut untouched)] {
        println!("{name}: {seen}");
    }
    println!("added p50: {:.0} us", guarded.quantile(0.5) - untouched.quantile(0.5));
    let per_event = |used: Duration, seen: &Seen| {
        let share = (seconds - warm.as_secs()) as f64 / seconds as f64;
        used.as_secs_f64() * 1e6 / (seen.events() as f64 * share)
    };
    let (used, passed) = (per_event(used, &guarded), per_event(passed, &untouched));
    let times = used / passed;
    println!("CPU per event: {used:.1} us guarded, {passed:.1} us untouched: {times:.2} times");
    let memory = (guard.memory().1 - pass.memory().1) * 1024.0 / streams as f64;
    println!("memory of an open stream: {memory:.1} KiB more than untouched");
    let mut faults = guarded.faults() + untouched.faults();
    for (name, instance) in [("guarded", &guard), ("untouched", &pass)] {
        let (before, after) = instance.memory();
        println!("RSS {name}: {before:.1} MiB, then {after:.1} MiB");
        if after > before * GROWTH + 2.0 {
            println!("memory grew");
            faults += 1;
        }
    }
    for name in ["llm_stream_guard_streams_open", "llm_stream_guard_held_bytes"] {
        let left = client::metric(guard.port, name).await?;
        if left != 0 {
            println!("{name} is {left} when all is over");
            faults += 1;
        }
    }
    if faults == 0 { Ok(()) } else { Err(format!("{faults} faults").into()) }
}
