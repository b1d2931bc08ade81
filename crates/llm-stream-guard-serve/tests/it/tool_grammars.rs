//! Grammars that upstream is sent, so that it generates the calls that a request demands.

use llm_stream_guard_serve::{Config, Model, Models, Remap, ServerName, ToolGrammar};
use serde_json::{Value, json};

use crate::{
    logs::Log,
    support::{Do, Replay, Served, config, event, stream, text_event, whole_json},
};

const MODEL: &str = "Qwen/Qwen3-8B";
const CALL: &str =
    "<tool_call>\n{\"name\": \"tide\", \"arguments\": {\"port\": \"Brest\"}}\n</tool_call>";
const SERVERS: [ServerName; 3] = [ServerName::Vllm, ServerName::Sglang, ServerName::LlamaCpp];

fn function(name: &str, more: Value) -> Value {
    let mut function = json!({"name": name, "parameters": {"type": "object",
        "properties": {"port": {"type": "string", "format": "port"}}, "required": ["port"]}});
    function.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": "function", "function": function})
}

fn body(choice: Value, more: Value) -> Value {
    let tools = [function("tide", json!({})), function("wind", json!({}))];
    let mut body = json!({"model": MODEL, "messages": [], "stream": true, "tools": tools,
        "tool_choice": choice});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn server(server: ServerName) -> Config {
    Config { server, ..config() }
}

/// Returns the body that upstream got, and the log.
async fn sent(path: &str, body: &Value, config: Config) -> (Value, String) {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let last = event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    let upstream = Replay::new(stream(&[text_event(CALL), last].concat(), 50)).await;
    let served = Served::new(upstream.port, config).await;
    let got = served.post(path, body).await;
    assert!(got.status().is_success(), "{}", got.status());
    (upstream.last_asked().1, log.text())
}

async fn chat(body: &Value, config: Config) -> (Value, String) {
    sent("/v1/chat/completions", body, config).await
}

/// The grammar in a request to a server, in GBNF, or nothing.
fn grammar(sent: &Value) -> String {
    let of_tag = |tag: &Value| tag["format"]["grammar"].as_str().map(str::to_owned);
    let vllm = sent["structured_outputs"]["structural_tag"].as_str();
    let vllm = vllm.and_then(|tag| of_tag(&serde_json::from_str(tag).unwrap()));
    let sglang = of_tag(&sent["response_format"]);
    let llama = sent["grammar"].as_str().map(str::to_owned);
    [vllm, sglang, llama].into_iter().flatten().collect()
}

#[tokio::test]
async fn each_server_gets_the_grammar_of_a_required_call_in_its_own_field() {
    let rows = [("structured_outputs", "none"), ("response_format", "auto"), ("grammar", "none")];
    for (kind, (field, choice)) in SERVERS.into_iter().zip(rows) {
        let (sent, log) = chat(&body("required".into(), json!({})), server(kind)).await;
        let grammar = grammar(&sent);
        assert!(grammar.starts_with("root ::= "), "{kind:?}: {sent}");
        for word in ["<tool_call>", "tide", "wind"] {
            assert!(grammar.contains(word), "{kind:?}: {grammar}");
        }
        assert_eq!(sent["tool_choice"], choice, "{kind:?}");
        assert_eq!(sent["tools"].as_array().unwrap().len(), 2, "{kind:?}");
        assert!(log.contains("upstream is held to a grammar of calls"), "{log}");
        assert!(log.contains(&format!("field=\"{field}\"")) && log.contains("widened=2"), "{log}");
        assert!(log.contains("does not check: tide, port: `format`"), "{log}");
    }
    let (vllm, _) = chat(&body("required".into(), json!({})), server(ServerName::Vllm)).await;
    assert_eq!(vllm["guided_grammar"], grammar(&vllm), "the field of earlier versions");
    let (sglang, _) = chat(&body("required".into(), json!({})), server(ServerName::Sglang)).await;
    assert_eq!(sglang["response_format"]["type"], "structural_tag");
}

#[tokio::test]
async fn grammar_contains_only_the_named_or_allowed_tool() {
    let function = json!({"type": "function", "function": {"name": "wind"}});
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required",
        "tools": [function]}});
    for kind in SERVERS {
        for choice in [&function, &allowed] {
            let (sent, _) = chat(&body(choice.clone(), json!({})), server(kind)).await;
            let grammar = grammar(&sent);
            assert!(grammar.contains("wind") && !grammar.contains("tide"), "{kind:?}: {grammar}");
        }
    }
}

#[tokio::test]
async fn strict_tool_constrains_answers_to_text_or_calls() {
    let strict = json!({"tools": [function("tide", json!({"strict": true}))]});
    for kind in SERVERS {
        let (free, log) = chat(&body("auto".into(), json!({})), server(kind)).await;
        assert_eq!(grammar(&free), "", "{kind:?}");
        assert!(!log.contains("held to a grammar"), "{log}");
        let (sent, _) = chat(&body("auto".into(), strict.clone()), server(kind)).await;
        let auto = grammar(&sent);
        let (sent, _) = chat(&body("required".into(), strict.clone()), server(kind)).await;
        let required = grammar(&sent);
        assert!(auto.contains("tide") && required.contains("tide"), "{kind:?}: {auto}");
        assert!(auto.len() > required.len(), "{kind:?}: text is admitted, too");
        let (sent, _) = chat(&body("none".into(), strict.clone()), server(kind)).await;
        assert_eq!(grammar(&sent), "", "{kind:?}");
    }
}

#[tokio::test]
async fn grammar_starts_where_the_answer_starts() {
    let thinking = json!({"model": "Qwen/Qwen3-235B-A22B-Thinking-2507"});
    let llama = || server(ServerName::LlamaCpp);
    let (sent, _) = chat(&body("required".into(), thinking), llama()).await;
    let in_reasoning = grammar(&sent);
    assert!(in_reasoning.starts_with("root ::= text-0-0"), "{in_reasoning}");
    let (sent, _) = chat(&body("required".into(), json!({})), llama()).await;
    let in_content = grammar(&sent);
    assert!(!in_content.starts_with("root ::= text"), "{in_content}");
    // A rendered prompt shows it, too; the fields of chats are not sent on.
    let path = "/v1/completions";
    let guarded = || Config { completions: llm_stream_guard_serve::Completions::Guard, ..llama() };
    for (prompt, expected) in [("?<think>\n", &in_reasoning), ("?", &in_content)] {
        let body = body("required".into(), json!({"prompt": prompt}));
        let (sent, _) = sent_completion(path, &body, guarded()).await;
        assert_eq!(grammar(&sent), *expected, "{prompt}");
        assert!(sent.get("tool_choice").is_none() && sent.get("tools").is_none(), "{sent}");
    }
}

async fn sent_completion(path: &str, body: &Value, config: Config) -> (Value, String) {
    let mut body = body.clone();
    body.as_object_mut().unwrap().shift_remove("messages");
    sent(path, &body, config).await
}

#[tokio::test]
async fn grammars_are_sent_for_required_calls_of_other_dialects() {
    let tool = json!({"name": "tide", "input_schema": {"type": "object"}});
    let body = json!({"model": MODEL, "max_tokens": 9, "stream": true, "tools": [tool],
        "messages": [{"role": "user", "content": "?"}], "tool_choice": {"type": "any"}});
    let (got, _) = sent("/v1/messages", &body, server(ServerName::LlamaCpp)).await;
    assert!(grammar(&got).contains("tide"), "{got}");
    let tool = json!({"type": "function", "name": "tide", "parameters": {"type": "object"}});
    let body = json!({"model": MODEL, "input": "?", "stream": true, "tools": [tool],
        "tool_choice": {"type": "function", "name": "tide"}});
    let (got, _) = sent("/v1/responses", &body, server(ServerName::LlamaCpp)).await;
    assert!(grammar(&got).contains("tide"), "{got}");
}

#[tokio::test]
async fn family_without_call_syntax_is_constrained_to_json() {
    let model = json!({"model": "open-thoughts/OpenThinker-7B"});
    let (sent, _) = chat(&body("required".into(), model), server(ServerName::Vllm)).await;
    let grammar = grammar(&sent);
    assert!(grammar.contains("{\\\"name\\\": \\\"tide\\\""), "{sent}");
}

#[tokio::test]
async fn grammar_is_not_sent_if_disabled_or_unsupported() {
    let required = body("required".into(), json!({}));
    let off = Config { tool_grammar: ToolGrammar::Off, ..server(ServerName::Vllm) };
    let remapped = Model {
        profile: Some("hermes".parse().unwrap()),
        remap: Some(Remap::Hermes),
        ..Model::default()
    };
    let models = Models::from([(MODEL.to_owned(), remapped)]);
    let remapped = Config { models, ..server(ServerName::Vllm) };
    let own = |field: &str, value: Value| {
        let mut body = required.clone();
        body[field] = value;
        body
    };
    let long = "x".repeat(300_000);
    let long = json!([function("tide", json!({"description": long}))]);
    let rows = [
        (required.clone(), off),
        (required.clone(), remapped),
        (required.clone(), server(ServerName::Plain)),
        (required.clone(), server(ServerName::Ollama)),
        (own("response_format", json!({"type": "json_object"})), server(ServerName::Vllm)),
        (own("grammar", json!("root ::= \"a\"")), server(ServerName::LlamaCpp)),
        (own("regex", json!("a")), server(ServerName::Sglang)),
        (own("tools", long), server(ServerName::Vllm)),
    ];
    for (n, (body, config)) in rows.into_iter().enumerate() {
        let (sent, log) = chat(&body, config).await;
        let fields = ["structured_outputs", "guided_grammar", "response_format", "grammar"];
        for field in fields {
            assert_eq!(sent.get(field), body.get(field), "{n}: {field}");
        }
        assert!(!log.contains("held to a grammar"), "{n}: {log}");
    }
}

#[tokio::test]
async fn unwritable_grammar_is_logged_without_names() {
    let tools = json!({"tools": [function("my secret", json!({}))], "model": "pythonic"});
    let models = Models::from([(
        "pythonic".to_owned(),
        Model { profile: Some("pythonic".parse().unwrap()), ..Model::default() },
    )]);
    let config = Config { models, ..server(ServerName::LlamaCpp) };
    let (sent, log) = chat(&body("required".into(), tools), config).await;
    assert_eq!(grammar(&sent), "");
    let line = log.lines().find(|line| line.contains("no grammar can be made")).unwrap();
    assert!(!line.contains("secret"), "{line}");
}

#[tokio::test]
async fn call_constrained_by_a_grammar_is_read() {
    let named = json!({"type": "function", "function": {"name": "tide"}});
    for choice in [json!("required"), named] {
        let message = json!({"role": "assistant", "content": CALL});
        let choices = json!([{"index": 0, "message": message, "finish_reason": "stop"}]);
        let whole = whole_json("200 OK", &json!({"choices": choices}));
        let upstream = Replay::new(vec![Do::Send(whole)]).await;
        let served = Served::new(upstream.port, server(ServerName::LlamaCpp)).await;
        let got = served.ask(&body(choice, json!({"stream": false}))).await;
        let call = &got.json()["choices"][0]["message"]["tool_calls"][0]["function"];
        assert_eq!(
            (&call["name"], &call["arguments"]),
            (&json!("tide"), &json!("{\"port\": \"Brest\"}"))
        );
    }
}

const THINKING: &str = "Qwen/Qwen3-235B-A22B-Thinking-2507";

fn schema_body(more: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"], "additionalProperties": false});
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema}});
    let mut body = json!({"model": MODEL, "messages": [], "stream": true,
        "response_format": format});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn schema_of_a_thinking_model_follows_its_thought_in_each_servers_field() {
    let rows = ["structured_outputs", "response_format", "grammar"];
    for (kind, field) in SERVERS.into_iter().zip(rows) {
        let (sent, log) = chat(&schema_body(json!({})), server(kind)).await;
        let tag = sent["structured_outputs"]["structural_tag"].as_str().map(str::to_owned);
        let made = tag.unwrap_or_else(|| sent[field].to_string());
        assert!(made.contains("<think>") && made.contains("city"), "{kind:?}: {sent}");
        assert_eq!(sent.get("response_format").is_some(), field == "response_format", "{sent}");
        assert!(log.contains("a grammar of a thought and the form of the answer"), "{log}");
        let off = json!({"chat_template_kwargs": {"enable_thinking": false}});
        let (sent, _) = chat(&schema_body(off.clone()), server(kind)).await;
        assert_eq!(sent["response_format"], schema_body(off)["response_format"], "{kind:?}");
        let other = json!({"model": "meta-llama/Llama-3.1-8B-Instruct"});
        let (sent, _) = chat(&schema_body(other.clone()), server(kind)).await;
        assert_eq!(sent["response_format"], schema_body(other)["response_format"], "{kind:?}");
    }
}

#[tokio::test]
async fn form_without_a_grammar_is_sent_unchanged_and_logged() {
    let body = json!({"model": MODEL, "messages": [], "stream": true, "regex": "a+"});
    let (sent, log) = chat(&body, server(ServerName::LlamaCpp)).await;
    assert_eq!((&sent["regex"], sent.get("grammar")), (&json!("a+"), None));
    assert!(log.contains("the form of an answer is sent unchanged"), "{log}");
    let body = schema_body(json!({"response_format": {"type": "text"}}));
    let (sent, log) = chat(&body, server(ServerName::LlamaCpp)).await;
    assert_eq!(sent["response_format"]["type"], "text");
    assert!(!log.contains("grammar"), "{log}");
}

#[tokio::test]
async fn json_of_an_answer_is_content_with_and_without_a_thought() {
    let json = "{\"city\": \"Oslo\"}";
    for (model, text, thought) in [
        (THINKING, json.to_owned(), ""),
        (THINKING, format!("It is [Oslo].\n</think>\n\n{json}"), "It is [Oslo].\n"),
        (MODEL, json.to_owned(), ""),
        (MODEL, format!("<think>\nOslo.\n</think>\n\n{json}"), "\nOslo.\n"),
    ] {
        for kind in [ServerName::Vllm, ServerName::LlamaCpp, ServerName::Plain] {
            let message = json!({"role": "assistant", "content": text});
            let choices = json!([{"index": 0, "message": message, "finish_reason": "stop"}]);
            let whole = whole_json("200 OK", &json!({"choices": choices}));
            let upstream = Replay::new(vec![Do::Send(whole)]).await;
            let served = Served::new(upstream.port, server(kind)).await;
            let body = schema_body(json!({"stream": false, "model": model}));
            let got = served.ask(&body).await;
            let message = &got.json()["choices"][0]["message"];
            assert_eq!(message["content"].as_str().unwrap().trim(), json, "{model} {text}");
            let reasoning = message["reasoning_content"].as_str().unwrap_or_default();
            assert_eq!(reasoning.trim(), thought.trim(), "{model} {text}");

            let last = event(&json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
            let mut events: Vec<u8> =
                text.chars().flat_map(|c| text_event(&c.to_string())).collect();
            events.extend(last);
            let upstream = Replay::new(stream(&events, 50)).await;
            let served = Served::new(upstream.port, server(kind)).await;
            let got = served.ask(&schema_body(json!({"model": model}))).await.completion();
            let message = &got.choices[0].message;
            assert_eq!(message.text().unwrap_or_default().trim(), json, "{text}");
        }
    }
}
