//! Reasoning in place of an answer that never comes.

use guard_laws::{GuardMachine, reasoning_options};
use llm_stream_guard::{
    Delivery, End, Event, Guard, GuardBuilder, HeldKind, Message, Start, profile,
};
use stream_laws::{CutPlan, check_chunk_invariance, check_delivery};

/// Enough for every wire here but the longest.
const LIMIT: usize = 64;

fn builder() -> GuardBuilder {
    let profile = profile("nemotron3").expect("a registered profile");
    Guard::builder(&profile).reasoning(reasoning_options(|it| {
        it.start = Some(Start::Reasoning);
        it.nonempty_content = Some(LIMIT);
    }))
}

fn guard() -> Guard {
    builder().build().expect("a registered profile builds")
}

fn parsed(wire: &str, end: End) -> (String, String) {
    let message = guard().parse(wire, end).expect("limits release");
    (message.content, message.reasoning)
}

// Contract: S3.21, X.34.
#[test]
fn nonempty_content_turns_reasoning_into_content_only_without_an_answer() {
    let call = "<tool_call>\n<function=weigh>\n</function>\n</tool_call>";
    let long = "x".repeat(LIMIT + 1);
    for (wire, end, content, reasoning) in [
        ("two kilos", End::Stop, "two kilos", ""),
        ("two kilos</think>\n \n", End::Stop, "two kilos", ""),
        ("two kilos", End::Length, "", "two kilos"),
        ("two kilos", End::Aborted, "", "two kilos"),
        ("two kilos</think>2", End::Stop, "2", "two kilos"),
        (&format!("two kilos{call}"), End::Stop, "", "two kilos"),
        (&long, End::Stop, "", &long),
        (&long[1..], End::Stop, &long[1..], ""),
    ] {
        assert_eq!(parsed(wire, end), (content.into(), reasoning.into()), "{wire:?} {end:?}");
    }
}

#[test]
fn withheld_reasoning_is_reported_and_released_once() {
    let mut guard = guard();
    let mut message = Message::default();
    guard.push("hm, ", &mut |event: Event<'_>| message.collect(event)).expect("no limit");
    assert_eq!((guard.held().bytes, guard.held().kind), (4, HeldKind::Reasoning));
    assert_eq!(guard.buffered(), 4);
    guard.push("so</think>1", &mut |event: Event<'_>| message.collect(event)).expect("no limit");
    assert_eq!((guard.held().bytes, message.reasoning.as_str()), (0, "hm, so"));
    assert_eq!(message.content, "1");
    guard.reset();
    let again = guard.parse("alone", End::Stop).expect("limits release");
    assert_eq!(again.content, "alone");
}

#[test]
fn message_boundary_emits_withheld_reasoning_as_reasoning() {
    let mut guard = guard();
    let mut message = Message::default();
    let mut sink = |event: Event<'_>| message.collect(event);
    guard.push("hm", &mut sink).expect("no limit");
    guard.message_boundary(&mut sink);
    guard.push("<think>two</think>", &mut sink).expect("no limit");
    guard.finish(End::Stop, &mut sink).expect("no limit");
    assert_eq!((message.content.as_str(), message.reasoning.as_str()), ("two", "hm"));
}

// Contract: S3.21.
#[test]
fn nonempty_content_is_split_and_delivery_independent() {
    let call = "<tool_call>\n<function=weigh>\n</function>\n</tool_call>";
    let streaming = GuardMachine::new(guard(), End::Stop);
    let atomic = builder().delivery(Delivery::Atomic).build().expect("a registered profile");
    let atomic = GuardMachine::new(atomic, End::Stop);
    for wire in [
        "two kilos",
        "two</think>\n\n",
        &"two kilos ".repeat(7),
        &format!("two{}</think>three", " ".repeat(LIMIT)),
        &format!("two</think>{}three", "\n".repeat(LIMIT)),
        &format!("two{call}three"),
        &format!("two</think>{call}"),
        "two <tool_call> kilos",
    ] {
        let plan = CutPlan::standard(1);
        check_chunk_invariance(&streaming, wire, plan).unwrap_or_else(|broken| panic!("{broken}"));
        check_delivery(&atomic, &streaming, wire, plan).unwrap_or_else(|broken| panic!("{broken}"));
    }
}
