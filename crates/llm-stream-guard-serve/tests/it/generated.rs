//! Chats in front of Ollama whose prompt is rendered with the template of a checkpoint.

use llm_stream_guard_serve::{Config, Proxy, ServerName, Upstream};
use serde_json::{Value, json};

use crate::{
    support::{Do, Replay, Served, config, stream, whole, whole_event, whole_json},
    templates::{checkpoint, worker},
};

/// The prompt of a chat with one message of the user, `?`.
const PROMPT: &str = "<s>user: ?<|end|><s>assistant: ";

/// The answer of Ollama, in one line or in several.
fn answer(streamed: bool) -> Vec<u8> {
    let end = json!({"done": true, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 9});
    let text = ["We", "ll.<do", " f>{\"a\": 1}</do>"];
    let mut last = end.as_object().unwrap().clone();
    last.insert("model".into(), "m".into());
    if !streamed {
        last.insert("response".into(), text.concat().into());
        return whole_json("200 OK", &last.into());
    }
    let lines = text.iter().map(|text| json!({"model": "m", "response": text, "done": false}));
    let lines = lines.chain([last.into()]).map(|line: Value| format!("{line}\n"));
    whole("200 OK", "content-type: application/x-ndjson\r\n", &lines.collect::<String>())
}

async fn upstream(streamed: bool) -> Replay {
    Replay::choosing(move |line| match line {
        line if line.starts_with("POST /api/generate ") => vec![Do::Send(answer(streamed))],
        line if line.starts_with("POST /api/") => {
            vec![Do::Send(whole_json("200 OK", &json!({"model": "m", "done": true})))]
        }
        _ => stream(&whole_event("Hi."), 50),
    })
    .await
}

async fn served(upstream: &Replay) -> Served {
    let path = checkpoint("ollama");
    let checkpoint = Some(path.to_str().unwrap().parse().unwrap());
    let upstream = Upstream::local(upstream.port);
    let config = Config { server: ServerName::Ollama, checkpoint, upstream, ..config() };
    Served::with(Proxy::with_worker(config, worker()).unwrap()).await
}

async fn post(served: &Served, path: &str, body: &Value) -> (u16, String) {
    let (head, body) = served.post(path, body).await.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
}

fn chat(streamed: bool) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": streamed,
        "max_tokens": 99})
}

#[tokio::test]
async fn chat_is_rendered_and_its_answer_guarded_in_every_api() {
    for streamed in [false, true] {
        let upstream = upstream(streamed).await;
        let served = served(&upstream).await;
        for (path, content, call) in [
            ("/v1/chat/completions", "\"content\":\"We", "\"name\":\"f\""),
            ("/v1/messages", "We", "\"tool_use\""),
            ("/api/chat", "\"content\":\"We", "\"arguments\":{\"a\":1}"),
        ] {
            let (status, text) = post(&served, path, &chat(streamed)).await;
            assert_eq!(status, 200, "{path} {text}");
            assert!(text.contains(content) && text.contains(call), "{path} {streamed} {text}");
            assert!(!text.contains("<do"), "{path} {text}");
            let (head, sent) = upstream.last_asked();
            assert!(head.starts_with("POST /api/generate HTTP/1.1"), "{path} {head}");
            let raw = (&sent["prompt"], &sent["raw"], &sent["stream"]);
            assert_eq!(raw, (&PROMPT.into(), &true.into(), &streamed.into()), "{path}");
            assert!(sent.get("messages").is_none(), "{path}");
        }
        let (_, text) = post(&served, "/v1/chat/completions", &chat(streamed)).await;
        assert_eq!(text.ends_with("data: [DONE]\n\n"), streamed, "{text}");
    }
}

#[tokio::test]
async fn images_and_other_requests_of_ollamas_clients_pass() {
    let upstream = upstream(true).await;
    let served = served(&upstream).await;
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}});
    let mut with_image = chat(true);
    with_image["messages"][0]["content"] = json!([image]);
    let load = json!({"model": "m", "messages": []});
    let generate = json!({"model": "m", "prompt": "?"});
    for (path, body) in
        [("/v1/chat/completions", &with_image), ("/api/chat", &load), ("/api/generate", &generate)]
    {
        assert_eq!(post(&served, path, body).await.0, 200, "{path}");
        let (head, sent) = upstream.last_asked();
        assert!(head.starts_with(&format!("POST {path} ")), "{head}");
        assert!(sent.get("raw").is_none(), "{sent}");
    }
}

#[tokio::test]
async fn errors_of_ollama_are_reported_in_the_api_of_the_client() {
    let upstream = Replay::choosing(|_| {
        vec![Do::Send(whole_json("404 Not Found", &json!({"error": "model 'm' not found"})))]
    })
    .await;
    let served = served(&upstream).await;
    for (path, at) in [
        ("/v1/chat/completions", "/error/message"),
        ("/v1/messages", "/error/message"),
        ("/api/chat", "/error"),
    ] {
        let (status, text) = post(&served, path, &chat(true)).await;
        let error: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(status, 404, "{path} {text}");
        assert_eq!(error.pointer(at), Some(&"model 'm' not found".into()), "{path} {text}");
    }
}
