//! Where a family and its template read one wire in two ways, as `docs/response-templates.md` says.

use guard_laws::GuardMachine;
use llm_stream_guard::{End, Guard, Profile, Tools};
use serde_json::json;
use stream_laws::{Cut, run};

use crate::export::{calls, exported};

/// The arguments of the first call that is complete.
fn arguments(profile: &Profile, wire: &str) -> Option<String> {
    let schema = json!({"properties": {"typed": {"type": "integer"}}});
    let guard = Guard::builder(profile).tools(Tools::new([("f", schema)])).build().unwrap();
    let events = run(&GuardMachine::new(guard, End::Stop), wire, Cut::EachScalar).events;
    calls(&events).into_iter().next().map(|(_, arguments)| arguments)
}

#[test]
fn template_and_family_differ_as_documented() {
    let json = |text: &str| {
        format!("<tool_call>\n{{\"name\": \"f\", \"arguments\": {text}}}\n</tool_call>")
    };
    let tags = |text: &str| format!("<tool_call>\n<function=f>\n{text}\n</function>\n</tool_call>");
    let tag = |key: &str, text: &str| format!("<parameter={key}>\n{text}\n</parameter>\n");
    let bare = |text: &str| format!("<|tool_call>call:f{text}<tool_call|>");
    for (family, wire, means, reference) in [
        ("hermes", json(r#"{"a": 1}"#), Some(r#"{"a": 1}"#), Some(r#"{"a": 1}"#)),
        ("hermes", json(r#"{"a": "</tool_call>"}"#), Some(r#"{"a": "</tool_call>"}"#), None),
        ("hermes", json("{\"a\": \"x\ty\"}"), Some(r#"{"a": "x\ty"}"#), None),
        ("hermes", json(r#"{"a": NaN}"#), None, Some(r#"{"a": null}"#)),
        (
            "qwen3_coder",
            tags(&(tag("a", "7") + "so\n" + &tag("b", "x"))),
            None,
            Some(r#"{"a": "7", "b": "x"}"#),
        ),
        (
            "qwen3_coder",
            tags(&tag("typed", "1e3")),
            Some(r#"{"typed": 1e3}"#),
            Some(r#"{"typed": 1000}"#),
        ),
        ("gemma4", bare("{a:word}"), Some(r#"{"a": "word"}"#), None),
    ] {
        let (profile, template) = (Profile::tools(family), exported(family).unwrap());
        assert_eq!(arguments(&profile, &wire).as_deref(), means, "{family}: {wire}");
        assert_eq!(
            arguments(&template, &wire).as_deref(),
            reference,
            "template of {family}: {wire}"
        );
    }
}
