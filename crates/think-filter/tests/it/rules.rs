//! Rules of the other formats: code, prompts that open, echoes, boundaries, names.

use stream_laws::{RunRecord, StreamMachine};
use think_filter::{End, Format, Piece, Start, ThinkFilter, Whitespace, format, formats};

use crate::machine::{Think, show, shown, write};

fn prompt_opened(name: &str) -> Think {
    let builder = ThinkFilter::builder(format(name).unwrap()).start(Start::Reasoning);
    Think::from(builder.whitespace(Whitespace::Verbatim).build().unwrap())
}

// Contract: S3.14.
#[test]
fn fences_and_inline_code_make_tags_literal() {
    let basic = Think::named("basic");
    for (text, expected) in [
        ("see `<think>` here\n<think>a</think>b", "see `<think>` here\n{a}b"),
        ("x\n```\n<think>a</think>\n```\n<think>b</think>c", "x\n```\n<think>a</think>\n```\n{b}c"),
        ("it`s <think>a</think>\n<think>c</think>", "it`s <think>a</think>\n{c}"),
        // Code in reasoning hides no tags: the first closer counts.
        ("<think>`</think>`a", "{`}`a"),
    ] {
        assert_eq!(shown(&basic, text), expected, "{text:?}");
    }
}

// Contract: S3.9.
#[test]
fn stream_starts_in_reasoning_if_the_prompt_opened_it() {
    assert_eq!(shown(&prompt_opened("basic"), "a</think>b"), "{a}b");
    assert_eq!(shown(&prompt_opened("qwen3"), "a</think>b<think>c"), "{a}b<think>c");
    assert_eq!(shown(&prompt_opened("passthrough"), "a</think>b"), "a</think>b");
}

// Contract: S3.10.
#[test]
fn one_repeated_opener_is_absorbed() {
    assert_eq!(shown(&prompt_opened("basic"), "<think>a</think>b"), "{a}b");
    assert_eq!(
        shown(&Think::named("basic"), "<think>\n<think>a<think>b</think>c"),
        "{\na<think>b}c"
    );
    assert_eq!(shown(&Think::named("basic"), "<think><think><think>a"), "{<think>a}");
}

// Contract: S3.11.
#[test]
fn stray_closer_is_removed_only_at_the_start() {
    assert_eq!(shown(&Think::named("basic"), "</think>a</think>b"), "a</think>b");
    assert_eq!(shown(&Think::named("basic"), "<think>a</think></think>b"), "{a}b");
}

// Contract: S3.13.
#[test]
fn message_boundary_reenables_leading_tags_and_joins_a_split_tag() {
    let mut filter = Think::named("lead_only").0;
    let mut out = RunRecord::default();
    for chunk in ["answer <th", "<th"] {
        filter.push(chunk, |piece| write(piece, &mut out)).unwrap();
        filter.message_boundary(|piece| write(piece, &mut out));
    }
    filter.push("ink>a</think>b", |piece| write(piece, &mut out)).unwrap();
    filter.finish(End::Stop, |piece| write(piece, &mut out)).unwrap();
    assert_eq!(show(&out), "answer <th{a}b");
}

// Contract: S3.3.
#[test]
fn newlines_of_content_are_not_held() {
    let filter = ThinkFilter::new(format("qwen3").unwrap()).unwrap();
    let mut think = Think::from(filter);
    let mut out = RunRecord::default();
    think.push("line\n\n", &mut out);
    assert_eq!((think.held().bytes, show(&out).as_str()), (0, "line\n\n"));
}

#[test]
fn names_ignore_case_and_dashes_and_are_unique() {
    assert_eq!(format("Lead-Only"), format("lead_only"));
    assert!(format("lead").is_err(), "a name never matches inside another");
    let mut names: Vec<_> = formats().into_iter().map(|format| format.name).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}

// Contract: S3.7.
#[test]
fn custom_format_is_accepted_and_an_empty_marker_refused() {
    let plan = ThinkFilter::new(Format::tags("mine", "<plan>", "</plan>")).unwrap();
    let split = plan.split("<plan>a</plan>b");
    assert_eq!((split.content.as_str(), split.reasoning.as_str()), ("b", "a"));
    let error = ThinkFilter::new(Format::tags("mine", "", "</plan>")).unwrap_err();
    assert_eq!((error.entry(), error.to_string().as_str()), (0, "edge 0: the marker is empty"));
}

#[test]
fn prepended_text_is_emitted_once_before_the_first_byte() {
    let append = Think::named("minimax_append_think");
    let mut think = append;
    let mut out = RunRecord::default();
    for chunk in ["", "a", "b"] {
        think.push(chunk, &mut out);
    }
    assert_eq!(show(&out), "<think>ab");
    let mut seen = 0;
    think.0.reset();
    think.0.push("c", |piece| seen += usize::from(piece == Piece::Content("<think>"))).unwrap();
    assert_eq!(seen, 1);
}
