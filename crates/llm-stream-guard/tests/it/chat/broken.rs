//! Calls that are malformed or cut, under each policy for them.

use guard_laws::Damage;
use llm_stream_guard::{
    CallOptions, End, Guard, Ids, Outcome, Profile,
    chat::{BrokenCalls, ChatGuard, ChatNote, ChatOptions, Completion, Note},
    profile, profiles,
};
use serde_json::json;
use stream_laws::{Cut, Random};

use crate::chat::{
    feed::{aggregate, chat, choice, run, stop, text},
    reader::read,
};

const POLICIES: [BrokenCalls; 4] =
    [BrokenCalls::Auto, BrokenCalls::Keep, BrokenCalls::Drop, BrokenCalls::Release];

fn options(broken: BrokenCalls) -> ChatOptions {
    let mut options = ChatOptions::default();
    options.broken_calls = broken;
    options
}

fn guard(profile: &Profile, broken: BrokenCalls, atomic_limit: usize) -> ChatGuard {
    let mut calls = CallOptions::default();
    calls.ids = Ids::counting();
    calls.atomic_limit = atomic_limit;
    let builder = Guard::builder(profile).calls(calls);
    ChatGuard::new(builder.build().expect("a registered profile builds"), options(broken))
}

/// The message put together again, and what was noted.
fn outcome(guard: &ChatGuard, wire: &str, cut: Cut) -> (Completion, Vec<ChatNote>) {
    let chunks = cut.pieces(wire).map(|piece| text(0, piece)).chain([stop(0, "stop")]).collect();
    let seen = run(&mut guard.clone(), chunks, End::Stop);
    read(&seen.chunks);
    (aggregate(&seen.chunks), seen.notes)
}

fn whole(guard: &ChatGuard, wire: &str) -> Completion {
    let chunks = [text(0, wire), stop(0, "stop")];
    guard.complete(aggregate(&chunks)).expect("no limit")
}

// Contract: S1.15, S1.23.
#[test]
fn broken_calls_read_the_same_at_every_cut_under_every_policy() {
    let mut wrong = Vec::new();
    for profile in profiles() {
        let Ok(Some(grammar)) = profile.grammar() else { continue };
        let damage = Damage::new(&grammar);
        let mut random = Random::new(profile.name.bytes().map(u64::from).sum());
        for (broken, limit) in POLICIES.into_iter().flat_map(|it| [(it, 1 << 20), (it, 12)]) {
            let guard = guard(&profile, broken, limit);
            for _ in 0..6 {
                let wire = damage.wire(&mut random);
                let expected = outcome(&guard, &wire, Cut::Whole);
                let seed = random.next();
                for cut in [Cut::EachScalar, Cut::Random { seed }] {
                    let got = outcome(&guard, &wire, cut);
                    if got != expected {
                        wrong.push(format!(
                            "{} {broken:?} {limit} {cut} {wire:?}\n  {expected:?}\n  {got:?}",
                            profile.name
                        ));
                    }
                }
                // A whole response has another default for broken calls, and no other difference.
                if broken != BrokenCalls::Auto && whole(&guard, &wire) != expected.0 {
                    let got = whole(&guard, &wire);
                    wrong.push(format!(
                        "{} {broken:?} {limit} whole {wire:?}\n  {:?}\n  {got:?}",
                        profile.name, expected.0
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(6)].join("\n"));
}

fn calls(completion: &Completion) -> Vec<(String, Option<String>)> {
    let message = serde_json::to_value(&completion.choices[0].message).expect("JSON");
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let call = |call: &serde_json::Value| {
        let function = &call["function"];
        (text(&function["name"]).unwrap_or_default(), text(&function["arguments"]))
    };
    calls.iter().map(call).collect()
}

#[test]
fn second_broken_call_of_a_block_is_dropped_at_every_cut() {
    let wire = "<minimax:tool_call><invoke name=\"e\"></invoke>\n<invoke name=\"ge\">a";
    let profile = profile("minimax_m2").expect("a registered profile");
    for broken in [BrokenCalls::Drop, BrokenCalls::Release] {
        let guard = guard(&profile, broken, 1 << 20);
        for cut in [Cut::Whole, Cut::EachScalar] {
            let (completion, _) = outcome(&guard, wire, cut);
            assert_eq!(calls(&completion), [("e".to_owned(), Some("{}".to_owned()))], "{cut}");
        }
    }
}

#[test]
fn call_over_the_atomic_limit_is_kept_at_every_cut() {
    let wire = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"0123456789\", ?";
    let hermes = profile("hermes").expect("a registered profile");
    for (limit, kept) in [(18, 1), (1 << 20, 0)] {
        let guard = guard(&hermes, BrokenCalls::Drop, limit);
        for cut in [Cut::Whole, Cut::EachScalar] {
            assert_eq!(calls(&outcome(&guard, wire, cut).0).len(), kept, "{limit}, {cut}");
        }
    }
}

/// A call that upstream told apart ends what was uncertain, as text. Reasoning does not.
#[test]
fn block_interrupted_by_upstream_items_leaves_no_call_open() {
    let first = |wire: &str| choice(json!({"index": 0, "delta": {"content": wire}}));
    let reasoning = choice(json!({"index": 0, "delta": {"reasoning_content": "hm"}}));
    let native = choice(json!({"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "n", "function": {"name": "g", "arguments": "{}"}}]}}));
    for (name, begun, aside, again) in [
        (
            "nemotron3",
            "<tool_call>\n<function=f>\n<parameter=a>\nx",
            reasoning,
            "y\n</parameter>\n</function>\n</tool_call>",
        ),
        (
            "apriel",
            "<tool_calls>[{\"name\": \"f\", \"arguments\": {\"a\": ",
            native,
            "<tool_calls>[{\"name\": \"f\", \"arguments\": {}}]</tool_calls>",
        ),
    ] {
        let chunks = vec![first(begun), aside, first(again), stop(0, "stop")];
        let seen = run(&mut chat(name, options(BrokenCalls::Release)), chunks, End::Stop);
        read(&seen.chunks);
        let names: Vec<String> =
            calls(&aggregate(&seen.chunks)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.iter().filter(|name| *name == "f").count(), 1, "{name}: {names:?}");
        let ended =
            |it: &&ChatNote| matches!(it.note, Note::CallEnd { outcome: Outcome::Complete, .. });
        assert_eq!(seen.notes.iter().filter(ended).count(), 1, "{name}: {:?}", seen.notes);
    }
}

#[test]
fn call_truncated_by_the_token_limit_is_equal_complete_and_streamed() {
    let wire = "Hi. <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"cut";
    let guard = chat("hermes", ChatOptions::default());
    let chunks = vec![text(0, wire), stop(0, "length")];
    let whole = guard.complete(aggregate(&chunks)).expect("no limit");
    let streamed = aggregate(&run(&mut guard.clone(), chunks, End::Stop).chunks);
    assert_eq!(whole, streamed);
    assert_eq!(calls(&whole), [("f".to_owned(), Some("{\"a\": \"cut\",]".to_owned()))]);
    assert_eq!(whole.choices[0].finish_reason.value().map(String::as_str), Some("length"));
}
