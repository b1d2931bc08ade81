//! What a guard costs, each work with its throughput in bytes of the model's text.
//!
//! `cargo bench` in this directory runs all of it and writes an HTML report to
//! `target/criterion/report/index.html`. `cargo xtask bench` compares with a floor instead.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use guard_bench::{near_markers, prose, tokens};
use llm_stream_guard::{
    End, Event, Guard, Tools,
    chat::{ChatGuard, ChatOptions, ChatSse},
};
use serde_json::json;

const KIB: usize = 1024;

/// A work: its name, the model whose family reads it, and the text of the model.
struct Work {
    name: &'static str,
    model: &'static str,
    text: String,
}

/// All works of a guard, the cheapest first.
fn works() -> Vec<Work> {
    let work = |name, model, text| Work { name, model, text };
    let qwen3 = "Qwen/Qwen3-8B";
    let text = prose(64 * KIB);
    let arguments = json!({"path": "a.txt", "text": text});
    let small =
        r#"<tool_call>{"name": "write_file", "arguments": {"path": "a", "text": "b"}}</tool_call>"#;
    vec![
        work("prose without markup", qwen3, text.clone()),
        work("prose with text like markup", qwen3, near_markers(64 * KIB)),
        work("reasoning, then an answer", qwen3, format!("<think>{text}</think>\n\nYes.")),
        work(
            "one long call in JSON",
            qwen3,
            format!(r#"<tool_call>{{"name": "write_file", "arguments": {arguments}}}</tool_call>"#),
        ),
        work(
            "one long call in tags",
            "Qwen/Qwen3-Coder-30B-A3B-Instruct",
            format!(
                "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n\
                 <parameter=text>\n{text}\n</parameter>\n</function>\n</tool_call>"
            ),
        ),
        work("200 short calls", qwen3, [small; 200].join("\n")),
    ]
}

fn guard(model: &str) -> Guard {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "text": {"type": "string"}}});
    let tools = Tools::new([("write_file", schema)]);
    let builder = Guard::for_model(model).expect("a registered model");
    builder.tools(tools).build().expect("registered models build")
}

/// Feeds the pieces of a message to a guard.
fn read(guard: &mut Guard, pieces: &[&str]) {
    let mut sink = |event: Event<'_>| drop(black_box(event));
    for piece in pieces {
        guard.push(black_box(piece), &mut sink).expect("no limit");
    }
    guard.finish(End::Stop, &mut sink).expect("no limit");
}

fn streams(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream of tokens");
    for Work { name, model, text } in works() {
        let (pieces, guard) = (tokens(&text), guard(model));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || guard.clone(),
                |guard| read(guard, &pieces),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn whole_answers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("whole answer");
    for Work { name, model, text } in works() {
        let guard = guard(model);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| guard.parse(black_box(&text), End::Stop).expect("no limit"));
        });
    }
    group.finish();
}

fn event_streams(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chat event stream");
    for Work { name, model, text } in works() {
        let event = |piece: &&str| {
            let choice = json!({"index": 0, "delta": {"content": piece}});
            format!("data: {}\n\n", json!({"id": "a", "choices": [choice]}))
        };
        let events: Vec<String> = tokens(&text).iter().map(event).collect();
        let chat = ChatSse::new(ChatGuard::new(guard(model), ChatOptions::default()));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || (chat.clone(), Vec::new()),
                |(chat, out)| {
                    for event in &events {
                        chat.push(black_box(event.as_bytes()), out).expect("no limit");
                    }
                    chat.finish(End::Stop, out).expect("no limit");
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, streams, whole_answers, event_streams);
criterion_main!(benches);
