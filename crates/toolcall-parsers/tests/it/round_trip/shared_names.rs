//! Tests of parameters that have the names of tools.

use serde_json::json;
use stream_laws::CutPlan;
use toolcall_parsers::{EncodeCall, EncodeErrorKind, Tools, encode, grammars};

use super::reads_back;

#[test]
fn calls_with_keys_that_are_names_of_tools_read_back_as_complete() {
    let takes = |key: &str| {
        json!({"type": "object", "properties": {
            "n": {"type": "integer"}, "find": {"type": "string"}, key: {"type": "string"}}})
    };
    let tools =
        Tools::new([("edit", takes("edit")), ("find", takes("edit")), ("note", takes("find"))]);
    let calls = [
        ("edit", r#"{"n": 3, "find": "ebb"}"#),
        ("find", r#"{"edit": "flood"}"#),
        ("edit", r#"{"find": "ebb"}"#),
        ("find", r#"{"n": 3, "find": ""}"#),
        ("note", "{}"),
        ("edit", r#"{"edit": ""}"#),
        ("edit", r#"{"edit": "flood"}"#),
        ("note", r#"{"find": "ebb"}"#),
    ];
    let calls = calls.map(|(name, arguments)| EncodeCall::new(name, arguments));
    let mut several = 0;
    for grammar in grammars() {
        for calls in calls.windows(1).chain(calls.windows(2)) {
            let wire = match encode(&grammar, calls, &tools) {
                Ok(wire) => wire,
                // Some families have one call per answer.
                Err(error) if error.kind() == EncodeErrorKind::Several => continue,
                Err(error) => panic!("{error}"),
            };
            several += calls.len() - 1;
            reads_back(&grammar, &tools, calls, &wire, CutPlan::quick(7))
                .unwrap_or_else(|no| panic!("{}: {no}", grammar.name()));
        }
    }
    assert!(several > 200, "{several}");
}
