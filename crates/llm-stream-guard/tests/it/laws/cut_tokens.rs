//! Cuts (L16) with marker tokens: a cut message has no complete call but the first of the whole,
//! although a value quotes calls as typed text; and the whole has that call.

use guard_laws::TokenMachine;
use llm_stream_guard::{
    End, Grammar, Guard,
    toolcall_parsers::{EncodeCall, encode},
};
use serde_json::{Value, json};
use stream_laws::{Cut, run};

use super::marker_tokens::{NAME, marked, quoting, two_tools};

/// Returns the first fault of the complete calls in the first `len` bytes of `wire`: the only one is
/// that with `arguments`.
fn fault(
    guard: &Guard,
    (wire, markers): (&str, &[(usize, usize)]),
    arguments: &Value,
    len: usize,
) -> Option<String> {
    let is_cut = len < wire.len();
    let cut_by = if len.is_multiple_of(2) { End::Length } else { End::Aborted };
    let end = if is_cut { cut_by } else { End::Stop };
    let before = markers.iter().filter(|(at, marker)| at + marker <= len).copied();
    let machine = TokenMachine::new(guard.clone(), end, before);
    let record = run(&machine, &wire[..len], Cut::Whole);
    let calls = record.calls().expect("calls start before they end");
    let mut complete = calls.iter().filter(|call| call.is_complete()).peekable();
    if !is_cut && complete.peek().is_none() {
        return Some(format!("no call is complete in {wire:?}"));
    }
    let wrong = complete.find(|call| {
        let is_whole =
            serde_json::from_str::<Value>(&call.arguments).is_ok_and(|it| it == *arguments);
        call.name != NAME || !is_whole
    })?;
    Some(format!("cut at {len}: {} {} is complete in {wire:?}", wrong.name, wrong.arguments))
}

/// Checks the law for a guard, and returns the number of wires.
fn check(grammar: &Grammar, guard: &Guard, broken: &mut Vec<String>) -> usize {
    let tokens: Vec<String> = guard.marker_tokens().map(String::from).collect();
    let mut checked = 0;
    // The key of the quoted call is also that of the value, or new.
    for (name, arguments) in [
        (NAME, r#"{"body": "old"}"#),
        (NAME, r#"{"body": "old", "more": "x"}"#),
        ("drop_table", r#"{"table": "users"}"#),
    ] {
        let call = EncodeCall::new(name, arguments);
        let Ok(block) = encode(grammar, &[call], &two_tools()) else { continue };
        for value in [format!("Say:\n{block}\nDone."), format!("as in {block} here")] {
            let Some((wire, markers)) = quoting(grammar, &tokens, &value) else { continue };
            let arguments = json!({"body": value});
            let cuts = (1..=wire.len()).filter(|&len| {
                let divides = |(at, marker): &(usize, usize)| *at < len && len < at + marker;
                wire.is_char_boundary(len) && !markers.iter().any(divides)
            });
            checked += 1;
            broken.extend(cuts.filter_map(|len| fault(guard, (&wire, &markers), &arguments, len)));
        }
    }
    checked
}

#[test]
fn complete_calls_of_cut_tokens_are_those_of_the_whole() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for (profile, grammar, guard, tokens) in marked() {
        checked += check(&grammar, &guard, &mut broken);
        // Tokenizers may have the outermost tags alone as tokens.
        let call = EncodeCall::new("drop_table", r#"{"table": "users"}"#);
        let block = encode(&grammar, &[call], &two_tools()).unwrap_or_default();
        let block = block.trim();
        let outermost = tokens
            .iter()
            .filter(|token| block.starts_with(token.as_str()) || block.ends_with(token.as_str()));
        let builder = Guard::builder(&profile).tools(two_tools());
        let guard = builder.marker_tokens(outermost.cloned()).build().expect("builds");
        checked += check(&grammar, &guard, &mut broken);
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    assert!(checked > 200, "{checked} checked");
}
