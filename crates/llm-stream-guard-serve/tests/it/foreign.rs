//! JSON of others on its way through: members keep their order, numbers their spelling.

use axum::{body::Body, http::Request};
use serde_json::Value;

use llm_stream_guard::chat::ReasoningTokens;
use llm_stream_guard_serve::{Config, Output};

use crate::support::{Do, Replay, Served, config, whole};

/// A schema whose members are in no order and whose numbers do not fit a machine number.
const SCHEMA: &str = r#"{"type":"object","properties":{"zeta":{"maximum":10000000000000000000000001,"type":"number","default":1.10},"alpha":{"type":"string","enum":["b","a"]}},"required":["zeta"]}"#;

/// What upstream is asked when a client sends `body`, and the answer of the client.
async fn passed(path: &str, body: String, answer: &str) -> (Value, String) {
    passed_by(config(), path, body, answer).await
}

/// The same through a proxy with this configuration.
async fn passed_by(config: Config, path: &str, body: String, answer: &str) -> (Value, String) {
    let answer = whole("200 OK", "content-type: application/json\r\n", answer);
    let upstream = Replay::new(vec![Do::Send(answer)]).await;
    let served = Served::new(upstream.port, config).await;
    let request = Request::post(path).body(Body::from(body)).unwrap();
    let body = served.send(request).await.into_body();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    (upstream.last_asked().1, String::from_utf8(body.to_vec()).unwrap())
}

const SAID: &str = r#"{"id":"c1","object":"chat.completion","created":1700000000,"model":"m","zz":1.10,"aa":{"y":1e-7,"x":10000000000000000000000001},"choices":[{"index":0,"message":{"role":"assistant","content":"<think>hm</think>Hi.","refusal":null,"annotations":[0.10]},"logprobs":null,"finish_reason":"stop"}],"usage":{"total_tokens":9,"cost":0.10,"completion_tokens_details":{"reasoning_tokens":1}}}"#;

#[tokio::test]
async fn schemas_of_tools_and_numbers_of_requests_reach_upstream_unchanged() {
    let rows = [
        (
            "/v1/chat/completions",
            r#""messages":[{"role":"user","content":"?"}]"#,
            format!(
                r#"{{"type":"function","function":{{"name":"f","description":"d","parameters":{SCHEMA}}}}}"#
            ),
        ),
        (
            "/v1/messages",
            r#""max_tokens":9,"messages":[{"role":"user","content":"?"}]"#,
            format!(r#"{{"name":"f","description":"d","input_schema":{SCHEMA}}}"#),
        ),
        (
            "/v1/responses",
            r#""input":"?""#,
            format!(r#"{{"type":"function","name":"f","description":"d","parameters":{SCHEMA}}}"#),
        ),
    ];
    for (path, asked, tool) in rows {
        let more = r#""seed":10000000000000000000000001,"temperature":0.10"#;
        let body = format!(r#"{{"model":"Qwen/Qwen3-8B","tools":[{tool}],{more},{asked}}}"#);
        let (sent, _) = passed(path, body, SAID).await;
        let function = format!(r#"{{"name":"f","description":"d","parameters":{SCHEMA}}}"#);
        assert_eq!(sent["tools"][0]["function"].to_string(), function, "{path}");
        assert!(sent.to_string().contains(more), "{path}: {sent}");
    }
}

#[tokio::test]
async fn changed_answer_keeps_unknown_members_and_their_spelling() {
    let body = r#"{"model":"Qwen/Qwen3-8B","messages":[]}"#;
    let (_, got) = passed("/v1/chat/completions", body.into(), SAID).await;
    let expected = SAID.replace(
        r#""content":"<think>hm</think>Hi.""#,
        r#""content":"Hi.","reasoning_content":"hm""#,
    );
    assert_eq!(got, expected);
}

#[tokio::test]
async fn arguments_of_calls_keep_order_and_numbers_in_messages() {
    let arguments = r#"{"zeta":1.10,"alpha":10000000000000000000000001}"#;
    let text = format!(
        "<tool_call>{{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}}</tool_call>",
        arguments.replace('"', "\\\"")
    );
    let said = SAID.replace("<think>hm</think>Hi.", &text);
    let body =
        r#"{"model":"Qwen/Qwen3-8B","max_tokens":9,"messages":[{"role":"user","content":"?"}]}"#;
    let (_, got) = passed("/v1/messages", body.into(), &said).await;
    assert!(got.contains(&format!(r#""input":{arguments}"#)), "{got}");
    let used = format!(r#"{{"type":"tool_use","id":"a","name":"f","input":{arguments}}}"#);
    let body = format!(
        r#"{{"model":"Qwen/Qwen3-8B","max_tokens":9,"messages":[{{"role":"assistant","content":[{used}]}}]}}"#
    );
    let (sent, _) = passed("/v1/messages", body, SAID).await;
    assert_eq!(sent["messages"][0]["tool_calls"][0]["function"]["arguments"], arguments);
}

#[tokio::test]
async fn tokens_of_reasoning_are_reported_in_every_dialect() {
    let usage =
        r#""total_tokens":9,"cost":0.10,"completion_tokens_details":{"reasoning_tokens":1}"#;
    let said = SAID.replace(usage, r#""completion_tokens":9"#);
    for (path, details, asked) in [
        ("/v1/chat/completions", "/usage/completion_tokens_details", r#""messages":[]"#),
        (
            "/v1/messages",
            "/usage/output_tokens_details",
            r#""max_tokens":9,"messages":[{"role":"user","content":"?"}]"#,
        ),
        ("/v1/responses", "/usage/output_tokens_details", r#""input":"?""#),
    ] {
        let body = format!(r#"{{"model":"Qwen/Qwen3-8B",{asked}}}"#);
        let (_, got) = passed(path, body, &said).await;
        let got: Value = serde_json::from_str(&got).unwrap();
        let expected =
            serde_json::json!({"reasoning_tokens": 1, "reasoning_tokens_estimated": true});
        assert_eq!(got.pointer(details), Some(&expected), "{path}: {got}");
    }
}

#[tokio::test]
async fn reasoning_tokens_are_not_counted_if_only_upstream_may_count_them() {
    let said = SAID.replace(r#""completion_tokens_details":{"reasoning_tokens":1}"#, r#""n":1"#);
    let output = Output { reasoning_tokens: ReasoningTokens::Upstream, ..Output::default() };
    let config = Config { output, ..config() };
    let body = r#"{"model":"Qwen/Qwen3-8B","messages":[]}"#;
    let (_, got) = passed_by(config, "/v1/chat/completions", body.into(), &said).await;
    assert!(got.contains(r#""reasoning_content":"hm""#), "{got}");
    assert!(got.contains(r#""n":1"#) && !got.contains("reasoning_tokens"), "{got}");
}

#[tokio::test]
async fn answers_that_strict_parsers_reject_are_guarded() {
    let said = SAID.replace("hm</think>Hi.", "hm</think>Hi\\ud83d").replace("1e-7", "NaN");
    for path in ["/v1/chat/completions", "/v1/messages"] {
        let body = r#"{"model":"Qwen/Qwen3-8B","max_tokens":9,"messages":[{"role":"user","content":"?"}]}"#;
        let (_, got) = passed(path, body.into(), &said).await;
        assert!(got.contains("\"Hi\u{fffd}\"") && !got.contains("<think>"), "{got}");
    }
}
