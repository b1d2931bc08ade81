//! Events that only bring text are known by the bytes around it, without reading their JSON.

use llm_stream_guard::{
    End, GuardStage,
    chat::{ChatGuard, ChatOptions, ChatSse, Chunk, ReasoningField},
};
use proptest::prelude::*;
use serde_json::json;
use stream_laws::Cut;

use crate::chat::feed::{builder, chat, choice, event, run, stop, text};

const MESSAGES: [&str; 5] = [
    "Just words, then a < and a \"quote\" and\nlines, and words again 🎉 to the end.",
    "<think>look it up</think>\n\nSo it is. <tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call> And so on.",
    "```\n<think>code</think>\n```\nand more words <tool_call>{broken}</tool_call> tail of it",
    "<tool",
    "",
];

fn chunks(out: &[u8]) -> Vec<Chunk> {
    let out = std::str::from_utf8(out).expect("text");
    let data = out.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|json| serde_json::from_str(json).expect("a chunk")).collect()
}

/// Options under which more than the text of an event may be changed, each by a bit.
fn options(set: u8) -> ChatOptions {
    let mut options = ChatOptions::default();
    if set & 1 != 0 {
        options.reasoning = ReasoningField::Both;
    }
    if set & 2 != 0 {
        options.reasoning = ReasoningField::Hidden;
    }
    options
}

/// A guard whose options are a set, and which counts if the set's third bit says so.
fn guard(set: u8) -> ChatGuard {
    let built =
        if set & 4 != 0 { builder("qwen3").stage(GuardStage::Stats) } else { builder("qwen3") };
    ChatGuard::new(built.build().expect("a registered profile builds"), options(set))
}

proptest! {
    #[test]
    fn events_and_their_chunks_yield_equal_output(
        picks in prop::collection::vec((0..MESSAGES.len(), any::<u64>()), 1..3),
        order in prop::collection::vec(0..2usize, 1..40),
        set in 0u8..8,
    ) {
        let stream = |(index, &(message, seed)): (usize, &(usize, u64))| {
            // Some servers say the role on every chunk, some on none.
            let piece = |piece| {
                let mut chunk = match seed % 2 {
                    0 => choice(json!({"index": index, "delta": {"content": piece}})),
                    _ => choice(json!({"index": index, "delta": {"role": "assistant", "content": piece}})),
                };
                if seed & 2 != 0 {
                    let fields = [("secret", json!("s")), ("model", json!(format!("m{index}"))), ("ticks", json!(1))];
                    chunk.fields.extend(fields.map(|(name, value)| (name.to_owned(), value)));
                }
                chunk
            };
            let pieces = Cut::Random { seed }.pieces(MESSAGES[message]).map(piece);
            pieces.chain([stop(index as u32, "stop")]).collect::<std::collections::VecDeque<_>>()
        };
        let mut streams: Vec<_> = picks.iter().enumerate().map(stream).collect();
        let mut came = Vec::new();
        for turn in order.iter().cycle() {
            let live: Vec<_> = streams.iter_mut().filter(|one| !one.is_empty()).collect();
            if live.is_empty() {
                break;
            }
            let at = turn % live.len();
            came.extend(live.into_iter().nth(at).and_then(|one| one.pop_front()));
        }
        let mut direct = guard(set);
        let expected = run(&mut direct, came.clone(), End::Stop);
        let mut sse = ChatSse::new(guard(set));
        let mut out = Vec::new();
        for chunk in &came {
            sse.push(event(chunk).as_bytes(), &mut out).expect("no limit");
        }
        sse.finish(End::Stop, &mut out).expect("no limit");
        prop_assert_eq!(chunks(&out), expected.chunks);
        prop_assert!(sse.guard().stats().eq(direct.stats()));
    }
}

#[test]
fn text_only_event_passes_byte_for_byte_without_allocation() {
    // A guard that counts has a buffer, which the longest text so far has made large enough.
    for (counts, before) in [(0, &["It ", "is "][..]), (4, &["It ", "is ", "a fine day "][..])] {
        let mut sse = ChatSse::new(guard(counts));
        let mut out = Vec::with_capacity(4096);
        for word in before {
            sse.push(event(&text(0, word)).as_bytes(), &mut out).expect("no limit");
        }
        let next = event(&text(0, "a fine day "));
        out.clear();
        let spent = allocation_counter::measure(|| {
            sse.push(next.as_bytes(), &mut out).expect("no limit");
        });
        assert_eq!(spent.count_total, 0, "counts: {}", counts != 0);
        assert_eq!(out, next.as_bytes());
    }
}

#[test]
fn error_event_with_a_matching_frame_is_not_read_as_text() {
    let mut sse = ChatSse::new(chat("qwen3", ChatOptions::default()));
    let mut out = Vec::new();
    for word in ["It ", "is "] {
        sse.push(event(&text(0, word)).as_bytes(), &mut out).expect("no limit");
    }
    let error = format!("event: error\n{}", event(&text(0, "a ")));
    sse.push(error.as_bytes(), &mut out).expect("no limit");
    out.clear();
    sse.push(event(&text(0, "day ")).as_bytes(), &mut out).expect("no limit");
    assert_eq!(chunks(&out), []);
}
