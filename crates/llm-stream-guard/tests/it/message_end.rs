//! How messages ended, and what was open then.

use llm_stream_guard::{
    End, Event, Guard, MessageEnd, Profile, StopString,
    chat::{ChatGuard, ChatNote, ChatOptions, ChatSink, ChatStep, Chunk, Note},
    profile,
};
use serde_json::json;

fn guard(family: &str) -> Guard {
    Guard::builder(&profile(family).unwrap()).build().unwrap()
}

/// The end of a message, the same at every cut of its text.
fn end_of(guard: &Guard, text: &str, end: End) -> (&'static str, &'static str) {
    let ends = (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)).map(|cut| {
        let mut guard = guard.clone();
        let mut sink = |_: Event<'_>| {};
        guard.push(&text[..cut], &mut sink).unwrap();
        guard.push(&text[cut..], &mut sink).unwrap();
        guard.finish(end, &mut sink).unwrap();
        let end = guard.message_end().unwrap();
        guard.reset();
        assert_eq!(guard.message_end(), None);
        (end.finish(), end.open.name())
    });
    let mut ends: Vec<_> = ends.collect();
    ends.dedup();
    assert_eq!(ends.len(), 1, "{text}: {ends:?}");
    ends[0]
}

#[test]
fn message_reports_what_its_end_left_open() {
    let call = "<tool_call>\n{\"name\": \"ring\", \"arguments\": {\"a\": \"b\"}}\n</tool_call>";
    let rows = [
        ("qwen3", "", End::Stop, "none"),
        ("qwen3", "Hi.", End::Length, "none"),
        ("qwen3", "<think>abc", End::Stop, "reasoning"),
        ("qwen3", "<think>abc", End::Length, "reasoning"),
        ("qwen3", "<think>abc</thi", End::Length, "reasoning"),
        ("qwen3", "<think>abc</think>Hi.", End::Stop, "none"),
        ("qwen3", call, End::Stop, "none"),
        ("qwen3", call, End::Length, "none"),
        ("qwen3", &call[..11], End::Length, "call"),
        ("qwen3", &call[..20], End::Length, "call"),
        ("qwen3", &call[..45], End::Length, "call"),
        ("qwen3", &call[..56], End::Aborted, "call"),
        ("qwen3", "Use <tool_call> for that.", End::Stop, "none"),
        ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\nx", End::Stop, "call"),
        ("harmony", "<|channel|>analysis<|message|>hm", End::Length, "reasoning"),
        ("harmony", "<|channel|>analysis<|message|>hm<|end|>", End::Length, "none"),
        ("harmony", "<|channel|>final<|message|>hm", End::Length, "none"),
    ];
    for (family, text, end, open) in rows {
        let finish = MessageEnd { end, open: Default::default() }.finish();
        assert_eq!(end_of(&guard(family), text, end), (finish, open), "{family}: {text}");
    }
}

#[test]
fn template_reports_what_its_end_left_open() {
    let template = json!({
        "start_anchor": "<|bot|>",
        "fields": {
            "thinking": {"open": "<think>", "close": "</think>"},
            "tool_calls": {
                "open": "<call>", "close": "</call>", "repeats": true, "content": "json",
                "transform": {"type": "function", "function": "{content}"},
            },
            "content": {"close": "<|end|>"},
        },
    });
    let template = Profile::from_response_template(&template.to_string()).unwrap();
    let guard = Guard::builder(&template).build().unwrap();
    let call = "<call>{\"name\": \"ring\", \"arguments\": {}}";
    let rows = [
        ("<think>hm", "reasoning"),
        ("<think>hm</think>Hi.", "none"),
        (&call[..20], "call"),
        (&format!("{call}</call>"), "none"),
    ];
    for (text, open) in rows {
        assert_eq!(end_of(&guard, text, End::Length), ("length", open), "{text}");
    }
}

#[test]
fn stop_string_ends_a_message_before_its_token_limit() {
    let profile = profile("qwen3").unwrap();
    let guard = Guard::builder(&profile).stop([StopString::hidden("END")]).build().unwrap();
    assert_eq!(end_of(&guard, "<think>a END b", End::Length), ("stop", "reasoning"));
}

#[derive(Default)]
struct Ends(Vec<(u32, &'static str, &'static str)>);

impl ChatSink for Ends {
    fn step(&mut self, _: ChatStep<'_>) {}

    fn note(&mut self, ChatNote { choice, note }: ChatNote) {
        if let Note::End(end) = note {
            self.0.push((choice, end.finish(), end.open.name()));
        }
    }
}

#[test]
fn each_choice_notes_its_end_once() {
    let mut chat = ChatGuard::new(guard("qwen3"), ChatOptions::default());
    let mut ends = Ends::default();
    for chunk in [
        json!({"choices": [{"index": 0, "delta": {"content": "<think>a"}}]}),
        json!({"choices": [{"index": 1, "delta": {"content": "<tool_call>{\"na"}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}),
    ] {
        let chunk: Chunk = serde_json::from_value(chunk).unwrap();
        chat.push(chunk, &mut ends).unwrap();
    }
    assert_eq!(ends.0, [(0, "length", "reasoning")]);
    chat.finish(End::Aborted, &mut ends).unwrap();
    assert_eq!(ends.0, [(0, "length", "reasoning"), (1, "aborted", "call")]);
}
