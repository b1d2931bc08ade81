//! Requests that agents sent in the conversations of `cargo xtask e2e`, answered again.

use std::{collections::BTreeSet, fs};

use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, Model};
use serde_json::{Value, json};

use crate::support::{Do, Got, Replay, Served, config, event, stream, text_event, whole_json};

/// The agents, and whether results of their tools have pictures as parts.
const AGENTS: [(&str, bool); 11] = [
    // Vercel's provider for chat completions writes parts as text.
    ("ai-chat", false),
    ("ai-responses", true),
    ("claude-code", true),
    ("codex", true),
    ("codex-own-model", true),
    ("instructor", true),
    ("langgraph", true),
    ("litellm", true),
    ("openai-agents-chat", true),
    ("openai-agents-responses", true),
    ("smolagents", true),
];
const LOOK: &str = "Look at the picture and name its colour.";
const AGAIN: &str = "Which colour was it?";
const CUT: &str = "Look at the second picture.";
/// The tools that the conversations call.
const TOOLS: [&str; 5] = ["Read", "view_image", "functions__exec", "look", "Colour"];

/// The requests of an agent, each with its path.
fn requests(agent: &str) -> Vec<(String, Value)> {
    let path = format!("{}/tests/agents/{agent}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|it| (it["path"].as_str().unwrap().to_owned(), it["body"].clone())).collect()
}

/// Answers a request with this script, and returns what upstream was asked.
async fn ask(path: &str, body: &Value, script: Vec<Do>) -> (Got, Value) {
    let upstream = Replay::new(script).await;
    let model = Model { model: Some("Qwen/Qwen3-8B".into()), ..Model::default() };
    let config = Config { models: [("*".to_owned(), model)].into(), ..config() };
    let served = Served::new(upstream.port, config).await;
    let (head, answer) = served.post(path, body).await.into_parts();
    let answer = answer.collect().await.unwrap().to_bytes().to_vec();
    let got = Got { status: head.status, headers: head.headers, body: answer };
    assert!(!upstream.asked.lock().unwrap().is_empty(), "{}", got.text());
    (got, upstream.last_asked().1)
}

/// The script of an answer with this text, streamed or not; `finish` is `null` if it is cut.
fn script(streamed: bool, text: &str, finish: &Value) -> Vec<Do> {
    if streamed {
        let last = event(&json!({"index": 0, "delta": {}, "finish_reason": finish}));
        return stream(&[text_event(text), last].concat(), 31);
    }
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    vec![Do::Send(whole_json(
        "200 OK",
        &json!({"choices": [choice], "usage": {"total_tokens": 3}}),
    ))]
}

fn call(name: &str) -> String {
    let arguments = r#"{"input": "x", "path": "/red.png"}"#;
    format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>")
}

/// The tool that a request declares and the conversations call.
fn tool(sent: &Value) -> &str {
    let declared = sent["tools"].as_array().unwrap().iter();
    let mut names = declared.filter_map(|tool| tool["function"]["name"].as_str());
    names.find(|name| TOOLS.contains(name)).unwrap_or_else(|| panic!("{sent}"))
}

fn is_streamed(body: &Value) -> bool {
    body["stream"] == true
}

/// The ids of the calls and of the results of `messages`.
fn calls_and_results(messages: &[Value]) -> (Vec<&Value>, Vec<&Value>) {
    let calls = messages.iter().filter_map(|it| it["tool_calls"].as_array()).flatten();
    let results = messages.iter().filter(|it| it["role"] == "tool");
    (calls.map(|it| &it["id"]).collect(), results.map(|it| &it["tool_call_id"]).collect())
}

#[tokio::test]
async fn requests_of_every_agent_reach_upstream_as_completions() {
    for (agent, shows) in AGENTS {
        let (mut seen, mut shown) = (BTreeSet::new(), false);
        for (path, body) in requests(agent) {
            let script = script(is_streamed(&body), "So.", &json!("stop"));
            let (got, sent) = ask(&path, &body, script).await;
            assert_eq!(got.status, StatusCode::OK, "{agent}: {}", got.text());
            let messages = sent["messages"].as_array().unwrap();
            let roles = ["system", "developer", "user", "assistant", "tool"];
            assert!(messages.iter().all(|it| roles.iter().any(|role| it["role"] == *role)));
            let (calls, results) = calls_and_results(messages);
            assert_eq!(calls, results, "{agent}: {sent}");
            let _ = tool(&sent);
            for tool in sent["tools"].as_array().unwrap() {
                assert_eq!(tool["type"], "function", "{agent}: {tool}");
                assert_eq!(tool["function"]["parameters"]["type"], "object", "{agent}: {tool}");
            }
            let text = sent.to_string();
            let asked = body.to_string();
            for prompt in [LOOK, AGAIN, CUT] {
                assert_eq!(asked.contains(prompt), text.contains(prompt), "{agent}: {prompt}");
                seen.extend(text.contains(prompt).then_some(prompt));
            }
            let parts = messages.iter().filter_map(|it| it["content"].as_array()).flatten();
            let urls = parts.map(|part| &part["image_url"]["url"]);
            let pictures = urls.filter(|url| **url == "data:image/png;base64,AAAA").count();
            let sends = [",AAAA\"", "\"AAAA\""].map(|end| asked.matches(end).count());
            assert_eq!(pictures, sends.iter().sum::<usize>(), "{agent}: {text}");
            shown |= pictures > 0;
        }
        assert_eq!(seen.len(), 3, "{agent} did not say {seen:?}");
        assert_eq!(shown, shows, "{agent}");
    }
}

#[tokio::test]
async fn every_agent_receives_calls_in_the_form_of_its_api_and_an_error_if_truncated() {
    for (agent, _) in AGENTS {
        let (path, body) = requests(agent).remove(0);
        let streamed = is_streamed(&body);
        let (_, sent) = ask(&path, &body, script(streamed, "So.", &json!("stop"))).await;
        let text = call(tool(&sent));
        let (got, _) = ask(&path, &body, script(streamed, &text, &json!("stop"))).await;
        let (call, end) = match &*path {
            "/v1/messages" => ("\"type\":\"tool_use\"", "\"type\":\"message_stop\""),
            "/v1/responses" if agent == "codex-own-model" => {
                ("\"namespace\":\"functions\"", "\"type\":\"response.completed\"")
            }
            "/v1/responses" => ("\"type\":\"function_call\"", "\"type\":\"response.completed\""),
            _ if streamed => ("\"tool_calls\":[", "data: [DONE]"),
            _ => ("\"tool_calls\":[", "\"finish_reason\":"),
        };
        assert!(got.text().contains(call) && got.text().contains(end), "{agent}: {}", got.text());
        assert!(!got.text().contains("tool_call>"), "{agent}: {}", got.text());
        let half = &text[..text.len() - "ng\"}}\n</tool_call>".len()];
        let (got, _) = ask(&path, &body, script(streamed, half, &Value::Null)).await;
        assert!(
            got.text().contains("error") && !got.text().contains(end),
            "{agent}: {}",
            got.text()
        );
        let status = if streamed { StatusCode::OK } else { StatusCode::BAD_GATEWAY };
        assert_eq!(got.status, status, "{agent}");
    }
}
