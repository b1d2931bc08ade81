//! Answers that are read by the token ids of a checkpoint.

use llm_stream_guard_serve::{CheckpointTokens, Completions, Config, Model, Models, ServerName};
use serde_json::{Value, json};

use crate::support::{Do, Replay, Served, asks, config, stream, whole_json};

/// A stream that types its markers, too: text and id. Ids below 20 are added tokens.
const TYPED: &[(&str, u32)] = &[
    ("<think>", 7),
    ("The </think>", 21),
    (" tag", 22),
    ("</think>", 8),
    ("Yes", 23),
    ("<tool_call>", 9),
    ("{\"name\": \"f\", \"arguments\": {\"a\": \"</tool_call>\"}}", 24),
    ("</tool_call>", 10),
];

/// The files of a checkpoint with four added tokens.
fn checkpoint() -> CheckpointTokens {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tokens.json");
    let added: Vec<_> = [("<think>", 7), ("</think>", 8), ("<tool_call>", 9), ("</tool_call>", 10)]
        .map(|(text, id)| json!({"id": id, "content": text}))
        .into();
    static WRITTEN: std::sync::Once = std::sync::Once::new();
    WRITTEN.call_once(|| {
        std::fs::write(&path, json!({"added_tokens": added}).to_string()).unwrap();
    });
    path.display().to_string().parse().unwrap()
}

/// The file of a checkpoint with the vocabulary of [`TYPED`].
fn with_vocabulary() -> CheckpointTokens {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("vocabulary.json");
    let (added, typed): (Vec<_>, Vec<_>) = TYPED.iter().partition(|(_, id)| *id < 20);
    let added: Vec<_> = added.iter().map(|(text, id)| json!({"id": id, "content": text})).collect();
    let vocab: serde_json::Map<String, Value> =
        typed.iter().map(|(text, id)| (text.replace(' ', "Ġ"), json!(id))).collect();
    let model = json!({"type": "BPE", "vocab": vocab});
    let file = json!({"added_tokens": added, "model": model, "decoder": {"type": "ByteLevel"}});
    std::fs::write(&path, file.to_string()).unwrap();
    path.display().to_string().parse().unwrap()
}

/// A choice of a chunk as vLLM writes it.
fn ids_in_choice(text: &str, id: u32) -> Value {
    json!({"index": 0, "delta": {"content": text}, "token_ids": [id]})
}

/// An upstream that streams [`TYPED`], a token in each choice.
async fn upstream(choice: impl Fn(&str, u32) -> Value) -> Replay {
    let first = json!({"id": "c", "prompt_token_ids": [1], "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": ""}}]});
    let mut body = format!("data: {first}\n\n");
    for (text, id) in TYPED {
        let chunk = json!({"id": "c", "choices": [choice(text, *id)]});
        body += &format!("data: {chunk}\n\n");
    }
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    body += &format!("data: {last}\n\ndata: [DONE]\n\n");
    Replay::new(stream(body.as_bytes(), 64)).await
}

/// Reasoning, content and arguments of an answer in a stream.
async fn answer(served: &Served, model: &str, more: Value) -> ([String; 3], String) {
    let got = served.ask(&asks(model, more)).await;
    let message = got.completion().choices.remove(0).message;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let function = message.tool_calls.first().and_then(|call| call.function.clone());
    let arguments = function.and_then(|it| it.arguments).unwrap_or_default();
    let parts = [text(message.reasoning_text()), text(message.text()), arguments];
    (parts, got.text().to_owned())
}

fn by_ids() -> [String; 3] {
    ["The </think> tag", "Yes", "{\"a\": \"</tool_call>\"}"].map(str::to_owned)
}

#[tokio::test]
async fn typed_markers_are_text_and_ids_are_removed_unless_asked_for() {
    let upstream = upstream(ids_in_choice).await;
    let config = Config { server: ServerName::Vllm, checkpoint: Some(checkpoint()), ..config() };
    let served = Served::new(upstream.port, config).await;
    let (read, written) = answer(&served, "Qwen/Qwen3-8B", json!({})).await;
    assert_eq!(read, by_ids());
    assert!(!written.contains("token_ids"), "{written}");
    assert_eq!(upstream.last_asked().1["return_token_ids"], true);

    let asked = json!({"return_token_ids": true});
    let (read, written) = answer(&served, "Qwen/Qwen3-8B", asked).await;
    assert_eq!(read, by_ids());
    assert!(written.contains("token_ids"), "{written}");
}

#[tokio::test]
async fn ids_of_log_probabilities_are_used_and_removed_unless_asked_for() {
    let upstream = upstream(|text, id| {
        let entry = json!({"id": id, "token": text, "bytes": text.as_bytes(), "logprob": -0.5});
        json!({"index": 0, "delta": {"content": text}, "logprobs": {"content": [entry]}})
    })
    .await;
    let config =
        Config { server: ServerName::LlamaCpp, checkpoint: Some(checkpoint()), ..config() };
    let served = Served::new(upstream.port, config).await;
    let (read, written) = answer(&served, "Qwen/Qwen3-8B", json!({})).await;
    assert_eq!(read, by_ids());
    assert!(!written.contains("logprob"), "{written}");
    assert_eq!(upstream.last_asked().1["n_probs"], 1);

    let (read, written) = answer(&served, "Qwen/Qwen3-8B", json!({"logprobs": true})).await;
    assert_eq!(read, by_ids());
    assert!(written.contains("logprob"), "{written}");
    assert!(upstream.last_asked().1.get("n_probs").is_none());
}

#[tokio::test]
async fn answer_that_is_held_to_a_form_is_read_by_its_text() {
    let upstream = upstream(ids_in_choice).await;
    let config = Config { server: ServerName::Vllm, checkpoint: Some(checkpoint()), ..config() };
    let served = Served::new(upstream.port, config).await;
    for more in [
        json!({"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"}),
        json!({"structured_outputs": {"regex": "a"}}),
    ] {
        let ([reasoning, ..], _) = answer(&served, "Qwen/Qwen3-8B", more).await;
        assert_ne!(reasoning, by_ids()[0]);
        assert!(upstream.last_asked().1.get("return_token_ids").is_none());
    }
}

#[tokio::test]
async fn checkpoint_of_a_pattern_is_used_for_its_models_alone() {
    let upstream = upstream(ids_in_choice).await;
    let entry = Model { checkpoint: Some(checkpoint()), ..Model::default() };
    let models = Models::from([("Qwen/Qwen3-8B".to_owned(), entry)]);
    let config = Config { server: ServerName::Vllm, models, ..config() };
    let served = Served::new(upstream.port, config).await;
    let (read, _) = answer(&served, "Qwen/Qwen3-8B", json!({})).await;
    assert_eq!(read, by_ids());
    let ([reasoning, ..], _) = answer(&served, "Qwen/Qwen3-4B", json!({})).await;
    assert_ne!(reasoning, by_ids()[0]);
    assert!(upstream.last_asked().1.get("return_token_ids").is_none());
}

#[tokio::test]
async fn whole_answers_and_text_completions_are_read_by_ids() {
    for (server, field) in
        [(ServerName::Vllm, "token_ids"), (ServerName::Sglang, "response_token_ids")]
    {
        whole_answer_is_read_by_ids(server, field).await;
    }
}

#[tokio::test]
async fn typed_markers_of_a_whole_answer_are_text_with_the_vocabulary() {
    let text: String = TYPED.iter().map(|(text, _)| *text).collect();
    // The token that ends the turn has an id and no text.
    let ids: Vec<u32> = TYPED.iter().map(|(_, id)| *id).chain([11]).collect();
    let whole = json!({"id": "c", "choices": [{"index": 0,
        "message": {"role": "assistant", "content": text}, "token_ids": ids,
        "finish_reason": "stop"}], "usage": {"completion_tokens": 9}});
    let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &whole))]).await;
    let checkpoint = Some(with_vocabulary());
    let config = Config { server: ServerName::Vllm, checkpoint, ..config() };
    let served = Served::new(upstream.port, config).await;
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({"stream": false}))).await.json();
    let message = &got["choices"][0]["message"];
    let arguments = &message["tool_calls"][0]["function"]["arguments"];
    let read = [&message["reasoning_content"], &message["content"], arguments];
    assert_eq!(read.map(|it| it.as_str().unwrap_or_default().to_owned()), by_ids());
    assert_eq!(got["usage"]["completion_tokens_details"], json!({"reasoning_tokens": 2}));
}

async fn whole_answer_is_read_by_ids(server: ServerName, field: &str) {
    let (text, ids) = ("<think>ab</think>Yes", [7, 21, 22, 8, 23]);
    let served = |upstream: &Replay| {
        let config = Config {
            server,
            checkpoint: Some(checkpoint()),
            completions: Completions::Guard,
            ..config()
        };
        Served::new(upstream.port, config)
    };
    let whole = json!({"id": "c", "prompt_token_ids": [1], "choices": [{"index": 0,
        "message": {"role": "assistant", "content": text}, field: ids, "finish_reason": "stop"}],
        "usage": {"completion_tokens": 5}});
    let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &whole))]).await;
    let served_whole = served(&upstream).await;
    let got = served_whole.ask(&asks("Qwen/Qwen3-8B", json!({"stream": false}))).await.json();
    assert_eq!(got["choices"][0]["message"]["reasoning_content"], "ab");
    assert_eq!(got["usage"]["completion_tokens_details"], json!({"reasoning_tokens": 2}));
    assert!(!got.to_string().contains("token_ids"), "{got}");
    assert_eq!(upstream.last_asked().1["return_token_ids"], true);

    let whole = json!({"id": "c", "object": "text_completion", "choices": [{"index": 0,
        "text": text, "token_ids": ids, "prompt_token_ids": [1], "finish_reason": "stop"}]});
    let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &whole))]).await;
    let served = served(&upstream).await;
    let asked = json!({"model": "Qwen/Qwen3-8B", "prompt": "?"});
    let response = served.post("/v1/completions", &asked).await;
    let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    let got: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(got["choices"][0]["reasoning_content"], "ab");
    assert_eq!(got["choices"][0]["text"], "Yes");
    assert!(!got.to_string().contains("token_ids"), "{got}");
    assert_eq!(upstream.last_asked().1["return_token_ids"], true);
}

/// Reasoning, content and arguments of what `/parse` answers to chunks and the rest of a request.
async fn parsed(served: &Served, chunks: &[Value], more: Value) -> [String; 3] {
    let mut body = json!({"chunks": chunks});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let response = served.post("/parse/batch", &json!({"requests": [body]})).await;
    let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    let mut got: Value = serde_json::from_slice(&body).unwrap();
    let message = got["results"][0]["message"].take();
    ["/reasoning", "/content", "/calls/0/arguments"]
        .map(|part| message.pointer(part).and_then(Value::as_str).unwrap_or_default().to_owned())
}

#[tokio::test]
async fn parsed_chunks_are_read_by_the_ids_of_the_request_or_the_checkpoint() {
    let entry = Model { checkpoint: Some(checkpoint()), ..Model::default() };
    let models = Models::from([("Qwen/Qwen3-8B".to_owned(), entry)]);
    let served = Served::new(1, Config { models, ..config() }).await;
    let added = json!([{"id": 7, "content": "<think>"}, {"id": 8, "content": "</think>"},
        {"id": 9, "content": "<tool_call>"}, {"id": 10, "content": "</tool_call>"}]);
    let tokens = TYPED.iter().map(|(text, id)| json!({"id": id, "text": text}));
    let chunks = TYPED.iter().map(|(text, id)| json!({"choices": [ids_in_choice(text, *id)]}));
    for chunks in [tokens.collect::<Vec<_>>(), chunks.collect()] {
        for by_request in [
            json!({"family": "qwen3", "added_tokens": added}),
            json!({"model": "Qwen/Qwen3-4B", "added_tokens": added}),
            json!({"model": "Qwen/Qwen3-8B"}),
        ] {
            assert_eq!(parsed(&served, &chunks, by_request).await, by_ids());
        }
        for by_text in [json!({"family": "qwen3"}), json!({"model": "Qwen/Qwen3-4B"})] {
            assert_ne!(parsed(&served, &chunks, by_text).await, by_ids());
        }
    }
}

#[tokio::test]
async fn sglang_is_not_asked_for_ids_in_the_stream_of_a_chat() {
    let upstream = upstream(|text, _| json!({"index": 0, "delta": {"content": text}})).await;
    let config = Config { server: ServerName::Sglang, checkpoint: Some(checkpoint()), ..config() };
    let served = Served::new(upstream.port, config).await;
    let ([reasoning, ..], _) = answer(&served, "Qwen/Qwen3-8B", json!({})).await;
    assert_ne!(reasoning, by_ids()[0]);
    assert!(upstream.last_asked().1.get("return_token_ids").is_none());
}
