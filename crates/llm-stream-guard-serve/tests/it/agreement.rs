//! The dialects compared with each other: the same text, reasoning and calls that run, streamed and whole.

use llm_stream_guard::{
    CallOptions, Guard, Ids,
    chat::{BrokenCalls, CallForm, ChatGuard, ChatOptions},
    profile,
};
use llm_stream_guard_serve::dialect::ApiDialect;
use serde_json::{Value, json};

use crate::support::event;

const DIALECTS: [ApiDialect; 3] = [ApiDialect::Chat, ApiDialect::Messages, ApiDialect::Responses];

/// What a client understands of an answer.
#[derive(Debug, Default, PartialEq, Clone)]
struct Understood {
    content: String,
    reasoning: String,
    /// Name and arguments of each call that a client runs.
    runs: Vec<(String, Value)>,
}

impl Understood {
    fn call(&mut self, name: &Value, arguments: &str) {
        let name = name.as_str().unwrap_or_default().to_owned();
        if let Ok(arguments @ Value::Object(_)) = serde_json::from_str(arguments) {
            self.runs.push((name, arguments));
        }
    }
}

fn guard(broken: BrokenCalls, calls: CallForm) -> ChatGuard {
    let mut options = CallOptions::default();
    options.ids = Ids::counting();
    let guard = Guard::builder(&profile("hermes").unwrap()).calls(options).build().unwrap();
    let mut options = ChatOptions::default();
    (options.broken_calls, options.calls) = (broken, calls);
    ChatGuard::new(guard, options)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Reads the events that a dialect writes.
fn streamed(dialect: ApiDialect, guard: &ChatGuard, upstream: &[u8]) -> Understood {
    let mut machine = dialect.stream(guard.clone(), &json!({"model": "m"}));
    let mut out = Vec::new();
    machine.push(upstream, &mut out).unwrap();
    machine.finish(&mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let data = out.lines().filter_map(|line| line.strip_prefix("data: {"));
    let events: Vec<Value> =
        data.map(|data| serde_json::from_str(&format!("{{{data}")).unwrap()).collect();
    let mut seen = Understood::default();
    let mut open: Vec<(Value, String)> = Vec::new();
    for event in &events {
        match (dialect, text(&event["type"])) {
            (ApiDialect::Chat, _) => {
                let delta = &event["choices"][0]["delta"];
                seen.content.push_str(text(&delta["content"]));
                seen.reasoning.push_str(text(&delta["reasoning_content"]));
                for call in delta["tool_calls"].as_array().into_iter().flatten() {
                    let at = call["index"].as_u64().unwrap() as usize;
                    if at == open.len() {
                        open.push((call["function"]["name"].clone(), String::new()));
                    }
                    open[at].1.push_str(text(&call["function"]["arguments"]));
                }
            }
            (ApiDialect::Messages, "content_block_start") => {
                let block = &event["content_block"];
                if block["type"] == "tool_use" {
                    open.push((block["name"].clone(), String::new()));
                }
            }
            (ApiDialect::Messages, "content_block_delta") => {
                let delta = &event["delta"];
                seen.content.push_str(text(&delta["text"]));
                seen.reasoning.push_str(text(&delta["thinking"]));
                if let Some((_, arguments)) = open.last_mut() {
                    arguments.push_str(text(&delta["partial_json"]));
                }
            }
            (ApiDialect::Responses, "response.output_text.delta") => {
                seen.content.push_str(text(&event["delta"]));
            }
            (ApiDialect::Responses, "response.reasoning_text.delta") => {
                seen.reasoning.push_str(text(&event["delta"]));
            }
            (ApiDialect::Responses, "response.output_item.done") => {
                let item = &event["item"];
                if item["type"] == "function_call" && item["status"] == "completed" {
                    open.push((item["name"].clone(), text(&item["arguments"]).to_owned()));
                }
            }
            _ => {}
        }
    }
    open.iter().for_each(|(name, arguments)| seen.call(name, arguments));
    seen
}

/// Reads a whole answer of a dialect.
fn whole(dialect: ApiDialect, guard: &ChatGuard, answer: &Value) -> Understood {
    let completion = serde_json::from_value(answer.clone()).unwrap();
    let body = dialect.whole(guard, completion, &json!({"model": "m"})).unwrap().body;
    let body: Value = serde_json::from_str(&body).unwrap();
    let mut seen = Understood::default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    match dialect {
        ApiDialect::Messages => {
            for block in list(&body["content"]) {
                seen.content.push_str(text(&block["text"]));
                seen.reasoning.push_str(text(&block["thinking"]));
                if block["type"] == "tool_use" && block["input"].get("INVALID_JSON").is_none() {
                    seen.call(&block["name"], &block["input"].to_string());
                }
            }
        }
        ApiDialect::Responses => {
            for item in list(&body["output"]) {
                let parts = list(&item["content"]);
                let written: String = parts.iter().map(|part| text(&part["text"])).collect();
                match text(&item["type"]) {
                    "message" => seen.content.push_str(&written),
                    "reasoning" => seen.reasoning.push_str(&written),
                    _ if item["status"] == "completed" => {
                        seen.call(&item["name"], text(&item["arguments"]));
                    }
                    _ => {}
                }
            }
        }
        _ => {
            let message = &body["choices"][0]["message"];
            seen.content.push_str(text(&message["content"]));
            seen.reasoning.push_str(text(&message["reasoning_content"]));
            for call in list(&message["tool_calls"]) {
                seen.call(&call["function"]["name"], text(&call["function"]["arguments"]));
            }
        }
    }
    seen
}

/// A generator of numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// Deltas of an answer, with calls that are whole, malformed, cut, named late or interleaved.
fn deltas(dice: &mut Dice) -> Vec<Value> {
    let texts = [
        "So. ",
        "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": [1, 2]}}</tool_call>",
        "<tool_call>{\"name\": \"g\", \"arguments\": {\"a\": ]}}</tool_call>",
        "<tool_call>{\"name\": \"h\", \"arguments\": ]}</tool_call>",
        "<tool_call>{\"name\": \"i\", \"arguments\": {\"a\": \"x",
    ];
    let mut deltas = Vec::new();
    for _ in 0..1 + dice.roll(3) {
        let text = texts[dice.roll(texts.len())];
        let cut = dice.roll(text.len());
        deltas.push(json!({"content": &text[..cut]}));
        if dice.roll(3) == 0 {
            deltas.push(json!({"reasoning_content": "hm. "}));
        }
        deltas.push(json!({"content": &text[cut..]}));
    }
    let mut pieces: Vec<Vec<Value>> = Vec::new();
    for index in 0..dice.roll(4) {
        let name = (dice.roll(6) > 0).then(|| format!("own{index}"));
        let arguments =
            ["{\"k\": \"v\"}", "{\"k\": {}}", "{\"k\": \"v", "", "{\"k\": [1"][dice.roll(5)];
        let cut = dice.roll(arguments.len() + 1);
        let late = dice.roll(2) == 1;
        let call = |name: Option<&String>, arguments: &str| {
            json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "type": "function",
                "function": {"name": name, "arguments": arguments}}]})
        };
        let (first, second) = if late { (None, name.as_ref()) } else { (name.as_ref(), None) };
        pieces.push(vec![call(second, &arguments[cut..]), call(first, &arguments[..cut])]);
    }
    while pieces.iter().any(|it| !it.is_empty()) {
        let at = dice.roll(pieces.len());
        deltas.extend(pieces[at].pop());
        if dice.roll(4) == 0 {
            deltas.push(json!({"content": "Hm. "}));
        }
    }
    deltas
}

#[test]
fn dialects_agree_about_text_and_the_calls_that_run() {
    let mut dice = Dice(7);
    for round in 0..250 {
        let reason = ["stop", "length", "tool_calls"][dice.roll(3)];
        let deltas = deltas(&mut dice);
        let choice = |delta: &Value| json!({"index": 0, "delta": delta, "finish_reason": null});
        let mut upstream: Vec<u8> = deltas.iter().flat_map(|it| event(&choice(it))).collect();
        upstream.extend(event(&json!({"index": 0, "delta": {}, "finish_reason": reason})));
        for broken in
            [BrokenCalls::Auto, BrokenCalls::Keep, BrokenCalls::Drop, BrokenCalls::Release]
        {
            for calls in [CallForm::Streamed, CallForm::Whole] {
                let guard = guard(broken, calls);
                let [chat, others @ ..] =
                    DIALECTS.map(|dialect| streamed(dialect, &guard, &upstream));
                for other in others {
                    assert_eq!(other, chat, "{round} {broken:?} {calls:?} {deltas:#?} {reason}");
                }
            }
        }
    }
}

#[test]
fn dialects_agree_about_whole_answers() {
    let mut dice = Dice(11);
    for round in 0..250 {
        let reason = ["stop", "length", "tool_calls"][dice.roll(3)];
        let deltas = deltas(&mut dice);
        let joined = |name: &str| deltas.iter().map(|it| text(&it[name])).collect::<String>();
        let mut calls: Vec<Value> = Vec::new();
        for call in deltas.iter().filter_map(|it| it["tool_calls"].get(0)) {
            let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
            match calls.iter_mut().find(|known| known["id"] == call["id"]) {
                None => calls.push(call.clone()),
                Some(known) => {
                    let function = &mut known["function"];
                    let whole = format!("{}{}", text(&function["arguments"]), text(arguments));
                    function["arguments"] = whole.into();
                    if function["name"].is_null() {
                        function["name"] = name.clone();
                    }
                }
            }
        }
        let message = json!({"role": "assistant", "content": joined("content"),
            "reasoning_content": joined("reasoning_content"), "tool_calls": calls});
        let answer =
            json!({"choices": [{"index": 0, "message": message, "finish_reason": reason}]});
        for broken in
            [BrokenCalls::Auto, BrokenCalls::Keep, BrokenCalls::Drop, BrokenCalls::Release]
        {
            let guard = guard(broken, CallForm::Streamed);
            let [chat, others @ ..] = DIALECTS.map(|dialect| whole(dialect, &guard, &answer));
            for other in others {
                assert_eq!(other, chat, "{round} {broken:?} {answer:#}");
            }
        }
    }
}

#[test]
fn calls_after_a_dropped_call_keep_their_outcome() {
    let malformed = "<tool_call>{\"name\": \"rm\", \"arguments\": {\"a\": ]}}</tool_call>";
    let good = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
    let message = json!({"role": "assistant", "content": format!("{good}{malformed}{good}")});
    let answer = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let guard = guard(BrokenCalls::Drop, CallForm::Streamed);
    for dialect in DIALECTS {
        let seen = whole(dialect, &guard, &answer);
        assert_eq!(seen.runs, vec![("f".to_owned(), json!({"a": 1})); 2], "{dialect:?}");
    }
}

#[test]
fn malformed_call_of_a_whole_message_has_no_input_to_run() {
    let text = "<tool_call>{\"name\": \"rm\", \"arguments\": ]}</tool_call>";
    let message = json!({"role": "assistant", "content": text});
    let answer = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let completion = serde_json::from_value(answer).unwrap();
    let guard = guard(BrokenCalls::Keep, CallForm::Streamed);
    let body = ApiDialect::Messages.whole(&guard, completion, &Value::Null).unwrap().body;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["content"][0]["input"], json!({"INVALID_JSON": ""}));
}
