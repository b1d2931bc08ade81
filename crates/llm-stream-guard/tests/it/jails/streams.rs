//! `JailedStream`: sequences given by hand, a parser, rules.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use llm_stream_guard::{
    End, Event, Guard, GuardBuilder, JailedError, JailedStream, JailedStreamBuilder, OwnedEvent,
    Profile, Replacement, StopString, ToolChoice,
    jail_match::{BlockDelivery, DiagnosticKind, Inner, JailPair, Mark, Nested, OnFail, Release},
};
use tokio_stream::StreamExt;

use crate::jails::{clock, fed, seen, shown};

fn jailed(builder: JailedStreamBuilder, text: &str) -> String {
    seen(builder.build().unwrap().guard(), text)
}

fn plain() -> JailedStreamBuilder {
    JailedStream::builder().jail_start_sequence("<s>").jail_end_sequence("</s>")
}

const CALL: &str = r#"{"name": "f", "arguments": {}}"#;

// Contract: S1.1.
#[test]
fn text_without_marks_passes_chunk_by_chunk() {
    let jail = plain().build().unwrap();
    let chunks = ["no ", "mark, a > b", "é "];
    let stream = tokio_stream::iter(chunks.map(Ok::<_, std::io::Error>));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let events: Vec<_> = runtime.block_on(jail.apply_text(stream).collect());
    let events: Vec<OwnedEvent> = events.into_iter().map(Result::unwrap).collect();
    assert_eq!(events, chunks.map(|text| OwnedEvent::Content(text.to_owned())));
}

// Contract: S1.13.
#[test]
fn pair_without_a_parser_emits_each_block_as_one_unchanged_piece() {
    let jail = JailedStream::builder().jail_pair("<s>", "</s>").build().unwrap();
    let (mut guard, mut seen) = (jail.guard().clone(), Vec::new());
    for chunk in ["a<s>b", "c", "d</", "s>e<s>f"] {
        let mut sink = |event: Event<'_>| seen.push(shown(&event.to_owned()));
        guard.push(chunk, &mut sink).unwrap();
        seen.push(String::new());
    }
    guard.finish(End::Stop, &mut |event: Event<'_>| seen.push(shown(&event.to_owned()))).unwrap();
    assert_eq!(seen, ["a", "", "", "", "<s>bcd</s>", "e", "", "<s>f"]);
}

// Contract: S1.7.
#[test]
fn pair_is_closed_only_by_its_own_end_with_and_without_a_parser() {
    let pairs = || JailedStream::builder().jail_pair("<a>", "</a>").jail_pair("<b>", "</b>");
    let handed = pairs().on_jailed(|block| Replacement::Text(format!("[{}]", block.body)));
    assert_eq!(jailed(handed, "<a>1</b>2</a>3</b>"), "[1</b>2]3</b>");
    let text = format!("x<a>{CALL}</a>y<b>{CALL}</b>z");
    assert_eq!(jailed(pairs().tool_call_parser("hermes"), &text), "xf({})yf({})z");
}

// Contract: S1.10.
#[test]
fn custom_sequences_replace_family_markers_unless_both_are_enabled() {
    let text = format!("<tool_call>{CALL}</tool_call><s>{CALL}</s>");
    let parsed = || plain().tool_call_parser("hermes");
    assert_eq!(jailed(parsed(), &text), format!("<tool_call>{CALL}</tool_call>f({{}})"));
    assert_eq!(jailed(parsed().also_family_markers(), &text), "f({})f({})");
    // Without a parser nothing opens that was not given.
    let dropped = plain().rule(JailPair::new("<x>", "</x>").release(Release::Drop));
    let text = r#"<tool_call>a</tool_call>{"name": "f"}"#;
    assert_eq!(jailed(dropped, text), text);
}

/// What the first users of such a builder write: a parser alone, a pair beside it, two lists.
#[test]
fn calls_are_read_with_a_parser_its_own_pair_or_sequence_lists() {
    let text = format!("Sure. <TOOLCALL>[{CALL}, {CALL}]</TOOLCALL> Done.");
    let parsed = |name: &str| JailedStream::builder().tool_call_parser(name);
    let expected = "Sure. f({})f({}) Done.";
    assert_eq!(jailed(parsed("nemotron_deci"), &text), expected);
    let pair = JailedStream::builder()
        .jail_start_sequence("<TOOLCALL>")
        .jail_end_sequence("</TOOLCALL>")
        .tool_call_parser("nemotron_deci");
    assert_eq!(jailed(pair, &text), expected);
    let lists = || {
        JailedStream::builder()
            .jail_start_sequences(vec!["<TOOLCALL>", "<FUNCTION>"])
            .jail_end_sequences(vec!["</TOOLCALL>", "</FUNCTION>"])
    };
    let other = text.replace("TOOLCALL", "FUNCTION");
    for text in [&text, &other] {
        assert_eq!(jailed(lists().tool_call_parser("nemotron_deci"), text), expected);
    }
    let wire = "<|channel|>commentary to=functions.f<|message|>{}<|call|>";
    assert_eq!(jailed(parsed("harmony"), wire), "f({})");
    // No sequence stands for the header of a message: what is between them is read.
    let harmony = || lists().tool_call_parser("harmony");
    let blocks = format!("Sure. <FUNCTION>{wire}{wire}</FUNCTION> and <TOOLCALL>{wire}</TOOLCALL>");
    assert_eq!(jailed(harmony(), &blocks), "Sure. f({})f({}) and f({})");
    let unended = format!("Sure. <TOOLCALL>{wire}");
    assert_eq!(jailed(harmony(), &unended), "Sure. f({})");
    for text in [&text, wire, "<TOOLCALL>", "<FUNCTION></FUNCTION> <|channel|>final"] {
        assert_eq!(jailed(harmony(), text), *text);
    }
}

#[test]
fn calls_of_all_jailed_blocks_have_unique_ids() {
    let jail = || JailedStream::builder().jail_pair("<s>", "</s>").tool_call_parser("harmony");
    let call = "<s><|channel|>commentary to=functions.f<|message|>{}<|call|></s>";
    let jailed = jail().build().unwrap();
    let message = jailed.guard().parse(&format!("{call} a {call}{call}"), End::Stop).unwrap();
    let ids: HashSet<_> = message.calls.iter().map(|call| &call.id).collect();
    assert_eq!((message.calls.len(), ids.len(), message.content.as_str()), (3, 3, " a "));
    assert!(jailed.guard().needs_special_tokens());
}

#[test]
fn options_for_calls_outside_message_blocks_are_refused() {
    let jail = || JailedStream::builder().jail_pair("<s>", "</s>").tool_call_parser("harmony");
    for (jail, option) in [
        (jail().also_family_markers(), "also_family_markers"),
        (jail().guard(|guard| guard.tool_choice(ToolChoice::Required)), "tool_choice"),
        (jail().reasoning_parser("harmony"), "reasoning_parser"),
    ] {
        assert_eq!(jail.build().unwrap_err(), JailedError::BetweenSequences(option));
    }
    // Ends alone begin nothing.
    let ends = JailedStream::builder().jail_end_sequence("</s>").tool_call_parser("harmony");
    assert!(matches!(ends.build(), Err(JailedError::Jail(_))));
}

#[test]
fn jail_accepts_stop_strings_and_tool_choice_of_the_guard() {
    let text = format!("Hi. <s>{CALL}</s> Bye. END more");
    let changes: [fn(GuardBuilder) -> GuardBuilder; 3] = [
        |it| it,
        |it| it.stop([StopString::hidden(" END")]),
        |it| it.tool_choice(ToolChoice::None),
    ];
    let seen =
        changes.map(|change| jailed(plain().tool_call_parser("hermes").guard(change), &text));
    let expected = [
        "Hi. f({}) Bye. END more",
        "Hi. f({}) Bye.!after_stop!",
        "Hi. !unwanted_call! Bye. END more",
    ];
    assert_eq!(seen, expected);
}

// Contract: S1.11.
#[test]
fn unknown_parser_is_refused_with_the_list_of_names() {
    let error = plain().tool_call_parser("hermez").build().unwrap_err();
    assert!(error.to_string().contains("`hermes`"), "{error}");
}

#[test]
fn faulty_sequences_are_refused_by_name() {
    let error = |builder: JailedStreamBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(JailedStream::builder()), "jail: no start sequence: expected at least one");
    let empty = "pool, end 1 (\"\"): the sequence is empty";
    assert_eq!(error(plain().jail_end_sequence("")), empty);
    assert_eq!(error(plain().jail_end_sequence("").tool_call_parser("hermes")), empty);
    let ends = JailedStream::builder().jail_end_sequence("").tool_call_parser("hermes");
    assert_eq!(error(ends), "pool, end 0 (\"\"): the sequence is empty");
}

// Contract: S1.13.
#[test]
fn jailed_blocks_are_released_by_the_policy_of_their_rule() {
    for (release, expected) in [
        (Release::Hand, "a<x>b</x>c"),
        (Release::Verbatim, "a<x>b</x>c"),
        (Release::Strip, "abc"),
        (Release::Drop, "a!jail_dropped!c"),
    ] {
        let rule = JailPair::new("<x>", "</x>").release(release);
        assert_eq!(jailed(JailedStream::builder().rule(rule), "a<x>b</x>c"), expected);
    }
    let rule = || JailPair::new("<x>", "</x>");
    let nothing = JailedStream::builder().rule(rule()).on_jailed(|_| Replacement::Nothing);
    assert_eq!(jailed(nothing, "a<x>b</x>c"), "ac");
    let strict = JailedStream::builder().rule(rule().unclosed(OnFail::Error));
    let (seen, result) = fed(strict.build().unwrap().guard(), &["a<x>b"]);
    assert_eq!(seen, "a!jail_unclosed!<x>b");
    assert_eq!(result.unwrap_err().kind, DiagnosticKind::JailUnclosed);
}

#[test]
fn tapped_block_passes_and_its_body_is_handed_to_the_closure() {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = bodies.clone();
    let jail = JailedStream::builder()
        .rule(JailPair::new("<x>", "</x>").flow(BlockDelivery::Tap))
        .on_jailed(move |block| {
            kept.lock().unwrap().push(block.body.to_owned());
            Replacement::Nothing
        });
    let (seen, _) = fed(jail.build().unwrap().guard(), &["a<x>b", "c</x>d"]);
    assert_eq!(
        (seen.as_str(), bodies.lock().unwrap().as_slice()),
        ("a<x>bc</x>d", &["bc".into()][..])
    );
}

// Contract: S1.53.
#[test]
fn rules_accept_regular_expressions() {
    let rule = JailPair::new(Mark::pattern("(?m)^KEY=[a-z]{1,8}:"), Mark::pattern("(?m)[0-9]$"));
    let jail = JailedStream::builder().rule(rule).on_jailed(|_| Replacement::Text("***".into()));
    assert_eq!(jailed(jail, "KEY=a:1\nKEY=b:2\nMYKEY=c:3"), "***\n***\nMYKEY=c:3");
}

// Contract: S1.56.
#[test]
fn nested_blocks_are_replaced_inner_first() {
    let jail = JailedStream::builder()
        .rule(JailPair::new("{", "}").inner(Inner::Every))
        .rules(|rules| rules.nested(Nested::InnerFirst).depth(2))
        .on_jailed(|block| Replacement::Text(format!("[{}]", block.body)));
    assert_eq!(jailed(jail, "a{b{c{d}e}f}"), "a!depth_limit![c{d][be]f}");
}

// Contract: S1.55.
#[test]
fn block_over_the_chunk_limit_follows_its_policy() {
    for (over, expected) in [
        (OnFail::Release, "a!jail_chunks!<s>bcd</s>e"),
        (OnFail::Strip, "a!jail_chunks!bcde"),
        (OnFail::Drop, "a!jail_chunks!!jail_dropped!e"),
        (OnFail::End, "a!jail_chunks!<s>bcd</s>e"),
    ] {
        let jail = plain().chunk_limit(2, over).build().unwrap();
        assert_eq!(fed(jail.guard(), &["a<s>b", "c", "d", "</s>e"]).0, expected, "{over:?}");
        // Each block has its own count.
        let text = ["<s>b", "</s><s>", "</s><s>", "</s>"];
        assert_eq!(fed(jail.guard(), &text).0, text.concat());
    }
    let jail = plain().chunk_limit(1, OnFail::Error).build().unwrap();
    let (seen, result) = fed(jail.guard(), &["a<s>b", "c", "d"]);
    assert_eq!(seen, "a!jail_chunks!<s>bc");
    assert_eq!(result.unwrap_err().kind, DiagnosticKind::JailChunks);
}

// Contract: S1.55.
#[test]
fn block_over_the_time_limit_follows_its_policy() {
    let (time, read) = clock();
    let jail = plain().time_limit(Duration::from_secs(5), OnFail::Release, read).build().unwrap();
    let (mut guard, mut seen) = (jail.guard().clone(), String::new());
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        seen.push_str(&shown(&event.to_owned()));
    };
    guard.push("a<s>b", &mut sink).unwrap();
    time.fetch_add(5, Ordering::Relaxed);
    guard.push("c", &mut sink).unwrap();
    guard.tick(&mut sink).unwrap();
    time.fetch_add(1, Ordering::Relaxed);
    guard.tick(&mut sink).unwrap();
    guard.push("d</s><s>e", &mut sink).unwrap();
    time.fetch_add(9, Ordering::Relaxed);
    guard.push("</s>", &mut sink).unwrap();
    assert_eq!(seen, "a!jail_time!<s>bcd</s>!jail_time!<s>e</s>");
}

// Contract: S1.55.
#[test]
fn block_options_without_a_block_rule_are_refused() {
    let parsed = || plain().tool_call_parser("hermes");
    let (_, read) = clock();
    for (builder, option) in [
        (parsed().on_jailed(|_| Replacement::Nothing), "on_jailed"),
        (parsed().chunk_limit(2, OnFail::Release), "chunk_limit"),
        (parsed().time_limit(Duration::from_secs(1), OnFail::Release, read), "time_limit"),
    ] {
        let beside = builder.clone().rule(JailPair::new("<x>", "</x>"));
        assert!(beside.build().is_ok(), "{option}");
        let error = builder.build().unwrap_err();
        assert!(matches!(error, JailedError::NoBlocks(name) if name == option), "{error}");
    }
}

// Contract: X.35.
#[test]
fn whitespace_around_calls_is_removed_and_other_whitespace_is_kept() {
    let call = format!("<tool_call>{CALL}</tool_call>");
    let parsed = JailedStream::builder().tool_call_parser("hermes");
    let text = format!("\n\n{call}\n{call}\n");
    assert_eq!(jailed(parsed.clone(), &text), "f({})f({})");
    assert_eq!(jailed(parsed, &format!("a\n\n{call}\nb")), "a\n\nf({})\nb");
    let blank = " \n<s> </s>\n\t";
    assert_eq!(jailed(plain(), blank), blank);
    let nothing = Guard::builder(&Profile::named("nothing")).build().unwrap();
    for blank in ["\n\n", " ", "\n a \n"] {
        assert_eq!(seen(&nothing, blank), blank);
    }
}
