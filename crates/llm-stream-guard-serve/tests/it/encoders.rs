//! Encoders without a transport: bytes in, bytes out.

use llm_stream_guard::{
    Guard, Ids,
    chat::{ChatGuard, ChatOptions},
    profile,
};
use llm_stream_guard_serve::{Fault, Kind, dialect::ApiDialect};
use serde_json::{Value, json};

use crate::support::event;

/// What a dialect writes of upstream's bytes, fed in pieces of `size`.
fn written(dialect: ApiDialect, bytes: &[u8], size: usize, fault: Option<&Fault>) -> String {
    let mut guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
    guard.set_ids(Ids::counting());
    let guard = ChatGuard::new(guard, ChatOptions::default());
    let mut machine = dialect.stream(guard, &json!({"model": "m"}));
    let mut out = Vec::new();
    bytes.chunks(size).for_each(|piece| machine.push(piece, &mut out).unwrap());
    match fault {
        Some(fault) => machine.fail(fault, &mut out),
        None => machine.finish(&mut out).unwrap(),
    }
    assert_eq!(machine.held(), 0);
    String::from_utf8(out).unwrap()
}

/// The data of events of this type.
fn events(written: &str, kind: &str) -> Vec<Value> {
    let data = written.lines().filter_map(|line| line.strip_prefix("data: "));
    let values = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    values.filter(|it| it["type"] == kind).collect()
}

/// Two calls of upstream's own, in pieces that take turns.
fn mixed() -> Vec<u8> {
    let begin = |index: u32, name: &str| {
        json!({"index": index, "id": format!("c{index}"), "type": "function",
               "function": {"name": name, "arguments": ""}})
    };
    let more = |index: u32, text: &str| json!({"index": index, "function": {"arguments": text}});
    let deltas = [
        json!([begin(0, "f")]),
        json!([begin(1, "g")]),
        json!([more(0, "{\"a\":"), more(1, "{\"b\"")]),
        json!([more(1, ": 2}")]),
        json!([more(0, "1}")]),
    ];
    let mut bytes: Vec<u8> = deltas
        .iter()
        .flat_map(|calls| event(&json!({"index": 0, "delta": {"tool_calls": calls}})))
        .collect();
    bytes.extend(event(&json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"})));
    bytes
}

/// The same text however the bytes were cut.
fn cut_anyhow(dialect: ApiDialect, bytes: &[u8], fault: Option<&Fault>) -> String {
    let whole = written(dialect, bytes, bytes.len(), fault);
    for size in [1, 2, 7, 64] {
        assert_eq!(written(dialect, bytes, size, fault), whole, "{dialect:?} {size}");
    }
    whole
}

#[test]
fn interleaved_calls_are_written_as_consecutive_blocks() {
    let written = cut_anyhow(ApiDialect::Messages, &mixed(), None);
    let starts = events(&written, "content_block_start");
    let names: Vec<_> = starts.iter().map(|it| &it["content_block"]["name"]).collect();
    assert_eq!(names, ["f", "g"]);
    for (index, whole) in [(0, "{\"a\":1}"), (1, "{\"b\": 2}")] {
        let deltas = events(&written, "content_block_delta");
        let pieces = deltas.iter().filter(|it| it["index"] == index);
        let json: String = pieces.filter_map(|it| it["delta"]["partial_json"].as_str()).collect();
        assert_eq!(json, whole);
    }
}

#[test]
fn interleaved_calls_are_written_as_consecutive_items() {
    let written = cut_anyhow(ApiDialect::Responses, &mixed(), None);
    let done = events(&written, "response.function_call_arguments.done");
    let arguments: Vec<_> = done.iter().map(|it| &it["arguments"]).collect();
    assert_eq!(arguments, ["{\"a\":1}", "{\"b\": 2}"]);
    let end = events(&written, "response.completed");
    assert_eq!(end[0]["response"]["output"].as_array().unwrap().len(), 2);
    let numbers = written.matches("\"sequence_number\":").count();
    assert_eq!(end[0]["sequence_number"], numbers - 1);
}

#[test]
fn waiting_calls_are_written_before_an_upstream_error() {
    let fault = Fault::new(Kind::Broken, "gone");
    let bytes = mixed();
    let cut = bytes.windows(6).position(|it| it == b": 2}\"}").unwrap() + 12;
    let cut = cut + bytes[cut..].windows(2).position(|it| it == b"\n\n").unwrap() + 2;
    let written = cut_anyhow(ApiDialect::Messages, &bytes[..cut], Some(&fault));
    assert_eq!(events(&written, "content_block_start").len(), 2);
    assert_eq!(events(&written, "error")[0]["error"]["message"], "gone");
}

#[test]
fn every_dialect_writes_the_same_at_every_cut() {
    let said = "<think>hm</think>So.<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    for dialect in ApiDialect::ALL {
        let choice = match dialect {
            ApiDialect::Completions => json!({"index": 0, "text": said, "finish_reason": "stop"}),
            _ => json!({"index": 0, "delta": {"content": said}, "finish_reason": "stop"}),
        };
        let written = cut_anyhow(dialect, &event(&choice), None);
        assert!(!written.contains("<tool_call>") && written.contains("\"f\""), "{written}");
        let fault = Fault::new(Kind::Timeout, "late");
        let broken = cut_anyhow(dialect, &event(&choice), Some(&fault));
        assert!(broken.contains("late") && !broken.contains("[DONE]"), "{broken}");
    }
}

#[test]
fn event_called_error_is_one_however_large_its_data_is() {
    let list = format!("[{}]", vec!["{}"; 1 << 18].join(","));
    // The second has more values that a guard reads than an event may have.
    for data in [list.clone(), format!("{{\"choices\": {list}}}")] {
        let bytes = format!("event: error\ndata: {data}\n\n");
        for dialect in [ApiDialect::Messages, ApiDialect::Responses] {
            let written = written(dialect, bytes.as_bytes(), bytes.len(), None);
            assert!(written.contains("upstream gave no reason"), "{dialect:?}");
            assert!(!written.contains("{},{}"), "{dialect:?}");
        }
    }
}

#[test]
fn text_of_an_event_called_error_is_its_message() {
    let bytes = b"event: error\ndata: out of memory\n\n";
    for dialect in [ApiDialect::Messages, ApiDialect::Responses] {
        let written = written(dialect, bytes, bytes.len(), None);
        assert!(written.contains("\"message\":\"out of memory\""), "{written}");
    }
}
