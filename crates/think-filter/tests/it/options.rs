//! The options: start, recurrence, stray closers, repeated openers, whitespace, limits.

use jail_match::DriverSettings;
use stream_laws::{CutPlan, check_chunk_invariance, check_nothing_lost};
use think_filter::{
    DupOpen, End, Format, HeldKind, LimitPolicy, Limits, Openers, Piece, ReasoningLimit, Recur,
    Start, StrayClose, ThinkFilter, ThinkFilterBuilder, Whitespace, format,
};

use crate::machine::{Accounted, Spanned, spans};

/// Returns a format whose openers count anywhere, so that tests need no line breaks.
fn glm45() -> Format {
    Format { openers: Openers::Anywhere, ..format("glm45").unwrap() }
}

fn verbatim(format: Format) -> ThinkFilterBuilder {
    ThinkFilter::builder(format).whitespace(Whitespace::Verbatim)
}

fn spans_of(builder: ThinkFilterBuilder, text: &str) -> String {
    spans(&builder.build().unwrap(), text)
}

// Contract: S3.4.
#[test]
fn ordinary_opener_opens_at_line_starts_and_after_markup() {
    let line = || verbatim(format("glm45").unwrap());
    for (text, expected) in [
        ("The tag <think> is used.", "The tag <think> is used."),
        ("{\"html\": \"<think>x</think>\"}", "{\"html\": \"<think>x</think>\"}"),
        ("<think>a</think>b\n \t <think>c</think>d", "[a]b\n \t [c]d"),
        ("<think>a</think> <think>b</think>c <think>", "[a] [b]c <think>"),
    ] {
        assert_eq!(spans_of(line(), text), expected, "{text:?}");
        assert_eq!(spans_of(verbatim(glm45()).openers(Openers::Line), text), expected, "{text:?}");
    }
    let tokens = verbatim(format("mistral").unwrap());
    assert_eq!(spans_of(tokens, "a [THINK]b[/THINK]c"), "a [b]c", "not a word in angle brackets");
}

// Contract: S3.11.
#[test]
fn first_closer_ends_a_span_the_prompt_may_have_opened() {
    let qwen3 = || verbatim(format("qwen3").unwrap());
    for (text, unknown, known) in [
        ("a\n</think>\n\nb</think>c", "a\n\n\nb</think>c", "a\n</think>\n\nb</think>c"),
        ("<think>a</think>b</think>c", "[a]b</think>c", "[a]b</think>c"),
        ("a `</think>` b", "a `</think>` b", "a `</think>` b"),
    ] {
        assert_eq!(spans_of(qwen3(), text), unknown, "{text:?}");
        assert_eq!(spans_of(qwen3().start(Start::Content), text), known, "{text:?}");
    }
    let framing = ThinkFilter::builder(format("qwen3").unwrap());
    assert_eq!(spans_of(framing, "a\n</think>\n\nb"), "a\nb", "the newline before was emitted");
}

// Contract: S3.15.
#[test]
fn newlines_after_the_closer_of_the_prompt_are_removed() {
    let framing = || ThinkFilter::builder(format("glm45").unwrap());
    assert_eq!(spans_of(framing().start(Start::Content), "\n\n\na"), "\na");
    assert_eq!(spans_of(framing(), "\na"), "\na", "the prompt is unknown");
    assert_eq!(
        spans_of(framing().prompt("x<think></think>\n"), "\n\na"),
        "\na",
        "the prompt has one"
    );
    assert_eq!(spans_of(framing().prompt("x"), "\na"), "\na");
    assert_eq!(spans_of(verbatim(glm45()).start(Start::Content), "\na"), "\na");
}

#[test]
fn newlines_stay_where_the_prompt_has_no_closer() {
    let framing = |name| ThinkFilter::builder(format(name).unwrap());
    let opened = framing("glm45").start(Start::Reasoning);
    assert_eq!(spans_of(opened, "\n\na</think>b"), "[\n\na]b", "the prompt ended with an opener");
    let off = framing("passthrough").start(Start::Content);
    assert_eq!(spans_of(off, "\n\na"), "\n\na", "the format has no closer");
}

#[test]
fn format_without_openers_reads_a_span_opened_by_the_prompt() {
    let closers = Format { open: Vec::new(), ..glm45() };
    assert!(!closers.is_passthrough());
    assert_eq!(spans_of(verbatim(closers).start(Start::Reasoning), "a</think>b"), "[a]b");
}

#[test]
fn suffix_of_the_first_tag_is_required_of_every_other_tag() {
    let hy = || verbatim(format("hy_v3").unwrap());
    let text = "<think:6124c78e>Not a closer: </think:0000> so...</think:6124c78e>Hi";
    assert_eq!(spans_of(hy(), text), "[Not a closer: </think:0000> so...]Hi");
    assert_eq!(spans_of(hy(), "<think:a>b</think>c"), "[b</think>c]");
}

#[test]
fn configured_suffix_is_the_only_accepted_one() {
    let known = || verbatim(format("hy_v4").unwrap().with_token_suffix(":a1"));
    assert_eq!(spans_of(known(), "<think:a1>b</think:a1>c"), "[b]c");
    assert_eq!(spans_of(known(), "<think:a1:b2>c"), "<think:a1:b2>c");
}

// Contract: S3.7.
#[test]
fn label_without_its_newline_is_empty_reasoning() {
    let gemma4 = || verbatim(format("gemma4").unwrap());
    assert_eq!(spans_of(gemma4(), "<|channel>thought<channel|>Ok"), "Ok");
    assert_eq!(spans_of(gemma4(), "<|channel>thoughts<channel|>Ok"), "[thoughts]Ok");
}

// Contract: S3.5, S3.9.
#[test]
fn openers_act_anywhere_at_the_start_or_never() {
    let text = "a<think>b</think>c";
    assert_eq!(spans_of(verbatim(glm45()), text), "a[b]c");
    let lead = Format { openers: Openers::Lead, ..glm45() };
    assert_eq!(spans_of(verbatim(lead), text), text);
    assert_eq!(spans_of(verbatim(Format::passthrough("off")), text), text);
}

// Contract: S3.6.
#[test]
fn later_spans_are_reasoning_or_text_by_option() {
    let text = "<think>a</think>b<think>c</think>";
    assert_eq!(spans_of(verbatim(glm45()), text), "[a]b[c]");
    let once = Format { recur: Recur::Once, ..glm45() };
    assert_eq!(spans_of(verbatim(once.clone()), text), "[a]b<think>c</think>");
    let opened = verbatim(once).start(Start::Reasoning);
    assert_eq!(spans_of(opened, "a</think>b<think>c"), "[a]b<think>c", "the prompt's span counts");
}

// Contract: S3.11.
#[test]
fn stray_closers_are_removed_at_the_start_everywhere_or_kept() {
    let text = " </think>a</think><think>b</think></think>c`</think>`";
    for (stray_close, expected) in [
        (StrayClose::Leading, " a</think>[b]c`</think>`"),
        (StrayClose::Keep, " </think>a</think>[b]</think>c`</think>`"),
        (StrayClose::Drop, " a[b]c`</think>`"),
    ] {
        assert_eq!(spans_of(verbatim(Format { stray_close, ..glm45() }), text), expected);
    }
}

// Contract: S3.10.
#[test]
fn one_repeated_opener_is_absorbed_or_kept() {
    let text = "<think><think><think>a</think>";
    assert_eq!(spans_of(verbatim(glm45()), text), "[<think>a]");
    let keep = Format { dup_open: DupOpen::Keep, ..glm45() };
    assert_eq!(spans_of(verbatim(keep), text), "[<think><think>a]");
    assert_eq!(spans_of(verbatim(glm45()).start(Start::Reasoning), "<think>a"), "[a]");
}

// Contract: S3.15.
#[test]
fn whitespace_is_kept_framed_or_trimmed() {
    let text = "\n<think>\n\n a \n</think>\n\n\n b \n";
    for (whitespace, expected) in [
        (Whitespace::Verbatim, "\n[\n\n a \n]\n\n\n b \n"),
        (Whitespace::Framing, "[\n a ]\n b \n"),
        (Whitespace::Trim, "[a]b \n"),
        (Whitespace::ReasoningEnd, "\n[\n\n a]\n\n\n b \n"),
    ] {
        let builder = ThinkFilter::builder(glm45()).whitespace(whitespace);
        assert_eq!(spans_of(builder, text), expected, "{whitespace:?}");
    }
}

#[test]
fn whitespace_over_its_limit_is_not_trimmed() {
    let limits = Limits { whitespace: 2, ..Limits::default() };
    let trim = || verbatim(glm45()).whitespace(Whitespace::Trim).limits(limits);
    assert_eq!(spans_of(trim(), "<think>a  </think>b"), "[a]b");
    assert_eq!(spans_of(trim(), "<think>a   </think>b"), "[a   ]b");
}

// Contract: S3.14.
#[test]
fn fences_hide_tags_as_in_markdown() {
    for (text, expected) in [
        ("````\n```\n<think>\n````\n<think>a</think>", "````\n```\n<think>\n````\n[a]"),
        ("~~~\n<think>\n~~~\n<think>a</think>", "~~~\n<think>\n~~~\n[a]"),
        ("``a`<think>``<think>b</think>", "``a`<think>``[b]"),
        ("<think>```\n</think>\n```", "[```\n]\n```"),
    ] {
        assert_eq!(spans_of(verbatim(glm45()), text), expected, "{text:?}");
    }
}

#[test]
fn inline_reasoning_opened_by_the_prompt_gets_its_opener() {
    let inline = |start| verbatim(glm45().inline(start));
    assert_eq!(spans_of(inline(Start::Content), "<think>a</think>b"), "<think>a</think>b");
    assert_eq!(spans_of(inline(Start::Reasoning), "a</think>b"), "<think>a</think>b");
    assert_eq!(spans_of(inline(Start::Reasoning), ""), "", "an empty message stays empty");
}

fn limited(bytes: usize, policy: LimitPolicy) -> ThinkFilterBuilder {
    verbatim(glm45()).reasoning_limit(ReasoningLimit { bytes, policy })
}

// Contract: S3.22.
#[test]
fn reasoning_over_its_limit_is_content_or_dropped() {
    let text = "<think>abé</think>c<think>d</think>e";
    for (bytes, released, dropped) in [
        (5, "[abé]c[d]e", "[abé]c[d]e"),
        (4, "[abé]cde", "[abé]ce"),
        // The `é` does not fit, and no shorter scalar after it is emitted.
        (3, "[ab]écde", "[ab]ce"),
        (0, "abécde", "ce"),
    ] {
        assert_eq!(spans_of(limited(bytes, LimitPolicy::Release), text), released, "{bytes}");
        assert_eq!(spans_of(limited(bytes, LimitPolicy::Drop), text), dropped, "{bytes}");
    }
}

// Contract: S3.22.
#[test]
fn dropped_reasoning_bytes_are_counted_exactly() {
    let text = "<think>\nabcdef </think>\n\nc <think> ghi";
    for bytes in 0..12 {
        for policy in [LimitPolicy::Release, LimitPolicy::Drop] {
            for whitespace in [Whitespace::Verbatim, Whitespace::Framing] {
                let limit = Some(ReasoningLimit { bytes, policy });
                let settings = DriverSettings::default().whitespace(whitespace).reasoning(limit);
                let drops: &[&str] =
                    if policy == LimitPolicy::Drop { &["reasoning_limit"] } else { &[] };
                let accounted = Accounted::with(&glm45(), settings);
                check_nothing_lost(&accounted, text, drops, CutPlan::standard(2)).unwrap();
                check_chunk_invariance(&accounted, text, CutPlan::standard(3)).unwrap();
            }
            let trim = limited(bytes, policy).whitespace(Whitespace::Trim).build().unwrap();
            check_chunk_invariance(&Spanned(trim), text, CutPlan::standard(4)).unwrap();
        }
    }
}

#[test]
fn whitespace_held_by_trim_is_emitted_before_released_reasoning() {
    let filter = limited(1, LimitPolicy::Release).whitespace(Whitespace::Trim);
    assert_eq!(spans_of(filter, "a <think>bc</think>d"), "a[b] cd");
}

// Contract: S3.22.
#[test]
fn error_policy_stops_at_the_same_byte_at_every_cut() {
    let filter = limited(2, LimitPolicy::Error).build().unwrap();
    let text = "x<think>abc</think>d<think>e";
    check_chunk_invariance(&Spanned(filter.clone()), text, CutPlan::standard(5)).unwrap();
    let (mut filter, mut seen) = (filter, String::new());
    let mut on = |piece: Piece<'_>| match piece {
        Piece::Content(text) | Piece::Reasoning(text) => seen.push_str(text),
        _ => {}
    };
    let error = filter.push(text, &mut on).unwrap_err();
    assert_eq!(filter.push("more", &mut on), Err(error));
    assert_eq!(filter.finish(End::Stop, &mut on), Err(error));
    assert_eq!(seen, "xab");
    let message = "byte 10: reasoning_limit hit; what came before was released";
    assert_eq!((error.to_string().as_str(), error.at), (message, 10));
    filter.reset();
    assert!(filter.push("<think>ok", |_| {}).is_ok());
}

fn nonempty(limit: usize) -> ThinkFilterBuilder {
    verbatim(glm45()).force_nonempty_content(limit)
}

// Contract: S3.21.
#[test]
fn reasoning_becomes_content_if_the_content_is_blank() {
    for (text, expected) in [
        ("<think>a</think>", "a"),
        ("<think>a</think> \n", "a \n"),
        ("<think>a", "a"),
        ("<think>a</think><think>b</think>c", "[a][b]c"),
        ("<think>a</think>b", "[a]b"),
        ("", ""),
    ] {
        assert_eq!(spans_of(nonempty(100), text), expected, "{text:?}");
    }
}

// Contract: S3.21.
#[test]
fn truncated_stream_and_message_boundary_keep_reasoning() {
    for end in [End::Length, End::Aborted] {
        let (mut filter, mut seen) = (nonempty(100).build().unwrap(), Vec::new());
        let mut on = |piece: Piece<'_>| seen.push(format!("{piece:?}"));
        filter.push("<think>a", &mut on).unwrap();
        assert_eq!((filter.held().bytes, filter.held().kind), (1, HeldKind::Reasoning));
        filter.finish(end, &mut on).unwrap();
        assert_eq!(seen, ["ReasoningStart", "Reasoning(\"a\")", "ReasoningEnd"], "{end:?}");
    }
    let (mut filter, mut reasoning) = (nonempty(100).build().unwrap(), String::new());
    let mut on = |piece: Piece<'_>| {
        if let Piece::Reasoning(text) = piece {
            reasoning.push_str(text);
        }
    };
    filter.push("<think>a</think>", &mut on).unwrap();
    filter.message_boundary(&mut on);
    filter.push("<think>b", &mut on).unwrap();
    filter.finish(End::Stop, &mut on).unwrap();
    assert_eq!(reasoning, "a", "the second message had no other answer");
}

// Contract: S3.21.
#[test]
fn reasoning_over_its_limit_is_not_withheld() {
    assert_eq!(spans_of(nonempty(3), "<think>abcd</think>"), "[abcd]");
    assert_eq!(spans_of(nonempty(4), "<think>abcd</think>"), "abcd");
    let mut filter = nonempty(3).build().unwrap();
    filter.push("<think>abcd", |_| {}).unwrap();
    assert_eq!(filter.held().bytes, 0);
}
