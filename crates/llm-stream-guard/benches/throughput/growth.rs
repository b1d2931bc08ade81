//! How cost grows with what a response holds, through the whole stack: events in, events out.

use std::hint::black_box;

use llm_stream_guard::{
    End, Guard, Limits,
    chat::{ChatGuard, ChatOptions, ChatSse},
    profile,
};

use crate::measure::seconds;

/// The exponent that is aimed at: work in proportion to the text, and a little noise.
pub(crate) const AIM: f64 = 1.05;

/// How many of a thing a short response holds, and how many times as many a long one.
const SHORT: usize = 2_000;
const TIMES: usize = 8;

/// What a response has many of, and how it is written: the index of the choice, and the text.
type Many = (&'static str, fn(usize) -> (usize, String));

const MANY: [Many; 5] = [
    ("calls with the same id", |_| (0, call("\"id\": \"a\", "))),
    ("calls without ids", |_| (0, call(""))),
    ("held blanks", |n| (0, if n % 64 == 63 { "a" } else { " \n" }.to_owned())),
    ("blanks held to the end", |_| (0, " \n".to_owned())),
    ("choices", |n| (n, format!("It is <b> {n}. "))),
];

fn call(id: &str) -> String {
    format!("<tool_call>\n{{{id}\"name\": \"f\", \"arguments\": {{}}}}\n</tool_call>\n")
}

/// Each growing thing with its exponent: 1 where the work is in proportion to the response.
pub(crate) fn rows(repeats: usize) -> impl Iterator<Item = (&'static str, f64)> {
    MANY.into_iter().map(move |(name, write)| {
        let (short, long) = (events(SHORT, write), events(SHORT * TIMES, write));
        let (mut least, mut most) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..repeats {
            least = least.min(seconds(|| feed(&short)));
            most = most.min(seconds(|| feed(&long)));
        }
        (name, (most / least).ln() / (TIMES as f64).ln())
    })
}

fn events(count: usize, write: fn(usize) -> (usize, String)) -> Vec<String> {
    let event = |n| {
        let (index, text) = write(n);
        let choice = serde_json::json!({"index": index, "delta": {"content": text}});
        format!("data: {}\n\n", serde_json::json!({"id": "c", "choices": [choice]}))
    };
    (0..count).map(event).collect()
}

fn feed(events: &[String]) {
    let most = SHORT * TIMES;
    let limits = Limits { whitespace: most * 2, ..Limits::default() };
    let qwen3 = Guard::builder(&profile("qwen3").expect("registered")).limits(limits);
    let mut options = ChatOptions::default();
    (options.limits.choices, options.limits.calls) = (most, most);
    let mut sse = ChatSse::new(ChatGuard::new(qwen3.build().expect("builds"), options));
    let mut out = Vec::new();
    for event in events {
        sse.push(black_box(event.as_bytes()), &mut out).expect("no limit");
        out.clear();
    }
    // The answer has no finish reason, which is reported here.
    let _ = sse.finish(End::Stop, &mut out);
    black_box(&out);
}
