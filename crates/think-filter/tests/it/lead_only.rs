//! The format `lead_only`: only blocks at the start of a message are reasoning.

use stream_laws::{RunRecord, StreamMachine};
use think_filter::{Start, ThinkFilter, Whitespace, format};

use crate::machine::{Think, show, shown};

fn lead_only(text: &str) -> String {
    shown(&Think::named("lead_only"), text)
}

// Contract: S3.1, S3.18.
#[test]
fn events_are_in_order_and_never_empty() {
    assert_eq!(lead_only("<think>a</think>b"), "{a}b");
    assert_eq!(lead_only(" <think>a</think> <think>b</think>c"), " {a} {b}c");
}

// Contract: S3.7.
#[test]
fn tags_match_in_any_letter_case_without_attributes_or_whitespace() {
    assert_eq!(lead_only("<THINK>a</Think>b"), "{a}b");
    assert_eq!(lead_only("<think a=1>x</think>"), "<think a=1>x</think>");
    assert_eq!(lead_only("< think>x"), "< think>x");
    assert_eq!(lead_only("<think >x"), "<think >x");
}

// Contract: S3.4.
#[test]
fn opener_after_leading_whitespace_opens_and_the_whitespace_is_content() {
    assert_eq!(lead_only(" \t\r\n<think>a</think>b"), " \t\r\n{a}b");
}

// Contract: S3.4.
#[test]
fn opener_after_visible_text_and_all_later_tags_are_content() {
    assert_eq!(lead_only("x<think>a</think>b"), "x<think>a</think>b");
}

// Contract: S3.6.
#[test]
fn several_leading_blocks_are_reasoning() {
    assert_eq!(lead_only("<think>a</think>\n <think>b</think>c"), "{a}\n {b}c");
    assert_eq!(lead_only("<think>a</think><think>b</think>"), "{ab}");
}

// Contract: S3.4.
#[test]
fn tags_are_literal_once_content_is_visible() {
    let text = "<think>a</think>b<think>c</think>d";
    assert_eq!(lead_only(text), "{a}b<think>c</think>d");
}

#[test]
fn first_closer_ends_a_block_and_an_opener_inside_is_text() {
    assert_eq!(lead_only("<think>a<think>b</think>c</think>"), "{a<think>b}c</think>");
    assert_eq!(lead_only("<think><think>b</think>c"), "{<think>b}c");
}

#[test]
fn closer_without_an_open_block_is_content() {
    assert_eq!(lead_only("</think>a"), "</think>a");
    assert_eq!(lead_only("<think>a</think></think>b"), "{a}</think>b");
}

// Contract: S3.4.
#[test]
fn tags_after_an_open_fence_are_literal() {
    assert_eq!(lead_only("```\n<think>a</think>\n```\n"), "```\n<think>a</think>\n```\n");
}

// Contract: S3.3.
#[test]
fn only_tag_prefixes_are_held() {
    // Only a prefix of a tag is held, and nothing once tags are literal.
    let mut think = Think::named("lead_only");
    let mut out = RunRecord::default();
    for (chunk, held) in
        [(" ", 0), ("<thi", 4), ("nk>a</thin", 6), ("g", 0), ("</think>", 0), ("b<thin", 0)]
    {
        think.push(chunk, &mut out);
        assert_eq!(think.held().bytes, held, "after {chunk:?}");
    }
    assert_eq!(show(&out), " {a</thing}b<thin");
}

// Contract: S3.19.
#[test]
fn held_text_is_emitted_on_its_channel_at_the_end() {
    assert_eq!(lead_only("<think>a"), "{a}");
    assert_eq!(lead_only("<think>a</thi"), "{a</thi}");
    assert_eq!(lead_only("<thi"), "<thi");
    assert_eq!(lead_only("<think>"), "");
    assert_eq!(lead_only(""), "");
}

// Contract: S3.18.
#[test]
fn empty_chunks_emit_nothing() {
    let mut think = Think::named("lead_only");
    let mut out = RunRecord::default();
    for chunk in ["", "<think", "", ">a", "", "</think>", "", "b", ""] {
        think.push(chunk, &mut out);
    }
    think.finish(&mut out);
    assert_eq!(show(&out), "{a}b");
}

// Contract: S3.16.
#[test]
fn empty_block_has_no_events_and_whitespace_stays() {
    assert_eq!(lead_only("<think></think>a"), "a");
    assert_eq!(lead_only("<think>\n a \n</think>\n b \n"), "{\n a \n}\n b \n");
}

// Contract: S3.3.
#[test]
fn short_answer_is_emitted_without_delay() {
    let mut think = Think::named("lead_only");
    let mut out = RunRecord::default();
    for (chunk, so_far) in [("H", "H"), ("i", "Hi"), (".", "Hi.")] {
        think.push(chunk, &mut out);
        assert_eq!((show(&out).as_str(), think.held().bytes), (so_far, 0));
    }
}

#[test]
fn block_opened_by_the_prompt_is_a_leading_block() {
    let builder = ThinkFilter::builder(format("lead_only").unwrap()).start(Start::Reasoning);
    let think = Think::from(builder.whitespace(Whitespace::Verbatim).build().unwrap());
    assert_eq!(shown(&think, "a</think>\n<think>b</think>c<think>"), "{a}\n{b}c<think>");
}

// Contract: S3.15.
#[test]
fn lead_only_filter_is_exact_only_with_verbatim_whitespace() {
    let default = Think::from(ThinkFilter::new(format("lead_only").unwrap()).unwrap());
    for (text, kept, by_default) in [
        ("<think>\n</think>a", "{\n}a", "a"),
        (" <think>a</think> <think>b</think>", " {a} {b}", "{ab}"),
        ("<think>a</think>\n", "{a}\n", "{a}"),
    ] {
        assert_eq!((&*lead_only(text), &*shown(&default, text)), (kept, by_default));
    }
}
