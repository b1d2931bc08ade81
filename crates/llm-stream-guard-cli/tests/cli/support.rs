//! Running the command, and reading what it wrote.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn sample(name: &str) -> String {
    root().join("docs/samples").join(name).display().to_string()
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_llm-stream-guard"));
    command.args(args);
    command
}

pub(crate) fn run(args: &[&str]) -> Output {
    command(args).output().expect("the binary runs")
}

pub(crate) fn run_on(input: &[u8], args: &[&str]) -> Output {
    let mut command = command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    child.stdin.take().expect("piped").write_all(input).expect("it reads its input");
    child.wait_with_output().expect("it ends")
}

pub(crate) fn scratch(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the scratch directory is there");
    path.display().to_string()
}

/// A GGUF file with a chat template after other entries: keys, each with the bytes of its value.
pub(crate) fn gguf(others: &[(&str, Vec<u8>)], template: &str) -> Vec<u8> {
    let template = [&8_u32.to_le_bytes()[..], &gguf_text(template)].concat();
    let entries = others.iter().map(|(key, value)| (*key, value));
    let entries = entries.chain([("tokenizer.chat_template", &template)]);
    let written = entries.map(|(key, value)| [&gguf_text(key)[..], value].concat());
    let count = (others.len() as u64 + 1).to_le_bytes();
    [&b"GGUF\x03\0\0\0"[..], &[0; 8], &count, &written.collect::<Vec<_>>().concat()].concat()
}

/// A text of a GGUF file, after its length.
pub(crate) fn gguf_text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

/// The events of `args`, neighbouring texts and fragments of one choice merged.
pub(crate) fn events(args: &[&str]) -> Vec<Value> {
    let output = run(&[&["parse"], args].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    coalesced(&output.stdout)
}

pub(crate) fn coalesced(lines: &[u8]) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    for line in std::str::from_utf8(lines).expect("UTF-8").lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        assert!(event["choice"].is_u64() && event["type"].is_string(), "{event}");
        // Choices do not share an order: look for the latest event of the same one.
        let last = events.iter_mut().rev().find(|last| last["choice"] == event["choice"]);
        let key = ["text", "fragment"].into_iter().find(|key| event.get(key).is_some());
        match (last, key) {
            (Some(last), Some(key))
                if last["type"] == event["type"] && last["index"] == event["index"] =>
            {
                let whole = [&last[key], &event[key]].map(|part| part.as_str().expect("a string"));
                last[key] = whole.concat().into();
            }
            _ => events.push(event),
        }
    }
    events.sort_by_key(|event| event["choice"].as_u64());
    events
}

pub(crate) fn of_type<'e>(events: &'e [Value], kind: &str, key: &str) -> Vec<&'e str> {
    let events = events.iter().filter(|event| event["type"] == kind);
    events.map(|event| event[key].as_str().unwrap_or_default()).collect()
}

pub(crate) fn refused(args: &[&str], with: &[&str]) {
    let output = run(args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
    for word in with {
        assert!(error.contains(word), "{args:?}: expected {word:?} in {error:?}");
    }
}
