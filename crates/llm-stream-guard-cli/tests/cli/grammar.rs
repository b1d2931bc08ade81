//! `--grammar`: families of the user's own.

use serde_json::{Value, json};

use crate::support::{coalesced, refused, run, run_on, scratch};

const BOOKS: &str = r#"
about = "Calls between tags"
source = "this test"
[calls]
call = '<book>{object}</book>'
keys = { name = ["fn"], arguments = ["args"] }
"#;

const WIRE: &str = "Hi. <book>{\"fn\": \"find\", \"args\": {\"title\": \"Emma\"}}</book>";

#[test]
fn custom_family_file_is_parsed_with_and_without_a_profile() {
    let books = scratch("books.toml", BOOKS);
    let plain = run_on(WIRE.as_bytes(), &["parse", "--grammar", &books]);
    let events = coalesced(&plain.stdout);
    assert_eq!(events[0]["text"], "Hi. ");
    assert_eq!(
        (&events[1]["name"], &events[2]["fragment"]),
        (&json!("find"), &json!("{\"title\": \"Emma\"}"))
    );
    let thought = format!("<think>Hm.</think>{WIRE}");
    let args = ["parse", "--grammar", &books, "--family", "qwen3", "--start", "content"];
    let events = coalesced(&run_on(thought.as_bytes(), &args).stdout);
    assert_eq!((&events[0]["text"], &events[2]["name"]), (&json!("Hm."), &json!("find")));
}

#[test]
fn family_option_takes_a_name_or_a_file() {
    let books = scratch("named_books.toml", &format!("reasoning = 'qwen3'\n{BOOKS}"));
    let thought = format!("<think>Hm.</think>{WIRE}");
    let events = coalesced(&run_on(thought.as_bytes(), &["parse", "--family", &books]).stdout);
    assert_eq!((&events[0]["text"], &events[2]["name"]), (&json!("Hm."), &json!("find")));
    refused(&["parse", "--family", "no_such.toml"], &["--family no_such.toml"]);
}

#[test]
fn rows_are_parsed_by_a_custom_family() {
    let books = scratch("row_books.toml", BOOKS);
    let row = json!({"text": WIRE}).to_string();
    let args = ["parse", "-", "--jsonl", "--column", "text", "--grammar", &books];
    let output = run_on(row.as_bytes(), &args);
    let row: Value = serde_json::from_slice(&output.stdout).expect("a row");
    assert_eq!(row["message"]["calls"][0]["name"], "find");
}

#[test]
fn cases_of_a_custom_family_are_checked() {
    let books = scratch("checked_books.toml", BOOKS);
    let case = |id: &str, content: &str| {
        let calls = json!([{"name": "find", "arguments": {"title": "Emma"}}]);
        let expect = json!({"content": content, "calls": calls});
        let case = json!({"id": id, "kind": "tools", "family": "checked_books", "wire": WIRE,
            "expect": expect, "note": "n"});
        format!("{case}\n")
    };
    let cases = scratch("books.jsonl", &(case("right", "Hi. ") + &case("wrong", "")));
    let output = run(&["check", &cases, "--grammar", &books]);
    let report = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(report.ends_with("1 passed, 1 failed\n"), "{report}");
    let without = run(&["check", &cases]);
    let report = String::from_utf8(without.stdout).expect("UTF-8");
    assert!(report.contains("unknown tool-call family `checked_books`"), "{report}");
}

#[test]
fn invalid_family_file_is_refused_with_the_field() {
    let typo = scratch("typo.toml", &BOOKS.replace("call =", "cal ="));
    refused(&["parse", "--grammar", &typo], &["typo.toml:5", "calls", "cal"]);
    let empty = scratch("empty.toml", "[calls]\n");
    refused(&["check", "x.jsonl", "--grammar", &empty], &["x.jsonl"]);
    let cases = scratch("no.jsonl", "{}\n");
    refused(
        &["check", &cases, "--grammar", &empty],
        &["empty.toml:1", "`calls`", "`call` is missing"],
    );
    refused(&["parse", "--grammar", "/nowhere.toml"], &["/nowhere.toml"]);
}
