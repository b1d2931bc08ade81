//! `encode`.

use crate::support::{refused, run, run_on, scratch};

const CALLS: &[u8] =
    br#"[{"name": "book", "arguments": {"seats": 2, "window": true}, "id": "aB3dE5gH7"},
        {"name": "ping", "arguments": "{}"}]"#;

fn wire(args: &[&str]) -> String {
    let output = run_on(CALLS, &[&["encode"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn model_id_selects_the_form_in_which_calls_are_written() {
    assert_eq!(
        wire(&["--model", "mistralai/Mistral-Small-3.2-24B-Instruct-2506"]),
        "[TOOL_CALLS]book[CALL_ID]aB3dE5gH7[ARGS]{\"seats\": 2, \"window\": true}[TOOL_CALLS]ping[ARGS]{}"
    );
    assert_eq!(
        wire(&["--model", "mistral-nemo", "-"]),
        "[TOOL_CALLS][{\"name\": \"book\", \"arguments\": {\"seats\": 2, \"window\": true}, \"id\": \"aB3dE5gH7\"}, \
         {\"name\": \"ping\", \"arguments\": {}}]"
    );
}

#[test]
fn argument_types_come_from_the_calls_or_declared_tools() {
    let file = scratch("calls.json", r#"[{"name": "book", "arguments": {"seats": 2}}]"#);
    let output = run(&["encode", "--family", "qwen3_coder", &file]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "<tool_call>\n<function=book>\n<parameter=seats>\n2\n</parameter>\n</function>\n</tool_call>"
    );
    let tools =
        r#"[{"name": "book", "parameters": {"properties": {"seats": {"type": "string"}}}}]"#;
    let tools = scratch("seats.json", tools);
    refused(
        &["encode", "--family", "qwen3_coder", &file, "--tools", &tools],
        &["calls.json", "argument \"seats\"", "read back as a string"],
    );
}

#[test]
fn ids_of_chat_apis_are_dropped_with_a_note_where_a_family_has_no_place() {
    let calls = r#"[{"id": "call_1", "type": "function", "function": {"name": "book", "arguments": "{\"seats\": 2}"}}]"#;
    let file = scratch("chat_calls.json", calls);
    let output = run(&["encode", "--model", "zai-org/GLM-4.7", &file]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "<tool_call>book<arg_key>seats</arg_key><arg_value>2</arg_value></tool_call>"
    );
    let note = String::from_utf8_lossy(&output.stderr);
    assert!(note.contains("`glm47` cannot write the id of call 0 (\"book\"): dropped"), "{note}");
    let output = run(&["encode", "--model", "mistral-nemo", &file]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"id\": \"call_1\""));
    assert!(output.stderr.is_empty(), "the id has a place");
}

#[test]
fn token_suffix_is_written_into_the_tags() {
    let file = scratch("ping.json", r#"[{"name": "ping", "arguments": {}}]"#);
    let output = run(&["encode", "--model", "tencent/Hy3", "--token-suffix", ":x", &file]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "<tool_calls:x>\n<tool_call:x>ping<tool_sep:x>\n</tool_call:x>\n</tool_calls:x>"
    );
}

#[test]
fn misuse_is_refused_with_argument_and_place() {
    let calls = scratch("no_calls.json", "[\n{\"nmae\": \"f\"}]");
    refused(&["encode", &calls], &["--family <NAME>", "--model <ID>"]);
    refused(&["encode", "--family", "hermes", &calls], &["no_calls.json", "`name`", "line 2"]);
    refused(&["encode", "--family", "basic", &calls], &["`basic` writes no tool calls"]);
    refused(&["encode", "--family", "hermes", "no/such/file"], &["no/such/file"]);
}
