//! Only leading blocks are reasoning: the rules of that filter, one by one.

use stream_laws::{RunRecord, StreamMachine};
use think_filter::{Start, ThinkFilter, Whitespace, format};

use crate::machine::{Think, show, shown};

fn lead_only(text: &str) -> String {
    shown(&Think::named("lead_only"), text)
}

// Contract: S3.1, S3.18.
#[test]
fn events_come_in_order_and_are_never_empty() {
    assert_eq!(lead_only("<think>a</think>b"), "{a}b");
    assert_eq!(lead_only(" <think>a</think> <think>b</think>c"), " {a} {b}c");
}

// Contract: S3.7.
#[test]
fn tags_match_in_any_letter_case_without_attributes_or_blanks() {
    assert_eq!(lead_only("<THINK>a</Think>b"), "{a}b");
    assert_eq!(lead_only("<think a=1>x</think>"), "<think a=1>x</think>");
    assert_eq!(lead_only("< think>x"), "< think>x");
    assert_eq!(lead_only("<think >x"), "<think >x");
}

// Contract: S3.4.
#[test]
fn an_opener_counts_after_whitespace_which_is_content() {
    assert_eq!(lead_only(" \t\r\n<think>a</think>b"), " \t\r\n{a}b");
}

// Contract: S3.4.
#[test]
fn an_opener_after_visible_text_is_content_and_so_is_the_rest() {
    assert_eq!(lead_only("x<think>a</think>b"), "x<think>a</think>b");
}

// Contract: S3.6.
#[test]
fn several_blocks_in_a_row_at_the_start_count() {
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
fn the_first_closer_ends_a_block_and_an_opener_inside_is_text() {
    assert_eq!(lead_only("<think>a<think>b</think>c</think>"), "{a<think>b}c</think>");
    assert_eq!(lead_only("<think><think>b</think>c"), "{<think>b}c");
}

#[test]
fn a_closer_with_nothing_open_is_content() {
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
fn only_what_may_be_a_tag_is_held_back() {
    // Not a constant number of characters, and nothing once tags are literal.
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
fn the_end_emits_held_text_on_its_channel() {
    assert_eq!(lead_only("<think>a"), "{a}");
    assert_eq!(lead_only("<think>a</thi"), "{a</thi}");
    assert_eq!(lead_only("<thi"), "<thi");
    assert_eq!(lead_only("<think>"), "");
    assert_eq!(lead_only(""), "");
}

// Contract: S3.18.
#[test]
fn empty_chunks_do_nothing() {
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
fn an_empty_block_has_no_events_and_whitespace_stays() {
    assert_eq!(lead_only("<think></think>a"), "a");
    assert_eq!(lead_only("<think>\n a \n</think>\n b \n"), "{\n a \n}\n b \n");
}

// Contract: S3.3.
#[test]
fn a_short_answer_is_emitted_at_once() {
    let mut think = Think::named("lead_only");
    let mut out = RunRecord::default();
    for (chunk, so_far) in [("H", "H"), ("i", "Hi"), (".", "Hi.")] {
        think.push(chunk, &mut out);
        assert_eq!((show(&out).as_str(), think.held().bytes), (so_far, 0));
    }
}

#[test]
fn a_block_the_prompt_opened_counts_as_leading() {
    let builder = ThinkFilter::builder(format("lead_only").unwrap()).start(Start::Reasoning);
    let think = Think::from(builder.whitespace(Whitespace::Verbatim).build().unwrap());
    assert_eq!(shown(&think, "a</think>\n<think>b</think>c<think>"), "{a}\n{b}c<think>");
}

// Contract: S3.15.
#[test]
fn the_rules_are_those_of_such_filters_to_the_byte_only_if_whitespace_is_kept() {
    let default = Think::from(ThinkFilter::new(format("lead_only").unwrap()).unwrap());
    for (text, kept, by_default) in [
        ("<think>\n</think>a", "{\n}a", "a"),
        (" <think>a</think> <think>b</think>", " {a} {b}", "{ab}"),
        ("<think>a</think>\n", "{a}\n", "{a}"),
    ] {
        assert_eq!((&*lead_only(text), &*shown(&default, text)), (kept, by_default));
    }
}
