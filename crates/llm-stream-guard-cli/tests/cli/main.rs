//! The command as a user runs it.

mod call_grammars;
mod check;
mod console;
mod derive;
mod encode;
mod explain;
mod export;
mod grammar;
#[path = "../../../llm-stream-guard/tests/it/hostile.rs"]
mod hostile;
mod identify;
#[cfg(unix)]
mod image;
#[cfg(unix)]
mod lifecycle;
#[cfg(feature = "otel")]
mod otel;
mod rows;
mod rules;
mod serve;
mod support;
mod template_or_family;
mod tokens;

use std::{
    io::{Read as _, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};
use support::{command, events, of_type, refused, run, run_on, sample, scratch};

/// Samples, with the family that reads each and the calls it holds.
const SAMPLES: &[(&str, &str, &[&str])] = &[
    ("hermes.sse", "hermes", &["get_weather", "get_time"]),
    ("note.sse", "qwen3", &["save_note"]),
    ("hermes_think.sse", "qwen3", &["get_weather"]),
    ("think_answer.sse", "qwen3", &[]),
    ("think_prefilled.sse", "qwen3", &[]),
    ("mistral.sse", "mistral", &["search", "search"]),
    ("mistral_v11.sse", "mistral", &["search"]),
    ("pythonic.sse", "pythonic", &["get_weather", "get_time"]),
    ("qwen3_coder.sse", "qwen3_coder", &["write_file"]),
    ("llama3_json.sse", "llama3_json", &["get_weather"]),
    ("deepseek_v3_1.sse", "deepseek_v3_1", &["get_weather"]),
    ("plain_emoji.sse", "hermes", &[]),
    ("two_choices.sse", "qwen3", &["get_weather"]),
    ("reasoning_fields.sse", "qwen3", &[]),
    ("native_calls.sse", "qwen3", &["get_weather", "get_time"]),
    ("missing_done.sse", "hermes", &["log"]),
    ("error.sse", "hermes", &[]),
    ("crlf.sse", "hermes", &[]),
    ("strings.jsonl", "qwen3", &["plan"]),
    ("hermes.txt", "hermes", &["search"]),
    ("invalid_utf8.txt", "hermes", &["f"]),
];

#[test]
fn every_sample_yields_its_calls_without_markup_in_content() {
    for &(name, family, calls) in SAMPLES {
        let events = events(&[&sample(name), "--family", family]);
        assert_eq!(of_type(&events, "call_start", "name"), calls, "{name}");
        assert_eq!(
            of_type(&events, "call_end", "outcome"),
            vec!["complete"; calls.len()],
            "{name}"
        );
        for arguments in of_type(&events, "call_arguments", "fragment") {
            assert!(
                serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object()),
                "{name}"
            );
        }
        let text = of_type(&events, "content", "text").concat();
        assert!(!text.contains("tool_call") && !text.contains("TOOL_CALLS"), "{name}: {text}");
    }
}

#[test]
fn chunk_option_does_not_change_events() {
    for &(name, family, _) in SAMPLES {
        let file = sample(name);
        let whole = events(&[&file, "--family", family]);
        for chunk in ["1", "2", "3", "7", "64", "100000"] {
            let again = events(&[&file, "--family", family, "--chunk", chunk]);
            assert_eq!(again, whole, "{name} in pieces of {chunk}");
        }
    }
}

#[test]
fn reasoning_is_separated_from_content() {
    let file = sample("think_prefilled.sse");
    let events = events(&[&file, "--family", "qwen3", "--start", "reasoning"]);
    assert!(of_type(&events, "reasoning", "text").concat().starts_with("Bonjour!"));
    assert!(of_type(&events, "content", "text").concat().starts_with("Just add"));
    let events = self::events(&[&sample("reasoning_fields.sse"), "--model", "Qwen/Qwen3-8B"]);
    assert_eq!(of_type(&events, "reasoning", "text"), ["The user greets me. Be kind."]);
    assert_eq!(of_type(&events, "content", "text"), ["Hello there."]);
}

#[test]
fn parameters_are_typed_by_declared_tools() {
    let args = [&sample("qwen3_coder.sse"), "--family", "qwen3_coder", "--tools"];
    let events = events(&[&args[..], &[&sample("tools.json")]].concat());
    let arguments = of_type(&events, "call_arguments", "fragment");
    let arguments: Value = serde_json::from_str(arguments[0]).expect("JSON");
    assert_eq!(
        (&arguments["path"], &arguments["overwrite"]),
        (&json!("src/srtwrk.py"), &json!(true))
    );
    assert!(arguments["content"].as_str().is_some_and(|code| code.contains("\n    if n < 2")));
}

#[test]
fn each_choice_has_its_own_state() {
    let events = events(&[&sample("two_choices.sse"), "--family", "qwen3"]);
    let of = |choice: u64| -> Vec<Value> {
        events.iter().filter(|event| event["choice"] == choice).cloned().collect()
    };
    assert_eq!(of_type(&of(0), "reasoning", "text"), ["Two cities."]);
    assert_eq!(of_type(&of(0), "call_start", "name"), ["get_weather"]);
    let other = "Without a tool: it is cold < in Oslo, 5 °C.";
    let content = json!({"type": "content", "choice": 1, "text": other});
    let end = json!({"type": "end", "choice": 1, "finish": "stop", "open": "none"});
    assert_eq!(of(1), [content, end]);
}

#[test]
fn truncated_call_is_incomplete_under_both_deliveries() {
    for delivery in ["streaming", "atomic"] {
        let file = sample("truncated.sse");
        let events = events(&[&file, "--family", "hermes", "--delivery", delivery]);
        assert_eq!(of_type(&events, "call_end", "outcome"), ["incomplete"]);
        assert!(of_type(&events, "call_arguments", "fragment")[0].ends_with("I am here"));
    }
}

#[test]
fn error_in_the_stream_is_reported_and_held_text_is_emitted() {
    let events = events(&[&sample("error.sse"), "--family", "hermes"]);
    let kinds = of_type(&events, "diagnostic", "kind");
    assert_eq!(kinds, ["error", "no_finish_reason"]);
    assert_eq!(of_type(&events, "content", "text").concat(), "The first half of an answer <");
    assert!(events.iter().any(|event| event["message"] == "the engine ran out of memory"));
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_and_counted() {
    let events = events(&[&sample("invalid_utf8.txt"), "--family", "hermes"]);
    assert_eq!(of_type(&events, "content", "text"), ["café \u{FFFD}\u{FFFD}( ", " ok"]);
    assert_eq!(of_type(&events, "call_arguments", "fragment"), ["{\"x\": \"\u{FFFD}\"}"]);
    let last = events.last().expect("a diagnostic");
    assert_eq!((&last["kind"], &last["count"]), (&json!("invalid_utf8"), &json!(3)));
}

#[test]
fn events_are_written_before_piped_input_ends() {
    let mut child = command(&["parse", "--family", "hermes"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"Hello").expect("it reads");
    let expected = b"{\"type\":\"content\",\"choice\":0,\"text\":\"Hello\"}\n";
    let mut answer = vec![0; expected.len()];
    child.stdout.as_mut().expect("piped").read_exact(&mut answer).expect("it answers");
    assert_eq!(answer, expected);
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn closed_output_pipe_is_not_a_failure() {
    let mut child = command(&["parse", "--family", "hermes", &sample("plain_emoji.sse")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn misuse_is_refused_with_argument_and_place() {
    let file = sample("hermes.txt");
    refused(&["parse", &file, "--family", "qwen4"], &["unknown family `qwen4`", "`qwen3`"]);
    refused(
        &["parse", &file, "--model", "acme/qwen"],
        &["--model", "acme/qwen", "of the same brand", "`qwen3`"],
    );
    refused(&["parse", &file, "--chunk", "0"], &["--chunk", "0"]);
    let limit = ["parse", &file, "--family", "hermes", "--limit-candidate", "0"];
    refused(&limit, &["limit `candidate` is 0"]);
    refused(&["parse", "no/such/file", "--family", "hermes"], &["no/such/file"]);
    refused(
        &["parse", &file, "--family", "hermes", "--start", "reasoning"],
        &["--start", "hermes"],
    );
    let syntax = scratch("syntax.json", "[\n  {\"name\": }\n]");
    let tools = ["parse", &file, "--family", "hermes", "--tools", &syntax];
    refused(&tools, &["syntax.json", "line 2 column 12"]);
    let nameless = scratch("nameless.json", "[{\"name\": \"a\"},\n {\"type\": \"function\"}]");
    let tools = ["parse", &file, "--family", "hermes", "--tools", &nameless];
    refused(&tools, &["nameless.json", "function.name", "line 2"]);
    refused(&["check", "no/such/vectors.jsonl"], &["no/such/vectors.jsonl"]);
}

#[test]
fn text_output_marks_reasoning_and_calls_and_escapes_control_characters() {
    let args = ["parse", "--family", "qwen3", "--output", "text"];
    let input =
        b"<think>hm</think>\x1b[31mred <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let output = run_on(input, &args);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(text, "[reasoning] hm\n\\u{1b}[31mred \n-> f({})\n");
}

#[test]
fn families_are_listed_as_text_and_json() {
    let output = run(&["families", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (table, name) in [("tools", "hermes"), ("reasoning", "qwen3"), ("profiles", "qwen3")] {
        let names = value[table].as_array().expect("a list").iter().map(|row| &row["name"]);
        assert!(names.into_iter().any(|one| one == name), "{table}: {name}");
    }
    let text = String::from_utf8(run(&["families"]).stdout).expect("UTF-8");
    assert!(text.lines().any(|line| line.starts_with("qwen3 ") && line.contains("end")), "{text}");
}

#[test]
fn completions_have_every_command_and_option() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).expect("text");
        for word in ["parse", "serve", "whitespace"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        let completes_values = !matches!(shell, "elvish" | "powershell");
        assert_eq!(script.contains("before_calls"), completes_values, "{shell}");
    }
    refused(&["completions", "tcsh"], &["bash", "zsh"]);
}

#[test]
fn version_begins_with_that_of_the_package() {
    let printed = String::from_utf8(run(&["--version"]).stdout).expect("text");
    let version = printed.trim().strip_prefix("llm-stream-guard ").expect("the name");
    assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{version}");
}
