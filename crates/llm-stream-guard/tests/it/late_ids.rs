//! An id that the wire has after the name of its call.

use guard_laws::call_options;
use llm_stream_guard::{Delivery, End, Guard, Message, profile};

fn parse(family: &str, (delivery, limit): (Delivery, usize), wire: &str) -> Message {
    let profile = profile(family).expect("a registered profile");
    let builder = Guard::builder(&profile)
        .delivery(delivery)
        .calls(call_options(|it| it.atomic_limit = limit));
    builder.build().expect("builds").parse(wire, End::Stop).expect("limits release")
}

fn told(message: &Message) -> (Vec<&str>, Vec<&str>) {
    let ids = message.calls.iter().map(|call| &*call.id).collect();
    (ids, message.diagnostics.iter().map(|diagnostic| diagnostic.kind.name()).collect())
}

const WIRES: [(&str, &str); 3] = [
    ("mistral", r#"[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}, "id": "Ab3dEf6hI"}]"#),
    ("hermes", r#"<tool_call>{"name": "f", "arguments": {"a": 1}, "id": "Ab3dEf6hI"}</tool_call>"#),
    ("qwen3", r#"<tool_call>{"name": "f", "id": "Ab3dEf6hI", "arguments": {"a": 1}}</tool_call>"#),
];

#[test]
fn late_id_is_used_if_the_call_is_withheld_until_its_end() {
    for (family, wire) in WIRES {
        let message = parse(family, (Delivery::Atomic, 1 << 10), wire);
        assert_eq!(told(&message), (vec!["Ab3dEf6hI"], vec![]), "{family}");
    }
}

#[test]
fn late_id_of_an_emitted_call_is_ignored_and_reported() {
    for (family, wire) in WIRES {
        for delivery in [(Delivery::Streaming, 1 << 10), (Delivery::Atomic, 1)] {
            let message = parse(family, delivery, wire);
            let (ids, kinds) = told(&message);
            let early = wire.find("\"id\"") < wire.find("arguments");
            // Arguments outgrow the limit only after an id that comes before them.
            match delivery.0 == Delivery::Atomic && early {
                true => assert_eq!((ids, kinds), (vec!["Ab3dEf6hI"], vec![]), "{family}"),
                false => {
                    assert_ne!(ids, ["Ab3dEf6hI"], "{family}");
                    assert_eq!(kinds, ["late_id"], "{family}");
                }
            }
        }
    }
}

#[test]
fn repeated_late_id_gets_a_suffix_and_is_reported() {
    let wire = r#"[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "Ab3dEf6hI"}, {"name": "g", "arguments": {}, "id": "Ab3dEf6hI"}]"#;
    let message = parse("mistral", (Delivery::Atomic, 1 << 10), wire);
    assert_eq!(told(&message), (vec!["Ab3dEf6hI", "Ab3dEf6hI-2"], vec!["duplicate_id"]));
}
