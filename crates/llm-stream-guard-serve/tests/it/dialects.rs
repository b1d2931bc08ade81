//! Messages and responses: the same answers in other shapes.

use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::support::{
    Do, Got, Replay, STREAM, Served, config, end, event, numbered, piece, sample, stream,
    text_event, whole, whole_json,
};

const MODEL: &str = "Qwen/Qwen3-8B";

async fn post(served: &Served, path: &str, body: &Value) -> Got {
    let (head, body) = served.post(path, body).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body }
}

/// Asks an upstream that follows `script`; what came, and what upstream was asked.
async fn asked(script: Vec<Do>, path: &str, body: &Value) -> (Got, Value) {
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, config()).await;
    let got = post(&served, path, body).await;
    let last = upstream.asked.lock().unwrap().last().cloned();
    (got, last.map_or(Value::Null, |(_, body)| body))
}

fn types(got: &Got) -> Vec<String> {
    let events = got.events();
    let kind = |data: &String| serde_json::from_str::<Value>(data).unwrap()["type"].clone();
    let mut types: Vec<String> =
        events.iter().map(|it| kind(it).as_str().unwrap().into()).collect();
    types.dedup();
    types
}

fn values(got: &Got) -> Vec<Value> {
    got.events().iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Text in between two calls, with reasoning before it.
fn answer() -> Vec<u8> {
    let said = "<think>hm</think>Look:\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>\n\
                <tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>";
    let usage = json!({"id": "c1", "choices": [], "usage": {
        "prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14}});
    [
        said.as_bytes()
            .chunks(3)
            .flat_map(|it| text_event(std::str::from_utf8(it).unwrap()))
            .collect(),
        event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"})),
        format!("data: {usage}\n\ndata: [DONE]\n\n").into_bytes(),
    ]
    .concat()
}

fn message(more: Value) -> Value {
    let mut body = json!({
        "model": MODEL, "max_tokens": 99, "stream": true,
        "messages": [{"role": "user", "content": "?"}],
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn response(more: Value) -> Value {
    let mut body = json!({"model": MODEL, "input": "?", "stream": true});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn message_stream_emits_its_blocks_in_order() {
    let mut seen = Vec::new();
    for size in [1, 50, 100_000] {
        let (got, sent) = asked(stream(&answer(), size), "/v1/messages", &message(json!({}))).await;
        assert_eq!(sent["stream_options"]["include_usage"], true);
        assert_eq!(
            types(&got),
            [
                "message_start",
                "ping",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop",
            ]
        );
        let events = values(&got);
        assert!(got.text().starts_with("event: message_start\ndata: "));
        let starts = events.iter().filter(|it| it["type"] == "content_block_start");
        let blocks: Vec<_> =
            starts.map(|it| (it["index"].clone(), &it["content_block"]["type"])).collect();
        assert_eq!(
            blocks,
            [
                (json!(0), &json!("thinking")),
                (json!(1), &json!("text")),
                (json!(2), &json!("tool_use")),
                (json!(3), &json!("tool_use")),
            ]
        );
        let json: String = events
            .iter()
            .filter(|it| it["index"] == 2)
            .filter_map(|it| it["delta"]["partial_json"].as_str())
            .collect();
        assert_eq!(json, "{\"a\": 1}");
        let last = &events[events.len() - 2];
        assert_eq!(last["delta"]["stop_reason"], "tool_use");
        assert_eq!(last["usage"]["input_tokens"], 5);
        assert_eq!(last["usage"]["output_tokens"], 9);
        seen.push(numbered(&got.body));
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]));
}

#[tokio::test]
async fn complete_message_equals_its_stream() {
    let text =
        "<think>hm</think>So.<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
    let answer = json!({
        "id": "c1", "model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 9},
        "choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}],
    });
    let script = vec![Do::Send(whole_json("200 OK", &answer))];
    let (got, _) = asked(script, "/v1/messages", &message(json!({"stream": false}))).await;
    let message = got.json();
    assert_eq!(
        message["content"][0],
        json!({"type": "thinking", "thinking": "hm", "signature": ""})
    );
    assert_eq!(message["content"][1], json!({"type": "text", "text": "So."}));
    assert_eq!(message["content"][2]["input"], json!({"a": 1}));
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["usage"]["input_tokens"], 5);
}

#[tokio::test]
async fn message_request_becomes_a_chat_completion_request() {
    let body = message(json!({
        "system": [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief."}],
        "stop_sequences": ["END"], "top_k": 4, "metadata": {"user_id": "u"},
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": true},
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "See"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": ""},
                {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "2"}]},
                {"type": "text", "text": "And?"},
            ]},
        ],
    }));
    let (got, sent) = asked(stream(&answer(), 64), "/v1/messages", &body).await;
    assert_eq!(got.status, StatusCode::OK);
    assert_eq!(
        sent,
        json!({
            "model": MODEL, "max_tokens": 99, "stream": true,
            "stream_options": {"include_usage": true},
            "stop": ["END"], "top_k": 4, "user": "u", "parallel_tool_calls": false,
            "chat_template_kwargs": {"enable_thinking": true, "thinking": true},
            "tools": [{"type": "function", "function": {
                "name": "f", "description": "d", "parameters": {"type": "object"}}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}},
            "messages": [
                {"role": "system", "content": "Be kind.\nBe brief."},
                {"role": "user", "content": [
                    {"type": "text", "text": "See"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                ]},
                {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
                    {"id": "c1", "type": "function",
                     "function": {"name": "f", "arguments": "{\"a\":1}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "2"},
                {"role": "user", "content": "And?"},
            ],
        })
    );
}

#[tokio::test]
async fn matched_stop_sequence_is_reported() {
    let said = text_event("one, two, three, four");
    let usage =
        b"data: {\"choices\":[],\"usage\":{\"completion_tokens\":3}}\n\ndata: [DONE]\n\n".to_vec();
    let body = message(json!({"stop_sequences": ["three"]}));
    let (got, _) = asked(stream(&[said, usage].concat(), 7), "/v1/messages", &body).await;
    let events = values(&got);
    let delta = &events[events.len() - 2]["delta"];
    assert_eq!(*delta, json!({"stop_reason": "stop_sequence", "stop_sequence": "three"}));
    let text: String = events.iter().filter_map(|it| it["delta"]["text"].as_str()).collect();
    assert_eq!(text, "one, two, ");
    let named = json!({"index": 0, "delta": {}, "finish_reason": "stop", "stop_reason": "b"});
    let body = message(json!({"stop_sequences": ["a", "b"]}));
    let (got, _) = asked(stream(&event(&named), 7), "/v1/messages", &body).await;
    assert!(got.text().contains("\"stop_sequence\":\"b\""), "{}", got.text());
}

#[tokio::test]
async fn errors_have_the_form_of_the_dialect() {
    let refusal = || {
        let error = json!({"error": {"message": "busy"}}).to_string();
        vec![Do::Send(whole("429 Too Many Requests", "retry-after: 7\r\n", &error))]
    };
    let (got, _) = asked(refusal(), "/v1/messages", &message(json!({}))).await;
    assert_eq!(
        (got.status, &got.headers["retry-after"]),
        (StatusCode::TOO_MANY_REQUESTS, &"7".parse().unwrap())
    );
    assert_eq!(
        got.json(),
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "busy"}})
    );
    let (got, _) = asked(refusal(), "/v1/responses", &response(json!({}))).await;
    assert_eq!(got.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(got.json()["error"]["message"], "busy");

    let broken = || {
        vec![
            Do::Send(STREAM.to_vec()),
            piece(&text_event("So. <tool_call>{\"na")),
            Do::Wait(std::time::Duration::from_millis(50)),
            Do::Reset,
        ]
    };
    let (got, _) = asked(broken(), "/v1/messages", &message(json!({}))).await;
    let events = values(&got);
    assert_eq!(events.last().unwrap()["type"], "error");
    assert!(!types(&got).contains(&"message_stop".to_owned()));
    let (got, _) = asked(broken(), "/v1/responses", &response(json!({}))).await;
    let events = values(&got);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["status"], "failed");
    assert_eq!(last["response"]["output"][0]["content"][0]["text"], "So. ");

    let (got, _) =
        asked(stream(&sample("error.sse"), 20), "/v1/messages", &message(json!({}))).await;
    assert_eq!(types(&got).iter().filter(|it| *it == "error").count(), 1);
}

#[tokio::test]
async fn response_stream_emits_items_and_ends_with_the_complete_response() {
    let mut seen = Vec::new();
    for size in [1, 50, 100_000] {
        let (got, _) = asked(stream(&answer(), size), "/v1/responses", &response(json!({}))).await;
        let call = [
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
        ];
        let text = [
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
        ];
        let reasoning = [
            "response.output_item.added",
            "response.content_part.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_text.done",
            "response.content_part.done",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
        ];
        let mut expected = vec!["response.created".to_owned(), "response.in_progress".into()];
        expected.extend(reasoning.iter().chain(&text).map(|it| (*it).to_owned()));
        expected.extend(call.iter().chain(&call).map(|it| (*it).to_owned()));
        expected.push("response.completed".into());
        assert_eq!(types(&got), expected);
        let events = values(&got);
        for (n, event) in events.iter().enumerate() {
            assert_eq!(event["sequence_number"], n);
        }
        let response = &events.last().unwrap()["response"];
        let output = response["output"].as_array().unwrap();
        let kinds: Vec<_> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["reasoning", "message", "function_call", "function_call"]);
        assert_eq!(output[2]["arguments"], "{\"a\": 1}");
        assert!(output.iter().all(|item| item["status"] == "completed"));
        assert_eq!(response["usage"]["total_tokens"], 14);
        // What an item is when it is done is what the response holds.
        let done = events.iter().filter(|it| it["type"] == "response.output_item.done");
        assert!(done.map(|it| &it["item"]).eq(output));
        seen.push(numbered(&got.body));
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]));
}

#[tokio::test]
async fn truncated_response_is_incomplete() {
    let cut =
        [text_event("one"), event(&json!({"index": 0, "delta": {}, "finish_reason": "length"}))];
    let (got, _) = asked(stream(&cut.concat(), 9), "/v1/responses", &response(json!({}))).await;
    let events = values(&got);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.incomplete");
    assert_eq!(last["response"]["incomplete_details"]["reason"], "max_output_tokens");
    assert_eq!(last["response"]["output"][0]["status"], "incomplete");
}

#[tokio::test]
async fn complete_response_equals_its_response_stream() {
    let text =
        "<think>hm</think>So.<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
    let answer = json!({"id": "c1", "created": 7, "choices": [
        {"index": 0, "message": {"content": text}, "finish_reason": "stop"}]});
    let script = vec![Do::Send(whole_json("200 OK", &answer))];
    let body = response(json!({"stream": false, "instructions": "Be brief."}));
    let (got, sent) = asked(script, "/v1/responses", &body).await;
    let response = got.json();
    assert_eq!((&response["status"], &response["created_at"]), (&json!("completed"), &json!(7)));
    assert_eq!(response["instructions"], "Be brief.");
    assert_eq!(response["output"][0]["content"][0]["text"], "hm");
    assert_eq!(response["output"][1]["content"][0]["text"], "So.");
    assert_eq!(response["output"][2]["arguments"], "{\"a\": 1}");
    assert_eq!(sent["messages"][0], json!({"role": "system", "content": "Be brief."}));
}

#[tokio::test]
async fn response_request_becomes_a_chat_completion_request() {
    let body = response(json!({
        "max_output_tokens": 9, "store": true, "reasoning": {"effort": "none"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}},
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": true}],
        "tool_choice": {"type": "function", "name": "f"},
        "input": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "?"}]},
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "2"},
        ],
    }));
    let (_, sent) = asked(stream(&answer(), 64), "/v1/responses", &body).await;
    assert_eq!(
        sent,
        json!({
            "model": MODEL, "max_tokens": 9, "stream": true,
            "stream_options": {"include_usage": true}, "reasoning_effort": "none",
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
            "tools": [{"type": "function", "function": {
                "name": "f", "parameters": {"type": "object"}, "strict": true}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}},
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "?"},
                {"role": "assistant", "content": "So.", "reasoning_content": "hm", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "2"},
            ],
        })
    );
    let (got, _) =
        asked(Vec::new(), "/v1/responses", &response(json!({"previous_response_id": "r"}))).await;
    assert_eq!(got.json()["error"]["param"], "previous_response_id");
}

#[tokio::test]
async fn messages_keep_alive_is_a_ping_event() {
    use llm_stream_guard_serve::{Config, TimeSpan, Timeouts};
    let keep_alive = TimeSpan(std::time::Duration::from_millis(40));
    let timeouts = Timeouts { keep_alive, ..Timeouts::default() };
    let script = vec![
        Do::Send(STREAM.to_vec()),
        piece(&text_event("one")),
        Do::Wait(std::time::Duration::from_millis(150)),
        piece(b"data: [DONE]\n\n"),
        end(),
    ];
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, Config { timeouts, ..config() }).await;
    let got = post(&served, "/v1/messages", &message(json!({}))).await;
    let pings = values(&got).iter().filter(|it| it["type"] == "ping").count();
    assert!(pings > 1, "{}", got.text());
}
