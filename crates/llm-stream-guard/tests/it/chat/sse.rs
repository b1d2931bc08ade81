//! Bytes of event streams in, bytes of event streams out.

use std::io;

use llm_stream_guard::{
    End,
    chat::{ChatGuard, ChatOptions, ChatSse, ChatSseError, Chunk, Done, guard_sse},
    sse,
};
use stream_laws::{Cut, CutPlan};
use tokio_stream::StreamExt as _;

use crate::chat::{
    feed::{builder, chat},
    reader::{Read, read_finished},
};

macro_rules! server {
    ($name:literal) => {
        include_str!(concat!("../../../../../docs/samples/servers/", $name, ".sse"))
    };
}

pub(crate) fn machine(profile: &str) -> ChatSse {
    ChatSse::new(chat(profile, ChatOptions::default()))
}

pub(crate) fn written(machine: &ChatSse, upstream: &[u8], cut: Cut, end: End) -> Vec<u8> {
    let (mut machine, mut out) = (machine.clone(), Vec::new());
    for piece in cut.byte_pieces(upstream) {
        machine.push(piece, &mut out).expect("no limit");
    }
    machine.finish(end, &mut out).expect("no limit");
    out
}

fn passed(machine: &ChatSse, upstream: &str) -> String {
    let whole = written(machine, upstream.as_bytes(), Cut::Whole, End::Stop);
    String::from_utf8(whole).expect("text")
}

/// The data of every event, as another implementation reads them.
pub(crate) fn data(bytes: &[u8]) -> Vec<String> {
    let body = io::Cursor::new(bytes.to_vec());
    let body = tokio_stream::iter([Ok::<_, io::Error>(body)]);
    let events = sse_stream::SseByteStream::new(body);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let events: Vec<_> = runtime.block_on(events.collect());
    events.into_iter().filter_map(|event| event.expect("an event").data).collect()
}

/// The first choice, as the strict reader sees it.
fn read(bytes: &[u8]) -> Read {
    let mut data = data(bytes);
    assert_eq!(data.pop().as_deref(), Some("[DONE]"));
    let chunks: Result<Vec<Chunk>, _> =
        data.iter().map(|data| serde_json::from_str(data)).collect();
    read_finished(&chunks.expect("chunks")).remove(&0).expect("a choice")
}

fn chunk(fields: &str) -> String {
    format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,{fields}}}]}}\n\n")
}

fn said(text: &str) -> String {
    chunk(&format!("\"delta\":{{\"content\":\"{text}\"}}"))
}

const FIRST: &str = "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}";

#[test]
fn streams_of_known_servers_pass_a_strict_reader() {
    for (profile, upstream, content, reasoning) in [
        ("qwen3", server!("vllm"), "Let me look. ", "Ask the tide table."),
        ("qwen3_coder", server!("sglang"), "One moment.", "High water first."),
        ("mistral", server!("llama_cpp"), "", ""),
        (
            "hermes",
            server!("ollama"),
            "Asking. {\"name\": 1} is no call. ",
            "The harbour master knows.",
        ),
        ("qwen3", server!("openrouter"), "It ebbs at ", "Low tide?"),
    ] {
        let machine = machine(profile);
        let whole = written(&machine, upstream.as_bytes(), Cut::Whole, End::Stop);
        let choice = read(&whole);
        assert_eq!((choice.content.as_str(), choice.reasoning.as_str()), (content, reasoning));
        let names: Vec<&str> = choice.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(
            (names, choice.finish.as_deref()),
            (vec!["tide"], Some("tool_calls")),
            "{profile}"
        );
        let plan = CutPlan::random(20, 6);
        for cut in plan.bytes(upstream.as_bytes()) {
            let cut_up = written(&machine, upstream.as_bytes(), cut, End::Stop);
            assert!(cut_up == whole, "{profile}, {cut}");
        }
        let comments = |bytes: &str| bytes.lines().filter(|line| line.starts_with(':')).count();
        assert_eq!(comments(&String::from_utf8(whole).expect("text")), comments(upstream));
        let usage = upstream.matches("\"total_tokens\"").count();
        assert_eq!(passed(&machine, upstream).matches("\"total_tokens\"").count(), usage);
    }
}

#[test]
fn stream_without_markup_passes_byte_for_byte() {
    let mut upstream = String::from("\u{FEFF}: hi\r\n\r\nretry: 10\r\n\r\n");
    let chunks = [chunk(FIRST), said("Hello"), said(" *there*.")].concat();
    upstream += &chunks.replace('\n', "\r\n");
    // Not as this crate writes it.
    upstream += "event: message\rid: 3\rdata: { \"id\" : \"c\",\rdata: \"choices\":[{\"delta\":{\"content\":\"\\u0021\"},\"index\":0}], \"big\": 12345678901234567890.0}\r\r";
    upstream += &chunk("\"delta\":{},\"finish_reason\":\"stop\"");
    upstream += "data: not json\n\ndata: {\"other\": 1}\n\n:\n\ndata: [DONE]\n\n";
    assert_eq!(passed(&machine("qwen3"), &upstream), upstream);
}

#[test]
fn changed_event_keeps_its_other_lines_in_place() {
    let upstream = [
        chunk(FIRST),
        format!("id: 1\nevent: chunk\n{}", said("a\\n<think>b</think>c")),
        format!("id: 2\n: note\n{}", said("<tool_c")),
        said("<tool_c"),
        "data: [DONE]\n\n".into(),
    ]
    .concat();
    let out = passed(&machine("qwen3"), &upstream);
    let starts: Vec<&str> = out
        .split_inclusive("\n\n")
        .skip(1)
        .map(|event| event.split("{").next().unwrap_or_default())
        .collect();
    assert_eq!(
        starts,
        [
            "id: 1\nevent: chunk\ndata: ",
            "event: chunk\ndata: ",
            "event: chunk\ndata: ",
            "id: 2\n: note\n\n",
            // Each is released by what follows it.
            "data: ",
            "data: ",
            "data: [DONE]\n\n",
        ]
    );
}

#[test]
fn done_is_written_after_held_text_as_its_option_requires() {
    let last = chunk("\"delta\":{},\"finish_reason\":\"stop\"");
    let upstream = [chunk(FIRST), said("2 <too"), last].concat();
    for (done, came, expected) in [
        (Done::AsUpstream, "", None),
        (Done::Always, "", Some("[DONE]")),
        (Done::AsUpstream, "data: [DONE]", Some("[DONE]")),
        (Done::Always, "data: [DONE]\n\n", Some("[DONE]")),
    ] {
        let machine = machine("qwen3").done(done);
        let out = passed(&machine, &(upstream.clone() + came));
        let mut data = data(out.as_bytes());
        if expected.is_some() {
            assert_eq!(data.pop().as_deref(), expected);
        }
        assert!(data.iter().any(|data| data.contains("<too")), "{out}");
        assert!(!data.contains(&"[DONE]".to_owned()), "twice: {out}");
    }
    let cut = written(
        &machine("qwen3").done(Done::Always),
        upstream.as_bytes(),
        Cut::Whole,
        End::Aborted,
    );
    assert!(!data(&cut).contains(&"[DONE]".to_owned()));
}

#[test]
fn error_event_follows_held_text_and_nothing_is_synthesized() {
    let call = "<tool_call>{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {}}";
    for error in [
        "data: {\"error\":{\"message\":\"gone\"}}\n\n",
        "event: error\ndata: {\"message\":\"gone\"}\n\n",
        "event: error\ndata: gone\n\n",
        "{\"error\":{\"message\":\"gone\"}}\n",
        "{\"error\":{\"message\":\"gone\"}}\n\n",
    ] {
        let late = [said("late"), "data: [DONE]\n\n".into()].concat();
        let upstream = [chunk(FIRST), said("2 <too"), error.into(), late].concat();
        let out = passed(&machine("qwen3"), &upstream);
        let data = data(out.as_bytes());
        let place = |what: &str| data.iter().position(|data| data.contains(what));
        assert!(place("2 ") < place("<too") && place("<too") < place("gone"), "{out}");
        assert!(place("late").is_none() && place("finish_reason\":\"").is_none(), "{out}");
        assert_eq!(data.last().map(String::as_str), Some("[DONE]"));
    }
    let upstream = [chunk(FIRST), said(call), "data: {\"error\":{}}\n\n".into()].concat();
    assert!(!passed(&machine("qwen3"), &upstream).contains("tool_calls\",\"finish"));
    // A chunk with an error beside its choices is a chunk.
    let out = passed(&machine("qwen3"), server!("openrouter_error"));
    let choice = read(out.as_bytes());
    assert_eq!(
        (choice.content.as_str(), choice.finish.as_deref()),
        ("It ebbs at <tool_c", Some("error"))
    );
    assert_eq!(out.matches("Provider went away").count(), 1);
}

#[test]
fn invalid_utf8_is_replaced_in_the_output() {
    let mut upstream = chunk(FIRST).into_bytes();
    upstream.extend_from_slice(said("caf\u{0}").replace('\0', "X").as_bytes());
    let at = upstream.iter().position(|&byte| byte == b'X').expect("the place");
    upstream[at] = 0xC3;
    upstream.extend_from_slice(b"data: [DONE]\n\n");
    let out = written(&machine("qwen3"), &upstream, Cut::EachByte, End::Stop);
    let out = String::from_utf8(out).expect("text");
    assert!(out.contains("caf\u{FFFD}"), "{out}");
}

#[test]
fn sse_limits_drop_and_count_or_fail() {
    let limits = |policy| sse::SseLimits::default().line(200).event(200).policy(policy);
    let long = said(&"x".repeat(200));
    let upstream = [chunk(FIRST), long.clone(), said("ok")].concat();
    let mut dropping = machine("qwen3").limits(limits(sse::SseLimitPolicy::Drop));
    let mut out = Vec::new();
    dropping.push(upstream.as_bytes(), &mut out).expect("it drops");
    assert_eq!(dropping.dropped(), long.len() as u64);
    assert_eq!(String::from_utf8(out).expect("text"), [chunk(FIRST), said("ok")].concat());
    let mut releasing = machine("qwen3").limits(limits(sse::SseLimitPolicy::Release));
    let mut out = Vec::new();
    releasing.push(upstream.as_bytes(), &mut out).expect("it releases");
    assert_eq!(String::from_utf8(out).expect("text"), upstream);
    let mut failing = machine("qwen3").limits(limits(sse::SseLimitPolicy::Error));
    let error = failing.push(upstream.as_bytes(), &mut Vec::new()).expect_err("too long");
    assert!(matches!(error, ChatSseError::Event(_)), "{error}");
    failing.reset();
    failing.push(chunk(FIRST).as_bytes(), &mut Vec::new()).expect("as new");
    // The chat guard's own.
    let mut options = ChatOptions::default();
    options.limits.choices = 1;
    let guard = ChatGuard::new(builder("qwen3").build().expect("builds"), options);
    let mut one = ChatSse::new(guard);
    let second = chunk(FIRST).replace("\"index\":0", "\"index\":1");
    let error = one.push((chunk(FIRST) + &second).as_bytes(), &mut Vec::new());
    assert!(matches!(error, Err(ChatSseError::Chat(_))), "{error:?}");
    assert_eq!(one.push(b"data: 1\n\n", &mut Vec::new()), error);
}

#[tokio::test(flavor = "current_thread")]
async fn stream_emits_complete_events_then_the_upstream_error_then_ends() {
    let bytes = [chunk(FIRST), said("2 <too")].concat();
    let (head, tail) = bytes.split_at(20);
    let body = [Ok(head), Ok(tail), Err(io::Error::other("gone")), Ok("data: {}\n\n")];
    let mut stream = guard_sse(tokio_stream::iter(body), machine("qwen3"));
    let mut seen = Vec::new();
    while let Some(item) = stream.next().await {
        seen.push(item.map(|bytes| String::from_utf8(bytes).expect("text")));
    }
    let [Ok(first), Ok(held), Err(error)] = seen.as_slice() else { panic!("{seen:?}") };
    assert!(first.starts_with(&chunk(FIRST)) && first.contains("\"2 \""), "{first}");
    assert!(held.contains("<too") && held.ends_with("\n\n"), "{held}");
    assert_eq!(error.to_string(), "gone");
    assert!(stream.next().await.is_none());
}

#[test]
fn truncated_event_is_not_emitted_after_an_abort() {
    let whole = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let machine = machine("qwen3");
    for cut in ["data: {\"choices\":[{\"in", ": still th", "event: x\ndata", "data: [DO"] {
        let upstream = [whole, cut].concat();
        let out = written(&machine, upstream.as_bytes(), Cut::Whole, End::Aborted);
        assert_eq!(out, whole.as_bytes(), "{cut}");
    }
    let out = written(&machine, whole.trim_end().as_bytes(), Cut::Whole, End::Aborted);
    assert_eq!(out, whole.as_bytes(), "a chunk that is whole is read");
}
