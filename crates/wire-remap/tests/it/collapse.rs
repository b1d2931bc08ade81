//! The collapse detector.

use proptest::prelude::*;
use wire_remap::{
    Collapse, CollapseAction, CollapseDetector, CollapseKind, CollapseLimits, CollapseVerdict,
    RemapTable,
};

fn detector(run: u32, action: CollapseAction) -> CollapseDetector {
    CollapseDetector::new(&RemapTable::hermes(), CollapseLimits { run, repeats: 5, action })
}

fn collapse(verdict: CollapseVerdict) -> Option<Collapse> {
    match verdict {
        CollapseVerdict::Observed(c)
        | CollapseVerdict::EndStream(c)
        | CollapseVerdict::Error(c) => Some(c),
        _ => None,
    }
}

// Contract: S2.19, X.30.
#[test]
fn repeated_openers_are_reported_as_a_collapse() {
    for (text, run) in [
        ("ok\n<tool_call>\n<tool_call>\n<tool_call>", 3),
        ("ok\n[[CALL]][[CALL]]\n\n[[CALL]]", 3),
        ("ok\n<tool_call>\n_call>\n[[CALL]]", 3),
        ("ok\n_call>\ntool_call> <toolcall>", 3),
    ] {
        let found = collapse(detector(3, CollapseAction::Observe).observe(text)).expect(text);
        assert_eq!((found.start, found.end, found.run), (3, text.len() as u64, run), "{text}");
    }
}

#[test]
fn consecutive_calls_are_not_a_collapse() {
    let mut detector = detector(2, CollapseAction::Error);
    let calls = "<tool_call>{}</tool_call>\n<tool_call>{}</tool_call>[[CALL]]{}[[/CALL]][[CALL]]x";
    assert_eq!(detector.observe(calls), CollapseVerdict::Fine);
    assert_eq!(detector.observe("</tool_call></tool_call></tool_call>"), CollapseVerdict::Fine);
    assert_eq!(detector.score(), 1);
}

// Contract: S2.19.
#[test]
fn empty_blocks_and_punctuation_between_openers_do_not_end_a_run() {
    for text in [
        "<tool_call></tool_call>\n<tool_call> </tool_call><tool_call>",
        "<tool_call>\n{<tool_call>\n{[[CALL]]",
        "<tool_call>{\"<tool_call>\n{\"\n[[CALL]]\n[[CALL]]",
        "_call>\n_call>\n tool_call>",
        "<think>\n</think>\n<tool_call><tool_call><tool_call>",
    ] {
        let found = collapse(detector(3, CollapseAction::Observe).observe(text)).expect(text);
        assert_eq!((found.run, found.repeated), (3, CollapseKind::Openers), "{text}");
    }
}

// Contract: S2.19.
#[test]
fn block_repeated_many_times_is_a_collapse() {
    let call = "<tool_call>{\"name\": \"f\"}</tool_call>\n";
    for text in [call.repeat(5), format!("again {call}").repeat(5), "[[CALL]]{}[[/CALL]]".repeat(5)]
    {
        let found = collapse(detector(3, CollapseAction::Observe).observe(&text)).expect(&text);
        assert_eq!((found.run, found.repeated), (5, CollapseKind::Block), "{text}");
        assert!(found.to_string().contains("5 times the same tool call"), "{found}");
    }
    let other = "<tool_call>{\"name\": \"g\"}</tool_call>\n";
    let text = format!("{}{other}", call.repeat(4)).repeat(3);
    assert_eq!(detector(3, CollapseAction::Observe).observe(&text), CollapseVerdict::Fine);
}

// Contract: S2.19.
#[test]
fn openers_in_code_and_in_arguments_are_text() {
    let openers = "<tool_call>\n<tool_call>\n<tool_call>\n<tool_call>\n";
    let line = openers.replace('\n', "");
    for text in [
        format!("```\n{openers}```\n"),
        format!("`{line}` it is"),
        format!("<tool_call>{{\"name\": \"f\", \"arguments\": {{\"x\": \"{line}\"}}}}</tool_call>"),
        format!(
            "<tool_call>\n<function=f>\n<parameter=x>\n{openers}</parameter>\n</function></tool_call>"
        ),
    ] {
        assert_eq!(
            detector(3, CollapseAction::Observe).observe(&text),
            CollapseVerdict::Fine,
            "{text}"
        );
    }
    let endless = format!("<tool_call>{{\"name\": \n{}", openers.repeat(3));
    let found = collapse(detector(3, CollapseAction::Observe).observe(&endless)).expect("much");
    assert_eq!(found.run, 12);
}

// Contract: S2.19, S2.20.
#[test]
fn action_selects_the_verdict_and_a_run_is_reported_once() {
    let run = "<tool_call>".repeat(3);
    assert!(matches!(
        detector(3, CollapseAction::Observe).observe(&run),
        CollapseVerdict::Observed(_)
    ));
    assert!(matches!(
        detector(3, CollapseAction::EndStream).observe(&run),
        CollapseVerdict::EndStream(_)
    ));
    let mut detector = detector(3, CollapseAction::Error);
    let CollapseVerdict::Error(error) = detector.observe(&run) else { panic!("no error") };
    assert_eq!(
        error.to_string(),
        "model collapsed: byte 0: 3 tool-call openers in a row up to byte 33"
    );
    assert_eq!(detector.observe("<tool_call>"), CollapseVerdict::Fine);
    assert_eq!(detector.score(), 4);
    assert_eq!(detector.observe("text"), CollapseVerdict::Fine);
    assert!(collapse(detector.observe(&run)).is_some());
    detector.reset();
    assert_eq!((detector.observe("<tool_call>"), detector.score()), (CollapseVerdict::Fine, 1));
}

#[test]
fn detector_work_is_linear() {
    let work = |n: usize| {
        let mut detector = detector(3, CollapseAction::Observe);
        for _ in 0..n {
            for c in ["<tool_", "call>", "\n"] {
                let _ = detector.observe(c);
            }
        }
        detector.examined() as f64
    };
    assert!(work(4_000) < 4.2 * work(1_000));
}

proptest! {
    #[test]
    fn collapse_detection_is_chunk_invariant(parts in prop::collection::vec(prop::sample::select(vec![
        "<tool_call>", "[[CALL]]", "_call>", "tool_call>", "</tool_call>", "\n", " ", "x", "{", "\"", "```\n", "`", "<tool", "_call", ">", "[[", "é"
    ]), 0..24)) {
        let text = parts.concat();
        let run = |chunks: Vec<String>| {
            let mut detector = detector(3, CollapseAction::Observe);
            let first = chunks.iter().find_map(|chunk| collapse(detector.observe(chunk)));
            (first, detector)
        };
        let (whole, _) = run(vec![text.clone()]);
        let (cut, mut detector) = run(text.chars().map(String::from).collect());
        prop_assert_eq!(whole, cut);
        if whole.is_none() {
            let mut all = self::detector(3, CollapseAction::Observe);
            let _ = all.observe(&text);
            prop_assert_eq!(all.score(), detector.score());
        }
        detector.reset();
        prop_assert_eq!(detector.score(), 0);
    }
}
