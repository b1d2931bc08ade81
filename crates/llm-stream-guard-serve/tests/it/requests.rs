//! What becomes of requests on their way up.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, FamilyChoice, ProxyLimits, ServerName, UnknownModelPolicy};
use serde_json::{Value, json};

use crate::support::{
    Do, Got, Replay, Served, asks, config, stream, text_event, whole_event, whole_json,
};

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
}

async fn raw(served: &Served, body: &'static str) -> Got {
    let request = Request::post("/v1/chat/completions").body(Body::from(body)).unwrap();
    let (head, body) = served.send(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body }
}

#[tokio::test]
async fn each_server_is_asked_for_raw_text_in_its_own_fields() {
    let rows = [
        (ServerName::Vllm, "/tool_choice", json!("none")),
        (ServerName::Sglang, "/separate_reasoning", json!(false)),
        (ServerName::LlamaCpp, "/reasoning_format", json!("none")),
        (ServerName::Plain, "/tool_choice", json!("required")),
    ];
    for (server, path, expected) in rows {
        let upstream = Replay::new(stream(&text_event("x"), 100)).await;
        let served = Served::new(upstream.port, Config { server, ..config() }).await;
        let more = json!({"tools": tools(), "tool_choice": "required", "seed": 7});
        served.ask(&asks("Qwen/Qwen3-8B", more)).await;
        let (head, body) = upstream.last_asked();
        assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
        assert_eq!(body.pointer(path), Some(&expected), "{server:?}");
        assert_eq!(body["seed"], 7);
    }
}

/// An upstream with a list of models, which answers `said` to everything else.
async fn listing(list: Value, said: &'static str) -> Replay {
    Replay::choosing(move |line| {
        if line.starts_with("GET /v1/models ") {
            return vec![Do::Send(whole_json("200 OK", &list))];
        }
        stream(&[text_event(said), b"data: [DONE]\n\n".to_vec()].concat(), 10)
    })
    .await
}

#[tokio::test]
async fn server_and_family_are_read_from_the_model_list() {
    let list = json!({"data": [{"id": "chat", "owned_by": "vllm", "root": "Qwen/Qwen3-8B"}]});
    let upstream = listing(list, "<think>hm</think>yes").await;
    let served = Served::new(upstream.port, Config { server: ServerName::Auto, ..config() }).await;
    for _ in 0..2 {
        let got = served.ask(&asks("chat", json!({}))).await;
        let whole = got.completion();
        assert_eq!(whole.choices[0].message.reasoning_text(), Some("hm"));
        assert_eq!(whole.choices[0].message.text(), Some("yes"));
    }
    let (_, body) = upstream.last_asked();
    assert_eq!(body["skip_special_tokens"], false);
    let lists = upstream.asked.lock().unwrap();
    let lists = lists.iter().filter(|(head, _)| head.starts_with("GET /v1/models"));
    assert_eq!(lists.count(), 1, "the list is kept");
}

#[tokio::test]
async fn family_is_selected_by_model_map_or_profile() {
    let text = "models = { \"team-*\" = \"qwen3\" }";
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("mapped.toml");
    std::fs::write(&path, text).unwrap();
    let mapped = Config { server: ServerName::Plain, ..Config::read(&path).unwrap() };
    let one = Config { profile: "qwen3".parse().unwrap(), ..config() };
    for config in [mapped, one] {
        let upstream = Replay::new(stream(&whole_event("<think>hm</think>yes"), 3)).await;
        let served = Served::new(upstream.port, config).await;
        let got = served.ask(&asks("team-chat", json!({}))).await;
        assert_eq!(got.completion().choices[0].message.reasoning_text(), Some("hm"));
    }
}

#[tokio::test]
async fn custom_family_is_read_from_a_file() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("own.toml");
    std::fs::write(&path, "[calls]\ncall = \"<run>{object}</run>\"\n").unwrap();
    let profile = path.to_str().unwrap().parse().unwrap();
    let said = "So <run>{\"name\": \"f\", \"arguments\": {}}</run>";
    let upstream = Replay::new(stream(&whole_event(said), 5)).await;
    let served = Served::new(upstream.port, Config { profile, ..config() }).await;
    let whole = served.ask(&asks("any", json!({"tools": tools()}))).await.completion();
    assert_eq!(whole.choices[0].message.tool_calls.len(), 1);
}

#[tokio::test]
async fn own_template_of_a_checkpoint_is_read_from_a_file() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tokenizer_config.json");
    let own = json!({"start_anchor": "<bot>", "fields": {
        "thinking": {"open": "<t>", "close": "</t>"}, "content": {},
        "tool_calls": {"open": "<c>", "close": "</c>", "content": "json", "repeats": true,
            "transform": {"type": "function", "function": "{content}"}}}});
    std::fs::write(&path, json!({"response_template": own}).to_string()).unwrap();
    let profile: FamilyChoice = path.to_str().unwrap().parse().unwrap();
    let said = "<t>hm</t>So <c>{\"name\": \"f\", \"arguments\": {}}</c>";
    let upstream = Replay::new(stream(&whole_event(said), 5)).await;
    let server = ServerName::Vllm;
    let served = Served::new(upstream.port, Config { profile, server, ..config() }).await;
    let whole = served.ask(&asks("any", json!({"tools": tools()}))).await.completion();
    let message = &whole.choices[0].message;
    assert_eq!((message.reasoning_text(), message.text()), (Some("hm"), Some("So")));
    assert_eq!(message.tool_calls.len(), 1);
    assert_eq!(upstream.last_asked().1["skip_special_tokens"], false);
}

#[tokio::test]
async fn delimiters_are_remapped_in_requests_and_restored_in_answers() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("remapped.toml");
    std::fs::write(&path, "[models]\nm = { profile = \"hermes\", remap = \"hermes\" }\n").unwrap();
    let config = Config { server: ServerName::Plain, ..Config::read(&path).unwrap() };
    let said = "[[CALL]]{\"name\": \"f\", \"arguments\": {}}[[/CALL]]";
    let upstream = Replay::new(stream(&whole_event(said), 5)).await;
    let served = Served::new(upstream.port, config).await;
    let messages = json!([{"role": "system", "content": "Write <tool_call>."}]);
    let whole = served.ask(&asks("m", json!({"messages": messages}))).await.completion();
    assert_eq!(whole.choices[0].message.tool_calls.len(), 1);
    assert_eq!(upstream.last_asked().1["messages"][0]["content"], "Write [[CALL]].");
}

#[tokio::test]
async fn tools_are_moved_into_the_prompt_and_calls_of_the_answer_are_read() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools_in_prompt.toml");
    let plain = "profile = \"json_in_tags\", tools = \"prompt\"";
    let remapped = format!("{plain}, remap = \"hermes\"");
    let models = format!("[models]\nm = {{ {plain} }}\nr = {{ {remapped} }}\n");
    std::fs::write(&path, models).unwrap();
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let messages = json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "5"},
    ]);
    let body = json!({"tools": tools(), "tool_choice": "required", "messages": messages});
    for (server, opener) in [
        (ServerName::Vllm, "<tool_call>"),
        (ServerName::Ollama, "<tool_call>"),
        (ServerName::Plain, "[[CALL]]"),
    ] {
        let closer = opener.replace("[[", "[[/").replace('<', "</");
        let said = format!("{opener}{{\"name\": \"f\", \"arguments\": {{\"x\": 1}}}}{closer}");
        let upstream = Replay::new(stream(&whole_event(&said), 5)).await;
        let config = Config { server, ..Config::read(&path).unwrap() };
        let served = Served::new(upstream.port, config).await;
        let model = if opener.starts_with('<') { "m" } else { "r" };
        let whole = served.ask(&asks(model, body.clone())).await.completion();
        let calls = &whole.choices[0].message.tool_calls;
        assert_eq!(calls.len(), 1, "{server:?}");
        let (_, sent) = upstream.last_asked();
        assert!(sent.get("tools").is_none(), "{sent}");
        assert_ne!(sent.get("tool_choice"), Some(&json!("required")));
        let messages = sent["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        let system = messages[0]["content"].as_str().unwrap();
        assert!(system.contains(opener) && system.contains("\"f\""), "{system}");
        assert!(messages[2]["content"].as_str().unwrap().starts_with(opener));
        // vLLM is still held to a grammar of the required call.
        assert_eq!(sent.get("structured_outputs").is_some(), server == ServerName::Vllm);
    }
}

#[tokio::test]
async fn unknown_model_passes_or_is_refused() {
    let said = text_event("<think>hm</think>");
    let upstream = Replay::new(stream(&said, 100)).await;
    let served = Served::new(upstream.port, config()).await;
    let got = served.ask(&asks("nobody-knows", json!({}))).await;
    assert_eq!(got.body, said);
    let refuse = Config { unknown_model: UnknownModelPolicy::Refuse, ..config() };
    let served = Served::new(upstream.port, refuse).await;
    let got = served.ask(&asks("nobody-knows", json!({}))).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    assert_eq!(got.json()["error"]["param"], "model");
}

#[tokio::test]
async fn malformed_and_oversized_requests_are_refused() {
    let upstream = Replay::new(Vec::new()).await;
    let limits = ProxyLimits { body: 200, ..ProxyLimits::default() };
    let served = Served::new(upstream.port, Config { limits, ..config() }).await;
    let got = raw(&served, "{\"model\": ").await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    assert_eq!(got.json()["error"]["type"], "invalid_request_error");
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({"n": 17}))).await;
    assert_eq!(got.json()["error"]["param"], "n");
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({"tools": [{"type": "function"}]}))).await;
    assert_eq!(got.json()["error"]["param"], "tools[0].name");
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({"x": "y".repeat(300)}))).await;
    assert_eq!(got.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(upstream.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn hop_by_hop_headers_are_dropped_and_keys_forwarded() {
    let upstream = Replay::new(stream(&text_event("x"), 100)).await;
    let served = Served::new(upstream.port, config()).await;
    let request = Request::post("/v1/chat/completions?trace=1")
        .header("authorization", "Bearer k")
        .header("connection", "x-mine")
        .header("x-mine", "1")
        .header("te", "trailers")
        .body(Body::from(asks("Qwen/Qwen3-8B", json!({})).to_string()))
        .unwrap();
    served.send(request).await.into_body().collect().await.unwrap();
    let (head, _) = upstream.last_asked();
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/chat/completions?trace=1 "), "{head}");
    assert!(head.contains("authorization: bearer k"));
    assert!(!head.contains("x-mine") && !head.contains("\r\nte:"), "{head}");
    assert_eq!(head.matches("\r\nhost:").count(), 1);
}
