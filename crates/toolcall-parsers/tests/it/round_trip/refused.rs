//! Tests of calls that registered families cannot express.

use serde_json::json;
use toolcall_parsers::{
    EncodeCall, EncodeErrorKind as Kind, Grammar, Tools, encode, grammar, grammars,
};

fn tools() -> Tools {
    let properties = json!({
        "s": {"type": "string"}, "n": {"type": "integer"}, "m": {"type": ["integer", "string"]},
    });
    Tools::new([("f", json!({"type": "object", "properties": properties}))])
}

#[test]
fn values_inexpressible_in_a_family_are_refused_with_their_place() {
    let f = |arguments| EncodeCall::new("f", arguments);
    let rows = [
        ("hermes", f("[1]"), Kind::Arguments, Some(0)),
        ("hermes", f("{\"a\": 01}"), Kind::Arguments, Some(7)),
        ("hermes", f("{\"a\": 1"), Kind::Arguments, Some(7)),
        ("hermes", f("{\"a\": \"\\ud800\"}"), Kind::Arguments, Some(7)),
        ("hermes", EncodeCall::new("", "{}"), Kind::Name, None),
        ("hermes", f("{}").with_id(""), Kind::Id, None),
        ("pythonic", f("{}").with_id("1"), Kind::Id, None),
        ("pythonic", f("{\"a b\": 1}"), Kind::Key, Some(1)),
        ("pythonic", f("{\"\": 1}"), Kind::Key, Some(0)),
        ("pythonic", f("{\"a\": 1, \"a\": 2}"), Kind::Key, None),
        ("pythonic", EncodeCall::new("f x", "{}"), Kind::Name, Some(1)),
        ("pythonic", EncodeCall::new("f.", "{}"), Kind::Name, Some(1)),
        ("pythonic", EncodeCall::new("1f", "{}"), Kind::Name, Some(0)),
        ("pythonic", EncodeCall::new("g", "{}"), Kind::Name, None),
        ("granite_pythonic", EncodeCall::new("éf", "{}"), Kind::Name, Some(0)),
        ("granite_pythonic", f("{\"a b\": 1}"), Kind::Key, Some(1)),
        ("harn_text", EncodeCall::new("f x", "{}"), Kind::Name, Some(1)),
        ("harn_text", f("{}").with_id("1"), Kind::Id, None),
        ("deepseek_v3_1", EncodeCall::new("f{", "{}"), Kind::Name, Some(1)),
        ("deepseek_v3_1", EncodeCall::new(" f", "{}"), Kind::Name, Some(0)),
        ("deepseek_v3_1", f("{}").with_id("1"), Kind::Id, None),
        ("qwen3_coder", EncodeCall::new("f>g", "{}"), Kind::Name, Some(1)),
        ("qwen3_coder", f("{\"a<b\": \"\"}"), Kind::Key, Some(1)),
        ("qwen3_coder", f("{\"\\\"'\": \"\"}"), Kind::Key, Some(0)),
        ("qwen3_coder", f("{}").with_id("1"), Kind::Id, None),
        ("qwen3_coder", f("{\"s\": 1}"), Kind::Value, None),
        ("qwen3_coder", f("{\"other\": true}"), Kind::Value, None),
        ("qwen3_coder", f("{\"m\": \"7\"}"), Kind::Value, None),
        ("qwen3_coder", f("{\"n\": \"7\"}"), Kind::Value, None),
        ("qwen3_coder", f("{\"n\": [7]}"), Kind::Value, None),
        ("qwen3_coder", f("{\"s\": \"ab</parameter>\"}"), Kind::Value, Some(2)),
        ("qwen3_coder", f("{\"s\": \"a\\n<parameter=n>\"}"), Kind::Value, Some(2)),
        ("minicpm5", EncodeCall::new("f'", "{}"), Kind::Name, Some(1)),
        ("step3", f("{\"s\": \" x\"}"), Kind::Value, None),
        ("gemma4", f("{\"s\": \"ab<|\\\"|>\"}"), Kind::Value, Some(2)),
        ("gemma4", f("{\"a:<|\\\"|>\": 1}"), Kind::Key, Some(2)),
        ("gemma4", EncodeCall::new("f{", "{}"), Kind::Name, Some(1)),
        ("functiongemma", f("{\"n\": \"7\"}"), Kind::Value, None),
        ("functiongemma", f("{}").with_id("1"), Kind::Id, None),
        ("minimax_m3", EncodeCall::new("f>", "{}"), Kind::Name, Some(1)),
        ("minimax_m3", f("{\"a>\": \"\"}"), Kind::Key, None),
        ("minimax_m3", f("{\"/a\": \"\"}"), Kind::Key, None),
        ("minimax_m3", f("{\"tool_call\": \"\"}"), Kind::Key, None),
        ("minimax_m3", f("{\"s\": \"a]<]minimax[>[</s>\"}"), Kind::Value, Some(1)),
        ("minimax_m3", f("{\"n\": \"7\"}"), Kind::Value, None),
        ("minimax_m3", f("{\"o\": [7]}"), Kind::Value, None),
        ("minimax_m3", f("{\"o\": {}}"), Kind::Value, None),
        ("minimax_m3", f("{\"o\": {\"item\": \"\"}}"), Kind::Value, None),
        ("minimax_m3", f("{\"o\": {\"a\": \"\", \"a\": \"\"}}"), Kind::Key, None),
        ("solar_open2", f("{\"s\": \"\", \"s\": \"\"}"), Kind::Key, None),
    ];
    let mut wrong = Vec::new();
    for (family, call, kind, at) in rows {
        let grammar = grammar(family).expect("it is registered");
        match encode(&grammar, &[call], &tools()) {
            Err(error) if (error.kind(), error.at(), error.call()) == (kind, at, 0) => {}
            other => wrong.push(format!("{family} {call:?}: {other:?}, not {kind:?} at {at:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn encode_error_names_the_faulty_call() {
    let grammar = grammar("qwen3_coder").expect("it is registered");
    let calls =
        [EncodeCall::new("f", "{}"), EncodeCall::new("f", "{\"s\": \"x\", \"n\": \"y z\"}")];
    let calls = [calls[0], EncodeCall::new("f", "{\"s\": \"x</parameter>\"}"), calls[1]];
    let error = encode(&grammar, &calls, &tools()).expect_err("an end tag in a value");
    assert_eq!((error.call(), error.key()), (1, Some("s")));
    assert_eq!(
        error.to_string(),
        "qwen3_coder: call 1 (\"f\"): cannot write the value of argument \"s\", byte 1: \
         it contains the tags that would end it"
    );
}

#[test]
fn values_with_tags_that_do_not_end_them_are_written() {
    let grammar = grammar("qwen3_coder").expect("it is registered");
    let values =
        ["x <parameter=a>", "</function>", "</function> x", "</tool_call>", "\n", "\n\n\n"];
    for value in values {
        let arguments = json!({"s": value}).to_string();
        let wire = encode(&grammar, &[EncodeCall::new("f", &arguments)], &tools());
        assert!(wire.is_ok(), "{value:?}: {wire:?}");
    }
}

#[test]
fn calls_are_written_with_any_separator_between_them() {
    for separator in ["", "\n", " and then ", "; "] {
        let mut family = grammar("llama3_json").expect("it is registered").family().clone();
        family.forms[0].between = vec![separator.to_owned()];
        let grammar = Grammar::new(family).expect("a sound family");
        let wire = encode(&grammar, &[EncodeCall::new("f", "{}"); 2], &Tools::none());
        assert!(wire.is_ok_and(|wire| wire.contains(&format!("}}{separator}{{"))));
    }
}

#[test]
fn encoding_with_an_empty_grammar_is_an_error() {
    let error = encode(&Default::default(), &[EncodeCall::new("f", "{}")], &Tools::none());
    assert_eq!(error.expect_err("no openers").kind(), Kind::Grammar);
}

#[test]
fn values_of_another_type_than_declared_are_written_or_refused_by_a_rule() {
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let values = [
        "null",
        "true",
        "1",
        "-2.5",
        "1e3",
        "[]",
        "[1,\"a\"]",
        "{}",
        "{\"a\":1}",
        "\"\"",
        "\"x\"",
        "\"1\"",
        "\"true\"",
        "\"null\"",
        "\"[1]\"",
        "\"{}\"",
        "\"[\\\"\"",
        "\" x \"",
        "\"a\\n\"",
    ];
    let (mut refused, mut without_rule) = (0, Vec::new());
    for grammar in grammars() {
        for declared in types {
            let inner = json!({"type": "object", "properties": {"v": {"type": declared}}});
            let properties = json!({"v": {"type": declared}, "o": inner});
            let tools = Tools::new([("f", json!({"type": "object", "properties": properties}))]);
            for value in values {
                for place in
                    [format!("{{\"v\": {value}}}"), format!("{{\"o\": {{\"v\": {value}}}}}")]
                {
                    let Err(error) = encode(&grammar, &[EncodeCall::new("f", &place)], &tools)
                    else {
                        continue;
                    };
                    refused += 1;
                    if error.kind() == Kind::NotReadBack {
                        without_rule.push(format!("{declared} {place}: {error}"));
                    }
                }
            }
        }
    }
    assert!(without_rule.is_empty(), "{}", without_rule.join("\n"));
    assert!(refused > 1000, "{refused}");
}
