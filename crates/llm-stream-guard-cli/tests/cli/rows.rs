//! `parse --column`: rows of whole texts.

use serde_json::{Value, json};

use crate::support::{refused, run_on, scratch};

const CALL: &str = r#"<tool_call>{\"name\": \"ring\", \"arguments\": {}}</tool_call>"#;

/// The rows that the command writes for a file of `input`.
fn rows(file: &str, input: &str, args: &[&str]) -> Vec<Value> {
    let path = scratch(file, input);
    let always = ["parse", &path, "--jsonl", "--column", "text", "--family", "qwen3"];
    let output = run_on(b"", &[&always, args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn rows_get_their_messages_and_keep_their_fields() {
    let input = format!(
        "{{\"id\": 1e400, \"text\": \"<think>hm</think>Hi.{CALL}\"}}\n\n{{\"text\": null}}\n{{}}\n"
    );
    let always = ["parse", "-", "--jsonl", "--column", "text", "--family", "qwen3"];
    let output = run_on(input.as_bytes(), &always);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("{\"id\": 1e400, \"text\": "), "{}", lines[0]);
    let message = lines[0].split_once(",\"message\":").expect("the field").1;
    let message: Value =
        serde_json::from_str(message.strip_suffix('}').expect("an object")).expect("JSON");
    assert_eq!(message["content"], "Hi.");
    assert_eq!(message["reasoning"], "hm");
    assert_eq!(message["calls"][0]["name"], "ring");
    assert_eq!(message["outcome"], "complete");
    assert_eq!(lines[1..], ["{\"text\": null,\"message\":null}", "{\"message\":null}"]);
}

#[test]
fn every_number_of_threads_gives_the_same_rows() {
    let row =
        |n: usize| json!({"n": n, "text": format!("<think>{n}</think>{n} {}", "x".repeat(n % 50))});
    let input: String = (0..3000).map(|n| format!("{}\n", row(n))).collect();
    let one = rows("many-rows.jsonl", &input, &["--threads", "1"]);
    assert_eq!(one.len(), 3000);
    for threads in ["2", "3", "7"] {
        assert!(
            rows("many-rows.jsonl", &input, &["--threads", threads]) == one,
            "{threads} threads"
        );
    }
    assert_eq!(one[2999]["message"]["reasoning"], "2999");
}

#[test]
fn a_cut_call_is_incomplete() {
    let input = format!("{{\"text\": \"{}\"}}\n", &CALL[..CALL.len() - 20]);
    let found = rows("cut-rows.jsonl", &input, &["--finish", "length"]);
    assert_eq!(found[0]["message"]["outcome"], "incomplete");
}

#[test]
fn faults_name_their_line() {
    let always = ["--jsonl", "--column", "text", "--family", "qwen3"];
    for (input, fault) in [
        ("{}\n[1]\n", "line 2: expected an object"),
        ("{\"text\": 7}\n", "line 1: expected a text at `text`"),
        ("{\"message\": 1}\n", "line 1: the row has a field `message`"),
    ] {
        let path = scratch("faulty-rows.jsonl", input);
        refused(&[&["parse", &path], &always[..]].concat(), &[fault]);
    }
}

#[test]
fn a_family_must_be_named() {
    let path = scratch("rows.jsonl", "{}\n");
    refused(&["parse", &path, "--jsonl", "--column", "text"], &["--column needs --family"]);
}

#[test]
fn rows_are_json_lines_without_a_word() {
    let path = scratch("plain-rows.jsonl", "{}\n");
    let output = run_on(b"", &["parse", &path, "--column", "text", "--family", "qwen3"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"message\":null}\n");
}

#[test]
fn parquet_is_refused_with_the_command_that_reads_it() {
    let path = scratch("rows.parquet", "PAR1");
    let always = ["parse", &path, "--column", "text", "--family", "qwen3"];
    refused(&always, &["is a Parquet file", "bindings/columns"]);
    refused(&[&always[..], &["--jsonl"]].concat(), &["line 1: expected an object"]);
}
