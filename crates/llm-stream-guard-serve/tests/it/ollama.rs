//! Clients of Ollama's API in front of servers of OpenAI's API.

use llm_stream_guard_serve::{Config, Model, Models, ServerName};
use serde_json::{Value, json};

use crate::support::{
    Do, Replay, Served, config, event, stream, text_event, whole_event, whole_json,
};

const MODEL: &str = "Qwen/Qwen3-8B";
const CALL: &str =
    "<tool_call>\n{\"name\": \"tide\", \"arguments\": {\"port\": \"Brest\"}}\n</tool_call>";

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "tide", "description": "The tide",
        "parameters": {"type": "object", "properties": {"port": {"type": "string"}}}}}])
}

fn chat(more: Value) -> Value {
    let messages = [json!({"role": "user", "content": "?"})];
    let mut body = json!({"model": MODEL, "messages": messages, "tools": tools()});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

struct Answer {
    status: u16,
    kind: String,
    text: String,
    sent: Vec<(String, Value)>,
}

impl Answer {
    fn lines(&self) -> Vec<Value> {
        self.text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    fn joined(&self, field: &str) -> String {
        let lines = self.lines();
        lines.iter().filter_map(|line| line.pointer(field)?.as_str()).collect()
    }

    fn calls(&self) -> Vec<Value> {
        let lines = self.lines();
        let calls = lines.iter().filter_map(|line| line["message"]["tool_calls"].as_array());
        calls.flatten().cloned().collect()
    }

    fn upstream_body(&self) -> &Value {
        &self.sent.last().expect("upstream was asked").1
    }
}

async fn post(path: &str, body: &Value, (script, config): (Vec<Do>, Config)) -> Answer {
    let upstream = Replay::new(script).await;
    let served = Served::new(upstream.port, config).await;
    let response = served.post(path, body).await;
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let kind = head.headers.get("content-type").map(|it| it.to_str().unwrap().to_owned());
    let sent = upstream.asked.lock().unwrap().clone();
    let text = String::from_utf8(body.to_vec()).unwrap();
    Answer { status: head.status.as_u16(), kind: kind.unwrap_or_default(), text, sent }
}

/// A stream with the text in pieces, an end and counts.
fn answer(text: &str) -> Vec<Do> {
    let mut bytes: Vec<u8> = text.chars().flat_map(|c| text_event(&c.to_string())).collect();
    bytes.extend(event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"})));
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12});
    let counts = json!({"id": "c1", "object": "chat.completion.chunk", "choices": [],
        "usage": usage});
    bytes.extend(format!("data: {counts}\n\ndata: [DONE]\n\n").into_bytes());
    stream(&bytes, 33)
}

#[tokio::test]
async fn chat_is_streamed_as_lines_with_thought_text_and_whole_calls() {
    let text = format!("<think>\nhm\n</think>\n\nSo: {CALL}");
    let got = post("/api/chat", &chat(json!({})), (answer(&text), config())).await;
    assert_eq!((got.status, got.kind.as_str()), (200, "application/x-ndjson"));
    assert!(got.sent[0].0.starts_with("POST /v1/chat/completions "), "{}", got.sent[0].0);
    assert_eq!(got.upstream_body()["stream"], true, "the default");
    assert_eq!(got.joined("/message/thinking").trim(), "hm");
    assert_eq!(got.joined("/message/content").trim(), "So:");
    let calls = got.calls();
    let function = json!({"index": 0, "name": "tide", "arguments": {"port": "Brest"}});
    assert_eq!((calls.len(), &calls[0]["function"]), (1, &function));
    let lines = got.lines();
    for line in &lines {
        assert_eq!(line["model"], MODEL);
        assert!(line["created_at"].as_str().unwrap().ends_with('Z'), "{line}");
        assert_eq!(line["message"]["role"], "assistant");
        assert!(line["message"]["content"].is_string(), "{line}");
    }
    let (last, before) = lines.split_last().unwrap();
    assert!(before.iter().all(|line| line["done"] == false));
    let end = ["done", "done_reason", "prompt_eval_count", "eval_count"].map(|name| &last[name]);
    assert_eq!(end, [&json!(true), &json!("stop"), &json!(5), &json!(7)]);
}

#[tokio::test]
async fn whole_chat_is_one_object() {
    let message = json!({"role": "assistant", "content": format!("<think>hm</think>{CALL}")});
    let choices = json!([{"index": 0, "message": message, "finish_reason": "stop"}]);
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 7});
    let whole = whole_json("200 OK", &json!({"choices": choices, "usage": usage}));
    let body = chat(json!({"stream": false}));
    let got = post("/api/chat", &body, (vec![Do::Send(whole)], config())).await;
    let [line] = &got.lines()[..] else { panic!("{}", got.text) };
    assert_eq!(line["message"]["thinking"], "hm");
    assert_eq!(line["message"]["tool_calls"][0]["function"]["arguments"]["port"], "Brest");
    assert_eq!((&line["done"], &line["eval_count"]), (&json!(true), &json!(7)));
}

#[tokio::test]
async fn generated_text_is_in_its_own_field() {
    let body = json!({"model": MODEL, "prompt": "?", "system": "Be kind."});
    let got = post("/api/generate", &body, (answer("<think>hm</think>Hi."), config())).await;
    assert_eq!((got.joined("/response"), got.joined("/thinking")), ("Hi.".into(), "hm".into()));
    let messages = json!([{"role": "system", "content": "Be kind."},
        {"role": "user", "content": "?"}]);
    assert_eq!(got.upstream_body()["messages"], messages);
    assert_eq!(got.upstream_body().get("prompt"), None);
}

#[tokio::test]
async fn broken_call_is_never_written_as_a_call() {
    for cut in [
        "<tool_call>\n{\"name\": \"tide\", \"arguments\": {\"port\": \"Br",
        "<tool_call>\n{\"name\": \"tide\", \"arguments\": {\"port\" \"Brest\"]}\n</tool_call>",
    ] {
        for broken_calls in ["auto", "keep", "drop", "release"] {
            let mut config = config();
            config.output.broken_calls = serde_json::from_value(broken_calls.into()).unwrap();
            let got = post("/api/chat", &chat(json!({})), (answer(cut), config)).await;
            assert_eq!(got.calls(), Vec::<Value>::new(), "{broken_calls}: {}", got.text);
            assert_eq!(got.lines().last().unwrap()["done"], true);
        }
    }
}

#[tokio::test]
async fn settings_are_converted() {
    let schema = json!({"type": "object"});
    let body = chat(json!({"think": false, "format": schema, "keep_alive": "5m", "options":
        {"temperature": 0.5, "num_predict": 9, "num_ctx": 4096, "stop": ["x"], "repeat_penalty": 1.1}}));
    let got = post("/api/chat", &body, (answer("{}"), config())).await;
    let sent = got.upstream_body();
    let is = |name: &str| sent[name].clone();
    assert_eq!((is("temperature"), is("max_tokens")), (json!(0.5), json!(9)));
    assert_eq!((is("stop"), is("repetition_penalty")), (json!(["x"]), json!(1.1)));
    assert_eq!(sent["response_format"]["json_schema"]["schema"], schema);
    assert_eq!(sent["chat_template_kwargs"]["enable_thinking"], false);
    assert_eq!(sent["tools"], tools());
    for name in ["think", "format", "keep_alive", "options", "num_ctx"] {
        assert!(sent.get(name).is_none(), "{name}");
    }
    assert_eq!(got.joined("/message/content"), "{}");
    let body = chat(json!({"think": "high", "format": "json", "options": {"num_predict": -1}}));
    let got = post("/api/chat", &body, (answer("{}"), config())).await;
    let sent = got.upstream_body();
    assert_eq!((&sent["reasoning_effort"], sent.get("max_tokens")), (&json!("high"), None));
    assert_eq!(sent["response_format"]["type"], "json_object");
}

#[tokio::test]
async fn calls_results_thoughts_and_images_of_messages_are_converted() {
    let call = |name: &str| json!({"function": {"name": name, "arguments": {"a": 1}}});
    let messages = json!([
        {"role": "user", "content": "See", "images": ["iVBORw0KGgo="]},
        {"role": "assistant", "content": "", "thinking": "hm",
            "tool_calls": [call("tide"), call("wind")]},
        {"role": "tool", "content": "strong", "tool_name": "wind"},
        {"role": "tool", "content": "high"},
    ]);
    let got =
        post("/api/chat", &chat(json!({"messages": messages})), (answer("."), config())).await;
    let sent = &got.upstream_body()["messages"];
    assert_eq!(sent[0]["content"][1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgo=");
    assert_eq!(sent[1]["reasoning_content"], "hm");
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{\"a\":1}");
    let ids = [&sent[1]["tool_calls"][0]["id"], &sent[1]["tool_calls"][1]["id"]];
    assert_eq!([&sent[3]["tool_call_id"], &sent[2]["tool_call_id"]], ids);
}

#[tokio::test]
async fn faults_have_ollamas_form() {
    let script = || (answer("."), config());
    for (path, body, field) in [
        ("/api/chat", json!({"model": MODEL, "messages": [{"content": "?"}]}), "messages[0].role"),
        ("/api/generate", json!({"model": MODEL, "prompt": "?", "raw": true}), "raw"),
        ("/api/generate", json!({"model": MODEL, "prompt": "?", "context": [1]}), "context"),
        ("/api/chat", chat(json!({"format": "yaml"})), "format"),
    ] {
        let got = post(path, &body, script()).await;
        assert!(got.status >= 400, "{}", got.text);
        let said = got.lines()[0]["error"].as_str().unwrap().to_owned();
        assert!(said.starts_with(&format!("`{field}`: ")), "{said}");
        assert!(got.sent.is_empty());
    }
    let error = b"data: {\"error\": {\"message\": \"gone\", \"code\": 500}}\n\n";
    let script = stream(&[text_event("Hi"), error.to_vec()].concat(), 500);
    let got = post("/api/chat", &chat(json!({})), (script, config())).await;
    assert_eq!(got.lines().last().unwrap()["error"], "gone");
    assert!(got.lines().iter().all(|line| line["done"] != true), "{}", got.text);
}

#[tokio::test]
async fn request_without_text_loads_the_model() {
    for (path, body) in [
        ("/api/chat", json!({"model": MODEL, "messages": []})),
        ("/api/generate", json!({"model": MODEL, "keep_alive": 0})),
        ("/api/generate", json!({"model": MODEL, "prompt": ""})),
    ] {
        let got = post(path, &body, (answer("."), config())).await;
        assert_eq!((&got.lines()[0]["done_reason"], got.sent.len()), (&json!("load"), 0));
    }
}

#[tokio::test]
async fn ollamas_own_answers_pass_unchanged() {
    let body = json!({"model": MODEL, "prompt": "?", "raw": true});
    let line = json!({"model": MODEL, "response": "<think>", "done": true});
    let script = || vec![Do::Send(whole_json("200 OK", &line))];
    let ollama = Config { server: ServerName::Ollama, ..config() };
    let got = post("/api/generate", &body, (script(), ollama)).await;
    assert_eq!(got.lines(), std::slice::from_ref(&line));
    assert!(got.sent[0].0.starts_with("POST /api/generate "));
    assert_eq!(got.upstream_body(), &body);
}

#[tokio::test]
async fn name_of_the_client_is_written_where_upstream_has_another() {
    let renamed = Model { model: Some(MODEL.into()), ..Model::default() };
    let config = Config { models: Models::from([("mine".to_owned(), renamed)]), ..config() };
    let script = stream(&whole_event("Hi."), 50);
    let got = post("/api/chat", &chat(json!({"model": "mine"})), (script, config)).await;
    assert_eq!(got.upstream_body()["model"], MODEL);
    assert!(got.lines().iter().all(|line| line["model"] == "mine"), "{}", got.text);
}

#[tokio::test]
async fn questions_about_models_are_answered_in_front_of_other_servers() {
    let entry = json!({"id": MODEL, "object": "model", "created": 0, "max_model_len": 32768});
    let list = json!({"object": "list", "data": [entry]});
    let upstream = Replay::choosing(move |_| vec![Do::Send(whole_json("200 OK", &list))]).await;
    let served = Served::new(upstream.port, config()).await;
    let get = async |path: &str| {
        let request = axum::http::Request::get(path).body(axum::body::Body::empty()).unwrap();
        let body = served.send(request).await.into_body();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let tags = get("/api/tags").await;
    assert_eq!(tags["models"][0]["name"], MODEL);
    assert_eq!(tags["models"][0]["modified_at"], "1970-01-01T00:00:00Z");
    assert!(get("/api/version").await["version"].is_string());
    assert_eq!(get("/api/ps").await, json!({"models": []}));
    let show = async |model: &str| {
        let body = served.post("/api/show", &json!({"model": model})).await.into_body();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let shown = show(MODEL).await;
    assert_eq!(shown["capabilities"], json!(["completion", "tools", "thinking"]));
    assert_eq!(shown["model_info"]["guarded.context_length"], 32768);
    assert!(show("other").await["error"].is_string());
}
