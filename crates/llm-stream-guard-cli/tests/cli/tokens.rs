//! `parse` and `explain` on recordings with token ids.

use serde_json::{Value, json};

use crate::support::{coalesced, of_type, refused, run, run_on, sample, scratch};

/// Tokens that spell a marker in text, too: `</think>` in the reasoning.
fn typed() -> String {
    let tokens = [
        (7, "<think>"),
        (21, "The </"),
        (22, "think"),
        (23, "> tag."),
        (8, "</think>"),
        (24, "Yes"),
        (9, "<tool_call>"),
        (25, "{\"name\": \"f\", \"arguments\": {\"a\": 1}}"),
        (10, "</tool_call>"),
    ];
    let lines = tokens.map(|(id, text)| json!({"id": id, "text": text}).to_string());
    lines.join("\n")
}

/// The file of a tokenizer with the tags of reasoning, as in the recording of a chat.
fn tokenizer() -> String {
    let added = json!([{"id": 8, "content": "<think>"}, {"id": 10, "content": "</think>"}]);
    scratch("tokens_tokenizer.json", &json!({"added_tokens": added}).to_string())
}

fn explained(args: &[&str]) -> Value {
    let output = run(&[&["explain", "--json", "--family", "qwen3"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["explanations"][0].clone()
}

#[test]
fn parse_reads_tokens_from_a_file_and_from_standard_input() {
    let file = scratch("typed_tokens.jsonl", &typed());
    let from_file = run(&["parse", "--family", "qwen3", "--tokens", &file]).stdout;
    let args = ["parse", "--family", "qwen3", "--tokens", "-"];
    assert_eq!(from_file, run_on(typed().as_bytes(), &args).stdout);
    let events = coalesced(&from_file);
    assert_eq!(of_type(&events, "reasoning", "text").concat(), "The </think> tag.");
    assert_eq!(of_type(&events, "content", "text").concat(), "Yes");
    assert_eq!(of_type(&events, "call_end", "outcome"), ["complete"]);

    let recorded = run(&["parse", "--family", "qwen3", "--tokens", &sample("tokens.jsonl")]).stdout;
    let reasoning = of_type(&coalesced(&recorded), "reasoning", "text").concat();
    assert!(reasoning.contains("Brest is situated"), "{reasoning}");
}

#[test]
fn parse_detects_the_family_of_tokens() {
    let output = run(&["parse", "--tokens", &scratch("detected_tokens.jsonl", &typed())]);
    let note = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(note.contains("read as `"), "{note}");
    assert_eq!(of_type(&coalesced(&output.stdout), "call_start", "name"), ["f"]);
}

#[test]
fn explain_shows_the_role_of_each_token() {
    let file = scratch("explained_tokens.jsonl", &typed());
    let found = explained(&["--tokens", &file]);
    let tokens = found["tokens"].as_array().expect("tokens");
    let roles: Vec<_> = tokens.iter().map(|token| token["parts"][0]["role"].as_str()).collect();
    let expected = [
        "markup",
        "reasoning",
        "reasoning",
        "reasoning",
        "markup",
        "content",
        "markup",
        "markup",
        "markup",
    ];
    assert_eq!(roles, expected.map(Some), "{found}");
    let call = tokens[7]["parts"].as_array().expect("parts");
    assert!(call.iter().any(|part| part["role"] == "call_name" && part["call"] == 0), "{found}");
    assert_eq!((&tokens[4]["ids"], &tokens[4]["len"]), (&json!([8]), &json!(8)));

    let shown = run(&["explain", "--family", "qwen3", "--tokens", &file]).stdout;
    let shown = String::from_utf8(shown).expect("UTF-8");
    assert!(shown.contains("The tokens and their roles"), "{shown}");
    assert!(shown.contains("</think>   (markup)"), "{shown}");
}

#[test]
fn explain_shows_the_tokens_of_recorded_chunks_and_in_its_page() {
    let tokenizer = tokenizer();
    let recording = sample("chat_ids.sse");
    let found = explained(&["--checkpoint", &tokenizer, &recording]);
    let tokens = found["tokens"].as_array().expect("tokens");
    let of_role = |role: &str| {
        let tokens = tokens.iter().filter(|token| token["parts"][0]["role"] == role);
        tokens.count()
    };
    assert_eq!((tokens.len(), of_role("reasoning")), (47, 24), "{found}");

    let page = format!("{}.html", scratch("tokens_page", ""));
    run(&["explain", "--family", "qwen3", "--checkpoint", &tokenizer, "--html", &page, &recording]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(
        page.contains("The tokens and their roles") && page.contains("\"tokens\":[[["),
        "no tokens"
    );

    let without = explained(&[&recording]);
    assert_eq!(without["tokens"].as_array().map(Vec::len), Some(47), "{without}");
    assert_eq!(without["summary"]["reasoning"], found["summary"]["reasoning"]);
    assert!(explained(&[&sample("hermes_think.sse")]).get("tokens").is_none());
}

#[test]
fn checkpoint_that_lists_no_tokens_is_refused() {
    let empty = scratch("no_tokens.json", "{}");
    let file = scratch("refused_tokens.jsonl", &typed());
    refused(&["parse", "--tokens", &file, "--checkpoint", &empty], &["no file lists added tokens"]);
    refused(&["parse", "--tokens", &file, "--checkpoint", "no/such.json"], &["no/such.json"]);
}
