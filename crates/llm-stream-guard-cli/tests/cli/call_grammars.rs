//! `families --grammar`: grammars for constrained decoding.

use serde_json::{Value, json};

use crate::support::{refused, run, scratch};

fn tools(name: &str) -> String {
    let tools = json!([
        {"type": "function", "function": {"name": "tide", "parameters": {"type": "object",
            "properties": {"port": {"type": "string", "pattern": "^[A-Z]"}}, "required": ["port"]}}},
        {"type": "function", "function": {"name": "wind", "parameters": {"type": "object",
            "properties": {"knots": {"type": "integer", "minimum": 0, "maximum": 9}}}}}
    ]);
    scratch(name, &tools.to_string())
}

/// Returns the grammar and the notes.
fn written(args: &[&str]) -> (String, String) {
    let output = run(&[&["families", "--grammar"], args].concat());
    let notes = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{args:?}: {notes}");
    (String::from_utf8(output.stdout).expect("UTF-8"), notes)
}

#[test]
fn each_language_has_the_markers_and_tools_of_the_family() {
    let tools = tools("grammar_tools.json");
    let starts = [
        ("gbnf", "root ::= "),
        ("lazy-gbnf", "{"),
        ("structural-tag", "{"),
        ("lark", "%llguidance {}"),
        ("regex", "(?:"),
    ];
    for (language, start) in starts {
        let (grammar, notes) = written(&[language, "hermes", "--tools", &tools]);
        assert!(grammar.starts_with(start), "{language}: {grammar}");
        assert!(grammar.contains("tool_call>"), "{language}: {grammar}");
        assert!(grammar.contains("tide") && grammar.contains("wind"), "{language}: {grammar}");
        assert!(notes.contains("note: not checked: tide, port: `pattern`"), "{language}: {notes}");
    }
    let (tag, _) = written(&["structural-tag", "hermes", "--tools", &tools]);
    let tag: Value = serde_json::from_str(&tag).expect("JSON");
    assert_eq!(
        (&tag["type"], &tag["format"]["type"]),
        (&json!("structural_tag"), &json!("grammar"))
    );
    let (lazy, _) = written(&["lazy-gbnf", "hermes", "--tools", &tools]);
    let lazy: Value = serde_json::from_str(&lazy).expect("JSON");
    assert_eq!(lazy["grammar_lazy"], true);
    assert_eq!(lazy["grammar_triggers"][0]["value"], "<tool_call>");
}

#[test]
fn token_markers_are_written_as_tokens_in_lark_only() {
    let tools = tools("token_tools.json");
    let (lark, _) = written(&["lark", "kimi_k2", "--tools", &tools]);
    assert!(lark.contains(" <|tool_call_begin|> "), "{lark}");
    let (gbnf, _) = written(&["gbnf", "kimi_k2", "--tools", &tools]);
    assert!(gbnf.contains("<|tool_call_begin|>functions.tide:"), "{gbnf}");
}

#[test]
fn choice_count_and_start_change_the_grammar() {
    let tools = tools("choice_tools.json");
    let gbnf =
        |more: &[&str]| written(&[&["gbnf", "qwen3", "--tools", &tools][..], more].concat()).0;
    let named = gbnf(&["--choice", "wind"]);
    assert!(named.contains("wind") && !named.contains("tide"), "{named}");
    let none = gbnf(&["--choice", "none"]);
    assert!(!none.contains("wind"), "{none}");
    let all = [gbnf(&[]), gbnf(&["--single"]), gbnf(&["--choice", "auto"]), named, none];
    let reasoning = gbnf(&["--start", "reasoning"]);
    for (n, grammar) in all.iter().enumerate() {
        assert!(!all[..n].contains(grammar) && *grammar != reasoning, "{n}: {grammar}");
    }
    // The template of the model opens the thought, as the option says.
    let model = ["gbnf", "Qwen/Qwen3-235B-A22B-Thinking-2507", "--tools", &tools];
    assert_eq!(written(&model).0, reasoning);
}

#[test]
fn grammars_that_cannot_be_written_are_refused_with_the_reason() {
    let tools = tools("refused_tools.json");
    let grammar = |args: &[&str], words: &[&str]| {
        refused(&[&["families", "--grammar"], args].concat(), words);
    };
    grammar(&["gbnf", "hermes"], &["--tools"]);
    grammar(&["gbnf", "--tools", &tools], &["NAME"]);
    grammar(&["gbnf", "basic", "--tools", &tools], &["--grammar basic", "call no tools"]);
    grammar(
        &["gbnf", "hermes", "--tools", &tools, "--choice", "rain"],
        &["`rain` is not declared"],
    );
    grammar(&["ebnf", "hermes", "--tools", &tools], &["structural-tag"]);
    let tree = json!([{"name": "grow", "parameters": {"type": "object", "properties":
        {"tree": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}}]);
    let tree = scratch("tree_tools.json", &tree.to_string());
    grammar(&["regex", "hermes", "--tools", &tree], &["--grammar hermes", "nest"]);
    refused(&["families", "hermes"], &["--grammar"]);
}
