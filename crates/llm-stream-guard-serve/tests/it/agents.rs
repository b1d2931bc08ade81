//! What agents send: tools and items that chat completions have no word for, images, references.

use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, UnsupportedTools};
use serde_json::{Value, json};

use crate::support::{Got, Replay, Served, config, event, stream, text_event};

const MODEL: &str = "Qwen/Qwen3-8B";
const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";

fn answer(text: &str) -> Vec<u8> {
    let last = event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    [text_event(text), last].concat()
}

/// Asks; what came, what upstream was asked, and what was counted.
async fn ask(path: &str, body: &Value, said: &str, config: Config) -> (Got, Value, String) {
    let upstream = Replay::new(stream(&answer(said), 17)).await;
    let served = Served::new(upstream.port, config).await;
    let (head, bytes) = served.post(path, body).await.into_parts();
    let bytes = bytes.collect().await.unwrap().to_bytes().to_vec();
    let got = Got { status: head.status, headers: head.headers, body: bytes };
    let sent = upstream.asked.lock().unwrap().last().map_or(Value::Null, |(_, body)| body.clone());
    let get = axum::http::Request::get("/metrics").body(Default::default()).unwrap();
    let counted = served.send(get).await.into_body().collect().await.unwrap().to_bytes();
    (got, sent, String::from_utf8(counted.to_vec()).unwrap())
}

fn message(content: Value) -> Value {
    json!({"model": MODEL, "max_tokens": 9, "stream": true,
           "messages": [{"role": "user", "content": content}]})
}

fn values(got: &Got) -> Vec<Value> {
    got.events().iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn refusing() -> Config {
    Config { unsupported_tools: UnsupportedTools::Refuse, ..config() }
}

#[tokio::test]
async fn unsupported_tools_are_omitted_and_counted_or_refused() {
    let function = json!({"type": "function", "name": "f", "parameters": {"type": "object"}});
    for kind in ["web_search", "local_shell", "mcp", "something_new"] {
        let tools = json!([{"type": kind, "name": "x", "tools": []}, function]);
        let body = json!({"model": MODEL, "input": "?", "stream": true, "tools": tools,
                          "tool_choice": {"type": kind}});
        let (got, sent, counted) = ask(RESPONSES, &body, "So.", config()).await;
        assert_eq!(got.status, StatusCode::OK, "{kind}");
        assert_eq!(sent["tools"].as_array().unwrap().len(), 1, "{kind}");
        assert_eq!(sent["tool_choice"], "auto", "{kind}");
        let label = if kind == "something_new" { "other" } else { kind };
        assert!(counted.contains(&format!("dropped_total{{kind=\"{label}\"}} 1")), "{counted}");
        let note = format!("left out of the request: {label}");
        assert_eq!(got.headers["x-llm-stream-guard-note"], note);
        let (got, ..) = ask(RESPONSES, &body, "So.", refusing()).await;
        assert_eq!(got.status, StatusCode::BAD_REQUEST, "{kind}");
        assert_eq!(got.json()["error"]["param"], "tools[0].type");
    }
    let tools = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    let mut body = message("?".into());
    body["tools"] = tools;
    body["tool_choice"] = json!({"type": "auto"});
    let (got, sent, counted) = ask(MESSAGES, &body, "So.", config()).await;
    assert_eq!(got.status, StatusCode::OK);
    assert!(sent.get("tools").is_none() && sent.get("tool_choice").is_none(), "{sent}");
    assert!(counted.contains("dropped_total{kind=\"web_search\"} 1"), "{counted}");
    let (got, ..) = ask(MESSAGES, &body, "So.", refusing()).await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    let message = got.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("`tools[0].input_schema`"), "{message}");
}

#[tokio::test]
async fn custom_text_tool_becomes_a_function_with_one_string() {
    let format = json!({"type": "grammar", "syntax": "lark", "definition": "start: \"x\""});
    let tools =
        json!([{"type": "custom", "name": "patch", "description": "Patches.", "format": format}]);
    let body = json!({"model": MODEL, "input": "?", "stream": true, "tools": tools,
                      "tool_choice": {"type": "custom", "name": "patch"}});
    let said =
        r#"<tool_call>{"name": "patch", "arguments": {"input": "*** Begin\n+é"}}</tool_call>"#;
    let (got, sent, _) = ask(RESPONSES, &body, said, config()).await;
    let function = &sent["tools"][0]["function"];
    assert_eq!(function["parameters"]["properties"]["input"]["type"], "string");
    assert!(function["description"].as_str().unwrap().contains("start: \"x\""));
    assert_eq!(sent["tool_choice"], json!({"type": "function", "function": {"name": "patch"}}));
    let events = values(&got);
    let input = "*** Begin\n+é";
    let done = events.iter().find(|it| it["type"] == "response.custom_tool_call_input.done");
    assert_eq!(done.unwrap()["input"], input);
    let item = &events.last().unwrap()["response"]["output"][0];
    assert_eq!(
        (&item["type"], &item["input"], &item["status"], &item["name"]),
        (&json!("custom_tool_call"), &json!(input), &json!("completed"), &json!("patch"))
    );
    let broken = r#"<tool_call>{"name": "patch", "arguments": {"input": ]}}</tool_call>"#;
    let (got, ..) = ask(RESPONSES, &body, broken, config()).await;
    let events = values(&got);
    let item = &events.last().unwrap()["response"]["output"][0];
    assert_eq!(item["status"], "incomplete", "{}", got.text());
}

#[tokio::test]
async fn tools_of_namespaces_and_of_items_are_functions_with_both_names() {
    let object = json!({"type": "object"});
    let sleep = json!({"type": "function", "name": "sleep", "parameters": object});
    let exec = json!({"type": "custom", "name": "exec"});
    let clock =
        json!({"type": "namespace", "name": "clock", "tools": [sleep, exec, {"type": "mcp"}]});
    let plain = json!({"type": "function", "name": "sleep", "parameters": object});
    let said = r#"<tool_call>{"name": "clock__sleep", "arguments": {"ms": 1}}</tool_call><tool_call>{"name": "clock__exec", "arguments": {"input": "x"}}</tool_call><tool_call>{"name": "sleep", "arguments": {}}</tool_call>"#;
    let before = json!([
        {"type": "function_call", "call_id": "c1", "namespace": "clock", "name": "sleep", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "message", "role": "user", "content": "additional_tools?"},
    ]);
    let items = json!({"type": "additional_tools", "role": "developer", "tools": [clock]});
    for further in [false, true] {
        let mut body = json!({"model": MODEL, "input": before, "stream": true, "tools": [plain]});
        match further {
            true => body["input"].as_array_mut().unwrap().insert(0, items.clone()),
            false => body["tools"].as_array_mut().unwrap().push(clock.clone()),
        }
        let (got, sent, counted) = ask(RESPONSES, &body, said, config()).await;
        assert_eq!(got.status, StatusCode::OK, "{}", got.text());
        let names = sent["tools"].as_array().unwrap().iter().map(|it| &it["function"]["name"]);
        assert_eq!(names.collect::<Vec<_>>(), ["sleep", "clock__sleep", "clock__exec"]);
        assert!(counted.contains("dropped_total{kind=\"mcp\"} 1"), "{counted}");
        assert_eq!(sent["messages"][0]["tool_calls"][0]["function"]["name"], "clock__sleep");
        assert_eq!(sent["messages"][2]["content"], "additional_tools?");
        assert!(sent.get("additional_tools").is_none());
        let events = values(&got);
        let output = &events.last().unwrap()["response"]["output"];
        let told = |n: usize| json!([output[n]["type"], output[n]["namespace"], output[n]["name"]]);
        assert_eq!(told(0), json!(["function_call", "clock", "sleep"]));
        assert_eq!(told(1), json!(["custom_tool_call", "clock", "exec"]));
        assert_eq!(told(2), json!(["function_call", null, "sleep"]));
        let (got, ..) = ask(RESPONSES, &body, said, refusing()).await;
        assert_eq!(got.status, StatusCode::BAD_REQUEST);
        assert!(got.json()["error"]["param"].as_str().unwrap().ends_with(".tools[2].type"));
    }
}

#[tokio::test]
async fn agent_items_become_messages_and_references_are_omitted() {
    let input = json!([
        {"role": "user", "content": [{"type": "input_text", "text": "A"}, {"type": "input_text", "text": "B"}]},
        {"type": "item_reference", "id": "rs_1"},
        {"type": "compaction", "encrypted_content": "xx"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "x\ny"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
        {"type": "local_shell_call", "call_id": "c2", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "c2", "output": "a.txt"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ]);
    let body = json!({"model": MODEL, "input": input, "stream": true});
    let (got, sent, counted) = ask(RESPONSES, &body, "So.", config()).await;
    assert_eq!(got.status, StatusCode::OK, "{}", got.text());
    let call = |id: &str, name: &str, arguments: &str| json!([{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]);
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "A\nB"},
            {"role": "assistant", "content": null, "reasoning_content": "hm",
             "tool_calls": call("c1", "patch", "{\"input\":\"x\\ny\"}")},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            {"role": "assistant", "content": null,
             "tool_calls": call("c2", "local_shell", "{\"type\":\"exec\",\"command\":[\"ls\"]}")},
            {"role": "tool", "tool_call_id": "c2", "content": "a.txt"},
        ])
    );
    for kind in ["item_reference", "compaction", "web_search"] {
        assert!(counted.contains(&format!("dropped_total{{kind=\"{kind}\"}} 1")), "{counted}");
    }
    let (got, ..) = ask(RESPONSES, &body, "So.", refusing()).await;
    assert_eq!(got.json()["error"]["param"], "input[8].type");
}

#[tokio::test]
async fn references_to_earlier_answers_are_reported_or_refused() {
    let input = json!([
        {"role": "user", "content": "A"},
        {"type": "item_reference", "id": "rs_1"},
        {"type": "item_reference", "id": "msg_1"},
        {"role": "user", "content": "B"},
    ]);
    let body = json!({"model": MODEL, "input": input, "stream": true});
    let (got, sent, counted) = ask(RESPONSES, &body, "So.", config()).await;
    assert_eq!(sent["messages"].as_array().unwrap().len(), 2, "{sent}");
    assert!(counted.contains("dropped_total{kind=\"item_reference\"} 2"), "{counted}");
    let note = "left out of the request: item_reference";
    assert_eq!(got.headers["x-llm-stream-guard-note"], note);
    let (got, ..) = ask(RESPONSES, &body, "So.", refusing()).await;
    assert_eq!(got.json()["error"]["param"], "input[2].type");
}

#[tokio::test]
async fn tool_results_keep_images_errors_and_separators() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}});
    let pdf = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA"}});
    let text = json!({"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain", "data": "D"}});
    let result = |id: &str, content: Value, failed: bool| json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed});
    let body = message(json!([
        result("c1", json!([{"type": "text", "text": "A"}, image]), false),
        result("c2", json!([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]), true),
        result("c3", json!([pdf, text]), false),
        result("c4", Value::Null, true),
        {"type": "text", "text": "And?"},
        {"type": "text", "text": "Well?"},
        pdf,
    ]));
    let (got, sent, counted) = ask(MESSAGES, &body, "So.", config()).await;
    assert_eq!(got.status, StatusCode::OK, "{}", got.text());
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    let left_out = "[a document was left out: application/pdf]";
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "A"}, url]},
            {"role": "tool", "tool_call_id": "c2", "content": "Error: A\nB"},
            {"role": "tool", "tool_call_id": "c3", "content": format!("{left_out}\nT\nD")},
            {"role": "tool", "tool_call_id": "c4", "content": "Error: "},
            {"role": "user", "content": format!("And?\nWell?\n{left_out}")},
        ])
    );
    assert!(counted.contains("dropped_total{kind=\"document\"} 2"), "{counted}");
}

#[tokio::test]
async fn reasoning_is_also_sent_as_a_summary() {
    let body = json!({"model": MODEL, "input": "?", "stream": true});
    let (got, ..) = ask(RESPONSES, &body, "<think>hm</think>So.", config()).await;
    let events = values(&got);
    let summary = events.iter().filter(|it| it["type"] == "response.reasoning_summary_text.delta");
    let summary: String = summary.filter_map(|it| it["delta"].as_str()).collect();
    assert_eq!(summary, "hm");
    let item = &events.last().unwrap()["response"]["output"][0];
    assert_eq!(item["summary"], json!([{"type": "summary_text", "text": "hm"}]));
}

#[tokio::test]
async fn missing_required_call_is_reported() {
    let tool =
        json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}});
    let body = |stream: bool, choice: &str| json!({"model": MODEL, "messages": [], "stream": stream, "tools": [tool], "tool_choice": choice});
    let path = "/v1/chat/completions";
    let (got, _, counted) = ask(path, &body(true, "required"), "Prose.", config()).await;
    assert!(got.text().ends_with("[DONE]\n\n: a call was required and not given\n\n"));
    assert!(counted.contains("tool_choice_not_given_total 1"), "{counted}");
    let (got, _, counted) = ask(path, &body(true, "auto"), "Prose.", config()).await;
    assert!(!got.text().contains("required"));
    assert!(counted.contains("tool_choice_not_given_total 0"), "{counted}");
    let said = r#"[{"name": "f", "parameters": {"a": 1}}]"#;
    let (got, _, counted) = ask(path, &body(true, "required"), said, config()).await;
    assert_eq!(got.completion().choices[0].message.tool_calls.len(), 1, "{}", got.text());
    assert!(counted.contains("tool_choice_not_given_total 0"), "{counted}");

    let message = json!({"role": "assistant", "content": "Prose."});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let whole = crate::support::whole_json("200 OK", &json!({"choices": [choice]}));
    let upstream = Replay::new(vec![crate::support::Do::Send(whole)]).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&body(false, "required")).await;
    assert_eq!(got.headers["x-llm-stream-guard-note"], "a call was required and not given");
}
