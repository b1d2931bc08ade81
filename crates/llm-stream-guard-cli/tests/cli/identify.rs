//! `detect`, `identify`, and `parse` without a family.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::hostile;
use crate::support::{coalesced, gguf, gguf_text, of_type, refused, run, run_on, sample, scratch};

fn json(args: &[&str]) -> Value {
    serde_json::from_slice(&run(args).stdout).expect("JSON")
}

#[test]
fn family_is_detected_from_recordings_of_every_form() {
    for (name, family) in [
        ("hermes_think.sse", "qwen3"),
        ("strings.jsonl", "qwen3"),
        ("hermes.txt", "hermes"),
        ("mistral_v11.sse", "mistral"),
        ("two_choices.sse", "qwen3"),
        ("deepseek_v3_1.sse", "deepseek_v3_1"),
    ] {
        let found = json(&["detect", "--json", &sample(name)]);
        assert_eq!(found["certainty"], "sure", "{name}: {found}");
        let families = found["candidates"][0]["families"].as_array().expect("a list");
        assert!(families.contains(&family.into()), "{name}: {found}");
    }
    let output = run_on(b"Just text.", &["detect"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.starts_with(b"unknown: nothing looks like"));
}

#[test]
fn parse_without_a_family_uses_and_reports_the_detected_one() {
    let output = run(&["parse", &sample("think_prefilled.sse")]);
    let events = coalesced(&output.stdout);
    assert!(of_type(&events, "reasoning", "text").concat().starts_with("Bonjour!"));
    let note = String::from_utf8_lossy(&output.stderr);
    assert!(note.contains("read as `qwen3` (likely)") && note.contains("`</think>`"), "{note}");

    let text = b"<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let output = run_on(text, &["parse"]);
    assert_eq!(of_type(&coalesced(&output.stdout), "call_start", "name"), ["f"]);

    let output = run(&["parse", &scratch("html.txt", "It <b>rains</b>.")]);
    let content = of_type(&coalesced(&output.stdout), "content", "text").concat();
    assert_eq!(content, "It <b>rains</b>.");
    let note = String::from_utf8_lossy(&output.stderr);
    assert!(note.contains("passes as content: nothing in it tells a family"), "{note}");
}

/// A template of our own, in the shape of Mistral's newest.
const TEMPLATE: &str = "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}{% for c in \
    m.tool_calls or [] %}[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}\
    {% endfor %}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";

#[test]
fn family_is_identified_from_a_folder_a_template_or_a_gguf_file() {
    let config = json!({"chat_template": TEMPLATE, "eos_token": "</s>"});
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint");
    fs::create_dir_all(&folder).expect("the scratch directory is there");
    fs::write(folder.join("tokenizer_config.json"), config.to_string()).expect("it is written");
    fs::write(folder.join("model.gguf"), gguf(&[], TEMPLATE)).expect("it is written");
    let template = scratch("own.jinja", TEMPLATE);
    let folder = folder.display().to_string();
    for path in [&folder, &format!("{folder}/model.gguf"), &template] {
        let found = json(&["identify", "--json", path]);
        assert_eq!(found["families"][0], "mistral", "{path}: {found}");
        assert_eq!(found["encode_equal"], true, "{path}: {found}");
    }
    let found = json(&["identify", "--json", &folder]);
    assert_eq!(found["end_of_turn"], json!(["</s>"]));
    let shown = run(&["identify", &folder]).stdout;
    assert!(shown.starts_with(b"mistral (sure)\n"), "{}", String::from_utf8_lossy(&shown));
}

#[test]
fn marker_tokens_are_found_in_every_file_that_lists_them() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("added_tokens");
    let file = |place: &str, name: &str, bytes: &[u8]| {
        let folder = folder.join(place);
        fs::create_dir_all(&folder).expect("the scratch directory is there");
        fs::write(folder.join(name), bytes).expect("it is written");
    };
    let config = json!({"chat_template": TEMPLATE});
    file("tokenizer", "tokenizer_config.json", config.to_string().as_bytes());
    let added = json!([{"id": 2, "content": "[TOOL_CALLS]", "special": true}, {"id": 1, "content": "[IMG]"}]);
    file("tokenizer", "tokenizer.json", json!({"added_tokens": added}).to_string().as_bytes());
    let decoder =
        json!({"2": {"content": "[TOOL_CALLS]", "special": true}, "1": {"content": "[IMG]"}});
    let config = json!({"chat_template": TEMPLATE, "added_tokens_decoder": decoder});
    file("config", "tokenizer_config.json", config.to_string().as_bytes());
    let list = |kind: u32, values: Vec<u8>| {
        let head = [&9_u32.to_le_bytes()[..], &kind.to_le_bytes(), &3_u64.to_le_bytes()];
        [head.concat(), values].concat()
    };
    let texts = ["a", "[IMG]", "[TOOL_CALLS]"].map(gguf_text).concat();
    let types = [1_u32, 4, 3].map(u32::to_le_bytes).concat();
    let tokens =
        [("tokenizer.ggml.tokens", list(8, texts)), ("tokenizer.ggml.token_type", list(5, types))];
    file("gguf", "model.gguf", &gguf(&tokens, TEMPLATE));
    for place in ["tokenizer", "config", "gguf"] {
        let found = json(&["identify", "--json", &folder.join(place).display().to_string()]);
        let expected = json!([{"id": 2, "text": "[TOOL_CALLS]", "special": true}]);
        assert_eq!(found["marker_tokens"], expected, "{place}: {found}");
    }
}

#[test]
fn checkpoint_without_a_template_is_refused() {
    refused(&["identify", "no/such/folder"], &["no/such/folder"]);
    let config = scratch("tokenizer_config.json", "{\"eos_token\": \"</s>\"}");
    refused(&["identify", &config], &["tokenizer_config.json", "no chat template"]);
    let broken = scratch("broken.gguf", "GGML");
    refused(&["identify", &broken], &["broken.gguf", "GGUF"]);
    refused(&["parse", "--model", "acme/unheard-of", "-"], &["identify PATH", "detect FILE"]);
}

/// Each process of the command in an address space of 256 MiB.
#[cfg(unix)]
#[test]
fn hostile_checkpoints_are_reported_as_unknown_within_time_and_memory_limits() {
    for (name, text) in hostile::templates() {
        let path = scratch(&format!("hostile_{name}.jinja"), &text);
        let start = Instant::now();
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 262144 && exec \"$0\" identify --json \"$1\""])
            .args([env!("CARGO_BIN_EXE_llm-stream-guard"), &path])
            .output()
            .expect("a shell runs");
        let spent = start.elapsed();
        assert!(spent < Duration::from_secs(5), "{name}: {spent:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {error}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(found["certainty"], "unknown", "{name}: {found}");
    }
}
