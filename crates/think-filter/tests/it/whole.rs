//! Functions for whole texts.

use think_filter::{End, Split, Start, ThinkFilter, format};

fn qwen3() -> ThinkFilter {
    ThinkFilter::new(format("qwen3").unwrap()).unwrap()
}

// Contract: S3.20.
#[test]
fn split_strip_and_only_reasoning_agree() {
    let text = "<think>\nplan\n</think>\n\nDone.";
    let Split { content, reasoning, spans, unclosed, .. } = qwen3().split(text);
    assert_eq!(
        (content.as_str(), reasoning.as_str(), spans, unclosed),
        ("Done.", "plan", 1, false)
    );
    assert_eq!((qwen3().strip(text), qwen3().only_reasoning(text)), (content, reasoning));
    assert!(qwen3().split("<think>cut").unclosed);
}

// Contract: S3.20.
#[test]
fn blank_content_is_not_visible() {
    for (text, visible) in [
        ("<think>a</think>b", true),
        ("<think>a</think> \n", false),
        ("<think>a", false),
        ("", false),
        (" ", false),
        ("a", true),
        ("`<think>`", true),
    ] {
        assert_eq!(qwen3().has_visible_content(text), visible, "{text:?}");
    }
}

#[test]
fn splitting_a_complete_text_leaves_a_running_filter_unchanged() {
    let mut filter = qwen3();
    filter.push("<think>half", |_| {}).unwrap();
    assert_eq!(filter.strip("a<think>b"), "a<think>b", "a new message");
    assert!(filter.is_reasoning());
    filter.finish(End::Stop, |_| {}).unwrap();
    assert_eq!(filter.strip("<think>a</think>b"), "b");
}

// Contract: S3.20.
#[test]
fn split_uses_the_start_and_the_options_of_the_filter() {
    let builder = ThinkFilter::builder(format("qwen3").unwrap()).start(Start::Reasoning);
    let filter = builder.force_nonempty_content(100).build().unwrap();
    assert_eq!(filter.strip("a</think>b"), "b");
    assert_eq!(filter.strip("a"), "a", "there is no other answer");
    assert!(filter.has_visible_content("a"));
}
