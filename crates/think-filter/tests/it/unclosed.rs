//! Spans that never close, spans over the limit, and reasoning that the server separated.

use think_filter::{
    Counts, End, HeldKind, InlineTags, LimitPolicy, Openers, Piece, ReasoningLimit, Start,
    ThinkFilter, ThinkFilterBuilder, Unclosed, Whitespace, Withheld, format,
};

use crate::machine::spans;

fn builder() -> ThinkFilterBuilder {
    ThinkFilter::builder(format("glm45").unwrap())
        .openers(Openers::Anywhere)
        .whitespace(Whitespace::Verbatim)
}

fn unclosed(policy: Unclosed) -> ThinkFilter {
    builder().unclosed(policy, 64).build().unwrap()
}

// Contract: S3.12.
#[test]
fn unclosed_span_goes_to_the_channel_of_its_policy() {
    let text = "a<think>plan\n\nstep two\n \nThe answer";
    for (policy, expected) in [
        (Unclosed::Reasoning, "a[plan\n\nstep two\n \nThe answer]"),
        (Unclosed::Content, "aplan\n\nstep two\n \nThe answer"),
        (Unclosed::Split, "a[plan\n\nstep two\n \n]The answer"),
    ] {
        assert_eq!(spans(&unclosed(policy), text), expected, "{policy:?}");
        // Closed spans are reasoning under every policy.
        let closed = "<think>a\n\nb</think>c<think>d</think>";
        assert_eq!(spans(&unclosed(policy), closed), "[a\n\nb]c[d]", "{policy:?}");
    }
    let split = unclosed(Unclosed::Split);
    assert_eq!(spans(&split, "<think>all of\nit"), "[all of\nit]");
    assert_eq!(spans(&split, "<think>\n\nit\n\n \n"), "[\n\nit\n\n \n]");
    assert_eq!(spans(&split, "<think>a\n\nb\n\n"), "[a\n\n]b\n\n");
    assert_eq!(spans(&split, "a</think>b"), "a</think>b");
    let started = builder().start(Start::Reasoning).unclosed(Unclosed::Content, 64);
    assert_eq!(spans(&started.build().unwrap(), "the answer"), "the answer");
}

// Contract: S3.12.
#[test]
fn open_span_is_withheld_up_to_its_end_or_limit() {
    let mut filter = builder().unclosed(Unclosed::Content, 4).build().unwrap();
    let mut seen = String::new();
    let mut on = |piece: Piece<'_>| match piece {
        Piece::Content(text) => seen.push_str(text),
        Piece::Reasoning(text) => seen.push_str(&text.to_uppercase()),
        _ => {}
    };
    filter.push("<think>abc", &mut on).unwrap();
    assert_eq!((filter.held().bytes, filter.held().kind), (3, HeldKind::Reasoning));
    // A span over the limit is reasoning.
    filter.push("de", &mut on).unwrap();
    assert_eq!(filter.held().bytes, 0);
    filter.push("f</think>g<think>hijk", &mut on).unwrap();
    filter.finish(End::Length, &mut on).unwrap();
    assert_eq!(seen, "ABCDEFghijk", "four bytes are within the limit of four");
    let Counts { unclosed, spans, content_bytes, .. } = *filter.counts();
    assert_eq!((unclosed, spans, content_bytes), (1, 1, 5));
    // A boundary also ends the message.
    let mut filter = builder().unclosed(Unclosed::Content, 64).build().unwrap();
    let mut pieces = Vec::new();
    let mut on = |piece: Piece<'_>| pieces.push(format!("{piece:?}"));
    filter.push("<think>abc", &mut on).unwrap();
    filter.message_boundary(&mut on);
    filter.push("<think>d</think>", &mut on).unwrap();
    assert_eq!(pieces, ["Content(\"abc\")", "ReasoningStart", "Reasoning(\"d\")", "ReasoningEnd"]);
}

#[test]
fn only_an_unclosed_policy_waits_for_closers() {
    let waits = |unclosed| Withheld::new(Some(8), unclosed).waits_for_closers();
    assert!(waits(Some((Unclosed::Content, 8))));
    assert!(!waits(None));
}

// Contract: S3.12.
#[test]
fn unclosed_policy_combines_with_nonempty_content_and_limits() {
    let both = builder().unclosed(Unclosed::Split, 64).force_nonempty_content(64);
    let both = both.build().unwrap();
    assert_eq!(spans(&both, "<think>a\n\nb"), "[a\n\n]b");
    assert_eq!(spans(&both, "<think>a"), "a");
    let limited = builder().unclosed(Unclosed::Content, 64);
    let limit = ReasoningLimit { bytes: 2, policy: LimitPolicy::Release };
    let limited = limited.reasoning_limit(limit).build().unwrap();
    assert_eq!(spans(&limited, "<think>abcd</think>e"), "[ab]cde");
}

// Contract: S3.6.
#[test]
fn openers_over_the_span_limit_are_text() {
    let most = |n: u32| builder().max_blocks(n).build().unwrap();
    let text = "<think>a</think><think>b</think>c<think>d</think>";
    assert_eq!(spans(&most(0), text), "<think>a</think><think>b</think>c<think>d</think>");
    assert_eq!(spans(&most(1), text), "[a]<think>b</think>c<think>d</think>");
    assert_eq!(spans(&most(2), text), "[a][b]c<think>d</think>");
    assert_eq!(spans(&most(3), text), "[a][b]c[d]");
    let lead = builder().openers(Openers::Lead).max_blocks(2).build().unwrap();
    let three = " <think>a</think> <think>b</think> <think>c</think>d";
    assert_eq!(spans(&lead, three), " [a] [b] <think>c</think>d");
    // A span of the prompt counts, and the limit applies to each message.
    let started = builder().start(Start::Reasoning).max_blocks(1).build().unwrap();
    assert_eq!(spans(&started, "a</think><think>b"), "[a]<think>b");
    let (mut filter, mut seen) = (most(1), String::new());
    let mut on = |piece: Piece<'_>| {
        if let Piece::Content(text) = piece {
            seen.push_str(text);
        }
    };
    filter.push("<think>a</think>b<think>", &mut on).unwrap();
    filter.message_boundary(&mut on);
    filter.push("<think>c</think>d", &mut on).unwrap();
    assert_eq!(seen, "b<think>d");
    // The prefix of an opener that cannot count is not held.
    let mut spent = most(0);
    spent.push("a<thi", |_| {}).unwrap();
    assert_eq!(spent.held().bytes, 0);
}

/// Returns the output with reasoning in braces. An `Err` is reasoning that the server separated.
fn mixed(builder: ThinkFilterBuilder, pieces: &[Result<&str, &str>]) -> String {
    let (mut filter, mut seen) = (builder.build().unwrap(), String::new());
    let mut on = |piece: Piece<'_>| match piece {
        Piece::Content(text) => seen.push_str(text),
        Piece::Reasoning(text) => seen.push_str(text),
        Piece::ReasoningStart => seen.push('{'),
        Piece::ReasoningEnd => seen.push('}'),
    };
    for piece in pieces {
        match piece {
            Ok(text) => filter.push(text, &mut on).unwrap(),
            Err(native) => filter.push_reasoning(native, &mut on).unwrap(),
        }
    }
    filter.finish(End::Stop, &mut on).unwrap();
    seen
}

// Contract: S3.17.
#[test]
fn reasoning_separated_by_the_server_is_emitted_in_place() {
    let pieces = [Ok("a<thi"), Err("na"), Err("tive<think>"), Ok("nk>b<think>c</think>d")];
    assert_eq!(mixed(builder(), &pieces), "a<thi{native<think>}nk>b{c}d");
    let inside = [Ok("<think>a"), Err("b"), Ok("c</think>d")];
    assert_eq!(mixed(builder(), &inside), "{abc}d");
    assert_eq!(mixed(builder(), &[Err(""), Ok("<think>a</think>b")]), "{a}b");
}

// Contract: S3.17.
#[test]
fn tags_are_text_after_the_server_separated_reasoning() {
    let literal = || builder().inline_tags(InlineTags::Literal);
    let wire = "<think>c</think>d<think>";
    for at in 0..=wire.len() {
        let (head, tail) = wire.split_at(at);
        let pieces = [Ok("<think>a</think>b"), Err("native"), Ok(head), Ok(tail)];
        assert_eq!(mixed(literal(), &pieces), format!("{{a}}b{{native}}{wire}"), "{at}");
    }
    // An open span ends there, even if the prompt opened it.
    let open = [Ok("<think>a"), Err("b"), Ok("c</think>")];
    assert_eq!(mixed(literal(), &open), "{ab}c</think>");
    assert_eq!(mixed(literal().start(Start::Reasoning), &[Err("b"), Ok("c")]), "{b}c");
    // Tags count again in the next message.
    let mut filter = literal().build().unwrap();
    let mut seen = String::new();
    let mut on = |piece: Piece<'_>| {
        if let Piece::Content(text) = piece {
            seen.push_str(text);
        }
    };
    filter.push_reasoning("a", &mut on).unwrap();
    filter.message_boundary(&mut on);
    filter.push("<think>b</think>c", &mut on).unwrap();
    assert_eq!(seen, "c");
}
