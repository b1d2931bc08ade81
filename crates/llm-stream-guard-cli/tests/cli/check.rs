//! `check`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{root, run, scratch};

const WIRE: &str = "ok <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";

fn vector(id: &str, content: &str) -> String {
    let wire = WIRE;
    let calls = json!([{"name": "f", "arguments": {"a": 1.0}}]);
    let expect = json!({"content": content, "reasoning": "", "calls": calls});
    let case = json!({"id": id, "kind": "tools", "family": "hermes", "wire": wire,
        "whitespace": "framing", "expect": expect, "note": "n"});
    format!("{case}\n")
}

#[test]
fn wrong_expectation_fails_with_expected_and_actual_values() {
    let file = scratch("wrong.jsonl", &(vector("right", "ok ") + &vector("wrong", "no")));
    let output = run(&["check", &file]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("FAIL wrong") && text.contains("whole") && text.contains("\"no\""));
    assert_eq!(text.lines().last(), Some("1 passed, 1 failed"));
    let output = run(&["check", &file, "--only", "right"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"1 passed, 0 failed\n"[..]));
    let output = run(&["check", "--json", &file]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[1]["got"], "\"ok \"");
    assert_eq!(lines[1]["explanation"]["summary"]["calls"][0]["name"], "f");
    assert!(lines[0].get("explanation").is_none());
    assert_eq!(lines[2], json!({"type": "summary", "passed": 1, "failed": 1}));
}

#[test]
fn failed_case_prints_the_output_of_explain() {
    let wrong = vector("wrong", "no");
    let template = json!({"id": "template", "template": {"start_anchor": "", "fields": {}},
        "wire": "x", "expect": {"message": {}, "regions": []}});
    let own = json!({"start_anchor": "<bot>", "fields": {"thinking": {"open": "<t>",
        "close": "</t>"}, "content": {}}});
    let read = json!({"id": "read", "template": own, "wire": "<t>x</t>y",
        "expect": {"message": {"content": "x"}, "regions": []}});
    let file = scratch("explained.jsonl", &format!("{wrong}{template}\n{read}\n"));
    let output = run(&["check", &file]);
    let report = String::from_utf8(output.stdout).expect("UTF-8");
    let parts: Vec<&str> = report.split("FAIL ").collect();
    let same = run(&["explain", &scratch("same.txt", WIRE), "--family", "hermes"]);
    let same = String::from_utf8(same.stdout).expect("UTF-8");
    let same = same.split_once('\n').expect("a title").1;
    assert!(parts[1].contains(same), "{report}\n{same}");
    assert!(parts[2].contains("template: ") && !parts[2].contains("Read as"), "{report}");
    assert!(parts[3].contains("Read as `response_template`") && parts[3].contains("reasoning"));
    let brief = String::from_utf8(run(&["check", "--brief", &file]).stdout).expect("UTF-8");
    assert!(!brief.contains("Read as") && brief.contains("expected: "), "{brief}");
}

#[test]
fn line_without_a_valid_case_fails_alone() {
    let unknown =
        |what: &str, with: &str| vector(&format!("bad-{with}"), "ok ").replace(what, with);
    let option = vector("opt", "ok ").replace("\"note\"", "\"options\":{\"tag\":\"<x>\"},\"note\"");
    let text = [
        "{\"id\": \"broken\"\n".to_owned(),
        unknown("hermes", "hermess"),
        unknown("framing", "loose"),
        unknown("\"tools\"", "\"calls\""),
        option,
        vector("right", "ok "),
        vector("right", "ok "),
    ];
    let output = run(&["check", &scratch("lines.jsonl", &text.concat())]);
    let report = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report.lines().last(), Some("1 passed, 6 failed"), "{report}");
    for word in
        ["lines.jsonl:1", "`hermess`", "`whitespace`", "`kind`", "option `tag`: only", "before"]
    {
        assert!(report.contains(word), "expected {word:?} in {report}");
    }
}

/// Checks every file of vectors whose number is `shard`, three numbers each: at every cut they take
/// long.
fn the_vectors_of_this_repository_pass(shard: usize) {
    let (mut files, mut todo) = (Vec::new(), vec![root().join("families/vectors")]);
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.ends_with("faults") => {}
                _ if path.is_dir() => todo.push(path),
                Some(kind) if kind == "jsonl" => files.push(path.display().to_string()),
                _ => {}
            }
        }
    }
    assert!(files.len() > 3, "no vectors");
    files.sort();
    let files = files.iter().map(String::as_str).skip(shard).step_by(3);
    let args: Vec<&str> = ["check"].into_iter().chain(files).collect();
    let output = run(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn first_third_of_the_vectors_passes() {
    the_vectors_of_this_repository_pass(0);
}

#[test]
fn second_third_of_the_vectors_passes() {
    the_vectors_of_this_repository_pass(1);
}

#[test]
fn last_third_of_the_vectors_passes() {
    the_vectors_of_this_repository_pass(2);
}

/// What is fixed moves to the other vectors.
#[test]
fn known_faults_still_fail() {
    let file = root().join("families/vectors/faults/profiles.jsonl");
    let cases = fs::read_to_string(&file).expect("a file").lines().count();
    let output = run(&["check", &file.display().to_string()]);
    if cases == 0 {
        // A file without a case is refused.
        return assert_eq!(output.status.code(), Some(2));
    }
    let report = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(report.ends_with(&format!("0 passed, {cases} failed\n")), "{report}");
}

#[test]
fn case_without_a_family_is_read_with_the_given_template() {
    let own = json!({"response_template": {"start_anchor": "<bot>", "fields": {"thinking":
        {"open": "<t>", "close": "</t>"}, "content": {}}}});
    let template = scratch("own-template.json", &own.to_string());
    let region = |field: &str, text: &str| json!({"field": field, "raw": text, "value": text});
    let case = json!({"id": "own", "wire": "y<t>x</t>", "expect": {
        "message": {"content": "y", "thinking": "x"}, "content": "y", "reasoning": "x",
        "calls": [],
        "regions": [region("content", "y"), region("thinking", "x")]}});
    let file = scratch("of-no-family.jsonl", &format!("{case}\n{}", vector("family", "ok ")));
    let output = run(&["check", &file, "--template", &template]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.ends_with("2 passed, 0 failed\n"), "{text}");
    assert!(!run(&["check", &file]).status.success());
    let wrong = scratch("no-template.json", r#"{"response_schema": {}}"#);
    let output = run(&["check", &file, "--template", &wrong]);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(text.contains("--template") && text.contains("response_schema"), "{text}");
}
