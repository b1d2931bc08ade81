//! Chat-completion chunks: the aggregate, whole answers, marks.

use std::num::NonZeroU64;

use llm_stream_guard::{
    chat::Chunk,
    jail_match::Jail,
    lifecycle::{
        ChatCollector, Decision, EndEvent, Ending, Lifecycle, Marks, Passage, RedactChunks,
        Redactor, RefuseChunks, Sanitizer, SanitizerVerdict, Window, Windows, chunk_text,
    },
    sse::{Decoder, SseItem},
};
use serde_json::{Value, json};

use crate::lifecycle::support::{Broken, Log, drain, next};

fn chunk(value: Value) -> Result<Chunk, Broken> {
    Ok(serde_json::from_value(value).unwrap())
}

fn delta(index: u32, delta: Value) -> Result<Chunk, Broken> {
    chunk(json!({"id": "c", "object": "chat.completion.chunk", "choices": [
        {"index": index, "delta": delta, "finish_reason": null},
    ]}))
}

fn finish(index: u32, reason: &str) -> Result<Chunk, Broken> {
    chunk(json!({"choices": [{"index": index, "delta": {}, "finish_reason": reason}]}))
}

fn usage() -> Result<Chunk, Broken> {
    chunk(json!({"choices": [], "usage": {"total_tokens": 7}}))
}

fn record(log: &Log) -> Lifecycle<Chunk, Broken> {
    Lifecycle::new("a").subscriber(log.subscriber()).collect_with(ChatCollector::default())
}

// Contract: S4.22.
#[test]
fn chunks_become_the_response_with_every_field() {
    let log = Log::default();
    let chunks = [
        chunk(json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
        "system_fingerprint": "fp", "service_tier": "flex", "choices": [
            {"index": 1, "delta": {"role": "assistant", "content": "B"}, "finish_reason": null},
        ]})),
        delta(0, json!({"role": "assistant", "reasoning_content": "h", "refusal": "n"})),
        delta(
            0,
            json!({"reasoning_content": "m", "refusal": "o", "function_call":
            {"name": "f", "arguments": "{}"}}),
        ),
        delta(
            0,
            json!({"tool_calls": [{"index": 0, "id": "i", "type": "function",
            "function": {"name": "g", "arguments": "{\"a\""}}]}),
        ),
        delta(0, json!({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]})),
        chunk(json!({"choices": [{"index": 1, "delta": {"content": "!"},
            "logprobs": {"content": [{"token": "!"}]}, "finish_reason": "stop"}]})),
        finish(0, "tool_calls"),
        usage(),
    ];
    drain(record(&log).wrap(tokio_stream::iter(chunks)));
    let data = log.end().data.unwrap();
    let calls = json!([{"id": "i", "type": "function",
        "function": {"name": "g", "arguments": "{\"a\": 1}"}}]);
    assert_eq!(data["object"], "chat.completion");
    assert_eq!(
        (&data["system_fingerprint"], &data["service_tier"]),
        (&json!("fp"), &json!("flex"))
    );
    assert_eq!(data["usage"], json!({"total_tokens": 7}));
    let [first, second] = &data["choices"].as_array().unwrap()[..] else { panic!("{data}") };
    assert_eq!((&first["index"], &first["finish_reason"]), (&json!(0), &json!("tool_calls")));
    let message = &first["message"];
    assert_eq!((&message["reasoning_content"], &message["tool_calls"]), (&json!("hm"), &calls));
    assert_eq!((&message["refusal"], &message["content"]), (&json!("no"), &Value::Null));
    assert_eq!(message["function_call"], json!({"name": "f", "arguments": "{}"}));
    assert_eq!(second["message"], json!({"role": "assistant", "content": "B!"}));
    assert_eq!(second["logprobs"], json!({"content": [{"token": "!"}]}));
}

/// How a stream of these chunks ends when the consumer leaves after the last.
fn left_behind(chunks: impl IntoIterator<Item = Result<Chunk, Broken>>) -> Ending {
    let chunks: Vec<_> = chunks.into_iter().collect();
    let (log, count) = (Log::default(), chunks.len());
    let mut stream = Box::pin(record(&log).wrap(tokio_stream::iter(chunks)));
    (0..count).for_each(|_| drop(next(&mut stream)));
    drop(stream);
    log.end().ending
}

// Contract: S4.8.
#[test]
fn answer_is_complete_once_every_choice_finished_and_usage_arrived() {
    let text = |index| delta(index, json!({"content": "x"}));
    assert_eq!(left_behind([text(0), finish(0, "stop"), usage()]), Ending::Complete);
    assert_eq!(left_behind([text(0), finish(0, "stop")]), Ending::Dropped);
    assert_eq!(left_behind([text(0), usage()]), Ending::Dropped);
    assert_eq!(left_behind([text(0), text(2), finish(2, "stop"), usage()]), Ending::Dropped);
    assert_eq!(left_behind([text(0), finish(0, "abort"), usage()]), Ending::Dropped);
    assert_eq!(left_behind([usage()]), Ending::Dropped);
}

// Contract: S4.20.
#[test]
fn chunk_mark_records_choices_finish_and_usage() {
    let log = Log::default();
    let chunks = [delta(2, json!({"content": "secret"})), finish(2, "stop"), usage()];
    let record = record(&log).marks(Marks::Every(NonZeroU64::MIN));
    drain(record.wrap(tokio_stream::iter(chunks)));
    let marks: Vec<Value> =
        log.all()[1..4].iter().map(|event| serde_json::to_value(&**event).unwrap()).collect();
    let item = |n: usize| &marks[n]["item"];
    let first = json!({"bytes": 6, "visible": true, "choices": [2], "finish": [], "usage": null});
    assert_eq!(*item(0), first);
    assert_eq!((&item(1)["finish"], &item(1)["visible"]), (&json!(["stop"]), &json!(false)));
    assert_eq!(item(2)["usage"], json!({"total_tokens": 7}));
    assert!(!marks[0].to_string().contains("secret"));
}

// Contract: S4.6.
#[test]
fn end_event_has_response_metadata_without_the_content() {
    let log = Log::default();
    let chunks = [
        chunk(json!({"id": "c", "model": "served", "choices": [
            {"index": 1, "delta": {"content": "b"}, "finish_reason": "length"}]})),
        delta(0, json!({"content": "a"})),
        finish(0, "stop"),
        usage(),
    ];
    // An aggregate that may not be told hides none of it.
    let omit = Sanitizer::new("omit", 0, |_, _| SanitizerVerdict::Omit);
    drain(record(&log).model("asked").sanitizer(omit).wrap(tokio_stream::iter(chunks)));
    let end = serde_json::to_value(log.end()).unwrap();
    let response = json!({"id": "c", "model": "served", "finish_reasons": ["stop", "length"],
        "usage": {"total_tokens": 7}});
    assert_eq!((&end["response"], &end["data"]), (&response, &Value::Null));
    assert_eq!(end["call"]["model"], "asked");
}

// Contract: S4.23.
#[test]
fn response_over_the_limit_is_truncated_and_marked() {
    let log = Log::default();
    let record = Lifecycle::<Chunk, Broken>::new("a").subscriber(log.subscriber());
    let text = "abc".repeat(4096);
    let chunks = (0..4).map(|_| delta(0, json!({"content": text})));
    let chunks = chunks.chain([finish(0, "stop"), usage()]);
    drain(record.collect_with(ChatCollector::with_limit(30_000)).wrap(tokio_stream::iter(chunks)));
    let end = log.end();
    assert!(end.truncated);
    let choice = &end.data.unwrap()["choices"][0];
    assert_eq!(choice["message"]["content"], text.repeat(2));
    assert_eq!((&choice["finish_reason"], end.response.usage.is_some()), (&json!("stop"), true));
}

/// One chunk after another that a collector might keep, by what grows.
fn growing(what: &str, n: u64) -> Chunk {
    let index = u32::try_from(n).unwrap();
    let filler = "x".repeat(100);
    let delta = match what {
        "choices" => return parsed(json!({"choices": [{"index": n, "delta": {}}]})),
        "choices backwards" => {
            return parsed(json!({"choices": [{"index": u32::MAX - index, "delta": {}}]}));
        }
        "envelope" => return parsed(json!({"choices": [], format!("f{n}"): 1})),
        "finish reasons" => {
            return parsed(json!({"choices": [
                {"index": n, "delta": {}, "finish_reason": filler.repeat(100)}]}));
        }
        "usage" => {
            let usage: serde_json::Map<_, _> =
                (0..n).map(|n| (format!("u{n}"), json!({"a": 1}))).collect();
            return parsed(json!({"choices": [], "usage": usage}));
        }
        "beside the delta" => {
            return parsed(json!({"choices": [{"index": 0, "delta": {}, format!("f{n}"): []}]}));
        }
        "logprobs" => {
            return parsed(json!({"choices": [{"index": 0, "delta": {},
                "logprobs": {"content": [{"token": "a", "bytes": [1], "top_logprobs": []}]}}]}));
        }
        "text" => json!({"content": filler}),
        "reasoning" => json!({"reasoning": filler}),
        "calls" => json!({"tool_calls": [{"index": n, "id": "", "function": {}}]}),
        "calls without an index" => json!({"tool_calls": [{"function": {"name": "f"}}]}),
        "arguments" => json!({"tool_calls": [{"index": 0, "function": {"arguments": filler}}]}),
        "fields of a call" => json!({"tool_calls": [{"index": 0, format!("f{n}"): {"a": {}}}]}),
        "unknown fields" => json!({format!("f{n}"): null}),
        "deep fields" => json!({format!("f{n}"): {"a": {"b": [{"c": 1}]}}}),
        "parts" => json!({"content": [{"type": "image_url", "image_url": {"url": filler}}]}),
        "empty parts" => json!({"content": [{}]}),
        "audio" => json!({"audio": {"id": "a", "data": filler}}),
        "reasoning_details" => {
            json!({"reasoning_details": [{"type": "t", "index": n, "text": ""}]})
        }
        "annotations" => json!({"annotations": [[], [1]]}),
        other => panic!("{other}"),
    };
    parsed(json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn parsed(value: Value) -> Chunk {
    chunk(value).unwrap()
}

// Contract: S4.23.
#[test]
fn collector_limit_bounds_the_heap_for_every_growing_part() {
    const LIMIT: usize = 1 << 16;
    for what in [
        "choices",
        "choices backwards",
        "envelope",
        "finish reasons",
        "usage",
        "beside the delta",
        "logprobs",
        "text",
        "reasoning",
        "calls",
        "calls without an index",
        "arguments",
        "fields of a call",
        "unknown fields",
        "deep fields",
        "parts",
        "empty parts",
        "audio",
        "reasoning_details",
        "annotations",
    ] {
        let (chunks, log) = (if what == "usage" { 120 } else { 5000 }, Log::default());
        let record = Lifecycle::<Chunk, Broken>::new("a").subscriber(log.subscriber());
        let items = (0..chunks).map(|n| Ok::<_, Broken>(growing(what, n)));
        let stream =
            record.collect_with(ChatCollector::with_limit(LIMIT)).wrap(tokio_stream::iter(items));
        let mut stream = Box::pin(stream);
        let spent = allocation_counter::measure(|| while next(&mut stream).is_some() {});
        let most = 5 * LIMIT as u64 + 65536;
        assert!(spent.bytes_max < most, "{what}: {} bytes", spent.bytes_max);
        let end = log.end();
        assert!(end.truncated, "{what}");
        assert_eq!(end.ending, Ending::Complete);
    }
}

/// Redacts `[[..]]` in chunks; what a reader sees, and the END event.
fn redacted(chunks: Vec<Result<Chunk, Broken>>) -> (Vec<Chunk>, EndEvent) {
    let jail = Jail::builder().start("[[").end("]]").limit(16).build().unwrap();
    let log = Log::default();
    let stream = record(&log)
        .enforce(RedactChunks::new(Redactor::new(jail, "***")))
        .wrap(tokio_stream::iter(chunks));
    let seen = drain(stream).into_iter().map(Result::unwrap).collect();
    (seen, log.end())
}

// Contract: S4.13.
#[test]
fn chunks_are_redacted_per_choice_at_every_cut() {
    let texts = ["a [[x]] b [", "two [[yy]][[zz]] [[open"];
    for size in 1..texts[1].len() {
        let pieces = |index: u32| {
            let chars: Vec<char> = texts[index as usize].chars().collect();
            let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
            pieces.map(move |piece| delta(index, json!({"content": piece}))).collect::<Vec<_>>()
        };
        let (mut first, mut second) = (pieces(0).into_iter(), pieces(1).into_iter());
        let mut chunks = Vec::new();
        loop {
            let more: Vec<_> = [first.next(), second.next()].into_iter().flatten().collect();
            if more.is_empty() {
                break;
            }
            chunks.extend(more);
        }
        // The first has a finish reason, the second is cut.
        chunks.push(finish(0, "stop"));
        let (seen, end) = redacted(chunks);
        let text = |index: u64| {
            let choices = seen.iter().flat_map(|chunk| &chunk.choices);
            let choices = choices.filter(|choice| u64::from(choice.index) == index);
            choices.filter_map(|choice| choice.delta.text()).collect::<String>()
        };
        assert_eq!((text(0), text(1)), ("a *** b [".into(), "two ****** ***".into()), "{size}");
        let last = seen.last().unwrap();
        assert_eq!(last.fields["id"], "c", "the last chunk is like the others");
        let choices = &end.data.unwrap()["choices"];
        assert_eq!(choices[0]["message"]["content"], "a *** b [");
        assert!(end.withheld.is_nothing());
    }
}

// Contract: S4.13.
#[test]
fn reasoning_and_parts_are_redacted_and_log_probabilities_removed() {
    let (seen, end) = redacted(vec![
        delta(0, json!({"reasoning": "why [[k", "content": "c"})),
        chunk(json!({"choices": [{"index": 0, "delta": {"reasoning": "]]!", "content": "d"},
            "logprobs": {"content": [{"token": "k]]"}]}, "finish_reason": "stop"}]})),
        delta(1, json!({"content": [{"type": "text", "text": "p [[q]]"}, {"type": "image"}]})),
    ]);
    let message = &end.data.unwrap()["choices"][0]["message"];
    assert_eq!((&message["reasoning"], &message["content"]), (&json!("why ***!"), &json!("cd")));
    assert_eq!(serde_json::to_value(&seen[1]).unwrap()["choices"][0]["logprobs"], Value::Null);
    let parts = json!([{"type": "text", "text": "p ***"}, {"type": "image"}]);
    assert_eq!(serde_json::to_value(&seen[2]).unwrap()["choices"][0]["delta"]["content"], parts);
}

// Contract: S4.13.
#[test]
fn match_or_choice_count_over_the_limit_ends_the_stream() {
    let (seen, end) =
        redacted(vec![delta(0, json!({"content": "a [[0123456789abcdefsecret]] b"})), usage()]);
    assert_eq!(seen[0].choices[0].delta.text(), Some("a ***"));
    assert_eq!((seen.len(), end.ending.name()), (1, "failed"));
    let many = (0..1100).map(|index| delta(index, json!({"content": "x"})));
    let (seen, end) = redacted(many.collect());
    assert_eq!((seen.len(), end.ending.name()), (1024, "failed"));
}

/// The same with calls, of at most 64 bytes of arguments each.
fn redacted_calls(chunks: Vec<Result<Chunk, Broken>>) -> (Vec<Chunk>, EndEvent) {
    let jail = Jail::builder().start("[[").end("]]").limit(16).build().unwrap();
    let log = Log::default();
    let stream = record(&log)
        .enforce(RedactChunks::new(Redactor::new(jail, "***")).arguments(64))
        .wrap(tokio_stream::iter(chunks));
    (drain(stream).into_iter().map(Result::unwrap).collect(), log.end())
}

// Contract: S4.13.
#[test]
fn refusals_details_and_transcripts_are_redacted_across_chunks() {
    let wire = "why [[secret]] so [[open";
    for size in 1..=wire.len() {
        let pieces = wire.as_bytes().chunks(size).map(|piece| str::from_utf8(piece).unwrap());
        let mut chunks: Vec<_> = pieces
            .map(|text| {
                let details = json!([
                    {"type": "reasoning.text", "index": 1, "format": "x", "text": text},
                    {"type": "reasoning.encrypted", "index": 2, "data": "[[kept]]"},
                ]);
                let audio = json!({"id": "a", "transcript": text});
                delta(0, json!({"refusal": text, "reasoning_details": details, "audio": audio}))
            })
            .collect();
        chunks.push(finish(0, "stop"));
        let (seen, _) = redacted(chunks);
        let joined = |get: &dyn Fn(&Value) -> String| -> String {
            let deltas = seen.iter().map(|chunk| serde_json::to_value(chunk).unwrap());
            deltas.map(|chunk| get(&chunk["choices"][0]["delta"])).collect()
        };
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        assert_eq!(joined(&|delta| text(&delta["refusal"])), "why *** so ***", "{size}");
        assert_eq!(
            joined(&|delta| text(&delta["audio"]["transcript"])),
            "why *** so ***",
            "{size}"
        );
        let detail = |delta: &Value| -> String {
            let entries = delta["reasoning_details"].as_array().cloned().unwrap_or_default();
            entries.iter().filter(|one| one["index"] == 1).map(|one| text(&one["text"])).collect()
        };
        assert_eq!(joined(&detail), "why *** so ***", "{size}");
        let last = &serde_json::to_value(seen.last().unwrap()).unwrap()["choices"][0]["delta"];
        let entry = json!([{"type": "reasoning.text", "index": 1, "format": "x", "text": "***"}]);
        assert!(size == wire.len() || last["reasoning_details"] == entry, "{last}");
        assert!(serde_json::to_string(&seen[0]).unwrap().contains("[[kept]]"));
    }
}

// Contract: S4.13.
#[test]
fn calls_in_chunks_are_redacted_as_json_when_they_end() {
    let call = |index: u32, rest: Value| {
        let mut call = json!({"index": index, "function": rest});
        if rest.get("name").is_some() {
            call["id"] = json!("i");
        }
        delta(0, json!({"tool_calls": [call]}))
    };
    let arguments = r#"{"[[k]]": "\u005b[s]]", "n": 1e0}"#;
    for size in [1, 5, arguments.len()] {
        let pieces = |index| {
            let pieces = arguments.as_bytes().chunks(size).map(|one| str::from_utf8(one).unwrap());
            pieces.map(move |piece| call(index, json!({"arguments": piece}))).collect::<Vec<_>>()
        };
        let mut chunks = vec![call(0, json!({"name": "f", "arguments": ""}))];
        chunks.extend(pieces(0));
        chunks.push(call(1, json!({"name": "g", "arguments": ""})));
        chunks.extend(pieces(1));
        chunks.push(finish(0, "tool_calls"));
        let (seen, end) = redacted_calls(chunks);
        let calls = &end.data.unwrap()["choices"][0]["message"]["tool_calls"];
        for n in 0..2 {
            let clean = r#"{"***": "***", "n": 1e0}"#;
            assert_eq!(calls[n]["function"]["arguments"], clean, "{size}");
        }
        // The first came out in front of the second.
        let second = seen.iter().find(|chunk| {
            let calls = &chunk.choices[0].delta.tool_calls;
            calls.iter().any(|call| call.id.is_some() && call.index == Some(1))
        });
        let calls = &second.unwrap().choices[0].delta.tool_calls;
        assert_eq!((calls.len(), calls[0].index), (2, Some(0)));
    }
    // Whole calls, and one of the old form that is cut.
    let whole = json!([{"id": "i", "function": {"name": "f", "arguments": arguments}}]);
    let old = json!({"name": "f", "arguments": "{\"a\": \"[[s"});
    let (seen, _) = redacted_calls(vec![
        delta(0, json!({"tool_calls": whole})),
        delta(1, json!({"function_call": old})),
    ]);
    let text = serde_json::to_string(&seen).unwrap();
    assert!(!text.contains("[["), "{text}");
    let last = serde_json::to_value(&seen[2]).unwrap();
    let rest = &last["choices"][0]["delta"]["function_call"]["arguments"];
    assert_eq!((&last["choices"][0]["index"], rest), (&json!(1), &json!("{\"a\": \"***")));
    // More than is held ends the stream, unseen.
    let long = "x".repeat(65);
    let (seen, end) = redacted_calls(vec![call(0, json!({"name": "f", "arguments": long}))]);
    assert_eq!(end.ending.name(), "failed");
    assert!(!serde_json::to_string(&seen).unwrap().contains("xx"));
}

/// A check of eight characters that refuses `bad`, and the refusal after it.
fn refused(refusal: RefuseChunks, chunks: Vec<Result<Chunk, Broken>>) -> (Vec<Value>, EndEvent) {
    let check = |passage: Passage| async move {
        tokio::task::yield_now().await;
        match passage.text.contains("bad") {
            true => Decision::End("bad word".into()),
            false => Decision::Continue,
        }
    };
    let windows = Windows::chars(8.try_into().unwrap()).context(4);
    let log = Log::default();
    let stream = record(&log)
        .enforce(Window::new(windows, chunk_text, check))
        .enforce(refusal)
        .wrap(tokio_stream::iter(chunks));
    let seen = drain(stream).into_iter().map(|item| serde_json::to_value(item.unwrap()).unwrap());
    (seen.collect(), log.end())
}

// Contract: S4.13.
#[test]
fn refusal_is_written_as_a_chat_completion_chunk() {
    let chunks = || {
        vec![
            delta(0, json!({"content": "all good"})),
            delta(1, json!({"content": "fine too"})),
            finish(1, "stop"),
            delta(0, json!({"content": " but bad"})),
            delta(0, json!({"content": "never"})),
        ]
    };
    let (seen, end) = refused(RefuseChunks::finish_reason("No."), chunks());
    assert_eq!(seen.len(), 4, "{seen:?}");
    let last = json!({"id": "c", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": {"refusal": "No."}, "finish_reason": "content_filter"}]});
    assert_eq!(seen[3], last);
    assert_eq!(end.ending.name(), "failed");
    assert_eq!(end.response.finish_reasons, ["content_filter", "stop"]);
    let (seen, _) = refused(RefuseChunks::error("Blocked."), chunks());
    let error = json!({"message": "Blocked.", "type": "content_filter", "param": null,
        "code": "content_filter"});
    assert_eq!((&seen[3]["error"], &seen[3]["choices"]), (&error, &json!([])));
    // Nothing seen yet, and nothing refused.
    let first = vec![delta(0, json!({"content": "too bad to see"}))];
    let (seen, _) = refused(RefuseChunks::finish_reason(""), first);
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]});
    assert_eq!(seen, [last]);
    let good = vec![delta(0, json!({"content": "good"})), finish(0, "stop")];
    let (seen, end) = refused(RefuseChunks::finish_reason("No."), good);
    assert_eq!((seen.len(), end.ending), (2, Ending::Complete));
}

/// What a server may send: a byte order mark, every line end, comments, an id, data over two
/// lines, characters of many bytes, a marker at the end.
const WIRE: &str = "\u{feff}: ping\r\nid: 7\r\nretry: 10\r\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\
\"delta\":\r\ndata: {\"content\":\"é🎉\"}}]}\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"日\"},\
\"finish_reason\":\"stop\"}]}\r\r: pong\n\ndata: {\"choices\":[],\"usage\":{\"total_tokens\":7}}\n\n\
data: [DONE]\n\n";

/// Decodes bytes in pieces of this size; an error frame is an error.
fn decoded(wire: &str, size: usize) -> Vec<Result<Chunk, Broken>> {
    let (mut decoder, mut chunks) = (Decoder::new(), Vec::new());
    let mut on = |item: SseItem<'_>| {
        let SseItem::Event(event) = item else { panic!("{item:?}") };
        match event.data {
            None | Some(b"[DONE]") => {}
            Some(data) => {
                let value: Value = serde_json::from_slice(data).unwrap();
                let failed = value.get("error").is_some();
                chunks.push(if failed { Err(Broken("in band")) } else { chunk(value) });
            }
        }
    };
    for piece in wire.as_bytes().chunks(size) {
        decoder.push(piece, &mut on).unwrap();
    }
    decoder.finish(&mut on).unwrap();
    chunks
}

// Contract: S4.24.
#[test]
fn byte_stream_is_recorded_equally_at_every_cut() {
    for size in 1..=WIRE.len() {
        let log = Log::default();
        drain(record(&log).wrap(tokio_stream::iter(decoded(WIRE, size))));
        let end = log.end();
        assert_eq!((end.ending, end.items), (Ending::Complete, 3), "{size}");
        let data = end.data.unwrap();
        assert_eq!(data["choices"][0]["message"]["content"], "é🎉日", "{size}");
        assert_eq!(data["usage"]["total_tokens"], 7, "{size}");
    }
}

// Contract: S4.24.
#[test]
fn error_event_ends_the_record_with_the_text_before_it() {
    let (part, _) = WIRE.split_once(": pong").unwrap();
    let wire = format!("{part}data: {{\"error\":{{\"message\":\"overloaded\"}}}}\n\n");
    let log = Log::default();
    drain(record(&log).wrap(tokio_stream::iter(decoded(&wire, 5))));
    let end = log.end();
    assert_eq!(end.ending.name(), "failed");
    assert_eq!(end.data.unwrap()["choices"][0]["message"]["content"], "é🎉日");
}
