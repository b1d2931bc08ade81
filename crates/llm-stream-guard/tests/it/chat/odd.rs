//! Chunks that strict readers of JSON, or of chat completions, refuse.

use llm_stream_guard::{
    End,
    chat::{ChatNote, ChatSse, Note, SseSink, Violation},
};
use stream_laws::Cut;

use crate::chat::sse::{data, machine, written};

fn stream(choices: &str) -> String {
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    format!("data: {{\"choices\":[{choices}]}}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

#[test]
fn chunks_that_strict_parsers_reject_are_guarded() {
    for (choice, reasoning, content) in [
        (r#"{"index":0,"delta":{"content":"<think>a\ud83d</think>b"}}"#, "a\u{fffd}", "b"),
        (r#"{"index":"0","delta":{"content":"<think>a</think>b"}}"#, "a", "b"),
        (r#"{"index":0,"delta":{"content":"<think>a</think>b"},"x":1e400}"#, "a", "b"),
        (r#"{"index":0,"delta":{"content":"<think>a</think>b"},"x":NaN}"#, "a", "b"),
        (r#"{"index":0,"delta":{"content":"<think>","content":"<think>a</think>b"}}"#, "a", "b"),
        (r#"{"index":0,"delta":{"content":"<think>","content":"b"}}"#, "", "b"),
        (r#"{"index":0,"delta":{"role":1,"content":"<think>a</think>b"}}"#, "a", "b"),
    ] {
        let out = written(&machine("qwen3"), stream(choice).as_bytes(), Cut::Whole, End::Stop);
        let text = String::from_utf8(out.clone()).expect("text");
        assert!(!text.contains("<think>"), "{text}");
        let field = |name: &str| -> String {
            let chunk = |data: &String| serde_json::from_str::<serde_json::Value>(data).ok();
            let chunks = data(&out).iter().filter_map(chunk).collect::<Vec<_>>();
            let text =
                |it: &serde_json::Value| Some(it["choices"][0]["delta"][name].as_str()?.to_owned());
            chunks.iter().filter_map(text).collect()
        };
        assert_eq!(field("reasoning_content"), reasoning, "{text}");
        assert_eq!(field("content"), content, "{text}");
    }
}

#[derive(Default)]
struct Noted {
    bytes: Vec<u8>,
    notes: Vec<ChatNote>,
}

impl SseSink for Noted {
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn note(&mut self, note: ChatNote) {
        self.notes.push(note);
    }
}

#[test]
fn unreadable_choices_pass_and_are_noted() {
    for (choice, unreadable) in [
        (r#"{"index":-1,"delta":{"content":"<think>a"}}"#, true),
        (r#"{"index":0,"delta":{"content":"<think>a"#, true),
        ("", false),
    ] {
        let (mut sse, mut out): (ChatSse, _) = (machine("qwen3"), Noted::default());
        sse.push(stream(choice).as_bytes(), &mut out).expect("no limit");
        sse.finish(End::Stop, &mut out).expect("no limit");
        assert_eq!(String::from_utf8(out.bytes).expect("text"), stream(choice));
        let note = Note::Violation(Violation::Unreadable);
        assert_eq!(out.notes.iter().any(|it| it.note == note), unreadable, "{choice}");
    }
}
