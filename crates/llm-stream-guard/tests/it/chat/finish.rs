//! Finish reasons: one per choice, last, right.

use llm_stream_guard::{
    End, MessageEnd, OpenAtEnd, StopString,
    chat::{ChatGuard, ChatNote, ChatOptions, Chunk, Note, Stop, Synthesis, Violation},
};
use serde_json::json;

use crate::chat::{
    feed::{builder, chat, choice, choices, clean, run, stop, text, usage},
    reader::{read, read_finished},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

// Contract: S1.35.
#[test]
fn stop_becomes_tool_calls_after_a_complete_call_and_other_reasons_are_kept() {
    let cut = &CALL[..CALL.len() - 16];
    for (content, upstream, written) in [
        ("Hi.", "stop", "stop"),
        (CALL, "stop", "tool_calls"),
        (cut, "stop", "stop"),
        (CALL, "length", "length"),
        (CALL, "content_filter", "content_filter"),
        (CALL, "abort", "abort"),
        (CALL, "tool_calls", "tool_calls"),
        ("Hi.", "tool_calls", "tool_calls"),
        ("Hi.", "insufficient_system_resource", "insufficient_system_resource"),
    ] {
        let seen = clean("hermes", vec![text(0, content), stop(0, upstream)]);
        let finish = read_finished(&seen.chunks)[&0].finish.clone();
        assert_eq!(finish.as_deref(), Some(written), "{content:?} {upstream}");
    }
    let mut options = ChatOptions::default();
    options.stop = Stop::Keep;
    let seen = run(&mut chat("hermes", options), vec![text(0, CALL), stop(0, "stop")], End::Stop);
    assert_eq!(read_finished(&seen.chunks)[&0].finish.as_deref(), Some("stop"));
}

// Contract: S1.37, X.19.
#[test]
fn held_text_is_emitted_before_finish_reason_and_usage() {
    let seen = clean("hermes", vec![text(0, "a <tool"), stop(0, "stop"), usage()]);
    let choice = &read_finished(&seen.chunks)[&0];
    assert_eq!(choice.content, "a <tool");
    assert_eq!(seen.chunks.len(), 3, "text; the rest and the reason; usage");
    assert!(seen.chunks[2].usage.value().is_some());
}

// Contract: X.18.
#[test]
fn call_trailing_text_and_finish_reason_in_one_chunk_are_all_read() {
    let last =
        json!({"index": 0, "delta": {"content": format!("{CALL} bye")}, "finish_reason": "stop"});
    let seen = clean("hermes", vec![choice(last)]);
    let choice = &read_finished(&seen.chunks)[&0];
    assert_eq!((choice.calls.len(), choice.content.as_str()), (1, " bye"));
    assert_eq!(choice.finish.as_deref(), Some("tool_calls"));
    assert_eq!(seen.chunks.len(), 2);
}

// Contract: S1.38, S1.52.
#[test]
fn missing_finish_reason_is_synthesized_before_usage() {
    for (synthesis, call, plain) in [
        (Synthesis::Off, None, None),
        (Synthesis::Proven, Some("tool_calls"), Some("stop")),
        (Synthesis::Always, Some("tool_calls"), Some("stop")),
    ] {
        let mut options = ChatOptions::default();
        options.synthesis = synthesis;
        let chunks = vec![text(2, "Hi <"), text(0, CALL), usage()];
        let seen = run(&mut chat("hermes", options), chunks, End::Stop);
        let choices = read(&seen.chunks);
        assert_eq!(choices[&0].finish.as_deref(), call, "{synthesis:?}");
        assert_eq!(choices[&2].finish.as_deref(), plain, "{synthesis:?}");
        assert_eq!(choices[&2].content, "Hi <");
        assert!(seen.chunks.last().expect("some").usage.value().is_some());
        let told = |note: &&ChatNote| note.note == Note::Violation(Violation::NoFinish);
        let told: Vec<_> = seen.notes.iter().filter(told).map(|note| note.choice).collect();
        let expected: &[u32] = if synthesis == Synthesis::Off { &[] } else { &[0, 2] };
        assert_eq!(told, expected, "{synthesis:?}");
    }
}

// Contract: S1.38.
#[test]
fn proven_synthesis_at_the_end_requires_a_complete_call() {
    for (synthesis, call, plain) in [
        (Synthesis::Off, None, None),
        (Synthesis::Proven, Some("tool_calls"), None),
        (Synthesis::Always, Some("tool_calls"), Some("stop")),
    ] {
        let mut options = ChatOptions::default();
        options.synthesis = synthesis;
        let chunks = vec![text(0, CALL), text(1, "Hi.")];
        let seen = run(&mut chat("hermes", options), chunks, End::Stop);
        let choices = read(&seen.chunks);
        assert_eq!(choices[&0].finish.as_deref(), call, "{synthesis:?}");
        assert_eq!(choices[&1].finish.as_deref(), plain, "{synthesis:?}");
    }
}

// Contract: S1.60, X.23.
#[test]
fn after_an_error_held_text_is_emitted_and_nothing_is_synthesized() {
    let held = r#"Hi <tool_call>{"name": "f", "arguments""#;
    for synthesis in [Synthesis::Off, Synthesis::Proven, Synthesis::Always] {
        let mut options = ChatOptions::default();
        options.synthesis = synthesis;
        let chunks = vec![text(0, "a <to"), text(1, CALL), text(2, held)];
        let seen = run(&mut chat("hermes", options), chunks, End::Aborted);
        let choices = read(&seen.chunks);
        assert_eq!(choices[&0].content, "a <to");
        assert_eq!(choices[&1].calls.len(), 1, "a completed call stays");
        assert!(choices.values().all(|choice| choice.finish.is_none()));
        assert_eq!(choices[&2].calls.len(), 1, "its name was certain, so it was out");
    }
}

// Contract: S1.36, S1.46.
#[test]
fn text_after_the_finish_reason_is_forwarded_and_noted() {
    let chunks = vec![text(0, "a"), stop(0, "stop"), text(0, "b <"), stop(0, "length")];
    let seen = clean("hermes", chunks);
    let text: String = choices(&seen.chunks)
        .iter()
        .filter_map(|it| it["delta"]["content"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(text, "ab <");
    let notes: Vec<_> = seen.notes.iter().map(|note| note.note).collect();
    let end = MessageEnd { end: End::Stop, open: OpenAtEnd::Nothing };
    let expected = [
        Note::End(end),
        Note::Violation(Violation::AfterFinish),
        Note::Violation(Violation::SecondFinish),
    ];
    assert_eq!(notes, expected);
    let reasons = choices(&seen.chunks).iter().filter(|it| it["finish_reason"].is_string()).count();
    assert_eq!(reasons, 1);
}

// Contract: X.31.
#[test]
fn streams_without_text_are_unchanged() {
    assert_eq!(clean("hermes", vec![]).chunks, []);
    let role = choice(
        json!({"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}),
    );
    for chunks in [vec![role.clone()], vec![usage()], vec![role.clone(), stop(0, "stop"), usage()]]
    {
        assert_eq!(clean("hermes", chunks.clone()).chunks, chunks);
    }
    let seen = clean("hermes", vec![stop(0, "stop")]);
    assert_eq!(read_finished(&seen.chunks)[&0].finish.as_deref(), Some("stop"));
}

// Contract: S1.35.
#[test]
fn synonyms_of_stop_become_tool_calls_after_a_call() {
    let words = ["stop", "eos", "eos_token", "EOS", "end_turn", "stop_sequence", "COMPLETE"];
    for word in words {
        let finish = |content: &str| {
            let seen = clean("hermes", vec![text(0, content), stop(0, word)]);
            read_finished(&seen.chunks)[&0].finish.clone().expect("a reason")
        };
        assert_eq!(finish(CALL), "tool_calls", "{word}");
        assert_eq!(finish("Hi."), word);
    }
}

// Contract: S1.35.
#[test]
fn matched_stop_string_is_written_in_the_field_upstream_uses() {
    let last = |extra: serde_json::Value| {
        let mut last = json!({"index": 0, "delta": {}, "finish_reason": "length"});
        let fields = extra.as_object().expect("an object").clone();
        last.as_object_mut().expect("an object").extend(fields);
        let strings = [StopString::hidden("NEVER"), StopString::hidden("END")];
        let guard = builder("hermes").stop(strings).build().expect("builds");
        let mut guard = ChatGuard::new(guard, ChatOptions::default());
        let chunks = vec![text(0, "a E"), text(0, "ND b"), choice(last)];
        let seen = run(&mut guard, chunks, End::Stop);
        choices(&seen.chunks).pop().expect("a choice")
    };
    assert_eq!(last(json!({}))["stop_reason"], "END");
    assert_eq!(last(json!({"stop_reason": null}))["stop_reason"], "END");
    assert_eq!(last(json!({"stop_reason": 5}))["stop_reason"], 5);
    let told = last(json!({"matched_stop": null}));
    assert_eq!((&told["matched_stop"], told.get("stop_reason")), (&json!("END"), None));
    assert_eq!(told["finish_reason"], "stop");
}

#[test]
fn empty_delta_after_the_finish_reason_is_not_noted() {
    let noted = |behind: Chunk| {
        let seen = clean("hermes", vec![text(0, "a"), stop(0, "stop"), behind]);
        let late = Note::Violation(Violation::AfterFinish);
        seen.notes.iter().any(|note| note.note == late)
    };
    assert!(noted(text(0, "b")));
    assert!(!noted(text(0, "")));
}
