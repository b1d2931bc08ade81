//! A block whose first call breaks, as text.

use guard_laws::call_options;
use llm_stream_guard::{
    BrokenBlock, BuildError, CallOptions, Delivery, End, Grammar, Guard, Ids, Limits, Message,
    Outcome, Profile, Tools, Whitespace,
    chat::{ChatGuard, ChatOptions, Chunk},
    jail_match::{Channel, ServerItem},
    profile,
    toolcall_parsers::{EncodeCall, encode, grammars},
};
use serde_json::json;

fn tools() -> Tools {
    let tide = json!({"properties": {"port": {"type": "string"}, "day": {"type": "integer"}}});
    Tools::new([("tide".to_owned(), tide)])
}

fn parse(grammar: &Grammar, broken: BrokenBlock, pieces: &[&str]) -> Message {
    let plain = Profile {
        grammar: Some(grammar.clone()),
        whitespace: Whitespace::Verbatim,
        ..profile("passthrough").expect("a registered profile")
    };
    let guard = Guard::builder(&plain).tools(tools());
    let mut options = CallOptions::default();
    options.ids = Ids::counting();
    options.broken_block = broken;
    read(guard.calls(options).build().expect("options that a family heeds"), pieces)
}

fn read(mut guard: Guard, pieces: &[&str]) -> Message {
    let mut message = Message::default();
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        message.collect(event);
    };
    for piece in pieces {
        guard.push(piece, &mut sink).expect("limits release");
    }
    guard.finish(End::Stop, &mut sink).expect("limits release");
    assert_eq!((guard.held().bytes, guard.buffered()), (0, 0), "{pieces:?}");
    message
}

fn kinds(message: &Message) -> Vec<&str> {
    message.diagnostics.iter().map(|diagnostic| diagnostic.kind.name()).collect()
}

/// Wherever a call is cut, it is whole, as it would be anyway, or the text that came.
#[test]
fn truncated_call_of_every_family_is_text_under_broken_block_text() {
    let call = EncodeCall::new("tide", r#"{"port": "Brest", "day": 12}"#);
    let (mut given_back, mut wrong) = (0, Vec::new());
    for grammar in grammars() {
        let Ok(call) = encode(&grammar, &[call], &tools()) else { continue };
        let wire = format!("Hi.\n{call}");
        for (cut, _) in wire.char_indices() {
            let wire = &wire[..cut];
            let each: Vec<&str> = wire.split_inclusive(|_| true).collect();
            let emitted = parse(&grammar, BrokenBlock::Emit, &[wire]);
            let whole = |outcome: Option<Outcome>| outcome.is_some_and(Outcome::runs);
            let broke = emitted.calls.first().is_some_and(|call| !whole(call.outcome));
            for pieces in [&[wire][..], &each] {
                let message = parse(&grammar, BrokenBlock::Text, pieces);
                let right = match broke {
                    true => {
                        given_back += 1;
                        message.calls.is_empty()
                            && message.content == wire
                            && kinds(&message).contains(&"broken_block")
                    }
                    false => message.calls == emitted.calls && message.content == emitted.content,
                };
                if !right {
                    wrong.push(format!("{}: {wire:?}\n    {message:?}", grammar.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(given_back > 1_000, "{given_back} cuts were in a call");
}

fn hermes(broken: BrokenBlock) -> llm_stream_guard::GuardBuilder {
    let hermes = profile("hermes").expect("a registered profile");
    Guard::builder(&hermes)
        .calls(call_options(|it| it.broken_block = broken))
        .delivery(Delivery::Atomic)
}

fn told(message: &Message) -> (Vec<&str>, &str, Vec<&str>) {
    let names = message.calls.iter().map(|call| &*call.name).collect();
    (names, &message.content, kinds(message))
}

#[test]
fn broken_block_becomes_text_and_the_next_block_is_read() {
    let wire = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": ?}}</tool_call> then \
                <tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>";
    let message = read(hermes(BrokenBlock::Text).build().expect("builds"), &[wire]);
    let text = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": ?}}</tool_call> then ";
    assert_eq!(told(&message), (vec!["g"], text, vec!["broken_block"]));
}

/// A thought that the server separated ends no call, whether its events wait or not.
#[test]
fn call_goes_on_after_reasoning_of_the_server_under_broken_block_text() {
    let mut guard = hermes(BrokenBlock::Text).build().expect("builds");
    let mut message = Message::default();
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        message.collect(event);
    };
    guard.push("<tool_call>{\"name\": \"f\", \"argu", &mut sink).expect("fits");
    let item = ServerItem::Channel(Channel::REASONING);
    assert_eq!(guard.server_item(item, &mut sink), Ok(false));
    guard.push("ments\": {\"a\": 1}}</tool_call>", &mut sink).expect("fits");
    guard.finish(End::Stop, &mut sink).expect("fits");
    assert_eq!((told(&message).0, &*message.calls[0].arguments), (vec!["f"], "{\"a\": 1}"));
}

#[test]
fn malformed_call_after_a_complete_call_of_its_block_stays_a_call() {
    let mistral = profile("mistral").expect("a registered profile");
    let guard = Guard::builder(&mistral)
        .calls(call_options(|it| it.broken_block = BrokenBlock::Text))
        .build();
    let list = "[{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {\"a\": ?";
    let message = read(guard.expect("builds"), &["[TOOL_CALLS]", list]);
    let outcomes: Vec<_> = message.calls.iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes, [Some(Outcome::Complete), Some(Outcome::Malformed)]);
}

/// What is longer than may be kept is what it is without the option.
#[test]
fn block_over_the_candidate_limit_is_not_kept_for_recovery() {
    let opener = "<tool_call>";
    for (room, calls) in [(opener.len() + 40, 0), (opener.len() + 39, 1)] {
        let limits = Limits { candidate: room + 1, ..Limits::default() };
        let guard = hermes(BrokenBlock::Text).limits(limits).build().expect("builds");
        // 40 bytes after the opener.
        let wire = "<tool_call>{\"name\": \"f\", \"arguments\": {\"abcdef\": 12";
        assert_eq!(wire.len(), opener.len() + 40);
        let each: Vec<&str> = wire.split_inclusive(|_| true).collect();
        for pieces in [&[wire][..], &each] {
            let message = read(guard.clone(), pieces);
            assert_eq!(message.calls.len(), calls, "{room} {message:?}");
        }
    }
}

#[test]
fn tools_are_refused_for_profiles_without_a_call_grammar() {
    for name in ["deepseek_r1", "any_tags", "passthrough"] {
        let profile = profile(name).expect("a registered profile");
        let error = Guard::builder(&profile).tools(tools()).build().expect_err("no calls are read");
        assert!(matches!(error, BuildError::NoToolGrammar { .. }), "{name}: {error}");
    }
}

/// What a call holds is kept until it is whole, in buffers that double: no chunk has one of its own.
#[test]
fn reading_ahead_does_not_allocate_per_chunk() {
    let mut guard = hermes(BrokenBlock::Text).build().expect("builds");
    let mut sink = |_: llm_stream_guard::Event<'_>| {};
    guard.push("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"", &mut sink).expect("fits");
    let spent = allocation_counter::measure(|| {
        for _ in 0..1_000 {
            guard.push("token ", &mut sink).expect("fits");
        }
    });
    assert!(spent.count_total < 40, "{} allocations", spent.count_total);
    assert!(guard.held().bytes > 6_000);
}

#[test]
fn chat_guard_keeps_the_broken_block_policy_of_its_guard() {
    let guard = hermes(BrokenBlock::Text).build().expect("builds");
    let mut chat = ChatGuard::new(guard, ChatOptions::default());
    let text = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": ?";
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let mut clean: Vec<Chunk> = Vec::new();
    chat.push(serde_json::from_value(chunk).expect("a chunk"), &mut clean).expect("fits");
    chat.finish(End::Stop, &mut clean).expect("fits");
    let clean = serde_json::to_string(&clean).expect("JSON");
    assert!(clean.contains("<tool_call>") && !clean.contains("tool_calls"), "{clean}");
}
