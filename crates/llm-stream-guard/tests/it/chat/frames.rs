//! Events that only bring text are known by the bytes around it, without reading their JSON.

use llm_stream_guard::{
    End,
    chat::{ChatOptions, ChatSse, Chunk, ReasoningField},
};
use proptest::prelude::*;
use serde_json::json;
use stream_laws::Cut;

use crate::chat::feed::{chat, choice, event, run, stop, text};

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
        options.counters.push("ticks".into());
    }
    if set & 2 != 0 {
        options.reasoning = ReasoningField::Hidden;
    }
    options
}

proptest! {
    #[test]
    fn events_give_what_their_chunks_give(
        picks in prop::collection::vec((0..MESSAGES.len(), any::<u64>()), 1..3),
        order in prop::collection::vec(0..2usize, 1..40),
        set in 0u8..4,
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
        let expected = run(&mut chat("qwen3", options(set)), came.clone(), End::Stop);
        let mut sse = ChatSse::new(chat("qwen3", options(set)));
        let mut out = Vec::new();
        for chunk in &came {
            sse.push(event(chunk).as_bytes(), &mut out).expect("no limit");
        }
        sse.finish(End::Stop, &mut out).expect("no limit");
        prop_assert_eq!(chunks(&out), expected.chunks);
    }
}

#[test]
fn an_event_that_only_brings_text_allocates_nothing_and_leaves_as_its_bytes() {
    let mut sse = ChatSse::new(chat("qwen3", ChatOptions::default()));
    let mut out = Vec::with_capacity(4096);
    sse.push(event(&text(0, "It ")).as_bytes(), &mut out).expect("no limit");
    sse.push(event(&text(0, "is ")).as_bytes(), &mut out).expect("no limit");
    let next = event(&text(0, "a fine day "));
    out.clear();
    let counted = allocation_counter::measure(|| {
        sse.push(next.as_bytes(), &mut out).expect("no limit");
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!(out, next.as_bytes());
}

#[test]
fn an_event_of_an_error_s_name_is_no_text() {
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
