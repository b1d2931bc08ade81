//! What server-sent events and chunks of chat completions cost.

use std::{hint::black_box, pin::pin, task::Context};

use futures_core::Stream as _;
use llm_stream_guard::{
    End, Guard,
    chat::{ChatGuard, ChatOptions, ChatSse, Chunk, guard_chunks},
    profile,
};
use serde_json::Value;

use crate::{
    measure::ratio,
    text::{prose, tokens},
};

/// A result with what it was compared with.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// None where only the allocations count.
    pub(crate) aim: Option<f64>,
    pub(crate) ratio: f64,
    pub(crate) nanos: f64,
    pub(crate) allocations: f64,
    pub(crate) allocations_aim: f64,
}

/// The profile of the measured event streams.
pub(crate) const PROFILE: &str = "qwen3";

/// Works of event streams: a name, the ratio that is aimed at, and whether events are changed.
const EVENTS: [(&str, f64, bool); 2] =
    [("SSE, event unchanged", 0.4, false), ("SSE, event changed", 0.8, true)];

fn chat() -> ChatGuard {
    let guard = Guard::builder(&profile(PROFILE).expect("registered")).build().expect("builds");
    ChatGuard::new(guard, ChatOptions::default())
}

/// Reads the streams whose names begin with `wanted` a number of times, and prints the events of
/// one, as for other works.
pub(crate) fn feed_only(wanted: &str, feeds: usize) {
    for (name, _, changed) in EVENTS.into_iter().filter(|(name, ..)| name.starts_with(wanted)) {
        let events = written(&answer(changed));
        println!("{name}\t{PROFILE}\t{}", events.len());
        let mut out = Vec::new();
        (0..feeds).for_each(|_| read(&events, &mut out));
    }
}

fn written(answer: &[String]) -> Vec<String> {
    answer.iter().map(|json| format!("data: {json}\n\n")).collect()
}

fn read(events: &[String], out: &mut Vec<u8>) {
    let mut sse = ChatSse::new(chat());
    out.clear();
    for event in events {
        sse.push(black_box(event.as_bytes()), out).expect("no limit");
    }
    sse.finish(End::Stop, out).expect("no limit");
    black_box(out);
}

fn chunk_json(text: &str, finish_reason: Option<&str>) -> String {
    serde_json::json!({
        "id": "chatcmpl-1f6c", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "qwen3", "system_fingerprint": "b1",
        "choices": [{
            "index": 0, "delta": {"content": text}, "logprobs": null, "finish_reason": finish_reason,
        }],
    })
    .to_string()
}

/// The chunks of an answer: prose, which passes, or a call, whose every chunk is written anew.
fn answer(changed: bool) -> Vec<String> {
    let text = prose(16 * 1024).replace('\n', " ");
    let text = match changed {
        false => text,
        true => format!(
            "<tool_call>{{\"name\": \"write\", \"arguments\": {{\"text\": \"{text}\"}}}}</tool_call>"
        ),
    };
    let chunks = tokens(&text).into_iter().map(|token| chunk_json(token, None));
    // Without a finish reason the answer is an error.
    chunks.chain([chunk_json("", Some("stop"))]).collect()
}

/// The stages between bytes and bytes, against one parse and one writing of each event.
pub(crate) fn rows(repeats: usize) -> Vec<Row> {
    let sse = EVENTS.map(|(name, aim, changed)| events(name, aim, &answer(changed), repeats));
    sse.into_iter().chain([chunks(&answer(false), repeats)]).collect()
}

fn events(name: &'static str, aim: f64, answer: &[String], repeats: usize) -> Row {
    let events = written(answer);
    let mut out = Vec::with_capacity(events.iter().map(String::len).sum::<usize>() * 2);
    let mut run = || read(&events, &mut out);
    let counted = allocation_counter::measure(&mut run);
    let (ratio, time) = ratio(repeats, || parse_and_write(answer), run);
    row(name, Some(aim), ratio, time, counted.count_total, 6.0, events.len())
}

fn parse_and_write(answer: &[String]) {
    for json in answer {
        let value: Value = serde_json::from_str(black_box(json)).expect("is JSON");
        black_box(serde_json::to_vec(&value).expect("is JSON"));
    }
}

fn chunks(answer: &[String], repeats: usize) -> Row {
    let read = |json: &String| serde_json::from_str(json).expect("a chunk");
    let chunks: Vec<Chunk> = answer.iter().map(read).collect();
    let drain = |chunks: Vec<Chunk>| {
        let mut stream = pin!(guard_chunks(Ready(chunks.into_iter()), chat()));
        let mut context = Context::from_waker(std::task::Waker::noop());
        while let std::task::Poll::Ready(Some(chunk)) = stream.as_mut().poll_next(&mut context) {
            black_box(chunk);
        }
    };
    let given = chunks.clone();
    let counted = allocation_counter::measure(|| drain(given));
    let clone = || black_box(chunks.clone());
    let (ratio, time) = ratio(repeats, || drop(clone()), || drain(clone()));
    row("guard_chunks (to a clone)", None, ratio, time, counted.count_total, 3.0, chunks.len())
}

fn row(
    name: &'static str,
    aim: Option<f64>,
    ratio: f64,
    time: f64,
    allocations: u64,
    allocations_aim: f64,
    events: usize,
) -> Row {
    let (nanos, allocations) = (time * 1e9 / events as f64, allocations as f64 / events as f64);
    Row { name, aim, ratio, nanos, allocations, allocations_aim }
}

/// Chunks that are all there.
struct Ready(std::vec::IntoIter<Chunk>);

impl futures_core::Stream for Ready {
    type Item = Chunk;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> std::task::Poll<Option<Chunk>> {
        std::task::Poll::Ready(self.0.next())
    }
}
