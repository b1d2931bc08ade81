//! Ends of answers: whole, cut, failed; each in the form of its dialect.

use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use llm_stream_guard::chat::BrokenCalls;
use llm_stream_guard_serve::{BareEnd, Completions, Config, Output};
use serde_json::{Value, json};

use crate::{
    logs::Log,
    support::{
        Do, Got, Replay, STREAM, Served, config, event, piece, stream, text_event, whole_json,
    },
};

const MODEL: &str = "Qwen/Qwen3-8B";
const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";
const PATHS: [&str; 4] = [CHAT, "/v1/completions", MESSAGES, RESPONSES];
const CALL: &str = r#"<tool_call>{"name": "run", "arguments": {"cmd": "ls"}}</tool_call>"#;
const CUT: &str = r#"So. <tool_call>{"name": "run", "arguments": {"cmd": "rm -rf ./da"#;
const MALFORMED: &str = r#"<tool_call>{"name": "run", "arguments": {"cmd": ]}}</tool_call>"#;

fn asks(path: &str, streamed: bool) -> Value {
    let mut body = json!({"model": MODEL, "stream": streamed, "max_tokens": 99});
    match path {
        RESPONSES => body["input"] = "?".into(),
        "/v1/completions" => body["prompt"] = "?".into(),
        _ => body["messages"] = json!([{"role": "user", "content": "?"}]),
    }
    body
}

fn guarding(bare_end: BareEnd) -> Config {
    Config { completions: Completions::Guard, bare_end, ..config() }
}

async fn post(served: &Served, path: &str, body: &Value) -> Got {
    let (head, body) = served.post(path, body).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body }
}

/// What a client at `path` reads of a script, and what was counted.
async fn read(path: &str, script: Vec<Do>, config: Config, body: &Value) -> (Got, String) {
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, config).await;
    let got = post(&served, path, body).await;
    let get = axum::http::Request::get("/metrics").body(Default::default()).unwrap();
    let metrics = served.send(get).await.into_body().collect().await.unwrap().to_bytes();
    (got, String::from_utf8(metrics.to_vec()).unwrap())
}

async fn streamed(path: &str, bytes: &[u8]) -> (Got, String) {
    let script = stream(bytes, 23);
    read(path, script, guarding(BareEnd::Fail), &asks(path, true)).await
}

/// A piece of text as upstream sends it at `path`.
fn said(path: &str, text: &str, reason: Option<&str>) -> Vec<u8> {
    match path {
        "/v1/completions" => event(&json!({"index": 0, "text": text, "finish_reason": reason})),
        _ => event(&json!({"index": 0, "delta": {"content": text}, "finish_reason": reason})),
    }
}

fn values(got: &Got) -> Vec<Value> {
    got.events().iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Checks that a client at `path` reads that the answer failed, and nothing that says otherwise.
fn assert_failed(path: &str, got: &Got, code: &str) {
    let text = got.text();
    for end in ["[DONE]", "message_stop", "stop_reason\":\"", "response.completed"] {
        assert!(!text.contains(end), "{path}: {end} in {text}");
    }
    let events = values(got);
    let last = events.last().expect("events");
    match path {
        MESSAGES => assert_eq!(last["type"], "error", "{text}"),
        RESPONSES => {
            assert_eq!(last["type"], "response.failed", "{text}");
            assert_eq!(last["response"]["status"], "failed");
        }
        _ => assert_eq!(last["error"]["code"], code, "{text}"),
    }
    let made_up = |it: &Value| it["choices"][0]["finish_reason"].is_string();
    assert!(!events.iter().any(made_up), "{text}");
}

#[tokio::test]
async fn answer_that_stops_early_is_an_upstream_failure() {
    for path in PATHS {
        let half = said(path, "late", None);
        for last in ["", std::str::from_utf8(&half[..half.len() - 9]).unwrap(), "data: [DO"] {
            let log = Log::default();
            let _guard = tracing::subscriber::set_default(log.clone());
            let body = [said(path, CUT, None), last.as_bytes().to_vec()].concat();
            let (got, metrics) = streamed(path, &body).await;
            assert!(got.text().contains("So."), "{}", got.text());
            assert_failed(path, &got, "upstream_broken");
            assert!(!got.text().contains("late"), "{}", got.text());
            assert!(metrics.contains("streams_total{end=\"failed\"} 1"), "{metrics}");
            assert!(metrics.contains("faults_total{kind=\"upstream_broken\"} 1"), "{metrics}");
            assert!(log.text().contains("stream failed"), "{}", log.text());
        }
    }
    let (got, _) = streamed(RESPONSES, &said(RESPONSES, CUT, None)).await;
    let response = values(&got).pop().unwrap();
    let call = &response["response"]["output"][1];
    assert_eq!((&call["type"], &call["status"]), (&json!("function_call"), &json!("incomplete")));
}

#[tokio::test]
async fn unsized_body_that_stops_early_is_an_upstream_failure() {
    let head = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    for path in PATHS {
        let script = vec![Do::Send([head.to_vec(), said(path, CALL, None)].concat())];
        let body = asks(path, true);
        let (got, _) = read(path, script, guarding(BareEnd::Fail), &body).await;
        assert_failed(path, &got, "upstream_broken");
    }
}

#[tokio::test]
async fn bare_end_is_accepted_on_request() {
    for path in PATHS {
        let config = || guarding(BareEnd::Accept);
        let body = asks(path, true);
        let (got, metrics) = read(path, stream(&said(path, "So.", None), 9), config(), &body).await;
        let ends = ["[DONE]", "end_turn", "response.completed"];
        assert!(ends.iter().any(|end| got.text().contains(end)), "{}", got.text());
        assert!(metrics.contains("streams_total{end=\"complete\"} 1"), "{metrics}");
        let cut = [said(path, "So.", None), b"data: {\"choi".to_vec()].concat();
        let (got, _) = read(path, stream(&cut, 9), config(), &body).await;
        assert_failed(path, &got, "upstream_broken");
    }
}

#[tokio::test]
async fn error_events_and_events_over_the_limits_are_failures() {
    let error = b"data: {\"error\": {\"message\": \"gone\", \"type\": \"overloaded_error\", \"code\": \"busy\"}}\n\n";
    let done = b"data: [DONE]\n\n".to_vec();
    for path in PATHS {
        for last in [Vec::new(), done.clone()] {
            let body = [said(path, "So.", None), error.to_vec(), last].concat();
            let (got, metrics) = streamed(path, &body).await;
            assert_failed(path, &got, "busy");
            assert!(got.text().contains("gone"), "{}", got.text());
            assert!(metrics.contains("streams_total{end=\"failed\"} 1"), "{metrics}");
            assert!(metrics.contains("faults_total{kind=\"upstream_error\"} 1"), "{metrics}");
        }
        let much = said(path, &"x".repeat(9 << 20), None);
        let body = [said(path, "So.", None), much, said(path, "", Some("stop")), done.clone()];
        let script = stream(&body.concat(), 1 << 16);
        let asked = asks(path, true);
        let (got, metrics) = read(path, script, guarding(BareEnd::Fail), &asked).await;
        assert_failed(path, &got, "limit_exceeded");
        assert!(metrics.contains("faults_total{kind=\"limit_exceeded\"} 1"), "{metrics}");
    }
    let (got, _) = streamed(RESPONSES, error).await;
    assert_eq!(values(&got).pop().unwrap()["response"]["error"]["code"], "busy");
    let (got, _) = streamed(MESSAGES, error).await;
    assert_eq!(values(&got).pop().unwrap()["error"]["type"], "overloaded_error");
}

#[tokio::test]
async fn done_is_sent_exactly_once() {
    let body = [said(CHAT, "So.", Some("stop")), b"data: [DONE]\n\n".repeat(2)].concat();
    let (got, metrics) = streamed(CHAT, &body).await;
    assert_eq!(got.text().matches("[DONE]").count(), 1, "{}", got.text());
    assert!(metrics.contains("streams_total{end=\"complete\"} 1"), "{metrics}");
}

/// Statuses of the items of a response, of its last event or whole.
async fn statuses(text: &str, reason: &str, config: Config, whole: bool) -> Vec<(String, String)> {
    let script = if whole {
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        vec![Do::Send(whole_json("200 OK", &json!({"id": "c1", "choices": [choice]})))]
    } else {
        stream(&[said(CHAT, text, None), said(CHAT, "", Some(reason))].concat(), 23)
    };
    let (got, _) = read(RESPONSES, script, config, &asks(RESPONSES, !whole)).await;
    let response = if whole { got.json() } else { values(&got).pop().unwrap()["response"].take() };
    let text = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    let output = response["output"].as_array().unwrap().iter();
    output.map(|item| (text(item, "type"), text(item, "status"))).collect()
}

#[tokio::test]
async fn only_the_broken_or_truncated_item_is_marked_incomplete() {
    let keep = || {
        let output = Output { broken_calls: BrokenCalls::Keep, ..Output::default() };
        Config { output, ..config() }
    };
    let both = [CALL, MALFORMED].concat();
    let rows = [
        (CALL, "length", vec![("function_call", "completed")]),
        (CUT, "length", vec![("message", "completed"), ("function_call", "incomplete")]),
        ("<think>hm", "length", vec![("reasoning", "incomplete")]),
        (MALFORMED, "stop", vec![("function_call", "incomplete")]),
        (&both, "stop", vec![("function_call", "completed"), ("function_call", "incomplete")]),
    ];
    for (text, reason, expected) in rows {
        for whole in [false, true] {
            let told = statuses(text, reason, keep(), whole).await;
            let told: Vec<_> = told.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!(told, expected, "{text} {reason} {whole}");
        }
    }
}

#[tokio::test]
async fn truncated_upstream_call_is_incomplete() {
    let call = json!({"index": 0, "id": "c", "type": "function",
        "function": {"name": "f", "arguments": "{\"a\": "}});
    let body = [
        event(&json!({"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null})),
        event(&json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"})),
    ];
    let (got, _) = streamed(RESPONSES, &body.concat()).await;
    let done = values(&got).into_iter().find(|it| it["type"] == "response.output_item.done");
    assert_eq!(done.unwrap()["item"]["status"], "incomplete");
}

#[tokio::test]
async fn stop_reason_is_tool_use_only_for_a_complete_call() {
    for (text, reason, expected) in
        [(CALL, "stop", "tool_use"), (MALFORMED, "stop", "end_turn"), (CUT, "length", "max_tokens")]
    {
        let body = [said(CHAT, text, None), said(CHAT, "", Some(reason))].concat();
        let (got, _) = streamed(MESSAGES, &body).await;
        let delta = values(&got).into_iter().find(|it| it["type"] == "message_delta").unwrap();
        assert_eq!(delta["delta"]["stop_reason"], expected, "{text}");
    }
    let message = json!({"role": "assistant", "content": CUT});
    let choice = json!({"index": 0, "message": message, "finish_reason": "length"});
    let script = vec![Do::Send(whole_json("200 OK", &json!({"choices": [choice]})))];
    let output = Output { broken_calls: BrokenCalls::Keep, ..Output::default() };
    let config = Config { output, ..config() };
    let (got, _) = read(MESSAGES, script, config, &asks(MESSAGES, false)).await;
    let message = got.json();
    assert_eq!(message["stop_reason"], "max_tokens");
    assert_eq!(message["content"][1]["input"], json!({"INVALID_JSON": "{\"cmd\": \"rm -rf ./da"}));
}

#[tokio::test]
async fn call_of_a_named_tool_ends_a_message_with_tool_use() {
    let mut body = asks(MESSAGES, true);
    body["tools"] = json!([{"name": "run", "input_schema": {"type": "object"}}]);
    body["tool_choice"] = json!({"type": "tool", "name": "run"});
    let upstream = [said(CHAT, CALL, None), said(CHAT, "", Some("stop"))].concat();
    let (got, _) = read(MESSAGES, stream(&upstream, 9), config(), &body).await;
    assert!(got.text().contains("\"stop_reason\":\"tool_use\""), "{}", got.text());
}

#[tokio::test]
async fn complete_answer_without_an_end_or_with_an_error_is_a_failure() {
    let message = json!({"role": "assistant", "content": "So."});
    let open = json!({"choices": [{"index": 0, "message": message, "text": "So."}]});
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": CUT}, "text": CUT, "finish_reason": null});
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    let counted = json!({"choices": [choice], "usage": usage});
    let error = json!({"error": {"message": "gone", "type": "x", "code": 7}});
    for path in PATHS {
        for (answer, code) in [
            (&open, json!("upstream_broken")),
            (&counted, json!("upstream_broken")),
            (&json!({"choices": []}), json!("upstream_broken")),
            (&error, json!(7)),
        ] {
            let script = vec![Do::Send(whole_json("200 OK", answer))];
            let asked = asks(path, false);
            let (got, metrics) = read(path, script, guarding(BareEnd::Fail), &asked).await;
            assert_eq!(got.status, StatusCode::BAD_GATEWAY, "{path} {answer}");
            assert!(metrics.contains("faults_total"), "{metrics}");
            match path {
                MESSAGES => assert_eq!(got.json()["type"], "error"),
                _ => assert_eq!(got.json()["error"]["code"], code, "{path} {answer}"),
            }
        }
        let script = vec![Do::Send(whole_json("200 OK", &open))];
        let (got, _) = read(path, script, guarding(BareEnd::Accept), &asks(path, false)).await;
        assert_eq!(got.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn connection_reset_after_done_is_ignored() {
    let script = vec![
        Do::Send(STREAM.to_vec()),
        piece(&[text_event("So."), said(CHAT, "", Some("stop"))].concat()),
        piece(b"data: [DONE]\n\n"),
        Do::Wait(std::time::Duration::from_millis(50)),
        Do::Reset,
    ];
    let (got, metrics) = read(CHAT, script, config(), &asks(CHAT, true)).await;
    assert!(got.text().ends_with("[DONE]\n\n"), "{}", got.text());
    assert!(metrics.contains("streams_total{end=\"complete\"} 1"), "{metrics}");
}
