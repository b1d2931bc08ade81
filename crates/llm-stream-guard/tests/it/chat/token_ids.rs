//! Chunks with token ids: markers are told from text that spells them.

use llm_stream_guard::{
    AddedTokens, End,
    chat::{
        ChatGuard, ChatOptions, Chunk, Completion, Field, Note, ReasoningField, TokenIds, Violation,
    },
};
use serde_json::{Value, json};
use stream_laws::Random;

use crate::chat::{
    feed::{Seen, builder, choice, choices, chunk, run, stop, text, usage},
    reader::read_finished,
};

/// The tokens of a stream: text and id. Ids below 20 are added tokens.
type Tokens<'t> = &'t [(&'t str, u32)];

const ADDED: [(&str, u32); 5] =
    [("<think>", 7), ("</think>", 8), ("<tool_call>", 9), ("</tool_call>", 10), ("<|im_end|>", 11)];

/// A stream that types its markers, too.
const TYPED: Tokens<'_> = &[
    ("<think>", 7),
    ("The", 21),
    (" tag", 22),
    (" </", 23),
    ("think", 24),
    (">", 25),
    (" ends", 26),
    (".", 27),
    ("</think>", 8),
    ("Use", 28),
    (" <tool", 29),
    ("_call>", 30),
    (" so", 31),
    (":", 32),
    ("<tool_call>", 9),
    ("{\"name\": \"f\", ", 33),
    ("\"arguments\": {\"a\": \"no </tool", 34),
    ("_call> here", 35),
    ("\"}}", 36),
    ("</tool_call>", 10),
];

/// A stream whose text spells no marker.
const PLAIN: Tokens<'_> = &[
    ("<think>", 7),
    ("h", 21),
    ("m", 22),
    ("</think>", 8),
    ("Well <", 23),
    ("tool", 24),
    ("<tool_call>", 9),
    ("{\"name\": \"f\", \"arguments\": {\"a\": 1}}", 25),
    ("</tool_call>", 10),
    ("<tool_call>", 9),
    ("{\"name\": \"g\", \"arguments\": {}}", 26),
    ("</tool_call>", 10),
];

fn added() -> AddedTokens {
    let list: Vec<_> = ADDED
        .iter()
        .map(|(text, id)| json!({"id": id, "content": text, "special": true}))
        .collect();
    AddedTokens::from_json(&json!({"added_tokens": list}).to_string()).expect("a list")
}

/// The added tokens, from a file that has the vocabulary of [`TYPED`], too.
fn with_vocabulary() -> AddedTokens {
    let typed = TYPED.iter().filter(|(_, id)| *id >= 20);
    with_entries(typed.map(|(text, id)| (text.replace(' ', "Ġ"), *id)))
}

/// The added tokens, from a file with these entries of a vocabulary.
fn with_entries(entries: impl Iterator<Item = (String, u32)>) -> AddedTokens {
    let list: Vec<_> = ADDED.iter().map(|(text, id)| json!({"id": id, "content": text})).collect();
    let vocab: serde_json::Map<String, Value> =
        entries.map(|(text, id)| (text, json!(id))).collect();
    let model = json!({"type": "BPE", "vocab": vocab});
    let file = json!({"added_tokens": list, "model": model, "decoder": {"type": "ByteLevel"}});
    AddedTokens::from_json(&file.to_string()).expect("a list")
}

fn chat_with(options: ChatOptions) -> ChatGuard {
    chat_of(&added(), options)
}

fn chat_of(added: &AddedTokens, options: ChatOptions) -> ChatGuard {
    let plain = builder("qwen3").build().expect("builds");
    let guard = builder("qwen3").marker_tokens(added.texts()).build().expect("builds");
    ChatGuard::new(plain, options).token_ids(guard, added)
}

fn chat() -> ChatGuard {
    chat_with(ChatOptions::default())
}

fn with_ids(content: &str, ids: &[u32]) -> Chunk {
    choice(json!({"index": 0, "delta": {"content": content}, "token_ids": ids}))
}

/// The tokens in chunks of these numbers of tokens.
fn grouped(tokens: Tokens<'_>, mut size: impl FnMut() -> usize) -> Vec<Chunk> {
    let (mut chunks, mut rest) = (Vec::new(), tokens);
    while !rest.is_empty() {
        let (group, after) = rest.split_at(size().clamp(1, rest.len()));
        let text: String = group.iter().map(|(text, _)| *text).collect();
        let ids: Vec<u32> = group.iter().map(|(_, id)| *id).collect();
        chunks.push(with_ids(&text, &ids));
        rest = after;
    }
    chunks.push(stop(0, "stop"));
    chunks
}

/// The text of a stream by its channels, and its calls.
fn read(seen: &Seen) -> (String, String, Vec<(String, String)>) {
    let choice = read_finished(&seen.chunks).remove(&0).expect("a choice");
    let calls = choice.calls.into_iter().map(|call| (call.name, call.arguments)).collect();
    (choice.reasoning, choice.content, calls)
}

fn ambiguous(seen: &Seen) -> usize {
    let note = Note::Violation(Violation::AmbiguousTokens);
    seen.notes.iter().filter(|it| it.note == note).count()
}

fn typed() -> (String, String, Vec<(String, String)>) {
    let arguments = r#"{"a": "no </tool_call> here"}"#;
    let calls = vec![("f".to_owned(), arguments.to_owned())];
    ("The tag </think> ends.".into(), "Use <tool_call> so:".into(), calls)
}

fn plain() -> (String, String, Vec<(String, String)>) {
    let call = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
    ("hm".into(), "Well <tool".into(), vec![call("f", "{\"a\": 1}"), call("g", "{}")])
}

#[test]
fn typed_markers_are_text_where_each_chunk_has_one_token() {
    let seen = run(&mut chat(), grouped(TYPED, || 1), End::Stop);
    assert_eq!((read(&seen), ambiguous(&seen)), (typed(), 0));
}

#[test]
fn token_ids_are_read_from_the_field_of_each_server() {
    let around = |field: &str, content: &str, id: u32| {
        let mut event =
            json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": content}}]});
        match field.split_once('.') {
            Some((outer, field)) => event[outer] = json!({field: [id]}),
            None => event[field] = json!([id]),
        }
        chunk(event)
    };
    let inside = |field: &str, content: &str, id: u32| {
        choice(json!({"index": 0, "delta": {"content": content}, field: [id]}))
    };
    let in_delta = |content: &str, id: u32| {
        choice(json!({"index": 0, "delta": {"content": content, "output_ids": [id]}}))
    };
    type Form<'f> = &'f dyn Fn(&str, u32) -> Chunk;
    let forms: [Form<'_>; 7] = [
        &|content, id| inside("token_ids", content, id),
        &|content, id| inside("response_token_ids", content, id),
        &|content, id| inside("output_ids", content, id),
        &|content, id| inside("tokens", content, id),
        &in_delta,
        &|content, id| around("tokens", content, id),
        &|content, id| around("__verbose.tokens", content, id),
    ];
    for (form, of) in forms.into_iter().enumerate() {
        let mut chunks: Vec<_> = TYPED.iter().map(|(text, id)| of(text, *id)).collect();
        chunks.push(stop(0, "stop"));
        let seen = run(&mut chat(), chunks, End::Stop);
        assert_eq!((read(&seen), ambiguous(&seen)), (typed(), 0), "form {form}");
    }
}

#[test]
fn tokens_sharing_a_chunk_are_assigned_or_noted_as_ambiguous() {
    let mut random = Random::new(41);
    let (mut exact, mut noted) = (0, 0);
    for _ in 0..400 {
        let most = 1 + random.below(9);
        let chunks = grouped(PLAIN, || 1 + random.below(most));
        let seen = run(&mut chat(), chunks, End::Stop);
        assert_eq!((read(&seen), ambiguous(&seen)), (plain(), 0));
        let chunks = grouped(TYPED, || 1 + random.below(most));
        let seen = run(&mut chat(), chunks, End::Stop);
        match ambiguous(&seen) {
            0 => {
                assert_eq!(read(&seen), typed());
                exact += 1;
            }
            _ => noted += 1,
        }
    }
    assert!(exact > 200 && noted > 10, "{exact} exact, {noted} noted");
}

#[test]
fn tokens_sharing_a_chunk_are_exact_with_the_vocabulary() {
    let mut random = Random::new(43);
    for _ in 0..100 {
        let most = 1 + random.below(21);
        let chunks = grouped(TYPED, || 1 + random.below(most));
        let seen = run(&mut chat_of(&with_vocabulary(), ChatOptions::default()), chunks, End::Stop);
        assert_eq!((read(&seen), ambiguous(&seen)), (typed(), 0));
    }
    // The token that ends the turn has an id and no text.
    let text: String = TYPED.iter().map(|(text, _)| *text).collect();
    let ids: Vec<u32> = TYPED.iter().map(|(_, id)| *id).chain([11]).collect();
    let chunks = vec![with_ids(&text, &ids), stop(0, "stop")];
    let seen = run(&mut chat_of(&with_vocabulary(), ChatOptions::default()), chunks, End::Stop);
    assert_eq!((read(&seen), ambiguous(&seen)), (typed(), 0));
}

#[test]
fn white_space_around_a_whole_thought_is_not_counted_as_reasoning() {
    let tokens: Tokens<'_> = &[
        ("<think>", 7),
        ("\n", 40),
        ("The", 21),
        (" day", 41),
        (" é", 42),
        (".\n", 43),
        ("\n", 40),
        ("</think>", 8),
        ("\n\n", 44),
        ("Yes.", 45),
    ];
    let entries =
        [("Ċ", 40), ("The", 21), ("Ġday", 41), ("ĠÃ©", 42), (".Ċ", 43), ("ĊĊ", 44), ("Yes.", 45)];
    let added = with_entries(entries.map(|(text, id)| (text.to_owned(), id)).into_iter());
    for size in [1, tokens.len()] {
        let mut chunks = grouped(tokens, || size);
        chunks.push(Chunk { usage: Field::Value(json!({"completion_tokens": 10})), ..usage() });
        let seen = run(&mut chat_of(&added, ChatOptions::default()), chunks, End::Stop);
        assert_eq!(read(&seen).0, "The day é.\n", "{size}");
        let last = seen.chunks.last().and_then(|chunk| chunk.usage.value()).expect("usage");
        assert_eq!(last["completion_tokens_details"], json!({"reasoning_tokens": 4}), "{size}");
    }
}

#[test]
fn ambiguous_text_is_kept_as_text() {
    let chunks =
        vec![with_ids("a <tool_call> b <tool_call> c", &[21, 22, 9, 23, 24, 25]), stop(0, "stop")];
    let seen = run(&mut chat(), chunks, End::Stop);
    let content = "a <tool_call> b <tool_call> c".to_owned();
    assert_eq!(read(&seen), (String::new(), content, vec![]));
    assert_eq!(ambiguous(&seen), 1);
}

#[test]
fn text_arriving_after_its_token_ids_stays_aligned() {
    for lag in 0..30 {
        for cut in 1..7 {
            let (mut late, mut chunks) = (String::new(), Vec::new());
            for group in PLAIN.chunks(cut) {
                late.extend(group.iter().map(|(text, _)| *text));
                let ids: Vec<u32> = group.iter().map(|(_, id)| *id).collect();
                let rest = late.split_off(late.len().saturating_sub(lag));
                chunks.push(with_ids(&late, &ids));
                late = rest;
            }
            chunks.push(choice(
                json!({"index": 0, "delta": {"content": late}, "finish_reason": "stop"}),
            ));
            let seen = run(&mut chat(), chunks, End::Stop);
            assert_eq!((read(&seen), ambiguous(&seen)), (plain(), 0), "lag {lag}, cut {cut}");
        }
    }
}

#[test]
fn without_token_ids_markers_are_recognised_by_text() {
    let mut chunks: Vec<_> = PLAIN.iter().map(|(part, _)| text(0, part)).collect();
    // Servers that were not asked write an empty list.
    let with_empty = PLAIN.iter().map(|(text, _)| with_ids(text, &[]));
    let mut empty: Vec<_> = with_empty.collect();
    for chunks in [&mut chunks, &mut empty] {
        chunks.push(stop(0, "stop"));
        let seen = run(&mut chat(), std::mem::take(chunks), End::Stop);
        assert_eq!((read(&seen), ambiguous(&seen)), (plain(), 0));
    }
}

#[test]
fn chunk_without_token_ids_in_a_stream_with_ids_is_text_and_noted() {
    let mut chunks = grouped(PLAIN, || 1);
    chunks.insert(3, text(0, "a</think>b"));
    let seen = run(&mut chat(), chunks, End::Stop);
    let (_, content, calls) = plain();
    assert_eq!(read(&seen), ("hma</think>b".into(), content, calls));
    assert_eq!(ambiguous(&seen), 1);
}

#[test]
fn marker_tokens_that_the_server_strips_change_nothing() {
    let mut tokens = PLAIN.to_vec();
    tokens.push(("", 11));
    let seen = run(&mut chat(), grouped(&tokens, || 1), End::Stop);
    assert_eq!((read(&seen), ambiguous(&seen)), (plain(), 0));
    let seen = run(&mut chat(), grouped(&tokens, || 4), End::Stop);
    assert_eq!((read(&seen), ambiguous(&seen)), (plain(), 0));
}

/// The usage that the guard writes.
fn usage_of(mut chunks: Vec<Chunk>) -> Value {
    chunks.push(chunk(json!({"choices": [], "usage": {"completion_tokens": 20}})));
    let seen = run(&mut chat(), chunks, End::Stop);
    let usage = seen.chunks.iter().rev().find_map(|chunk| chunk.usage.value().cloned());
    usage.expect("usage")["completion_tokens_details"].clone()
}

#[test]
fn reasoning_tokens_are_counted_by_ids() {
    let exact = json!({"reasoning_tokens": 7});
    for size in [1, 9, 20] {
        // With all tokens in one chunk the typed marker is ambiguous.
        if size < 20 {
            assert_eq!(usage_of(grouped(TYPED, || size)), exact, "chunks of {size}");
        }
        assert_eq!(usage_of(grouped(PLAIN, || size)), json!({"reasoning_tokens": 2}));
    }
    // A character of several tokens: all but the last are without text.
    let crab: Tokens<'_> =
        &[("<think>", 7), ("", 40), ("", 41), ("\u{1F980}", 42), ("</think>", 8)];
    for size in 1..=5 {
        assert_eq!(usage_of(grouped(crab, || size)), json!({"reasoning_tokens": 3}), "{size}");
    }
}

#[test]
fn complete_response_is_read_by_its_token_ids() {
    let response = |tokens: Tokens<'_>| -> Completion {
        let text: String = tokens.iter().map(|(text, _)| *text).collect();
        let ids: Vec<u32> = tokens.iter().map(|(_, id)| *id).collect();
        let json = json!({"choices": [{"index": 0, "finish_reason": "stop", "token_ids": ids,
            "message": {"role": "assistant", "content": text}}],
            "usage": {"completion_tokens": tokens.len()}});
        serde_json::from_value(json).expect("a completion")
    };
    let message = |whole: &Completion| {
        let message = &whole.choices[0].message;
        let calls = message.tool_calls.iter().filter_map(|call| call.function.clone());
        let calls = calls.map(|it| (it.name.unwrap_or_default(), it.arguments.unwrap_or_default()));
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        (text(message.reasoning_text()), text(message.text()), calls.collect::<Vec<_>>())
    };
    let whole = chat().complete(response(PLAIN)).expect("no limit");
    assert_eq!(message(&whole), plain());
    let details = &whole.usage.value().expect("usage")["completion_tokens_details"];
    assert_eq!(*details, json!({"reasoning_tokens": 2}));
    // The typed opener is noted; the answer is complete.
    let mut notes = Vec::new();
    let whole = chat().complete_noting(response(TYPED), |note| notes.push(note.note));
    let (reasoning, content, _) = message(&whole.expect("no limit"));
    assert!(notes.contains(&Note::Violation(Violation::AmbiguousTokens)));
    let all: String = TYPED.iter().skip(1).map(|(text, _)| *text).collect();
    assert_eq!(reasoning + &content, all);
}

#[test]
fn ids_of_hidden_reasoning_are_removed() {
    let mut options = ChatOptions::default();
    options.reasoning = ReasoningField::Hidden;
    let seen = run(&mut chat_with(options), grouped(PLAIN, || 1), End::Stop);
    let ids: Vec<_> = choices(&seen.chunks).iter().map(|it| it["token_ids"].clone()).collect();
    assert!(!ids.contains(&json!([21])) && ids.contains(&json!([23])), "{ids:?}");
}

#[test]
fn events_with_ids_and_repeated_frames_are_read_by_ids() {
    let mut sse = llm_stream_guard::chat::ChatSse::new(chat());
    let mut out = Vec::new();
    let event = |text: &str, id: u32| {
        let data = json!({"id": "c", "choices": [
            {"index": 0, "delta": {"content": text}, "token_ids": [id]}]});
        format!("data: {data}\n\n")
    };
    // The same id and so the same frame, then a marker that is typed under it.
    for (text, id) in [("a", 21), ("b", 21), ("<tool_call>", 21), ("c", 21)] {
        sse.push(event(text, id).as_bytes(), &mut out).expect("no limit");
    }
    sse.push(b"data: [DONE]\n\n", &mut out).expect("no limit");
    let written = String::from_utf8(out).expect("UTF-8");
    assert!(written.contains("<tool_call>"), "{written}");
}

#[test]
fn ids_in_log_probabilities_tell_markers_from_text() {
    let with_logprobs = |text: &str, id: u32| {
        let entry = json!({"id": id, "token": text, "bytes": text.as_bytes(), "logprob": -0.1});
        choice(json!({"index": 0, "delta": {"content": text}, "logprobs": {"content": [entry]}}))
    };
    let mut chunks: Vec<_> = TYPED.iter().map(|(text, id)| with_logprobs(text, *id)).collect();
    chunks.push(stop(0, "stop"));
    let seen = run(&mut chat(), chunks, End::Stop);
    assert_eq!((read(&seen), ambiguous(&seen)), (typed(), 0));
}

#[test]
fn ids_that_the_client_did_not_ask_for_are_removed() {
    let mut options = ChatOptions::default();
    options.token_ids = TokenIds::Remove;
    let first = json!({"id": "c1", "prompt_token_ids": [1, 2], "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": ""}}]});
    let mut chunks = vec![chunk(first)];
    chunks.extend(grouped(TYPED, || 1));
    let usage = json!({"completion_tokens": 20});
    chunks.push(chunk(json!({"id": "c1", "choices": [], "tokens": [], "usage": usage})));
    let seen = run(&mut chat_with(options.clone()), chunks, End::Stop);
    assert_eq!((read(&seen), ambiguous(&seen)), (typed(), 0));
    let written = serde_json::to_string(&seen.chunks).expect("JSON");
    assert!(!written.contains("token_ids") && !written.contains("\"tokens\""), "{written}");

    let mut sse = llm_stream_guard::chat::ChatSse::new(chat_with(options));
    let mut out = Vec::new();
    for (text, id) in [("<think>", 7), ("a", 21), ("b", 21), ("c", 21)] {
        let data = json!({"id": "c", "choices": [
            {"index": 0, "delta": {"content": text}, "token_ids": [id]}]});
        sse.push(format!("data: {data}\n\n").as_bytes(), &mut out).expect("no limit");
    }
    sse.push(b"data: [DONE]\n\n", &mut out).expect("no limit");
    let written = String::from_utf8(out).expect("UTF-8");
    assert!(written.contains("\"c\"") && !written.contains("token_ids"), "{written}");
}
