//! Marker tokens where no model writes them: at every place of a call. Events show their text.

use guard_laws::{TokenMachine, markers_in};
use llm_stream_guard::{
    Delivery, End, Guard,
    jail_match::is_reserved,
    profile,
    toolcall_parsers::{EncodeCall, encode},
};
use stream_laws::{Cut, run};

use crate::laws::marker_tokens::{NAME, marked, two_tools};

/// The first event with a reserved scalar in a run over `wire`.
fn reserved_in(machine: &TokenMachine, wire: &str, cut: Cut) -> Option<String> {
    let record = run(machine, wire, cut);
    let shown = record.events.iter().map(|event| format!("{event:?}"));
    // Reserved scalars are for private use: `Debug` writes them as escapes.
    let is_leak = |event: &String| {
        let escapes = event.split("\\u{").skip(1).filter_map(|rest| rest.split_once('}'));
        let mut scalars =
            escapes.filter_map(|(digits, _)| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        scalars.any(is_reserved)
    };
    shown.into_iter().find(is_leak)
}

/// The wire with a marker token at `at`, and where its marker tokens are.
fn inserted(
    wire: &str,
    markers: &[(usize, usize)],
    at: usize,
    token: &str,
) -> Option<(String, Vec<(usize, usize)>)> {
    let inside = |(from, len): &(usize, usize)| *from < at && at < from + len;
    if !wire.is_char_boundary(at) || markers.iter().any(inside) {
        return None;
    }
    let text = [&wire[..at], token, &wire[at..]].concat();
    let moved = |&(from, len): &(usize, usize)| {
        if from < at { (from, len) } else { (from + token.len(), len) }
    };
    let mut markers: Vec<_> = markers.iter().map(moved).collect();
    markers.push((at, token.len()));
    markers.sort_unstable();
    Some((text, markers))
}

#[test]
fn inserted_marker_token_is_shown_as_its_text() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    let id = "functions.save_page:0";
    for (profile, grammar, guard, tokens) in marked() {
        let call = EncodeCall::new(NAME, r#"{"body": "a \"b\" c"}"#);
        let wire = encode(&grammar, &[call.with_id(id)], &two_tools());
        let wire = wire.or_else(|_| encode(&grammar, &[call], &two_tools()));
        let wire = wire.expect("a family can write strings");
        let markers = markers_in(&wire, &tokens);
        for at in 0..=wire.len() {
            let token = &tokens[at % tokens.len()];
            let Some((wire, markers)) = inserted(&wire, &markers, at, token) else { continue };
            let machine = TokenMachine::new(guard.clone(), End::Stop, markers);
            for cut in [Cut::Whole, Cut::EachScalar] {
                checked += 1;
                let leak = reserved_in(&machine, &wire, cut);
                broken.extend(leak.map(|leak| format!("{} {at} {cut:?}: {leak}", profile.name)));
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken of {checked}\n{}",
        broken.len(),
        broken[..broken.len().min(12)].join("\n")
    );
    assert!(checked > 5000, "{checked} checked");
}

#[test]
fn marker_token_in_a_late_id_is_shown_as_its_text() {
    let hermes = profile("hermes").expect("registered");
    let tokens = ["<tool_call>", "</tool_call>"];
    let builder = Guard::builder(&hermes).delivery(Delivery::Atomic).marker_tokens(tokens);
    let guard = builder.build().expect("builds");
    let wire = r#"<tool_call>{"name": "f", "id": "a<tool_call>b</tool_call>c", "arguments": {}}</tool_call>"#;
    let markers = markers_in(wire, &tokens.map(String::from));
    let machine = TokenMachine::new(guard, End::Stop, markers);
    for cut in [Cut::Whole, Cut::EachScalar] {
        assert_eq!(reserved_in(&machine, wire, cut), None, "{cut:?}");
        let events = format!("{:?}", run(&machine, wire, cut).events);
        assert!(events.contains("a<tool_call>b</tool_call>c"), "{events}");
    }
}
