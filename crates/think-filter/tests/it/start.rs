//! The start of a stream, as the prompt decides it.

use think_filter::{Format, Recur, Start, ThinkFilter, format, formats, last_turn};

fn start(name: &str, prompt: &str) -> Start {
    format(name).unwrap().start_after(prompt)
}

#[test]
fn prompt_starts_reasoning_with_an_opener_unless_a_closer_follows() {
    for (prompt, expected) in [
        ("<|im_start|>assistant\n<think>\n", Start::Reasoning),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", Start::Content),
        ("<|im_start|>assistant\n", Start::Content),
        ("<|im_start|>assistant\n<think>\nSo the user", Start::Reasoning),
        ("<|im_start|>assistant\n</think>\n", Start::Content),
        ("<think>", Start::Reasoning),
        ("", Start::Content),
    ] {
        assert_eq!(start("qwen3", prompt), expected, "{prompt:?}");
    }
}

// Contract: S3.9.
#[test]
fn tags_of_earlier_turns_are_ignored() {
    let asked = "<|im_start|>user\nwhat is <think>?<|im_end|>\n<|im_start|>assistant\n";
    assert_eq!(start("qwen3", asked), Start::Content);
    let thought =
        "<｜User｜>hi<｜Assistant｜><think>a</think>b<｜User｜>more<｜Assistant｜><think>\n";
    assert_eq!(start("deepseek_r1", thought), Start::Reasoning);
    assert_eq!(last_turn(thought), "<think>\n");
    assert_eq!(last_turn("no template's"), "no template's");
    // A token that ends a turn in the family's file counts as well.
    assert_eq!(start("hy_v3", "what is <think>?<｜hy_eos｜>"), Start::Content);
    // An open code fence in an earlier message would hide the tag.
    let prompt = "tools: ```json<|end_of_msg|><|open|>message<|sep|><|open|>think<|sep|>";
    assert_eq!(format("kimi_k3").unwrap().start_after(prompt), Start::Reasoning);
}

// Contract: S3.9.
#[test]
fn opener_at_the_end_of_the_prompt_is_found_for_every_format() {
    for format in formats().into_iter().filter(|format| !format.is_passthrough()) {
        for (open, close) in format.open.iter().zip(&format.close) {
            let prompt = format!("<|im_start|>assistant\n{open}");
            assert_eq!(format.start_after(&prompt), Start::Reasoning, "{}", format.name);
            let prompt = format!("{prompt}a{close}");
            assert_eq!(format.start_after(&prompt), Start::Content, "{}", format.name);
        }
    }
    assert_eq!(start("passthrough", "<think>"), Start::Content);
    assert_eq!(start("hy_v4", "<|im_start|>x<think:6124c78e>"), Start::Reasoning);
    assert_eq!(start("lead_only", "<|im_start|>assistant\n<THINK>\n"), Start::Reasoning);
}

// Contract: S3.9.
#[test]
fn builder_reads_the_prompt() {
    let filter = ThinkFilter::builder(format("qwen3").unwrap()).prompt("a<think>").build().unwrap();
    assert_eq!(filter.split("b</think>c").reasoning, "b");
}

#[test]
fn second_span_of_a_prompt_opens_even_if_the_format_allows_one_span() {
    let once = Format { recur: Recur::Once, ..format("qwen3").unwrap() };
    assert_eq!(once.start_after("<think>a</think>\n<think>\n"), Start::Reasoning);
}

#[test]
fn suffix_of_the_opener_in_the_prompt_is_required_of_the_closer() {
    let builder = ThinkFilter::builder(format("hy_v4").unwrap()).prompt("<think:a1>");
    let split = builder.build().unwrap().split("b</think:c2>d</think:a1>e");
    assert_eq!((split.reasoning.as_str(), split.content.as_str()), ("b</think:c2>d", "e"));
}
