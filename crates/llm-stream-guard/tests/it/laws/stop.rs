//! Stop strings: alone against a search that looks at everything again, and in front of a guard.

use guard_laws::{GuardMachine, reasoning_options};
use llm_stream_guard::{
    BuildError, Delivery, End, Guard, GuardBuilder, HeldKind, LimitPolicy, Outcome, ReasoningLimit,
    Shown, Start, StopString, StopStrings, profile,
};
use proptest::prelude::*;
use stream_laws::{
    Cut, CutPlan, check_bounded, check_chunk_invariance, check_delivery, check_nothing_lost,
};

/// The string that ends first and where it begins, of several the longest.
fn first(strings: &[StopString], text: &str) -> Option<(usize, usize, Shown)> {
    let ends = text.char_indices().map(|(at, scalar)| at + scalar.len_utf8());
    ends.into_iter().find_map(|end| {
        let found = strings.iter().filter(|string| text[..end].ends_with(&string.text));
        let longest = found.clone().map(|string| string.text.len()).max()?;
        let hidden = found
            .filter(|string| string.text.len() == longest)
            .any(|string| string.shown == Shown::Hidden);
        Some((end - longest, end, if hidden { Shown::Hidden } else { Shown::Visible }))
    })
}

/// What may be out after `text`, nothing of which ended a message.
fn certain<'t>(strings: &[StopString], text: &'t str) -> &'t str {
    let begins = |rest: &str| {
        strings.iter().any(|string| {
            string.shown == Shown::Hidden
                && string.text.len() > rest.len()
                && string.text.starts_with(rest)
                // Another string ends inside this one: it will never be.
                && first(strings, &string.text)
                    .is_some_and(|(_, end, shown)| {
                        end == string.text.len() && shown == Shown::Hidden
                    })
        })
    };
    let starts = text.char_indices().map(|(at, _)| at).find(|&at| begins(&text[at..]));
    &text[..starts.unwrap_or(text.len())]
}

fn strings() -> impl Strategy<Value = Vec<StopString>> {
    let shown = prop_oneof![Just(Shown::Hidden), Just(Shown::Visible)];
    let string = ("[abé]{1,5}", shown).prop_map(|(text, shown)| StopString { text, shown });
    prop::collection::vec(string, 1..4)
}

proptest! {
    // Contract: X.40.
    #[test]
    fn stop_matches_equal_a_search_of_the_complete_text(
        strings in strings(),
        text in "[abéc]{0,24}",
        seed: u64,
    ) {
        let stop = StopStrings::new(strings.clone()).expect("no empty string");
        let found = first(&strings, &text);
        let expected = match found {
            None => &text,
            Some((at, _, Shown::Hidden)) => &text[..at],
            Some((_, end, Shown::Visible)) => &text[..end],
        };
        for cut in [Cut::Whole, Cut::EachScalar, Cut::Random { seed }] {
            let (mut stop, mut out, mut fed) = (stop.clone(), String::new(), String::new());
            for piece in cut.pieces(&text) {
                stop.push(piece, |piece| out.push_str(piece));
                fed.push_str(piece);
                let now = match first(&strings, &fed) {
                    None => certain(&strings, &fed),
                    Some(_) => expected,
                };
                prop_assert_eq!(&*out, now, "{} after {:?}", cut, &fed);
                prop_assert!(stop.stopped().is_some() || stop.held() == fed.len() - out.len());
            }
            stop.finish(|piece| out.push_str(piece));
            prop_assert_eq!(&*out, expected, "{}", cut);
            let stopped = stop.stopped();
            prop_assert_eq!(stopped.map(|it| (it.at, it.end)), found.map(|(at, end, _)| (at as u64, end as u64)));
            prop_assert_eq!(stopped.map(|it| it.end + it.dropped), found.map(|_| text.len() as u64));
        }
    }
}

#[test]
fn work_is_linear_for_repeated_stop_string_prefixes() {
    let mut stop =
        StopStrings::new([StopString::hidden(format!("{}b", "a".repeat(63)))]).expect("text");
    for _ in 0..1 << 16 {
        stop.push("a", |_| {});
    }
    assert!(stop.examined() <= 200 << 16, "{} bytes examined", stop.examined());
}

fn builder() -> GuardBuilder {
    let profile = profile("qwen3").expect("a registered profile");
    let stops = [StopString::hidden("\n\nUser:"), StopString::visible("STOP")];
    Guard::builder(&profile).stop(stops)
}

fn guard() -> Guard {
    builder().build().expect("a registered profile")
}

#[test]
fn empty_stop_string_is_refused() {
    let profile = profile("qwen3").expect("a registered profile");
    let built = Guard::builder(&profile).stop([StopString::hidden("")]).build();
    let Err(error @ BuildError::Stop(_)) = built else { panic!("{built:?}") };
    assert_eq!(error.to_string(), "stop string 0: it is empty");
}

// Contract: X.40.
#[test]
fn stop_string_ends_the_message_in_content_reasoning_and_arguments() {
    for (wire, content, reasoning) in [
        ("hi\n\nUser: you", "hi", ""),
        ("<think>hm\n\nUser:</think>two", "", "hm"),
        ("STOP it", "STOP", ""),
        ("hi\n\nUse", "hi\n\nUse", ""),
    ] {
        let message = guard().parse(wire, End::Length).expect("limits release");
        let text = (message.content.as_str(), message.reasoning.as_str());
        assert_eq!(text, (content, reasoning), "{wire:?}");
    }
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"STOP\"}}</tool_call>";
    let message = guard().parse(call, End::Stop).expect("limits release");
    let [call] = message.calls.as_slice() else { panic!("one call") };
    assert_eq!(
        (call.arguments.as_str(), call.outcome),
        ("{\"x\": \"STOP", Some(Outcome::Incomplete))
    );
}

#[test]
fn guard_reports_held_bytes_and_the_stop_position() {
    let mut guard = guard();
    let mut seen = Vec::new();
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        seen.push(event.to_owned());
    };
    guard.push("hi\n\nUse", &mut sink).expect("no limit");
    assert_eq!((guard.held().bytes, guard.held().kind), (5, HeldKind::Marker));
    assert_eq!(guard.stopped(), None);
    guard.push("r: you", &mut sink).expect("no limit");
    let stopped = guard.stopped().expect("it stopped");
    assert_eq!((stopped.string, stopped.at, stopped.end, stopped.dropped), (0, 2, 9, 4));
    guard.reset();
    assert_eq!((guard.stopped(), guard.held().bytes), (None, 0));
}

#[test]
fn stopped_output_is_chunk_invariant_lossless_and_bounded() {
    let plan = CutPlan::standard(2);
    let streaming = GuardMachine::new(guard(), End::Stop);
    let atomic = builder().delivery(Delivery::Atomic).build().expect("a registered profile");
    let atomic = GuardMachine::new(atomic, End::Stop);
    for wire in [
        "hi\n\nUser: you",
        "hi\n\nUse",
        "<think>hm\n\nUser:</think>two",
        "a STOP b\n\nUser:",
        "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"STOP\"}}</tool_call>",
        "<tool_call>{\"na\n\nUser:",
    ] {
        check_chunk_invariance(&streaming, wire, plan).unwrap_or_else(|broken| panic!("{broken}"));
        check_delivery(&atomic, &streaming, wire, plan).unwrap_or_else(|broken| panic!("{broken}"));
        check_nothing_lost(&streaming, wire, &["after_stop", "cut_opener"], plan)
            .unwrap_or_else(|broken| panic!("{broken}"));
    }
    check_bounded(&streaming, std::iter::repeat_n("\n\nUser", 999), 7)
        .unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn text_after_a_stop_string_is_counted_despite_a_failed_limit() {
    let limit = ReasoningLimit { bytes: 0, policy: LimitPolicy::Error };
    let guard = builder()
        .reasoning(reasoning_options(|it| {
            it.start = Some(Start::Reasoning);
            it.limit = Some(limit);
        }))
        .build();
    let machine = GuardMachine::new(guard.expect("a registered profile"), End::Stop);
    check_chunk_invariance(&machine, "x STOP y", CutPlan::standard(2))
        .unwrap_or_else(|broken| panic!("{broken}"));
}

/// A guard of a family with declared early arguments, and what it says and holds.
fn texts(guard: &mut Guard, chunks: &[&str]) -> String {
    let mut text = String::new();
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        if let llm_stream_guard::Event::Content(piece) = event {
            text.push_str(piece);
        }
    };
    for chunk in chunks {
        guard.push(chunk, &mut sink).expect("no error policy");
    }
    text
}

#[test]
fn nothing_is_held_after_a_visible_stop_string() {
    let mut guard = guard();
    texts(&mut guard, &["a ST", "OP b"]);
    assert!(guard.stopped().is_some());
    assert_eq!(guard.held(), llm_stream_guard::Held::default());
    let mut stop = StopStrings::new([StopString::visible("STOP")]).expect("text");
    stop.push("STOP", |_| {});
    assert_eq!(stop.held(), 0);
    stop.finish(|_| {});
    assert_eq!(stop.held(), 0);
}

#[test]
fn stop_string_releases_the_text_before_it_at_once() {
    for wire in ["a <tool\n\nUser: b", "a \n <thi\n\nUser:"] {
        let mut guard = guard();
        let text = texts(&mut guard, &[wire]);
        assert_eq!(text, wire.split("\n\nUser:").next().unwrap_or(""), "{wire:?}");
        assert_eq!(guard.held().bytes, 0, "{wire:?}");
        assert_eq!(texts(&mut guard, &["more"]), "");
    }
}

#[test]
fn refuted_candidate_with_early_arguments_is_not_held() {
    let profile = llm_stream_guard::Profile::tools("llama3_json");
    let mut guard = Guard::builder(&profile).build().expect("a registered family");
    let wire = "{\"parameters\": {\"a\": 1}, \"other\": 2} and text.";
    assert_eq!(texts(&mut guard, &[wire]), wire);
    assert_eq!(guard.held(), llm_stream_guard::Held::default());
    assert_eq!(guard.buffered(), 0);
    let cut = "{\"parameters\": {\"a\": 1}, ";
    let mut guard = Guard::builder(&profile).build().expect("a registered family");
    guard.push(cut, &mut |_: llm_stream_guard::Event<'_>| {}).expect("no error policy");
    guard.finish(End::Length, &mut |_: llm_stream_guard::Event<'_>| {}).expect("no error policy");
    assert_eq!(guard.held(), llm_stream_guard::Held::default());
    assert_eq!(guard.buffered(), 0);
}
