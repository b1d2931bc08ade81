//! Tests of message headers and unusual tags.

use toolcall_parsers::{
    EncodeCall, End, Family, Grammar, Outcome, Parser, Tools, Whitespace, encode, grammar,
    grammars, parse,
};

use crate::support::inputs::Inputs;

#[test]
fn text_before_a_cut_is_a_prefix_of_the_whole_text() {
    for grammar in grammars().filter(|grammar| grammar.family().messages.is_some()) {
        let inputs = Inputs::of(&grammar);
        let parser = Parser::builder(grammar).whitespace(Whitespace::Verbatim);
        let parser = parser.build().expect("a sound table");
        let texts = |wire: &str, end| {
            let message = parse(&parser, wire, end).expect("limits release");
            [message.content, message.reasoning]
        };
        for wire in &inputs.wires {
            let whole = texts(wire, End::Stop);
            for (cut, _) in wire.char_indices() {
                if inputs.begins_header(&wire[..cut]) {
                    continue;
                }
                for (whole, part) in whole.iter().zip(texts(&wire[..cut], End::Length)) {
                    // A cut marker is text, and so are blanks before it.
                    let begun = part.rfind('<').filter(|&at| !part[at..].contains('>'));
                    let sure = [Some(part.len()), begun].into_iter().flatten();
                    assert!(
                        sure.into_iter().any(|at| whole.starts_with(part[..at].trim_end())),
                        "{}: {part:?} is no beginning of {whole:?}: {:?}",
                        inputs.name,
                        &wire[..cut],
                    );
                }
            }
        }
    }
}

#[test]
fn message_header_selects_channel_or_tool() {
    let to = |name: &str, body: &str| {
        let header = format!("<|start|>assistant to=functions.{name}<|channel|>commentary json");
        format!("{header}<|message|>{body}<|call|>")
    };
    let thought = "<|start|>assistant to=self<|message|>hm<|eom|><|start|>assistant to=user<|message|>Yes.<|eot|>";
    for (family, wire, call, texts) in [
        // A doubled name (`ring.ring`) is halved.
        (
            "harmony",
            to("ring.ring", r#"{"times": 2}"#),
            Some(("ring", r#"{"times": 2}"#)),
            ["", ""],
        ),
        ("harmony", to("chime", r#"{"times": 2}"#), Some(("chime", r#"{"times": 2}"#)), ["", ""]),
        ("harmony", to("ring", ""), Some(("ring", "{}")), ["", ""]),
        ("muse_glimmer", thought.to_owned(), None, ["hm", "Yes."]),
    ] {
        let parser = Parser::builder(grammar(family).unwrap()).build().expect("a sound table");
        let message = parse(&parser, &wire, End::Stop).expect("limits release");
        let read: Vec<_> =
            message.calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
        assert_eq!(read, Vec::from_iter(call), "{wire}");
        assert!(message.calls.iter().all(|call| call.outcome == Some(Outcome::Complete)), "{wire}");
        assert_eq!([message.reasoning, message.content], texts, "{wire}");
    }
}

#[test]
fn markers_include_header_tokens_but_not_header_words() {
    let markers = |family| Vec::from_iter(grammar(family).unwrap().markers().map(String::from));
    assert_eq!(markers("hermes"), ["<tool_call>"]);
    assert!(markers("harmony").contains(&"<|start|>".to_owned()));
    assert!(!markers("harmony").iter().any(|marker| marker.contains("to=")));
}

#[test]
fn tag_may_begin_with_a_brace() {
    for call in ["{{call}}{object}{{/call}}", "{{call {name}}}{arguments}{{/call}}"] {
        let family = Family::from_toml("braces", &format!("calls.call = '{call}'"));
        let grammar = Grammar::new(family.expect("a family")).expect("a grammar");
        let calls = [EncodeCall::new("ring", "{\"times\": 2}")];
        let wire = encode(&grammar, &calls, &Tools::none()).expect("it can be written");
        let parser = Parser::builder(grammar).build().expect("a sound table");
        let message = parse(&parser, &format!("On it. {wire}"), End::Stop).expect("limits release");
        let read: Vec<_> = message.calls.iter().map(|call| (&*call.name, call.outcome)).collect();
        assert_eq!(read, [("ring", Some(Outcome::Complete))], "{wire}");
        assert_eq!(message.content, "On it. ");
    }
}

#[test]
fn attribute_may_be_followed_by_any_character_but_not_be_empty() {
    let family =
        Family::from_toml("arrow", "calls.call = '<call of=\"{name}\"→{arguments}</call>'");
    let grammar = Grammar::new(family.expect("a family")).expect("a grammar");
    let parser = Parser::builder(grammar).build().expect("a sound table");
    let read = |wire| parse(&parser, wire, End::Stop).expect("limits release");
    let message = read("<call of=\"ring\"→{\"times\": 2}</call>");
    assert_eq!(message.calls[0].name, "ring");
    for wire in ["<call of=\"\"→", "<call of=\"\"→{}</call>", "<call →"] {
        assert_eq!(read(wire).content, wire, "no tool has an empty name");
    }
}
