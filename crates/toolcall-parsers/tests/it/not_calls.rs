//! Policies for blocks and payloads that are not calls.

use toolcall_parsers::{
    BadPayload, BrokenBlock, End, Message, Options, Outcome, Parser, Tools, grammar,
    guided::{OwnCalls, Payload},
    parse,
};

const MALFORMED: &str = r#"<tool_call>{"name": "f", "arguments": {oops}}</tool_call>"#;
const CUT: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1"#;

fn outcomes(message: &Message) -> Vec<Outcome> {
    message.calls.iter().filter_map(|call| call.outcome).collect()
}

#[test]
fn broken_block_is_a_call_or_text_by_the_policy() {
    let (malformed, cut) = (vec![Outcome::Malformed], vec![Outcome::Incomplete]);
    for (policy, wire, calls, content) in [
        (BrokenBlock::Emit, MALFORMED, &malformed, ""),
        (BrokenBlock::TextIfMalformed, MALFORMED, &vec![], MALFORMED),
        (BrokenBlock::Text, MALFORMED, &vec![], MALFORMED),
        (BrokenBlock::Emit, CUT, &cut, ""),
        (BrokenBlock::TextIfMalformed, CUT, &cut, ""),
        (BrokenBlock::Text, CUT, &vec![], CUT),
    ] {
        let mut options = Options::default();
        options.broken_block = policy;
        let builder = Parser::builder(grammar("hermes").expect("a family")).options(options);
        let parser = builder.build().expect("a sound table");
        let message = parse(&parser, wire, End::Length).expect("limits release");
        assert_eq!((&outcomes(&message), &*message.content), (calls, content), "{policy:?} {wire}");
    }
}

#[test]
fn payload_that_is_not_calls_is_text_or_dropped_by_the_policy() {
    let wire = r#"[{"name": "f", "arguments": {}}, oops"#;
    for (policy, calls, content) in [
        (BadPayload::BestEffort, vec![Outcome::Complete], ""),
        (BadPayload::RecoverAsText, vec![], wire),
        (BadPayload::Reject, vec![], ""),
    ] {
        let own = if policy == BadPayload::Reject { OwnCalls::Shadowed } else { OwnCalls::Tried };
        let grammar = grammar("hermes").expect("a family");
        let grammar = grammar.guided(Payload::Calls, &Tools::none(), own).expect("it compiles");
        let mut options = Options::default();
        options.bad_payload = policy;
        let parser = Parser::builder(grammar).options(options).build().expect("a sound table");
        let message = parse(&parser, wire, End::Stop).expect("limits release");
        assert_eq!((outcomes(&message), &*message.content), (calls, content), "{policy:?}");
    }
}
