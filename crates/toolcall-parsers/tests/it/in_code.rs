//! Calls inside code of the answer, under [`CallsInCode::Text`].

use serde_json::json;
use toolcall_parsers::{
    CallsInCode, EncodeCall, End, Grammar, Message, Options, Parser, Tools, Whitespace, encode,
    grammar, grammars, parse,
};

fn parser(grammar: &Grammar, in_code: CallsInCode) -> Parser {
    let mut options = Options::default();
    options.in_code = in_code;
    let builder = Parser::builder(grammar.clone()).tools(tools()).options(options);
    builder.whitespace(Whitespace::Verbatim).build().expect("a sound table")
}

fn tools() -> Tools {
    Tools::new([("ring", json!({"type": "object", "properties": {"note": {"type": "string"}}}))])
}

/// Reads `wire` in chunks that begin at each of `cuts`.
fn read(parser: &Parser, wire: &str, cuts: &[usize], end: End) -> Message {
    let (mut parser, mut message, mut at) = (parser.clone(), Message::default(), 0);
    for &cut in cuts.iter().chain([&wire.len()]) {
        let mut sink = |event: toolcall_parsers::Event<'_>| message.collect(event);
        parser.push(&wire[at..cut], &mut sink).expect("limits release");
        at = cut;
    }
    parser.finish(end, &mut |event: toolcall_parsers::Event<'_>| message.collect(event)).unwrap();
    message
}

#[test]
fn whole_call_in_closed_code_is_text_in_every_family_and_at_every_cut() {
    let mut covered = 0;
    for grammar in grammars() {
        let arguments = json!({"note": "in `code` or ``` not"}).to_string();
        let calls = [EncodeCall::new("ring", &arguments)];
        let Ok(block) = encode(&grammar, &calls, &tools()) else { continue };
        // A form that needs a line or a message of its own cannot be quoted in a line.
        let around = [("Write `", "` so."), ("So:\n```text\n", "\n```\nThat is all.")];
        for (before, after) in around {
            let wire = format!("{before}{block}{after}");
            if parse(&parser(&grammar, CallsInCode::Run), &wire, End::Stop)
                .unwrap()
                .calls
                .is_empty()
            {
                continue;
            }
            covered += 1;
            let parser = parser(&grammar, CallsInCode::Text);
            let cuts = (1..wire.len()).filter(|&at| wire.is_char_boundary(at));
            let each: Vec<usize> = cuts.clone().collect();
            let all = cuts.map(|at| vec![at]).chain([vec![], each]);
            for cuts in all {
                let message = read(&parser, &wire, &cuts, End::Stop);
                assert!(message.calls.is_empty(), "{:?}: {wire:?} {cuts:?}", grammar.name());
            }
            // A call behind the code runs.
            let behind = format!("{wire}\n\n{block}");
            let message = parse(&parser, &behind, End::Stop).unwrap();
            let last = parse(&parser, &format!("so\n\n{block}"), End::Stop).unwrap();
            assert_eq!(message.calls.len(), last.calls.len(), "{:?}: {behind:?}", grammar.name());
        }
    }
    assert!(covered > 100, "{covered}");
}

#[test]
fn code_that_stays_open_hides_no_call() {
    let call = "<tool_call>{\"name\": \"ring\", \"arguments\": {}}</tool_call>";
    let parser = parser(&grammar("hermes").unwrap(), CallsInCode::Text);
    for (before, after, end, calls) in [
        ("```\n", "\n```", End::Stop, 0),
        ("```\n", "\n", End::Stop, 1),
        ("```\n", "\n", End::Length, 0),
        ("a lone ` tick ", "\n", End::Stop, 1),
        ("a lone ` tick ", "\n", End::Aborted, 1),
        ("`a` ", " `b`", End::Length, 1),
    ] {
        let wire = format!("{before}{call}{after}");
        for cuts in [vec![], (1..wire.len()).collect()] {
            let message = read(&parser, &wire, &cuts, end);
            assert_eq!(message.calls.len(), calls, "{wire:?} {end:?}");
        }
    }
}

#[test]
fn call_in_code_longer_than_a_candidate_may_be_is_text() {
    let value = "x".repeat(70_000);
    let wire = format!(
        "```\n<tool_call>{{\"name\": \"ring\", \"arguments\": {{\"note\": \"{value}\"}}}}</tool_call>"
    );
    let parser = parser(&grammar("hermes").unwrap(), CallsInCode::Text);
    let message = parse(&parser, &wire, End::Stop).unwrap();
    assert_eq!((message.calls.len(), message.content == wire), (0, true));
}
