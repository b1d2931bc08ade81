//! Ends of streams: whole, cut, and what is written in each case.

use llm_stream_guard::{
    End,
    chat::{
        ChatError, ChatOptions, ChatSse, ChatSseError, Chunk, Done, Failures, Synthesis,
        guard_chunks, guard_sse,
    },
};
use serde_json::json;
use stream_laws::CutPlan;
use tokio_stream::StreamExt as _;

use crate::chat::{
    feed::{chat, choice, event, stop, text, usage},
    reader::read,
    sse::data,
    streams::{drain, upstream},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;
const DONE: &str = "data: [DONE]\n\n";

fn options(synthesis: Synthesis) -> ChatOptions {
    let mut options = ChatOptions::default();
    options.synthesis = synthesis;
    options
}

/// What a machine writes of bytes, the same for every cut, and what it returns.
fn ended(machine: &ChatSse, bytes: &str) -> (String, Result<(), ChatSseError>) {
    let run = |pieces: &[&[u8]]| {
        let (mut machine, mut out) = (machine.clone(), Vec::new());
        let pushed = pieces.iter().try_for_each(|piece| machine.push(piece, &mut out));
        let result = pushed.and_then(|()| machine.finish(End::Stop, &mut out));
        (String::from_utf8(out).expect("text"), result)
    };
    let whole = run(&[bytes.as_bytes()]);
    for cut in CutPlan::random(20, 6).bytes(bytes.as_bytes()) {
        let pieces: Vec<&[u8]> = cut.byte_pieces(bytes.as_bytes()).collect();
        assert_eq!(run(&pieces), whole, "{cut}");
    }
    whole
}

fn sse(synthesis: Synthesis) -> ChatSse {
    ChatSse::new(chat("hermes", options(synthesis))).done(Done::Always)
}

const CUT: Result<(), ChatSseError> = Err(ChatSseError::Chat(ChatError::Unfinished));

// Contract: S1.38, S1.60.
#[test]
fn end_of_bytes_without_finish_reason_is_an_error_unless_synthesis_is_always() {
    let said = event(&text(0, "So. <to"));
    let call = event(&text(0, CALL));
    let other = [event(&text(0, "a")), event(&text(1, "b")), event(&stop(0, "stop"))].concat();
    for bytes in [String::new(), ": hi\n\n".into(), said, call, other] {
        for synthesis in [Synthesis::Off, Synthesis::Proven] {
            let (out, result) = ended(&sse(synthesis), &bytes);
            assert_eq!(result, CUT, "{bytes}");
            assert!(!out.contains("[DONE]") && !out.contains("\"tool_calls\"}"), "{out}");
            assert_eq!(out.contains("<to\""), bytes.contains("<to\""), "{out}");
        }
        let (out, result) = ended(&sse(Synthesis::Always), &bytes);
        assert!(result.is_ok() && out.ends_with(DONE), "{out}");
    }
}

// Contract: S1.38.
#[test]
fn finish_reasons_or_done_complete_an_answer() {
    let hi = event(&text(0, "Hi."));
    for last in [event(&stop(0, "stop")), DONE.into(), "data: [DONE]".into()] {
        let (out, result) = ended(&sse(Synthesis::Proven), &(hi.clone() + &last));
        assert_eq!(result, Ok(()), "{last}");
        assert_eq!(out.matches("[DONE]").count(), 1, "{out}");
    }
}

// Contract: S1.38.
#[test]
fn final_usage_without_a_finish_reason_completes_no_answer() {
    let usage = event(&usage());
    for answer in ["Hi.", "<tool_call>{\"name\": \"f\", \"arguments\": {"] {
        let bytes = event(&text(0, answer)) + &usage;
        let (out, result) = ended(&sse(Synthesis::Proven), &bytes);
        assert_eq!(result, CUT, "{out}");
        assert!(!out.contains("[DONE]") && !out.contains("\"finish_reason\":\""), "{out}");
    }
}

// Contract: S1.60.
#[test]
fn event_truncated_by_the_end_is_not_emitted() {
    let hi = event(&text(0, "Hi."));
    let late = event(&text(0, "late"));
    for half in [&late[..late.len() - 9], "event: error\ndata: {\"mess", "data: [DO", "id: 7\n"] {
        for synthesis in [Synthesis::Proven, Synthesis::Always] {
            let (out, result) = ended(&sse(synthesis), &[&hi, half].concat());
            assert!(out.starts_with(&hi) && !out[hi.len()..].contains(half.trim()), "{out}");
            let accepted = synthesis == Synthesis::Always && !half.contains("data");
            assert_eq!(result, if accepted { Ok(()) } else { CUT }, "{half}");
        }
        let done = [&hi, event(&stop(0, "stop")).as_str(), half].concat();
        let (out, result) = ended(&sse(Synthesis::Proven), &done);
        assert!(result.is_ok() && out.ends_with(DONE), "{out}");
    }
    // Data that is whole lacks its blank line only.
    let (out, result) =
        ended(&sse(Synthesis::Proven), &[&hi, event(&stop(0, "stop")).trim()].concat());
    assert!(result.is_ok() && out.contains("\"stop\""), "{out}");
}

#[test]
fn done_is_written_once_and_omitted_after_an_error() {
    let whole = [event(&text(0, "Hi.")), event(&stop(0, "stop")), DONE.into(), DONE.into()];
    for done in [Done::AsUpstream, Done::Always] {
        let machine = ChatSse::new(chat("hermes", ChatOptions::default())).done(done);
        assert_eq!(ended(&machine, &whole.concat()).0.matches("[DONE]").count(), 1);
    }
    let error = "data: {\"error\": {\"message\": \"gone\"}}\n\n";
    for end in ["", DONE] {
        let bytes = [&event(&text(0, "Hi.")), error, end].concat();
        let (out, result) = ended(&sse(Synthesis::Proven), &bytes);
        assert!(result.is_ok() && out.ends_with(error), "{out}");
    }
}

// Contract: S1.60.
#[test]
fn truncated_answer_is_written_as_an_error_event_on_request() {
    let machine = sse(Synthesis::Proven).failures(Failures::Written);
    let (out, result) = ended(&machine, &event(&text(0, "Hi.")));
    assert_eq!(result, CUT);
    let data = data(out.as_bytes());
    assert!(data[1].contains("\"error\"") && data[1].contains("finish reason"), "{out}");
    assert_eq!(data.last().map(String::as_str), Some("[DONE]"));
}

#[test]
fn event_over_the_default_limits_is_an_error() {
    let much = event(&text(0, "2 <to")) + &event(&text(0, &"x".repeat(9 << 20)));
    let mut machine = ChatSse::new(chat("hermes", ChatOptions::default()));
    let mut out = Vec::new();
    let result = machine.push(much.as_bytes(), &mut out);
    assert!(matches!(result, Err(ChatSseError::Event(_))), "{result:?}");
    let out = String::from_utf8(out).expect("text");
    assert!(out.contains("<to\""), "what was held comes out: {out}");
}

// Contract: S1.38, S1.60.
#[test]
fn truncated_chunk_and_byte_streams_report_an_error() {
    let items = || [text(0, CALL), text(1, "Hi. <to")];
    let mut stream =
        guard_chunks(tokio_stream::iter(items()), chat("hermes", ChatOptions::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut chunks: Vec<Chunk> = Vec::new();
    runtime.block_on(async {
        while let Some(chunk) = stream.next().await {
            chunks.push(chunk);
        }
    });
    assert_eq!(stream.error(), Some(ChatError::Unfinished));
    let choices = read(&chunks);
    assert!(choices.values().all(|choice| choice.finish.is_none()));
    assert_eq!((choices[&0].calls.len(), choices[&1].content.as_str()), (1, "Hi. <to"));

    let guard = chat("hermes", ChatOptions::default());
    let told = guard_chunks(upstream(items()), guard).failures(Failures::Written);
    let last = drain(told).pop().expect("an item");
    assert!(last.fields["error"]["message"].as_str().is_some_and(|it| it.contains("cut")));

    let whole = [text(0, "Hi."), choice(json!({"index": 0, "delta": {}, "finish_reason": "stop"}))];
    let mut stream =
        guard_chunks(tokio_stream::iter(whole), chat("hermes", ChatOptions::default()));
    runtime.block_on(async { while stream.next().await.is_some() {} });
    assert_eq!(stream.error(), None);

    let body = [Ok::<_, std::io::Error>(event(&text(0, "Hi.")))];
    let mut stream = guard_sse(tokio_stream::iter(body), sse(Synthesis::Proven));
    runtime.block_on(async { while stream.next().await.is_some() {} });
    assert_eq!(stream.error(), CUT.err());
}
