//! Tags that are shown as text: the closer of a shown opener is shown too.

use proptest::prelude::*;
use think_filter::{Format, Start, ThinkFilter, ThinkFilterBuilder, formats};

use crate::shown_tags::no_closer_of_a_shown_opener_is_removed;

/// A part of an answer.
#[derive(Debug, Clone, Copy)]
enum Part {
    Words,
    Opener,
    Closer,
    Thought,
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        3 => Just(Part::Words),
        2 => Just(Part::Opener),
        3 => Just(Part::Closer),
        1 => Just(Part::Thought),
    ];
    prop::collection::vec(part, 1..12)
}

/// Returns each format with an opener that is text in a sentence, with the opener and its closer.
fn in_sentences() -> Vec<(Format, String, String)> {
    let tags = |format: Format| {
        let pairs = format.open.clone().into_iter().zip(format.close.clone());
        pairs.map(move |(open, close)| (format.clone(), open.into_owned(), close.into_owned()))
    };
    let pairs = formats().into_iter().flat_map(tags);
    pairs.filter(|(format, open, _)| !opens_in_a_sentence(format, open)).collect()
}

fn opens_in_a_sentence(format: &Format, open: &str) -> bool {
    let mut filter = builder(format).build().expect("a good format");
    filter.push(&format!("Say {open}x"), |_| ()).expect("no limit");
    filter.is_reasoning()
}

fn builder(format: &Format) -> ThinkFilterBuilder {
    ThinkFilter::builder(format.clone()).whitespace(think_filter::Whitespace::Verbatim)
}

/// Returns the text of the parts, its content and its reasoning. Every closer has an opener.
fn written(parts: &[Part], open: &str, close: &str, lead_only: bool) -> [String; 3] {
    let mut all = ["Now ", "Now ", ""].map(String::from);
    let mut mentions = 0;
    for part in parts {
        let [text, content, reasoning] = &mut all;
        let shown = match part {
            Part::Opener => {
                mentions += 1;
                format!("the tag {open}")
            }
            Part::Closer if mentions > 0 => {
                mentions -= 1;
                format!("and {close}")
            }
            Part::Thought if !lead_only => {
                mentions = 0;
                text.push_str(&format!("\n{open}aside{close}"));
                content.push('\n');
                reasoning.push_str("aside");
                " so".into()
            }
            Part::Words | Part::Closer | Part::Thought => " is é.\nNow".into(),
        };
        text.push_str(&shown);
        content.push_str(&shown);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    // Contract: S3.11.
    #[test]
    fn quoted_tags_stay_in_pairs(parts in parts(), which in 0usize..1000, known in any::<bool>()) {
        let all = in_sentences();
        let (format, open, close) = &all[which % all.len()];
        let lead_only = format.openers == think_filter::Openers::Lead;
        let [text, content, reasoning] = written(&parts, open, close, lead_only);
        let builder = builder(format);
        let builder = if known { builder.start(Start::Content) } else { builder };
        let filter = builder.build().expect("a good format");
        let split = filter.split(&text);
        prop_assert_eq!((&split.content, &split.reasoning), (&content, &reasoning), "{}: {}", &format.name, &text);
        crate::machine::spans(&filter, &text);
        no_closer_of_a_shown_opener_is_removed(format, &filter, &text);
    }
}

// Contract: S3.11.
#[test]
fn closer_of_a_quoted_opener_is_text_in_every_format() {
    let all = in_sentences();
    assert!(all.len() >= 40, "{}", all.len());
    for (format, open, close) in &all {
        let filter = builder(format).build().expect("a good format");
        for text in [
            format!("Hello there. {open}let me recall{close}The capital"),
            format!("Say {open}{open}a{close} and {close} twice, {open}{close}."),
            format!("Say `{open}` and then {close}, or {open} and then `{close}`."),
            format!("Say\n```\n{open}\n```\nand {close}"),
        ] {
            assert_eq!(crate::machine::spans(&filter, &text), text, "{}", format.name);
        }
    }
}

#[test]
fn closers_of_openers_over_the_span_limit_are_text() {
    for format in formats().into_iter().filter(|format| !format.open.is_empty()) {
        let (open, close) = (&format.open[0], &format.close[0]);
        let filter = builder(&format).max_blocks(0).build().expect("a good format");
        // Skips a format whose closer also ends the visible answer.
        if format.answer.iter().any(|wrapper| wrapper.marker == *close) {
            continue;
        }
        let text = format!("{open}a{close} b");
        assert_eq!(crate::machine::spans(&filter, &text), text, "{}", format.name);
    }
}
