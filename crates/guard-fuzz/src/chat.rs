//! Chat-completion streams with choices, calls from upstream, unknown fields, usage and ends, as
//! chunks and as bytes.

use llm_stream_guard::{
    CallOptions, Delivery, End, Guard, GuardBuilder, Ids, InlineTags, Profile, ReasoningOptions,
    StopString,
    chat::{
        Aggregator, BrokenCalls, ChatGuard, ChatOptions, ChatSink, ChatSse, ChatStep, Chunk,
        Completion, Done, Emission, Failures, Field, Logprobs, ReasoningField, ReasoningTokens,
        Stop, Synthesis,
    },
    profile, sse,
};
use serde_json::{Value, json};
use stream_laws::Cut;

use crate::{chat_reader::read, input::Input};

const OPTIONS: usize = 24;

/// The maximum number of operations of an input.
const OPERATIONS: usize = 400;

const TEXTS: [&str; 32] = [
    "word ",
    "<",
    "tool_call>",
    "<tool_call>",
    "{\"name\": \"f\", ",
    "\"arguments\": {\"a\": ",
    "\"b\"}}",
    "</tool_call>",
    "<think>",
    "</think>",
    "\n\n",
    "é🎉",
    "[[CALL]]",
    "END",
    "```\n",
    "{\"name\": \"f\", \"arguments\": {}}",
    "\n",
    " ",
    "<tool",
    "_call>\n",
    "}",
    "\"",
    "hm",
    "</th",
    "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}",
    ", {\"name\": \"g\", \"arguments\": {\"a\": ?",
    "]",
    "<minimax:tool_call>",
    "<invoke name=\"f\">",
    "</invoke>",
    "</minimax:tool_call>",
    "?",
];

fn chat_options(input: &mut Input<'_>) -> ChatOptions {
    let mut options = ChatOptions::default();
    options.emission = *input.pick(&[Emission::Packed, Emission::SingleChoice]);
    options.reasoning = *input.pick(&[
        ReasoningField::ReasoningContent,
        ReasoningField::Reasoning,
        ReasoningField::AsUpstream,
        ReasoningField::Inline,
        ReasoningField::Hidden,
    ]);
    options.synthesis = *input.pick(&[Synthesis::Proven, Synthesis::Off, Synthesis::Always]);
    options.broken_calls = *input.pick(&[
        BrokenCalls::Auto,
        BrokenCalls::Keep,
        BrokenCalls::Drop,
        BrokenCalls::Release,
    ]);
    options.stop = *input.pick(&[Stop::Convention, Stop::Rewrite, Stop::Keep]);
    options.reasoning_tokens = *input.pick(&[ReasoningTokens::Upstream, ReasoningTokens::Counted]);
    options.logprobs = *input.pick(&[Logprobs::OfText, Logprobs::OfText, Logprobs::All]);
    options
}

fn builder(input: &mut Input<'_>) -> GuardBuilder {
    let names = ["qwen3", "hermes", "deepseek_v3", "harmony", "mistral", "minimax_m2"];
    let name = *input.pick(&names);
    let known = profile(name).unwrap_or_else(|_| Profile::named("plain"));
    let mut calls = CallOptions::default();
    calls.ids = Ids::counting();
    let mut guard = Guard::builder(&known).calls(calls);
    if input.one_in(3) {
        guard = guard.delivery(Delivery::Atomic);
    }
    if input.one_in(4) {
        guard = guard.stop([StopString::hidden("END")]);
    }
    let mut reasoning = ReasoningOptions::default();
    if input.one_in(4) {
        reasoning.nonempty_content = Some(64);
    }
    reasoning.inline_tags = *input.pick(&[InlineTags::Live, InlineTags::Live, InlineTags::Literal]);
    guard.reasoning(reasoning)
}

/// Returns a delta of this kind, with other fields.
fn piece(kind: u8, n: usize, reasoning: &str) -> Value {
    let text = TEXTS[n % TEXTS.len()];
    let entry = json!({"token": text, "logprob": -1.0, "bytes": text.as_bytes()});
    match kind {
        0 => json!({"delta": {"role": "assistant", "content": ""}}),
        1 => json!({"delta": {"content": null, "refusal": null}, "logprobs": null}),
        2 => json!({"delta": {reasoning: text}}),
        3 => json!({"delta": {reasoning: "hm", "content": text}}),
        4 => json!({"delta": {"tool_calls": [{"index": n % 3, "id": format!("n{}", n % 4),
            "function": {"name": "g", "arguments": "{"}}]}}),
        5 => json!({"delta": {"tool_calls": [{"function": {"name": "g", "arguments": "{}"}}]}}),
        6 => {
            json!({"delta": {"tool_calls": [{"index": n % 3, "function": {"arguments": "\"a\": 1}"}}]}})
        }
        7 => json!({"delta": {"refusal": format!("no{n}"), "content": text}}),
        8 => {
            json!({"delta": {"content": [{"type": "image_url", "n": n}, {"type": "text", "text": text}]}})
        }
        9 => json!({"delta": {"content": text}, "logprobs": {"content": [entry]}}),
        10 => json!({"delta": {}, "token_ids": [n], "stop_reason": n}),
        11 => json!({"delta": {"annotations": [n], "content": text, "audio": {"id": n}}}),
        _ => json!({"delta": {"content": text}}),
    }
}

const NAMES: [&str; 2] = ["reasoning_content", "reasoning"];

const REASONS: [&str; 8] =
    ["stop", "length", "tool_calls", "content_filter", "eos", "abort", "stop", "max_tokens"];

/// Returns the chunks of an input. Two bytes select each delta of a choice, or another chunk. All
/// reasoning is in fields of one name.
fn chunks(operations: &[u8], reasoning: &str) -> Vec<Value> {
    let (mut chunks, mut begun) = (Vec::new(), Vec::new());
    for pair in operations.chunks_exact(2).take(OPERATIONS) {
        let (index, n) = (u64::from(pair[0] >> 6) % 3, usize::from(pair[1]));
        let mut chunk = json!({
            "id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": [],
        });
        match pair[0] & 0x3F {
            60 => {
                chunk["choices"] =
                    json!([{"index": index, "delta": {}, "finish_reason": REASONS[n % 8]}]);
            }
            61 => {
                // Nothing comes after the usage report.
                chunk["usage"] = json!({"completion_tokens": n, "total_tokens": n + 3});
                chunks.push(chunk);
                break;
            }
            62 => chunk["odd_field"] = json!({"z": n, "n": n}),
            kind => {
                // The rest of a call must come after its beginning.
                let call = (index, n % 3);
                let kind = if kind == 6 && !begun.contains(&call) { 4 } else { kind };
                if kind == 4 {
                    begun.push(call);
                }
                let mut choice = piece(kind, n, reasoning);
                choice["index"] = json!(index);
                choice["finish_reason"] = Value::Null;
                chunk["choices"] = json!([choice]);
                if kind > 50 {
                    let mut other = piece(if kind % 2 == 0 { 9 } else { 12 }, n / 3, reasoning);
                    other["index"] = json!((index + 1) % 3);
                    chunk["choices"].as_array_mut().expect("it is").push(other);
                    chunk["usage"] = json!({"completion_tokens": n});
                }
            }
        }
        chunks.push(chunk);
    }
    chunks
}

#[derive(Default)]
struct Seen(Vec<Chunk>);

impl ChatSink for Seen {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, _| self.0.push(chunk));
    }
}

fn parsed(chunks: &[Value]) -> Vec<Chunk> {
    chunks.iter().map(|chunk| serde_json::from_value(chunk.clone()).expect("a chunk")).collect()
}

fn aggregate(chunks: &[Chunk]) -> Completion {
    let mut whole = Aggregator::default();
    chunks.iter().for_each(|chunk| whole.push(chunk));
    whole.finish()
}

/// Checks that each text has an entry for each of its scalars, in order.
fn with_tokens(chunks: &mut [Value]) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    for chunk in chunks {
        for choice in chunk["choices"].as_array_mut().expect("it is") {
            let delta = &choice["delta"];
            let fields = [&delta["reasoning"], &delta["reasoning_content"], &delta["content"]];
            let text = fields.map(text).concat();
            let entry = |scalar: char| json!({"token": scalar.to_string(), "logprob": -1.0});
            choice["logprobs"] = json!({"content": text.chars().map(entry).collect::<Vec<_>>()});
        }
    }
}

/// Checks that the tokens in the content's list concatenate to the content.
fn tokens_are_the_content(whole: &Completion) {
    for choice in &whole.choices {
        let list = choice.logprobs.value().and_then(|it| it["content"].as_array());
        let tokens = list.into_iter().flatten().filter_map(|entry| entry["token"].as_str());
        let content = match serde_json::to_value(&choice.message.content).unwrap_or_default() {
            Value::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect(),
            content => content.as_str().unwrap_or_default().to_owned(),
        };
        assert_eq!(tokens.collect::<String>(), content);
    }
}

/// Removes estimates, which count deltas and depend on the cuts.
fn without_estimates(mut whole: Completion) -> Completion {
    if let Field::Value(Value::Object(usage)) = &mut whole.usage {
        usage.remove("completion_tokens_details");
    }
    whole
}

fn run(guard: &ChatGuard, chunks: Vec<Chunk>, end: End) -> Vec<Chunk> {
    let (mut guard, mut seen) = (guard.clone(), Seen::default());
    for chunk in chunks {
        guard.push(chunk, &mut seen).expect("no limit is hit");
    }
    guard.finish(end, &mut seen).expect("no limit is hit");
    assert_eq!((guard.held(), guard.is_withholding()), (0, false), "behind the end");
    seen.0
}

/// Returns the text of a chunk that holds only text of one choice.
fn only_text(chunk: &Value) -> Option<&str> {
    let simple = |choice: &Value| {
        choice.as_object().is_some_and(|it| it.len() == 3)
            && choice["delta"].as_object().is_some_and(|it| it.len() == 1)
    };
    match chunk["choices"].as_array().map(Vec::as_slice) {
        Some([choice]) if simple(choice) && chunk.get("usage").is_none() => {
            choice["delta"]["content"].as_str().filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// Merges neighbouring texts of a choice into one chunk.
fn joined(chunks: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for chunk in chunks {
        let index = |chunk: &Value| chunk["choices"][0]["index"].clone();
        if let Some(text) = only_text(chunk)
            && let Some(last) = all.last_mut()
            && let Some(before) = only_text(last)
            && index(last) == index(chunk)
        {
            let both = format!("{before}{text}");
            last["choices"][0]["delta"]["content"] = json!(both);
            continue;
        }
        all.push(chunk.clone());
    }
    all
}

/// Cuts each text into scalars. No other part of a chunk can be cut.
fn cut(chunks: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for chunk in chunks {
        let Some(text) = only_text(chunk) else {
            all.push(chunk.clone());
            continue;
        };
        for scalar in text.chars() {
            let mut piece = chunk.clone();
            piece["choices"][0]["delta"]["content"] = json!(scalar.to_string());
            all.push(piece);
        }
    }
    all
}

/// Checks that a strict reader accepts the output for any upstream, and that the output does not
/// depend on cuts.
pub(crate) fn operations(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let options = chat_options(&mut input);
    let Ok(guard) = builder(&mut input).build() else { return };
    let end = *input.pick(&[End::Stop, End::Length, End::Aborted]);
    let of_text = options.logprobs == Logprobs::OfText;
    let plain = of_text && options.reasoning != ReasoningField::Inline;
    let guard = ChatGuard::new(guard, options);
    let reasoning = *input.pick(&NAMES);
    let tokens = input.one_in(4);
    let mut chunks = chunks(input.rest(), reasoning);
    close(&mut chunks);
    if tokens {
        with_tokens(&mut chunks);
    }
    let seen = run(&guard, parsed(&chunks), end);
    read(&seen);
    if tokens && plain {
        tokens_are_the_content(&aggregate(&seen));
    }
    let apart = run(&guard, parsed(&cut(&chunks)), end);
    read(&apart);
    let joined = run(&guard, parsed(&joined(&chunks)), end);
    read(&joined);
    let outcome = |chunks: Vec<Chunk>| without_estimates(aggregate(&chunks));
    let [whole, apart, joined] = [seen, apart, joined].map(outcome);
    assert_eq!(whole, apart, "cut into scalars: {chunks:#?}");
    assert_eq!(whole, joined, "joined: {chunks:#?}");
}

/// Removes deltas of a choice after its finish reason, because servers send none.
fn close(chunks: &mut Vec<Value>) {
    let mut over = [false; 3];
    chunks.retain(|chunk| {
        let choices = chunk["choices"].as_array().expect("it is").iter();
        let at = |choice: &Value| choice["index"].as_u64().unwrap_or_default() as usize;
        if choices.clone().any(|choice| over[at(choice)]) {
            return false;
        }
        for choice in choices.filter(|choice| choice["finish_reason"].is_string()) {
            over[at(choice)] = true;
        }
        true
    });
}

/// Returns the bytes of a stream with events between that are not chunks.
pub(crate) fn bytes(data: &[u8]) {
    const ODD: [&str; 12] = [
        ": hi\n\n",
        "data: [DONE]\n\n",
        "event: x\ndata: {}\n\n",
        "data: {\"error\": {\"message\": \"no\"}}\n\n",
        "data: {broken\n\n",
        "data:\n\n",
        "\r\n\r\n",
        "id: 1\ndata: {\"choices\": 5}\n\n",
        "data: {\"choices\": [{\"index\": \"0\", \"delta\": {\"content\": \"a\\ud83d\"}}]}\n\n",
        "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"<\", \"content\": \"b\"}}]}\n\n",
        "data: {\"choices\": [{\"index\": 0.0, \"delta\": {\"content\": \"<think>\", \"role\": 7}, \"x\": 1e400}]}\n\n",
        "data: {\"choices\": [{\"index\": -1, \"delta\": {\"content\": \"<think>\"}}]}\n\n",
    ];
    let mut input = Input::new(data, OPTIONS + 8);
    let options = chat_options(&mut input);
    let Ok(guard) = builder(&mut input).build() else { return };
    let end = *input.pick(&[End::Stop, End::Length, End::Aborted]);
    let plan = input.cuts();
    let mut sse = ChatSse::new(ChatGuard::new(guard, options))
        .done(*input.pick(&[Done::AsUpstream, Done::Always]))
        .failures(*input.pick(&[Failures::Returned, Failures::Written]));
    if input.one_in(4) {
        let event = 64 + 2 * input.below(200);
        sse = sse.limits(sse::SseLimits::default().line(event).event(event));
    }
    let reasoning = *input.pick(&NAMES);
    let mut stream = Vec::new();
    for (n, chunk) in chunks(input.rest(), reasoning).iter().enumerate() {
        let odd = input.rest().get(2 * n + 1).map_or(0, |byte| usize::from(*byte));
        if odd % 16 == 7 {
            stream.extend_from_slice(ODD[odd / 16 % ODD.len()].as_bytes());
        }
        stream.extend_from_slice(format!("data: {chunk}\n\n").as_bytes());
    }
    let decode = |cut: Cut| {
        let (mut sse, mut out) = (sse.clone(), Vec::new());
        let mut result = Ok(());
        for piece in cut.byte_pieces(&stream) {
            result = result.and_then(|()| sse.push(piece, &mut out));
        }
        let result = result.and_then(|()| sse.finish(end, &mut out));
        (String::from_utf8_lossy(&out).into_owned(), result)
    };
    let whole = decode(Cut::Whole);
    for cut in plan.bytes(&stream).filter(|cut| !matches!(cut, Cut::TwoWay { .. })) {
        assert_eq!(decode(cut), whole, "{cut}");
    }
}
