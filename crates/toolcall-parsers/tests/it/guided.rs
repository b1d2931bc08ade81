//! Tests of guided grammars: the answer may be bare JSON with calls, or the arguments of the
//! required tool.

use jail_match::{Channel, OnCommit, Then};
use serde_json::json;
use toolcall_parsers::{
    End, Grammar, InReasoning, Message, Parser, Tools, Whitespace, edges, grammar, grammars,
    guided::{OwnCalls, Payload},
    parse,
};

/// The openers `{` and `[`, which every payload has first.
const PAYLOAD_OPENERS: usize = 2;

fn read(grammar: &Grammar, wire: &str) -> Message {
    let builder = Parser::builder(grammar.clone()).tools(tools());
    let parser = builder.whitespace(Whitespace::Verbatim).build().expect("a sound table");
    parse(&parser, wire, End::Stop).expect("limits release")
}

fn tools() -> Tools {
    let schema = |key: &str| json!({"properties": {key: {"type": "integer"}}});
    Tools::new([("f", schema("a")), ("g", schema("b"))])
}

fn guided(family: &str, payload: Payload<'_>, own: OwnCalls) -> Grammar {
    let grammar = grammar(family).expect("a registered family");
    grammar.guided(payload, &tools(), own).expect("it compiles")
}

fn calls(message: &Message) -> Vec<(&str, &str)> {
    message.calls.iter().map(|call| (&*call.name, &*call.arguments)).collect()
}

#[test]
fn object_with_keys_outside_a_call_is_read_as_arguments() {
    let of_f = guided("hermes", Payload::Of("f"), OwnCalls::Tried);
    let arguments = r#"{"a": 1, "x": 2}"#;
    assert_eq!(calls(&read(&of_f, arguments)), [("f", arguments)]);
    // A call may have a `type`. With other additional keys, the object is the arguments of `f`.
    let call = r#"{"type": "function", "name": "g", "arguments": {"b": 1}}"#;
    assert_eq!(calls(&read(&of_f, call)), [("g", r#"{"b": 1}"#)]);
    let other = r#"{"kind": "x", "name": "g", "arguments": {"b": 1}}"#;
    assert_eq!(calls(&read(&of_f, other)), [("f", other)]);
    // Text may begin with a brace.
    assert_eq!(read(&of_f, "{x}").content, "{x}");
    // After the call has started, an additional key does not matter.
    let late = r#"{"name": "g", "arguments": {"b": 1}, "kind": "x"}"#;
    assert_eq!(calls(&read(&of_f, late)), [("g", r#"{"b": 1}"#)]);
    let any = guided("hermes", Payload::Calls, OwnCalls::Tried);
    assert_eq!(calls(&read(&any, other)), [("g", r#"{"b": 1}"#)]);
}

#[test]
fn bare_calls_that_begin_like_a_payload_are_read_only_if_tried() {
    let own = |own| guided("pythonic", Payload::Calls, own);
    let calls_of = |grammar, wire| calls(&read(&grammar, wire)).len();
    let (bare, payload) = ("[f(a=1)]", r#"[{"name": "f", "arguments": {"a": 1}}]"#);
    assert_eq!(calls_of(own(OwnCalls::Tried), bare), 1);
    assert_eq!(calls_of(own(OwnCalls::Shadowed), bare), 0);
    assert_eq!(calls_of(own(OwnCalls::Tried), payload), 1);
    assert_eq!(calls_of(own(OwnCalls::Shadowed), payload), 1);
}

#[test]
fn payload_begins_in_content_only() {
    for family in grammars() {
        for payload in [Payload::Calls, Payload::Of("f")] {
            let guided = family.guided(payload, &tools(), OwnCalls::Tried).expect("it compiles");
            let openers = guided.openers().count() - family.openers().count();
            for in_reasoning in [InReasoning::Literal, InReasoning::Suspend, InReasoning::End] {
                for edge in edges(&guided, in_reasoning, 0) {
                    let Then::Body(body, on_commit) = edge.then else { continue };
                    if usize::from(body) < PAYLOAD_OPENERS.min(openers) {
                        assert_eq!(edge.on, Channel::CONTENT.mask(), "{}: {edge:?}", family.name());
                        assert_eq!(on_commit, OnCommit::Stay, "{}: {edge:?}", family.name());
                    }
                }
            }
        }
    }
}
