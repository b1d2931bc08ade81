//! Laws over random cuts: choices do not know each other, and cuts do not show.

use llm_stream_guard::{
    Delivery, End,
    chat::{BrokenCalls, ChatGuard, ChatOptions, Chunk, Emission, Logprobs, ReasoningTokens},
};
use proptest::prelude::*;
use serde_json::json;
use stream_laws::Cut;

use crate::chat::{
    feed::{aggregate, builder, chat, choice, run, stop, text, usage},
    reader::read,
};

const MESSAGES: [&str; 6] = [
    "Just text, with a < and a <tool in it.",
    "<think>look it up</think>\n\nSo. <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"</tool_call>\"}}\n</tool_call>",
    "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call> and <tool_call>{\"name\": \"g\", \"arguments\": {\"é\": [1, 2]}}</tool_call>done 🎉",
    "<think>cut here <tool_call>{\"name\": \"f\", \"argu",
    "```\n<think>code</think>\n```\n<tool_call>{broken}</tool_call> tail",
    "",
];

/// A message as chunks of a choice, its text cut at random, each piece with a token entry.
fn stream(index: u32, message: &str, seed: u64) -> Vec<Chunk> {
    let pieces = Cut::Random { seed }.pieces(message).map(|piece| {
        choice(json!({
            "index": index, "delta": {"content": piece}, "finish_reason": null,
            "logprobs": {"content": [{"token": piece, "bytes": piece.as_bytes()}]},
        }))
    });
    pieces.chain([stop(index, "stop")]).collect()
}

/// Merges streams in an order the seeds choose; neighbours of different choices may share a chunk.
fn interleave(mut streams: Vec<std::collections::VecDeque<Chunk>>, order: &[usize]) -> Vec<Chunk> {
    let mut out: Vec<Chunk> = Vec::new();
    let mut order = order.iter().cycle();
    while streams.iter().any(|stream| !stream.is_empty()) {
        let pick = order.next().expect("endless");
        let live = streams.iter_mut().filter(|stream| !stream.is_empty());
        let mut live: Vec<_> = live.collect();
        let at = pick % live.len();
        let chunk = live[at].pop_front().expect("live");
        match out.last_mut() {
            Some(last)
                if pick.is_multiple_of(3)
                    && last.choices.iter().all(|it| it.index != chunk.choices[0].index) =>
            {
                last.choices.extend(chunk.choices);
            }
            _ => out.push(chunk),
        }
    }
    out
}

fn guard(delivery: Delivery, emission: Emission) -> ChatGuard {
    // What is broken streams as it is kept in a whole response, and is withheld as it is text there.
    let mut options = ChatOptions::default();
    options.broken_calls = match delivery {
        Delivery::Streaming => BrokenCalls::Keep,
        Delivery::Atomic => BrokenCalls::Release,
    };
    options.emission = emission;
    // An estimate counts deltas.
    options.reasoning_tokens = ReasoningTokens::Upstream;
    ChatGuard::new(builder("qwen3").delivery(delivery).build().expect("builds"), options)
}

/// The choice's deltas, one after another, whatever chunks they came in.
fn of_choice(chunks: &[Chunk], index: u32) -> Vec<llm_stream_guard::chat::Choice> {
    let choices = chunks.iter().flat_map(|chunk| &chunk.choices);
    choices.filter(|choice| choice.index == index).cloned().collect()
}

proptest! {
    // Contract: S1.36, X.26.
    #[test]
    fn interleaved_choices_equal_single_streams(
        seeds in prop::array::uniform4(any::<u64>()),
        picks in prop::array::uniform4(0..MESSAGES.len()),
        order in prop::collection::vec(0..12usize, 1..40),
        atomic: bool,
        single: bool,
    ) {
        let delivery = if atomic { Delivery::Atomic } else { Delivery::Streaming };
        let emission = if single { Emission::SingleChoice } else { Emission::Packed };
        let indices = [0, 2, 3, 7];
        let streams: Vec<_> = (0..4).map(|i| stream(indices[i], MESSAGES[picks[i]], seeds[i])).collect();
        let queues = streams.iter().cloned().map(Into::into).collect();
        let all = run(&mut guard(delivery, emission), interleave(queues, &order), End::Stop);
        read(&all.chunks);
        for (i, stream) in streams.into_iter().enumerate() {
            let alone = run(&mut guard(delivery, emission), stream, End::Stop);
            prop_assert_eq!(of_choice(&all.chunks, indices[i]), of_choice(&alone.chunks, indices[i]));
        }
    }

    // Contract: S1.15, X.36.
    #[test]
    fn streams_aggregate_to_the_complete_response_at_every_cut(seed: u64, pick in 0..MESSAGES.len(), atomic: bool) {
        let delivery = if atomic { Delivery::Atomic } else { Delivery::Streaming };
        let message = MESSAGES[pick];
        let cut = |cut: Cut| {
            let chunks = cut.pieces(message).map(|piece| text(0, piece));
            let chunks: Vec<_> = chunks.chain([stop(0, "stop"), usage()]).collect();
            let seen = run(&mut guard(delivery, Emission::Packed), chunks.clone(), End::Stop);
            read(&seen.chunks);
            let whole = guard(delivery, Emission::Packed).complete(aggregate(&chunks)).expect("no limit");
            (aggregate(&seen.chunks), whole)
        };
        let (streamed, whole) = cut(Cut::Random { seed });
        prop_assert_eq!(&streamed, &cut(Cut::Whole).0);
        prop_assert_eq!(&streamed, &cut(Cut::EachScalar).0);
        prop_assert_eq!(&streamed, &whole);
    }

    // Contract: S1.43.
    #[test]
    fn logprobs_all_keeps_every_entry_once_and_in_order(seed: u64, pick in 0..MESSAGES.len(), atomic: bool) {
        let delivery = if atomic { Delivery::Atomic } else { Delivery::Streaming };
        let chunks = stream(0, MESSAGES[pick], seed);
        let mut options = ChatOptions::default();
        options.logprobs = Logprobs::All;
        let mut guard = ChatGuard::new(builder("qwen3").delivery(delivery).build().expect("builds"), options);
        let seen = run(&mut guard, chunks.clone(), End::Stop);
        let (before, after) = (aggregate(&chunks), aggregate(&seen.chunks));
        prop_assert_eq!(&before.choices[0].logprobs, &after.choices[0].logprobs);
    }
}

// Contract: X.37.
#[test]
fn guarding_clean_output_again_is_idempotent() {
    for message in MESSAGES {
        let chunks = vec![text(0, message), stop(0, "stop"), usage()];
        let once = run(&mut chat("qwen3", ChatOptions::default()), chunks, End::Stop);
        // Tags shown as text are tags to who reads them again, and a call cut before its arguments
        // is one without any.
        let text_only = read(&once.chunks).values().all(|choice| {
            let cut = choice.calls.iter().any(|call| call.arguments.is_empty());
            !choice.content.contains("<think>") && !cut
        });
        let again = run(&mut chat("qwen3", ChatOptions::default()), once.chunks.clone(), End::Stop);
        if text_only {
            assert_eq!(aggregate(&once.chunks), aggregate(&again.chunks), "{message:?}");
        }
    }
}

// Contract: X.35.
#[test]
fn text_chunks_pass_without_allocation() {
    let mut guard = chat("hermes", ChatOptions::default());
    struct Count(usize);
    impl llm_stream_guard::chat::ChatSink for Count {
        fn step(&mut self, step: llm_stream_guard::chat::ChatStep<'_>) {
            step.chunks(|chunk, _| {
                self.0 += chunk.choices.len();
                std::mem::forget(chunk);
            });
        }
    }
    let mut count = Count(0);
    let mut chunks: Vec<_> = (0..64).map(|_| text(0, "some words, ")).collect();
    for chunk in chunks.drain(..8) {
        guard.push(chunk, &mut count).expect("no limit");
    }
    let spent = allocation_counter::measure(|| {
        for chunk in chunks.drain(..) {
            guard.push(chunk, &mut count).expect("no limit");
        }
    });
    assert_eq!((count.0, spent.count_total), (64, 0));
}
