//! Order: what was held comes out before whatever follows it, at every cut.

use llm_stream_guard::{
    Delivery, End, Guard, Jail, Jailer, Profile, Replacement,
    chat::{ChatGuard, ChatOptions, Chunk},
    jail_match::{JailPair, Release},
};
use serde_json::{Value, json};

use crate::chat::{
    feed::{builder, choice, choices, run, stop},
    reader::read_finished,
};

fn delta(delta: Value) -> Chunk {
    choice(json!({"index": 0, "delta": delta, "finish_reason": null}))
}

/// What each delta says: text as it is, reasoning in braces, calls as `#`, others by their name.
fn said(chunks: &[Chunk]) -> String {
    let mut said = String::new();
    for choice in choices(chunks) {
        let delta = &choice["delta"];
        match &delta["content"] {
            Value::String(text) => said.push_str(text),
            Value::Array(parts) => parts.iter().for_each(|part| match &part["text"] {
                Value::String(text) => said.push_str(text),
                _ => said.push_str("[image]"),
            }),
            _ => {}
        }
        for (name, show) in [("reasoning_content", "{}"), ("refusal", "[]"), ("audio", "[]")] {
            if let Some(text) = delta.get(name).filter(|text| !text.is_null()) {
                said.push_str(&show[..1]);
                said.push_str(text.as_str().unwrap_or(name));
                said.push_str(&show[1..]);
            }
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            said.push_str(if call["id"].is_null() { "" } else { "#" });
        }
    }
    said.replace("}{", "")
}

/// What comes out of the pieces, each with all its text at once and scalar by scalar.
fn ordered(pieces: &[Value], delivery: Delivery) -> String {
    let feed = |each: bool| {
        let guard = builder("qwen3").delivery(delivery).build().expect("builds");
        let mut chunks = Vec::new();
        for piece in pieces {
            let text = piece["content"].as_str().filter(|_| each);
            match text {
                Some(text) => {
                    let scalars = text.chars().map(|it| delta(json!({"content": it.to_string()})));
                    chunks.extend(scalars);
                }
                None => chunks.push(delta(piece.clone())),
            }
        }
        chunks.push(stop(0, "stop"));
        let seen = run(&mut ChatGuard::new(guard, ChatOptions::default()), chunks, End::Stop);
        read_finished(&seen.chunks);
        said(&seen.chunks)
    };
    let whole = feed(false);
    assert_eq!(feed(true), whole, "{pieces:?}");
    whole
}

fn native(name: &str) -> Value {
    json!({"tool_calls": [{"index": 0, "id": "n", "function": {"name": name, "arguments": "{}"}}]})
}

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;

// Contract: S1.44, X.32.
#[test]
fn held_text_is_emitted_before_later_items() {
    let text = |text: &str| json!({"content": text});
    let image = || json!({"content": [{"type": "image_url", "image_url": {"url": "u"}}]});
    let thought = || json!({"reasoning_content": "r"});
    let refusal = || json!({"refusal": "no"});
    for held in ["a <", "a <tool_call>{", "a <tool_call>{\"na"] {
        for (what, shown) in
            [(image(), "[image]"), (refusal(), "[no]"), (thought(), "{r}"), (native("g"), "#")]
        {
            let seen = ordered(&[text(held), what], Delivery::Streaming);
            // A whole opener that the end of the stream cuts is markup.
            let waits = shown.starts_with('[') && held.len() > 3;
            let text = if waits { "a " } else { held };
            assert_eq!(seen, format!("{text}{shown}"));
        }
        let seen = ordered(&[text("a <"), thought(), text("b"), image()], Delivery::Streaming);
        assert_eq!(seen, "a <{r}b[image]");
    }
    for delivery in [Delivery::Streaming, Delivery::Atomic] {
        let seen = ordered(&[text("a <"), native("g"), text("b")], delivery);
        assert_eq!(seen, "a <#b");
        let seen = ordered(&[text("\n\n"), native("g"), text("\n"), native("g")], delivery);
        assert_eq!(seen, "#", "whitespace frames upstream's calls as it does the text's");
    }
}

// Contract: S1.45.
#[test]
fn items_inside_an_open_call_do_not_end_it() {
    let (one, two) = CALL.split_at(35);
    for aside in [json!({"reasoning_content": "r"}), native("g"), json!({"audio": {"id": "u"}})] {
        for delivery in [Delivery::Streaming, Delivery::Atomic] {
            let pieces = [json!({"content": one}), aside.clone(), json!({"content": two})];
            let seen = ordered(&pieces, delivery);
            assert_eq!(seen.matches('#').count(), 1 + usize::from(aside["tool_calls"].is_array()));
            assert!(!seen.contains("tool_call"), "{seen}");
        }
    }
}

// Contract: X.1.
#[test]
fn call_in_separated_reasoning_is_found_at_every_cut() {
    for cut in 1..CALL.len() {
        let (one, two) = CALL.split_at(cut);
        let pieces = [
            json!({"reasoning_content": format!("r{one}")}),
            json!({"reasoning_content": format!("{two}s")}),
            json!({"content": "b"}),
        ];
        let seen = ordered(&pieces, Delivery::Atomic);
        assert!(seen.starts_with("{r}#") && seen.ends_with('b'), "cut at {cut}: {seen}");
    }
}

#[test]
fn separated_reasoning_ends_where_content_starts() {
    let pieces =
        [json!({"reasoning": "r <to"}), json!({"content": "b <to"}), json!({"content": "ol"})];
    assert_eq!(ordered(&pieces, Delivery::Streaming), "{r <to}b <tool");
}

/// The tokens that came out.
fn tokens(chunks: &[Chunk]) -> String {
    let lists = |choice: &Value| {
        let list = |name: &str| choice["logprobs"][name].as_array().cloned().unwrap_or_default();
        [list("tool_calls"), list("content")].concat()
    };
    let entries = choices(chunks).iter().flat_map(lists).collect::<Vec<_>>();
    entries.iter().filter_map(|entry| entry["token"].as_str()).collect()
}

// Contract: S1.43.
#[test]
fn logprobs_of_jailed_text_are_removed() {
    let handed = |replacement: Replacement| {
        let jail = Jail::builder().pair("<s>", "</s>").build().expect("builds");
        Jailer::new(jail).on_jailed(move |_| replacement.clone())
    };
    let dropped = JailPair::new("<s>", "</s>").release(Release::Drop);
    let dropped = Jailer::new(Jail::builder().rule(dropped).build().expect("builds"));
    for (jailer, content, came) in [
        (dropped, "a  b", "a b"),
        (handed(Replacement::Nothing), "a  b", "a b"),
        (handed(Replacement::Text("[x]".into())), "a [x] b", "a b"),
        (handed(Replacement::Verbatim), "a <s>secret</s> b", "a <s>secret</s> b"),
    ] {
        let guard = Guard::builder(&Profile::named("plain")).stage(jailer).build().expect("builds");
        let text = ["a", " <s>", "sec", "ret", "</s>", " b"];
        let chunks = text.map(|token| {
            choice(json!({"index": 0, "delta": {"content": token},
                "logprobs": {"content": [{"token": token, "bytes": token.as_bytes()}]}}))
        });
        let chunks = chunks.into_iter().chain([stop(0, "stop")]).collect();
        let seen = run(&mut ChatGuard::new(guard, ChatOptions::default()), chunks, End::Stop);
        assert_eq!(read_finished(&seen.chunks)[&0].content, content);
        assert_eq!(tokens(&seen.chunks), came);
    }
}

// Contract: S1.43.
#[test]
fn logprobs_after_withheld_arguments_stay_aligned() {
    let guard = builder("hermes").delivery(Delivery::Atomic).build().expect("builds");
    let pieces =
        [r#"<tool_call>{"name": "f", "arguments": {"a": "long enough"#, r#""}}"#, " b", "c"];
    let chunks = pieces.map(|token| {
        choice(json!({"index": 0, "delta": {"content": token},
            "logprobs": {"content": [{"token": token, "bytes": token.as_bytes()}]}}))
    });
    let seen = run(
        &mut ChatGuard::new(guard, ChatOptions::default()),
        chunks.into_iter().chain([stop(0, "stop")]).collect(),
        End::Stop,
    );
    let last = choices(&seen.chunks).into_iter().find(|it| it["delta"]["content"] == "c");
    assert_eq!(last.expect("text")["logprobs"]["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(tokens(&seen.chunks), pieces.concat());
}

// Contract: S1.44.
#[test]
fn content_parts_are_guarded_and_keep_their_structure() {
    let part = |text: &str| json!({"type": "text", "text": text, "n": 1});
    let pieces = [
        json!({"content": [part("a <th"), {"type": "image_url"}, part("b<tool_call>{\"name\": \"f\",")]}),
        json!({"content": [part("\"arguments\": {}}</tool_call>"), part("c"), part("d")]}),
        json!({"content": "e"}),
    ];
    let guard = builder("hermes").build().expect("builds");
    let chunks = pieces.into_iter().map(delta).chain([stop(0, "stop")]).collect();
    let seen = run(&mut ChatGuard::new(guard, ChatOptions::default()), chunks, End::Stop);
    assert_eq!(said(&seen.chunks), "a <th[image]b#cde");
    let contents: Vec<_> =
        choices(&seen.chunks).into_iter().map(|mut it| it["delta"]["content"].take()).collect();
    assert_eq!(
        contents,
        [
            json!([part("a <th"), {"type": "image_url"}, part("b")]),
            json!(null),
            json!(null),
            json!([part("c"), part("d")]),
            json!("e"),
            json!(null)
        ]
    );
}
