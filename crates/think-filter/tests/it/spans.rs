//! Spans of reasoning: their starts, ends and counts.

use think_filter::{
    Counts, End, Format, Piece, Recur, Start, ThinkFilter, Whitespace, format, four_bytes_a_token,
};

use crate::machine::{Think, shown, spans};

fn filter(name: &str) -> ThinkFilter {
    Think::named(name).0
}

// Contract: S3.18.
#[test]
fn starts_and_ends_are_emitted_around_spans_that_are_not_empty() {
    for (text, expected) in [
        ("<think>a</think>b", "[a]b"),
        ("<think></think>b", "b"),
        ("<think>a</think><think>b</think>", "[a][b]"),
        ("<think>a</think> <think>b", "[a] [b]"),
        ("<think>a", "[a]"),
        ("<think>", ""),
        ("a", "a"),
    ] {
        assert_eq!(spans(&filter("glm45"), text), expected, "{text:?}");
    }
    let opened = ThinkFilter::builder(format("qwen3").unwrap()).start(Start::Reasoning);
    assert_eq!(spans(&opened.build().unwrap(), "a</think>b"), "[a]b");
}

// Contract: S3.16.
#[test]
fn span_of_framing_whitespace_has_no_events() {
    let framing = ThinkFilter::new(format("glm45").unwrap()).unwrap();
    assert_eq!(spans(&framing, "<think> \n </think>b"), "b");
    let trim = ThinkFilter::builder(format("glm45").unwrap()).whitespace(Whitespace::Trim);
    assert_eq!(spans(&trim.build().unwrap(), "<think> a </think> <think> </think>b"), "[a]b");
}

// Contract: S3.13.
#[test]
fn boundary_ends_the_span() {
    let (mut glm, mut seen) = (filter("glm45"), Vec::new());
    let mut on = |piece: Piece<'_>| seen.push(format!("{piece:?}"));
    glm.push("<think>a", &mut on).unwrap();
    glm.message_boundary(&mut on);
    glm.push("b", &mut on).unwrap();
    glm.finish(End::Stop, &mut on).unwrap();
    let expected = ["ReasoningStart", "Reasoning(\"a\")", "ReasoningEnd", "Content(\"b\")"];
    assert_eq!(seen, expected);
}

// Contract: S3.8.
#[test]
fn span_ends_with_its_own_closer() {
    let any = filter("any_tags");
    let text = "<think>a</thinking>b</think>c\n<THINKING>d<think>e</think>f</Thinking>g";
    assert_eq!(spans(&any, text), "[a</thinking>b]c\n[d<think>e</think>f]g");
    assert_eq!(
        shown(&Think::named("k2_horizon"), "<ifm|think>a</ifm|think_fast>b</ifm|think>c"),
        { "{a</ifm|think_fast>b}c" }
    );
    // Any closer closes a span that the prompt opened. The closers of granite are spellings of one.
    let opened = ThinkFilter::builder(format("any_tags").unwrap()).start(Start::Reasoning);
    assert_eq!(spans(&opened.build().unwrap(), "a</reason>b"), "[a]b");
    let granite = "Here is my thought process:a Here's my response:b";
    assert_eq!(spans(&filter("granite"), granite), "[a ]b");
}

// Contract: S3.7.
#[test]
fn tags_of_the_table_open_and_close() {
    for (open, close) in [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<thought>", "</thought>"),
        ("<reason>", "</reason>"),
        ("<reasoning>", "</reasoning>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ] {
        assert_eq!(spans(&filter("any_tags"), &format!("{open}é{close}ü")), "[é]ü");
    }
    let own = Format { recur: Recur::Once, ..Format::tags("own", "(", ")") };
    assert_eq!(spans(&ThinkFilter::new(own).unwrap(), "(a)b(c)"), "[a]b(c)");
}

// Contract: S3.23.
#[test]
fn reasoning_counts_are_the_same_at_every_cut() {
    let text = "</think><think><think>é</think>b\n<think>cd</think>";
    let counted = |size: usize| -> Counts {
        let mut filter = filter("glm45");
        let scalars: Vec<char> = text.chars().collect();
        for chunk in scalars.chunks(size) {
            filter.push(&chunk.iter().collect::<String>(), |_| {}).unwrap();
        }
        filter.push("<think>e", |_| {}).unwrap();
        filter.finish(End::Stop, |_| {}).unwrap();
        assert_eq!(filter.reasoning_tokens(), 2, "five bytes");
        *filter.counts()
    };
    let whole = counted(1000);
    assert_eq!((whole.content_bytes, whole.reasoning_bytes), (2, 5));
    assert_eq!((whole.spans, whole.unclosed), (3, 1));
    assert_eq!((whole.stray_closers, whole.echoes), (1, 1));
    assert!((1..9).all(|size| counted(size) == whole));
    assert_eq!((four_bytes_a_token(0), four_bytes_a_token(4), four_bytes_a_token(5)), (0, 1, 2));
}

// Contract: S3.23.
#[test]
fn tokens_are_estimated_by_the_function_of_the_caller() {
    let builder = ThinkFilter::builder(format("qwen3").unwrap());
    let mut filter = builder.token_estimate(|bytes| bytes / 2).build().unwrap();
    filter.push("<think>◁▷</think>x", |_| {}).unwrap();
    assert_eq!(filter.reasoning_tokens(), 3);
}

#[test]
fn is_reasoning_changes_with_the_text() {
    let mut qwen3 = filter("qwen3");
    for (chunk, reasoning) in [("<think", false), (">a", true), ("</think>", false), ("b", false)] {
        qwen3.push(chunk, |_| {}).unwrap();
        assert_eq!(qwen3.is_reasoning(), reasoning, "{chunk}");
    }
}

// Contract: S3.19.
#[test]
fn second_finish_is_ignored_and_a_later_push_starts_a_message() {
    let (mut qwen3, mut seen) = (filter("qwen3"), Vec::new());
    let mut on = |piece: Piece<'_>| seen.push(format!("{piece:?}"));
    qwen3.push("<think>a</think>b</th", &mut on).unwrap();
    qwen3.finish(End::Stop, &mut on).unwrap();
    qwen3.finish(End::Stop, &mut on).unwrap();
    assert_eq!(qwen3.counts().spans, 1, "counts stay until the next message");
    qwen3.push("<think>c", &mut on).unwrap();
    qwen3.finish(End::Length, &mut on).unwrap();
    let text = seen.join(" ");
    let again = "Content(\"</th\") ReasoningStart Reasoning(\"c\") ReasoningEnd";
    assert!(text.ends_with(again), "{text}");
}

// Contract: S3.26.
#[test]
fn invalid_bytes_are_replaced_and_counted_for_each_message() {
    let (mut filter, mut text) = (filter("qwen3"), String::new());
    let mut on = |piece: Piece<'_>| match piece {
        Piece::Content(piece) | Piece::Reasoning(piece) => text.push_str(piece),
        Piece::ReasoningStart => text.push('['),
        Piece::ReasoningEnd => text.push(']'),
    };
    for piece in [&b"<thi"[..], b"nk>caf\xC3", b"\xA9 \xFF</think>", b"b\xF0\x9F"] {
        filter.push_bytes(piece, &mut on).unwrap();
    }
    assert_eq!((filter.held().bytes, filter.held().kind.name()), (2, "utf8"));
    filter.finish(End::Stop, &mut on).unwrap();
    assert_eq!((filter.replaced(), filter.held().bytes), (2, 0));
    filter.push_bytes("ü".as_bytes(), &mut on).unwrap();
    assert_eq!(filter.replaced(), 0);
    assert_eq!(text, "[café \u{FFFD}]b\u{FFFD}ü");
}
