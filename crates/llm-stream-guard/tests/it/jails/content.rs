//! Jails around what a guard lets through as content.

use llm_stream_guard::{
    Guard, HeldKind, Jail, Jailer, OwnedEvent, Profile, Replacement,
    jail_match::{DiagnosticKind, Held, JailPair, OnFail},
    profile,
};

use crate::jails::{fed, seen};

fn secrets() -> Jailer {
    let jail = Jail::builder().pair("<s>", "</s>").build().unwrap();
    Jailer::new(jail).on_jailed(|block| Replacement::Text(format!("[{}]", block.body)))
}

fn guarded(jailer: Jailer) -> Guard {
    Guard::builder(&profile("qwen3").unwrap()).stage(jailer).build().unwrap()
}

const CALL: &str = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"<s>x</s>\"}}</tool_call>";

#[test]
fn jail_applies_to_content_but_not_to_reasoning_and_calls() {
    let text = format!("<think><s>r</s></think>a<s>b</s>c{CALL}d<s>e</s>");
    let expected = r#"{<s>r</s>}a[b]cf({"a": "<s>x</s>"})d[e]"#;
    assert_eq!(seen(&guarded(secrets()), &text), expected);
}

#[test]
fn block_may_span_a_call_but_a_mark_may_not() {
    let text = format!("a<{CALL}s>b<s>c{CALL}d</s>e");
    let call = r#"f({"a": "<s>x</s>"})"#;
    assert_eq!(seen(&guarded(secrets()), &text), format!("a<{call}s>b{call}[cd]e"));
}

#[test]
fn bytes_held_by_a_jail_are_reported() {
    let mut guard = guarded(secrets());
    let mut sink = |_: llm_stream_guard::Event<'_>| {};
    guard.push("a<s", &mut sink).unwrap();
    assert_eq!((guard.held().bytes, guard.held().kind), (2, HeldKind::Marker));
    guard.push(">bcd", &mut sink).unwrap();
    assert_eq!((guard.held().bytes, guard.held().kind), (6, HeldKind::Call));
    assert_eq!(guard.buffered(), 6);
    guard.reset();
    assert_eq!((guard.held().bytes, guard.buffered()), (0, 0));
    guard.push("e</s>", &mut sink).unwrap();
    assert_eq!(guard.held().bytes, 0);
}

#[test]
fn jail_limit_with_the_error_policy_ends_the_guard() {
    let pair = JailPair::new("<s>", "</s>").limit(2, OnFail::Error);
    let jail = Jail::builder().rule(pair).build().unwrap();
    let guard = guarded(Jailer::new(jail));
    let (seen, result) = fed(&guard, &["a<s>bcde", "f", "</s>"]);
    assert_eq!(seen, "a!jail_bytes!<s>bc");
    let error = result.unwrap_err();
    assert_eq!((error.kind, error.at, error.bytes), (DiagnosticKind::JailBytes, 1, 5));
}

#[test]
fn bytes_are_jailed_like_text() {
    let mut guard = Guard::builder(&Profile::named("plain")).stage(secrets()).build().unwrap();
    let mut content = String::new();
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        let OwnedEvent::Content(text) = event.to_owned() else { panic!("{event:?}") };
        content.push_str(&text);
    };
    for byte in "é<s>é</s>é".bytes() {
        guard.push_bytes(&[byte], &mut sink).unwrap();
    }
    guard.finish(llm_stream_guard::End::Stop, &mut sink).unwrap();
    assert_eq!(content, "é[é]é");
}

#[test]
fn message_boundary_releases_text_held_by_the_jail() {
    let mut guard = guarded(secrets());
    let mut content = String::new();
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        if let OwnedEvent::Content(text) = event.to_owned() {
            content.push_str(&text);
        }
    };
    guard.push("a<s", &mut sink).unwrap();
    guard.message_boundary(&mut sink);
    guard.push(">b</s>", &mut sink).unwrap();
    guard.finish(llm_stream_guard::End::Stop, &mut sink).unwrap();
    assert_eq!(content, "a<s>b</s>");
}

#[test]
fn nothing_follows_a_limit_with_the_error_policy_at_any_cut() {
    let pair = JailPair::new("<s>", "</s>").limit(2, OnFail::Error);
    let jail = Jail::builder().rule(pair).build().unwrap();
    let guard = guarded(Jailer::new(jail));
    let text = format!("a<s>bcde{CALL}f");
    let scalars: Vec<String> = text.chars().map(String::from).collect();
    let scalars: Vec<&str> = scalars.iter().map(String::as_str).collect();
    for chunks in [vec![text.as_str()], scalars] {
        let (seen, result) = fed(&guard, &chunks);
        assert_eq!(seen, "a!jail_bytes!<s>bc");
        assert!(result.is_err());
    }
}

#[test]
fn nothing_is_held_after_a_limit_with_the_error_policy() {
    let pair = JailPair::new("<s>", "</s>").limit(2, OnFail::Error);
    let jail = Jail::builder().rule(pair).build().unwrap();
    let mut guard = guarded(Jailer::new(jail));
    // The newline after a call is held until visible text shows that it is content.
    let text = format!("a<s>bcde{CALL}\n");
    assert!(guard.push(&text, &mut |_: llm_stream_guard::Event<'_>| {}).is_err());
    assert_eq!(guard.held(), Held::default());
}
