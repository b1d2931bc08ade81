//! The rules of `docs/semantics.md`: each has vectors in `families/vectors/rules.jsonl`, and the page shows
//! the first and lists all.

use std::{collections::BTreeMap, env, fs};

use serde_json::Value;

use crate::support::{refused, root, run};

/// The vectors of each rule, by its number.
fn vectors() -> BTreeMap<usize, Vec<Value>> {
    let text =
        fs::read_to_string(root().join("families/vectors/rules.jsonl")).expect("the vectors");
    let mut rules = BTreeMap::<usize, Vec<Value>>::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("JSON");
        let rule = case["policy"].as_str().and_then(|policy| policy.strip_prefix("rule "));
        let rule = rule.unwrap_or_else(|| panic!("{}: its `policy` is a rule", case["id"]));
        rules.entry(rule.parse().expect("a number")).or_default().push(case);
    }
    rules
}

/// Formats a wire on one line, runs of one character shortened.
fn shown(wire: &str) -> String {
    let mut shown = String::new();
    let mut rest = wire.replace('\n', "⏎");
    while let Some(first) = rest.chars().next() {
        let run: String = rest.chars().take_while(|next| *next == first).collect();
        match run.chars().count() {
            count if count > 40 => shown += &format!("[{count} times {first}]"),
            _ => shown += &run,
        }
        rest.drain(..run.len());
    }
    shown
}

/// Formats a case: its settings, its wire and what is expected.
fn example(case: &Value) -> String {
    let mut settings = vec![case["family"].as_str().expect("a family").to_owned()];
    let tools = case["tools"].as_array().into_iter().flatten();
    let tools: Vec<&str> = tools.filter_map(|tool| tool["function"]["name"].as_str()).collect();
    if !tools.is_empty() {
        settings.push(format!("declared: {}", tools.join(" ")));
    }
    if case["start"] == "reasoning" {
        settings.push("the prompt opened a thought".to_owned());
    }
    if let Some(options) = case["options"].as_object() {
        settings.extend(options.iter().map(|(name, value)| format!("{name}: {value}")));
    }
    if case["finish"] == "length" {
        settings.push("cut".to_owned());
    }
    let wire = match case["wire"].as_str() {
        Some(wire) => wire.to_owned(),
        None => {
            let pieces = case["pieces"].as_array().expect("a wire or pieces").iter();
            let text = |piece: &Value| match (&piece[0], piece[1] == 1) {
                (text, true) => format!("[token {}]", text.as_str().expect("a text")),
                (text, false) => text.as_str().expect("a text").to_owned(),
            };
            pieces.map(text).collect()
        }
    };
    let mut lines = vec![settings.join(", "), format!("  {}", shown(&wire))];
    let expect = &case["expect"];
    for channel in ["reasoning", "content"] {
        match expect[channel].as_str() {
            Some("") | None => {}
            Some(text) => lines.push(format!("{channel:<9}  {}", shown(text))),
        }
    }
    for call in expect["calls"].as_array().into_iter().flatten() {
        let name = call["name"].as_str().expect("a name");
        lines.push(format!("call       {name} {}", shown(&call["arguments"].to_string())));
    }
    if let Some(name) = expect["incomplete"]["name"].as_str() {
        lines.push(format!("damaged    {name}"));
    }
    format!("```text\n{}\n```\n", lines.join("\n"))
}

/// Formats what the page has below a rule's text.
fn block(cases: &[Value]) -> String {
    let ids = cases.iter().map(|case| format!("`{}`", case["id"].as_str().expect("an id")));
    let ids: Vec<String> = ids.collect();
    format!("{}\nVectors: {}\n", example(&cases[0]), ids.join(", "))
}

#[test]
fn page_shows_every_rule_with_its_vectors() {
    let path = root().join("docs/semantics.md");
    let mut page = fs::read_to_string(&path).expect("the page");
    let rules = vectors();
    let headings: Vec<usize> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### ")?.split_once(". ")?.0.parse().ok())
        .collect();
    assert_eq!(headings, Vec::from_iter(1..=headings.len()));
    assert!(rules.keys().copied().eq(headings), "a rule without vectors, or an unknown rule");
    for (number, cases) in &rules {
        let heading = format!("\n### {number}. ");
        let rule = page.find(&heading).unwrap_or_else(|| panic!("`{heading}` in the page"));
        let at = rule + page[rule..].find("```text\n").expect("the rule's example");
        let vectors = at + page[at..].find("\nVectors: ").expect("the rule's vectors") + 1;
        let end = vectors + page[vectors..].find('\n').expect("an end of the line") + 1;
        page.replace_range(at..end, &block(cases));
    }
    if env::var_os("UPDATE").is_some() {
        return fs::write(&path, page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).expect("the page");
    assert!(page == written, "run `UPDATE=1 cargo test -p llm-stream-guard-cli --test cli rules`");
}

#[test]
fn check_runs_the_vectors_of_one_rule() {
    for (number, cases) in vectors() {
        let output = run(&["check", "--rule", &number.to_string()]);
        let report = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(report, format!("{} passed, 0 failed\n", cases.len()), "rule {number}");
    }
}

#[test]
fn check_of_an_unknown_rule_lists_the_rules() {
    refused(&["check", "--rule", "99"], &["no case of rule 99; rules with cases: 1, 2, 3"]);
}
