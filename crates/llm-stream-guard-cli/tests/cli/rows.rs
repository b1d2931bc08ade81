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
fn row_that_cannot_be_read_keeps_its_place_and_has_an_error() {
    let input = [
        &b"{\"id\": 1, \"text\": \"<think>a</think>b\"}"[..],
        b"{\"id\": 2, \"text\": \"\xff\xfe\"}",
        b"{\"id\": 3, \"text\": 7}",
        b"{\"id\": 4, \"text\": \"\\ud800\"}",
        b"[1]",
        b"{\"id\": 6, \"text\"",
        b"{\"id\": 7, \"text\": \"c\"}",
    ]
    .join(&b"\n"[..]);
    let always = ["parse", "-", "--jsonl", "--column", "text", "--family", "qwen3"];
    let output = run_on(&input, &[&always[..], &["--threads", "2"]].concat());
    assert!(output.status.success());
    let note = String::from_utf8_lossy(&output.stderr);
    assert!(note.contains("5 of 7 rows have an error"), "{note}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    // Rows keep their bytes, and this one has no JSON value.
    let text = text.replace("\\ud800", "");
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let faults = [
        None,
        Some("the line is not UTF-8 at byte 19"),
        Some("expected a text at `text`"),
        Some("the text at `text` is not Unicode"),
        Some("expected an object"),
        Some("expected an object"),
        None,
    ];
    assert_eq!(rows.len(), faults.len());
    for (row, fault) in rows.iter().zip(faults) {
        let error = row["message"]["error"].as_str();
        assert_eq!(error.is_some(), fault.is_some(), "{row}");
        assert!(error.unwrap_or_default().starts_with(fault.unwrap_or_default()), "{row}");
        assert_eq!(row["message"]["outcome"].is_null(), fault.is_some());
    }
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_u64()).collect();
    assert_eq!(ids, [Some(1), Some(2), Some(3), Some(4), None, None, Some(7)]);
    assert_eq!((&rows[4]["line"], &rows[5]["line"]), (&json!(5), &json!(6)));
    assert_eq!(rows[0]["message"]["content"], "b");
    assert_eq!(rows[6]["message"]["content"], "c");
}

#[test]
fn faults_name_their_line_where_errors_end_the_command() {
    let always = ["--jsonl", "--column", "text", "--family", "qwen3", "--on-error", "raise"];
    for (input, fault) in [
        ("{}\n[1]\n", "line 2: expected an object"),
        ("{\"text\": 7}\n", "line 1: expected a text at `text`"),
        ("{\"message\": 1}\n", "line 1: the row has a field `message`"),
    ] {
        let path = scratch("faulty-rows.jsonl", input);
        refused(&[&["parse", &path], &always[..]].concat(), &[fault]);
    }
    let path = scratch("taken-rows.jsonl", "{\"message\": 1, \"text\": \"a\"}\n");
    let found = rows("taken-rows.jsonl", "{\"message\": 1, \"text\": \"a\"}\n", &["--into", "m"]);
    assert_eq!(found[0]["m"]["content"], "a", "{path}");
}

#[test]
fn message_says_how_it_ended_and_what_was_open() {
    let input = "{\"text\": \"<think>a\"}\n{\"text\": \"<think>a</think>b\"}\n";
    let found = rows("open-rows.jsonl", input, &["--finish", "length"]);
    let ends: Vec<_> =
        found.iter().map(|row| (&row["message"]["finish"], &row["message"]["open"])).collect();
    let length = json!("length");
    assert_eq!(ends, [(&length, &json!("reasoning")), (&length, &json!("none"))]);
}

#[test]
fn settings_of_rows_come_from_other_fields() {
    let call = "<function=f><parameter=a>1</parameter></function>";
    let input = [
        json!({"text": format!("<tool_call>{call}</tool_call>"), "of": "qwen3_coder", "why": "stop",
            "id": "a", "tools": [{"type": "function", "function": {"name": "f", "parameters":
                {"type": "object", "properties": {"a": {"type": "string"}}}}}]}),
        json!({"text": format!("<tool_call>{call}</tool_call>"), "of": "qwen3_coder", "id": "b",
            "tools": "[]"}),
        json!({"text": "<think>x", "why": "max_tokens", "id": 3}),
        json!({"text": "x", "prompt": "<|im_start|>assistant\n<think>\n"}),
        json!({"text": "x", "of": "nobody"}),
        json!({"text": "x", "tools": [1]}),
    ];
    let input: String = input.iter().map(|row| format!("{row}\n")).collect();
    let more = ["family=of", "tools=tools", "finish=why", "key=id", "prompt=prompt"];
    let args: Vec<_> = more.iter().flat_map(|row| ["--row", row]).collect();
    let found = rows("set-rows.jsonl", &input, &args);
    let message = |at: usize| &found[at]["message"];
    assert_eq!(message(0)["calls"][0]["arguments"], "{\"a\": \"1\"}");
    assert_eq!(message(1)["calls"][0]["name"], "f");
    let ids: Vec<_> =
        (0..2).map(|at| message(at)["calls"][0]["id"].as_str().expect("an id")).collect();
    assert_ne!(ids[0], ids[1]);
    assert!(ids.iter().all(|id| id.len() == 29 && id.starts_with("call_")), "{ids:?}");
    assert_eq!(
        (&message(2)["finish"], &message(2)["open"]),
        (&json!("length"), &json!("reasoning"))
    );
    assert_eq!(message(3)["reasoning"], "x");
    assert!(message(4)["error"].as_str().expect("an error").contains("nobody"));
    assert!(message(5)["error"].as_str().expect("an error").starts_with("tools"));
    let again = rows("set-rows.jsonl", &input, &[&args[..], &["--threads", "1"]].concat());
    assert_eq!(again, found);
}

#[test]
fn counts_are_printed_in_place_of_rows() {
    let input = format!(
        "{{\"text\": \"<think>hm</think>{CALL}{CALL}\"}}\n{{\"text\": \"<think>a\"}}\n\
         {{\"text\": 7}}\n{{}}\n[1]\n"
    );
    let counts = rows("counted-rows.jsonl", &input, &["--count"]);
    assert_eq!(
        counts,
        [json!({
            "rows": 5, "nulls": 1, "errors": 2,
            "outcome": {"complete": 2}, "finish": {"stop": 2}, "open": {"none": 1, "reasoning": 1},
            "family": {}, "calls": {"complete": 2}, "diagnostics": {},
        })]
    );
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
    refused(&always, &["is a Parquet file", "crates/columns"]);
    let words = ["--jsonl", "--on-error", "raise"];
    refused(&[&always[..], &words].concat(), &["line 1: expected an object"]);
}
