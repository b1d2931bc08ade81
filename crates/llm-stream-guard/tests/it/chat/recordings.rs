//! Streams of real servers, as they came, to the strict reader.

use guard_laws::reasoning_options;
use llm_stream_guard::{
    End, Guard, Start,
    chat::{Balance, ChatGuard, ChatOptions, Chunk},
    profile,
};

use crate::chat::{
    feed::{aggregate, run},
    reader::read_finished,
};

/// The data of a recording's events.
fn chunks(recording: &str) -> Vec<Chunk> {
    let data = recording.lines().filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).expect("a chunk")).collect()
}

macro_rules! recording {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../docs/samples/", $name, ".sse")))
    };
}

#[test]
fn streamed_recordings_yield_the_message_of_their_concatenated_text() {
    for (profile_name, start, (name, recording)) in [
        ("hermes", Start::Content, recording!("hermes")),
        ("qwen3", Start::Content, recording!("hermes_think")),
        ("qwen3", Start::Content, recording!("think_answer")),
        ("qwen3", Start::Reasoning, recording!("think_prefilled")),
        ("qwen3_coder", Start::Content, recording!("qwen3_coder")),
        ("mistral", Start::Content, recording!("mistral")),
        ("mistral", Start::Content, recording!("mistral_v11")),
        ("pythonic", Start::Content, recording!("pythonic")),
        ("llama3_json", Start::Content, recording!("llama3_json")),
        ("deepseek_v3_1", Start::Content, recording!("deepseek_v3_1")),
        ("qwen3", Start::Content, recording!("plain_emoji")),
        ("hermes", Start::Content, recording!("truncated")),
    ] {
        let profile = profile(profile_name).expect("registered");
        let guard = Guard::builder(&profile)
            .reasoning(reasoning_options(|it| it.start = Some(start)))
            .build()
            .expect("builds");
        let chunks = chunks(recording);
        let raw = aggregate(&chunks);
        let text = raw.choices[0].message.text().expect("text").to_owned();
        let upstream = raw.choices[0].finish_reason.value().cloned().expect("a reason");
        let end = if upstream == "length" { End::Length } else { End::Stop };
        let expected = guard.parse(&text, end).expect("no limit");

        let seen = run(&mut ChatGuard::new(guard, ChatOptions::default()), chunks, End::Stop);
        let choice = &read_finished(&seen.chunks)[&0];
        assert_eq!(choice.content, expected.content, "{name}");
        assert_eq!(choice.reasoning, expected.reasoning, "{name}");
        let calls = choice.calls.iter().map(|call| (&call.name, &call.arguments));
        let sealed = |arguments: &str| {
            let mut balance = Balance::default();
            balance.feed(arguments);
            let seal = if balance.is_closed() { String::new() } else { balance.seal() };
            format!("{arguments}{seal}")
        };
        let parsed: Vec<_> =
            expected.calls.iter().map(|call| (&call.name, sealed(&call.arguments))).collect();
        assert!(calls.eq(parsed.iter().map(|(name, arguments)| (*name, arguments))), "{name}");
        let called = upstream == "stop" && !expected.calls.is_empty();
        let finish = if called { "tool_calls" } else { &upstream };
        assert_eq!(choice.finish.as_deref(), Some(finish), "{name}");
        let last = seen.chunks.last().expect("some");
        assert!(last.usage.value().is_some() && last.fields.contains_key("timings"), "{name}");
    }
}
