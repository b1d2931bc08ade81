//! `POST /parse` and `POST /parse/batch`.

use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, ProxyLimits};
use serde_json::{Value, json};

use crate::support::{Got, Served, config};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

async fn post(served: &Served, path: &str, body: &Value) -> Got {
    let (head, body) = served.post(path, body).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body }
}

async fn parse(body: Value) -> Got {
    post(&Served::new(1, config()).await, "/parse", &body).await
}

#[tokio::test]
async fn text_and_chunks_parse_to_the_same_message_at_every_cut() {
    let text = format!("<think>Hm.</think>\n\nSo.\n{CALL}");
    let served = Served::new(1, config()).await;
    let model = "Qwen/Qwen3-8B";
    let ask = async |input: Value| {
        let mut body = json!({"model": model, "finish": "stop"});
        body.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
        let mut got = post(&served, "/parse", &body).await.json();
        let id = got["message"]["calls"][0]["id"].take();
        assert!(id.as_str().unwrap().starts_with("call_"), "{got}");
        got
    };
    let whole = ask(json!({"text": text})).await;
    assert_eq!(whole["family"], "qwen3");
    assert_eq!(whole["message"]["reasoning"], "Hm.");
    assert_eq!(whole["message"]["content"], "So.\n");
    let call = json!({"id": null, "name": "f", "arguments": "{\"a\": 1}", "outcome": "complete"});
    assert_eq!(whole["message"]["calls"], json!([call]));
    assert_eq!(whole["diagnostics"], json!([]));
    for cut in (1..text.len()).step_by(5) {
        let (head, tail) = text.split_at(cut);
        assert_eq!(ask(json!({"chunks": [head, tail]})).await, whole, "{cut}");
    }
    let chunk = |text: &str, reason: Value| json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]});
    let chunks = json!({"chunks": [chunk(&text, Value::Null), chunk("", json!("stop"))]});
    assert_eq!(ask(chunks).await, whole);
}

#[tokio::test]
async fn parse_request_may_hold_a_family_of_its_own() {
    let family = json!({"name": "books", "calls": {"call": "<book>{object}</book>"},
        "reasoning": {"block": "<plan>{text}</plan>"}});
    let text = r#"<plan>Hm.</plan><book>{"name": "find", "arguments": {}}</book>"#;
    let got = parse(json!({"family": family, "text": text})).await.json();
    assert_eq!((&got["family"], &got["message"]["reasoning"]), (&json!("books"), &json!("Hm.")));
    assert_eq!(got["message"]["calls"][0]["name"], "find", "{got}");
    let wrong = json!({"name": "books", "calls": {"call": "<book>{objekt}</book>"}});
    let got = parse(json!({"family": wrong, "text": text})).await;
    assert_eq!(got.status, 400);
    assert!(got.json().to_string().contains("calls.call"), "the field at fault is named");
    // The text of a file, as `derive` writes it.
    let file =
        "reasoning = { block = '<plan>{text}</plan>' }\n[calls]\ncall = '<book>{object}</book>'\n";
    let got = parse(json!({"family_file": file, "text": text})).await.json();
    assert_eq!((&got["family"], &got["message"]["reasoning"]), (&json!("own"), &json!("Hm.")));
    let got = parse(json!({"family_file": "[calls]\ncall = '{objekt}'", "text": text})).await;
    assert_eq!(got.status, 400);
    assert_eq!(got.json()["error"]["param"], "family_file");
}

#[tokio::test]
async fn parse_request_fields_are_applied() {
    let tools = json!([{"type": "function", "function": {"name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}}]);
    let glm = "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>";
    let got = parse(json!({"family": "glm45", "text": glm, "tools": tools})).await.json();
    assert_eq!(got["message"]["calls"][0]["arguments"], "{\"a\": \"1\"}", "{got}");
    let read = async |more: Value| {
        let mut body = json!({"family": "qwen3", "text": "x</think> y"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parse(body).await.json()
    };
    assert_eq!(read(json!({"start": "reasoning"})).await["message"]["reasoning"], "x");
    let prompt = "<|im_start|>assistant\n<think>\n";
    assert_eq!(read(json!({"prompt": prompt})).await["message"]["reasoning"], "x");
    let plain = read(json!({})).await;
    assert_eq!(plain["diagnostics"][0]["kind"], "orphan_closer", "{plain}");
    let text = json!({"start": "reasoning", "whitespace": "verbatim"});
    assert_eq!(read(text).await["message"]["content"], " y");
    let text = json!({"start": "reasoning", "whitespace": "trim"});
    assert_eq!(read(text).await["message"]["content"], "y");
    let cut = r#"<tool_call>{"name": "f", "arguments": {"a": "#;
    for finish in ["stop", "length"] {
        let got = parse(json!({"family": "qwen3", "text": cut, "finish": finish})).await.json();
        assert_eq!(got["message"]["calls"][0]["outcome"], "incomplete", "{got}");
    }
}

#[tokio::test]
async fn recorded_chunks_may_have_several_choices_and_be_truncated() {
    let chunk = |index: u32, text: &str, reason: Value| json!({"choices": [{"index": index, "delta": {"content": text}, "finish_reason": reason}]});
    let chunks =
        [chunk(0, "a", Value::Null), chunk(1, CALL, json!("stop")), chunk(0, "b", json!("stop"))];
    let got = parse(json!({"family": "qwen3", "chunks": chunks})).await.json();
    assert_eq!(got["message"]["content"], "ab");
    assert_eq!(got["choices"][1]["message"]["calls"][0]["outcome"], "complete", "{got}");
    let chunks = [chunk(0, "a", Value::Null)];
    let got = parse(json!({"family": "qwen3", "chunks": chunks})).await.json();
    assert_eq!(got["diagnostics"][0]["kind"], "no_finish_reason", "{got}");
}

#[tokio::test]
async fn batch_is_answered_in_order_with_errors_in_place() {
    let served = Served::new(1, config()).await;
    let requests = json!([
        {"family": "qwen3", "text": "one"},
        {"family": "qwen9000", "text": "two"},
        {"model": "Qwen/Qwen3-8B", "text": "three"},
        7,
    ]);
    let got = post(&served, "/parse/batch", &json!({"requests": requests})).await;
    assert_eq!(got.status, 200);
    let results = &got.json()["results"];
    assert_eq!(results[0]["message"]["content"], "one");
    assert_eq!(results[1]["error"]["param"], "family");
    assert!(results[1]["error"]["message"].as_str().unwrap().contains("qwen9000"), "{results}");
    assert_eq!(results[2]["message"]["content"], "three");
    assert!(results[3]["error"]["message"].is_string(), "{results}");
    let many = vec![json!({"family": "qwen3", "text": ""}); 1025];
    let got = post(&served, "/parse/batch", &json!({"requests": many})).await;
    assert_eq!(got.status, 413, "{}", got.text());
}

#[tokio::test]
async fn parse_errors_name_the_field_and_the_expected_value() {
    for (body, field, words) in [
        (json!({"text": "x"}), "model", "`family`"),
        (json!({"family": "qwen3"}), "text", "`chunks`"),
        (json!({"family": "qwen3", "text": 7}), "text", "a string"),
        (json!({"family": "qwen3", "text": "x", "chunks": []}), "chunks", "not both"),
        (json!({"family": "qwen3", "chunks": "x"}), "chunks", "a list"),
        (json!({"family": "qwen3", "chunks": [7]}), "chunks[0]", "a string or an object"),
        (json!({"family": "qwen3", "text": "x", "start": "end"}), "start", "`reasoning`"),
        (json!({"family": "qwen3", "text": "x", "finish": "end"}), "finish", "`length`"),
        (json!({"family": "qwen3", "text": "x", "whitespace": 1}), "whitespace", "a string"),
        (json!({"family": "qwen3", "text": "x", "tools": [7]}), "tools", ""),
        (json!({"family": "qwen3", "text": "x", "added_tokens": []}), "added_tokens", "`chunks`"),
        (
            json!({"family": "qwen3", "chunks": [], "added_tokens": [7]}),
            "added_tokens",
            "`content`",
        ),
        (json!({"family": "qwen3", "text": "x", "tool": []}), "tool", "unknown field"),
        (json!({"family": "/etc/passwd.json", "text": "x"}), "family", "unknown"),
        (json!({"model": "nobody/knows", "text": "x"}), "model", "nobody/knows"),
        (
            json!({"family": "qwen3", "family_file": "[calls]\ncall = '<a>{object}</a>'", "text": "x"}),
            "family_file",
            "or `family`",
        ),
    ] {
        let got = parse(body.clone()).await;
        assert_eq!(got.status, 400, "{body}: {}", got.text());
        let error = &got.json()["error"];
        assert_eq!(error["param"], field, "{body}: {error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{body}: {error}");
    }
}

#[tokio::test]
async fn parse_bodies_have_the_same_limits_as_other_requests() {
    let limits = ProxyLimits { body: 1000, ..ProxyLimits::default() };
    let served = Served::new(1, Config { limits, ..config() }).await;
    let long = json!({"family": "qwen3", "text": "x".repeat(2000)});
    for path in ["/parse", "/parse/batch"] {
        assert_eq!(post(&served, path, &long).await.status, 413);
    }
    let served = Served::new(1, config()).await;
    let many: Vec<Value> = vec![json!({"": 0}); 3_000_000];
    let small = json!({"family": "qwen3", "text": "x", "tools": many});
    assert_eq!(post(&served, "/parse", &small).await.status, 413);
    let large = "word ".repeat(200_000);
    let body = json!({"family": "qwen3", "text": large});
    let got = post(&served, "/parse", &body).await.json();
    assert_eq!(got["message"]["content"], large.as_str());
}

/// The line with `curl` in the manual, and what it shows below.
#[tokio::test]
async fn manual_shows_the_actual_answer_of_parse() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let served = Served::new(1, config()).await;
    let mut shown = 0;
    let examples = manual.split("$ curl -s http://127.0.0.1:8080");
    for example in examples.skip(1).filter(|example| example.starts_with("/parse")) {
        let (line, rest) = example.split_once("}'\n").unwrap();
        let (path, body) = line.split_once(" -d '").unwrap();
        let answer = rest.split("```").next().unwrap();
        let body: Value = serde_json::from_str(&format!("{body}}}")).unwrap();
        let expected: Value = serde_json::from_str(answer).unwrap();
        let got = post(&served, path, &body).await;
        assert_eq!(got.status, 200, "{}", got.text());
        assert_eq!(without_ids(got.json()), without_ids(expected), "{path}");
        shown += 1;
    }
    assert_eq!(shown, 3);
}

/// The same without ids, which differ from answer to answer.
fn without_ids(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "id");
            fields.values_mut().for_each(|field| *field = without_ids(field.take()));
        }
        Value::Array(entries) => {
            entries.iter_mut().for_each(|entry| *entry = without_ids(entry.take()));
        }
        _ => {}
    }
    value
}
