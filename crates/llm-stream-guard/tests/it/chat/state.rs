//! What guards and guarded streams tell of themselves, and how they begin anew.

use std::{
    collections::VecDeque,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_core::{FusedStream, Stream};
use llm_stream_guard::{
    End, Guard, JailedStream,
    chat::{
        Annotated, Annotations, ChatChunk, ChatError, ChatGuard, ChatOptions, ChatSse,
        ChatSseError, Chunk, Field, Ticking, Violation, guard_chunks, guard_sse,
    },
    jail_match::OnFail,
};
use serde_json::json;
use tokio_stream::StreamExt as _;

use crate::{
    chat::{
        feed::{chat, event, run, stop, text, usage},
        sse::{machine, written},
        streams::{drain, upstream},
    },
    jails::clock,
    stream::poll,
};

#[test]
fn reset_chat_guard_equals_a_new_guard() {
    let input = || vec![text(0, "a <tool"), text(1, "b"), usage(), stop(0, "stop")];
    let new = run(&mut chat("hermes", ChatOptions::default()), input(), End::Stop);
    let mut used = chat("hermes", ChatOptions::default());
    run(&mut used, vec![text(0, "<tool_call>{\"na"), text(3, "c")], End::Aborted);
    used.reset();
    assert_eq!((used.held(), used.buffered(), used.stats().count()), (0, 0, 0));
    let again = run(&mut used, input(), End::Stop);
    assert_eq!((again.chunks, again.origins), (new.chunks, new.origins));
}

#[test]
fn guard_reports_last_usage_and_held_bytes() {
    let mut guard = chat("hermes", ChatOptions::default());
    let mut out: Vec<Chunk> = Vec::new();
    assert_eq!((guard.usage(), guard.buffered()), (None, 0));
    guard.push(text(0, "a <tool"), &mut out).expect("no limit");
    assert_eq!(guard.held(), "<tool".len());
    assert!(guard.buffered() >= guard.held(), "{}", guard.buffered());
    assert!(guard.is_withholding());
    guard.push(usage(), &mut out).expect("no limit");
    assert_eq!(guard.usage(), Some(&json!({"total_tokens": 9})));
    guard.push(text(0, "s"), &mut out).expect("no limit");
    assert_eq!(guard.usage(), Some(&json!({"total_tokens": 9})), "as it was said last");
}

#[test]
fn reset_sse_machine_equals_a_new_one() {
    let body =
        [event(&text(0, "a <tool")), event(&usage()), "data: [DONE]\n\n".to_owned()].concat();
    let mut used = machine("hermes");
    let mut out = Vec::new();
    assert!(!used.is_done());
    used.push(body.as_bytes(), &mut out).expect("no limit");
    assert!(used.is_done());
    used.push(b"data: {", &mut out).expect("no limit");
    assert_eq!(used.held(), "data: {".len());
    used.reset();
    assert_eq!((used.is_done(), used.held(), used.dropped()), (false, 0, 0));
    let whole =
        |machine: &ChatSse| written(machine, body.as_bytes(), stream_laws::Cut::Whole, End::Stop);
    assert_eq!(whole(&used), whole(&machine("hermes")));
}

#[test]
fn streams_are_terminated_only_after_their_last_item() {
    let body = || [event(&text(0, "a <tool")), event(&text(0, "s"))].map(Ok::<_, &str>);
    let mut stream = pin!(guard_sse(tokio_stream::iter(body()), machine("hermes")));
    assert_eq!((stream.is_terminated(), stream.size_hint()), (false, (0, None)));
    while let Poll::Ready(Some(_)) = poll(stream.as_mut()) {
        assert!(!stream.is_terminated(), "its end was not told");
    }
    assert!(stream.is_terminated());

    let guard = || chat("hermes", ChatOptions::default());
    let chunks = || tokio_stream::iter([text(0, "a"), text(0, "<tool")]);
    let mut stream = pin!(guard_chunks(chunks(), guard()));
    assert!(!stream.is_terminated());
    assert!(poll(stream.as_mut()).is_ready());
    assert!(!stream.is_terminated());
    let stream = guard_chunks(chunks(), guard());
    let alive = stream.keep_alive(tokio_stream::pending::<()>(), || text(0, ""));
    assert_eq!((alive.is_terminated(), alive.size_hint()), (false, (0, None)));
    assert!(drain(alive).len() >= 2);
}

#[test]
fn upstream_error_follows_the_held_bytes() {
    let body = [Ok(event(&text(0, "a <tool"))), Err("cut")];
    let mut stream = pin!(guard_sse(tokio_stream::iter(body), machine("hermes")));
    for bytes in 0..2 {
        assert!(matches!(poll(stream.as_mut()), Poll::Ready(Some(Ok(_)))), "{bytes}");
        assert!(!stream.is_terminated());
    }
    assert!(matches!(poll(stream.as_mut()), Poll::Ready(Some(Err("cut")))));
    assert!(stream.is_terminated());
}

#[test]
fn stream_reports_its_limit_and_returns_the_inner_stream() {
    let mut options = ChatOptions::default();
    options.limits.choices = 1;
    let body = [text(0, "a"), text(1, "b"), text(0, "c")].map(|it| Ok::<_, &str>(event(&it)));
    let machine = ChatSse::new(chat("hermes", options));
    let inner = upstream(body);
    let given = inner.given.clone();
    let mut stream = Box::pin(guard_sse(inner, machine));
    assert_eq!(stream.error(), None);
    while !stream.is_terminated() {
        let _ = poll(stream.as_mut());
    }
    assert_eq!(given.get(), 2, "what follows is not asked for");
    assert_eq!(stream.error(), Some(ChatSseError::Chat(ChatError::TooManyChoices)));

    let chunks =
        || guard_chunks(tokio_stream::iter([text(0, "a")]), chat("hermes", ChatOptions::default()));
    assert!(chunks().into_inner().is_some());
    let mut stream = Box::pin(chunks());
    while let Poll::Ready(Some(_)) = poll(stream.as_mut()) {}
    assert!(Pin::into_inner(stream).into_inner().is_none());

    let body = tokio_stream::iter([Ok::<_, &str>(event(&text(0, "a")))]);
    let stream = guard_sse(body, crate::chat::sse::machine("hermes"));
    assert!(stream.into_inner().is_some());
}

#[test]
fn debug_output_shows_whether_a_note_callback_is_set() {
    let stream = || guard_sse(tokio_stream::empty::<Result<Vec<u8>, ()>>(), machine("hermes"));
    assert!(format!("{:?}", stream()).contains("on_note: OnNote }"));
    assert!(format!("{:?}", stream().on_note(|_| ())).contains("on_note: OnNote(..)"));
}

#[test]
fn violations_have_the_names_of_their_variants() {
    for violation in [
        Violation::AfterFinish,
        Violation::SecondFinish,
        Violation::NoFinish,
        Violation::DuplicateId,
        Violation::NamelessCall,
        Violation::CallLimit,
        Violation::WaitingLimit,
        Violation::DroppedCall,
    ] {
        let variant: String = violation
            .name()
            .split('_')
            .map(|word| {
                let (first, rest) = word.split_at(1);
                first.to_uppercase() + rest
            })
            .collect();
        assert_eq!(variant, format!("{violation:?}"));
    }
}

/// Chunks and signs of life: not every item that is no chunk is an error.
#[derive(Debug, PartialEq)]
enum Item {
    Chunk(Chunk),
    Ping,
}

impl ChatChunk for Item {
    fn into_chunk(self) -> Result<Chunk, Self> {
        match self {
            Self::Chunk(chunk) => Ok(chunk),
            Self::Ping => Err(self),
        }
    }

    fn from_chunk(chunk: Chunk) -> Self {
        Self::Chunk(chunk)
    }
}

#[test]
fn custom_item_without_a_chunk_passes_through() {
    let items = [Item::Chunk(text(0, "a")), Item::Ping, Item::Chunk(text(0, "b"))];
    let guard = chat("hermes", ChatOptions::default());
    let seen = drain(guard_chunks(upstream(items.map(Annotated::from_data)), guard));
    let seen: Vec<_> = seen.into_iter().filter_map(|item| item.data).collect();
    assert_eq!(seen, [Item::Chunk(text(0, "a")), Item::Ping, Item::Chunk(text(0, "b"))]);
}

#[test]
fn error_event_ends_the_stream_with_any_data() {
    for data in [serde_json::to_value(text(0, "x")).expect("JSON"), json!("no chunk")] {
        let held = Annotated::from_data(serde_json::to_value(text(0, "a <tool")).expect("JSON"));
        let error = Annotated { event: Some("error".into()), ..Annotated::from_data(data) };
        let items = [held.clone(), error.clone(), held];
        let guard = chat("hermes", ChatOptions::default());
        let seen = drain(guard_chunks(upstream(items), guard));
        assert_eq!((seen.len(), seen.last()), (3, Some(&error)));
    }
}

#[test]
fn waiting_annotation_is_emitted_alone_at_the_end_of_a_result_stream() {
    let said = Annotated { comment: Some(vec!["x".into()]), ..Annotated::from_data(text(0, "")) };
    let guard = chat("hermes", ChatOptions::default());
    let seen = drain(guard_chunks(upstream([Ok::<_, ()>(said)]), guard));
    let comments: Vec<_> = seen.into_iter().filter_map(|item| item.ok()?.comment).collect();
    assert_eq!(comments, [["x"]]);
}

/// A guard whose jail is open for five seconds at most, and the seconds of its clock.
fn impatient() -> (Guard, Arc<AtomicU64>) {
    let (time, now) = clock();
    let jail = JailedStream::builder().jail_start_sequence("<s>").jail_end_sequence("</s>");
    let jail = jail.time_limit(Duration::from_secs(5), OnFail::Release, now).build();
    (jail.expect("builds").guard().clone(), time)
}

#[test]
fn tick_releases_a_block_over_its_time_limit_without_new_input() {
    let (guard, time) = impatient();
    let chat = ChatGuard::new(guard, ChatOptions::default());
    let mut sse = ChatSse::new(chat.clone());
    let chunk = text(0, "<s>b");

    let mut out = Vec::new();
    sse.push(event(&chunk).as_bytes(), &mut out).expect("no limit");
    sse.tick(&mut out).expect("no limit");
    assert_eq!(out, b"", "not yet");
    let items = tokio_stream::iter([chunk.clone()]).chain(tokio_stream::pending());
    let mut chunks = pin!(guard_chunks(items, chat.clone()));
    let body = tokio_stream::iter([Ok::<_, ()>(event(&chunk))]).chain(tokio_stream::pending());
    let mut bytes = pin!(guard_sse(body, ChatSse::new(chat)));
    assert!(poll(chunks.as_mut()).is_pending() && poll(bytes.as_mut()).is_pending());

    time.fetch_add(9, Ordering::Relaxed);
    sse.tick(&mut out).expect("no limit");
    assert_eq!(out, event(&chunk).as_bytes());
    chunks.as_mut().tick();
    assert_eq!(poll(chunks.as_mut()), Poll::Ready(Some(chunk.clone())));
    bytes.as_mut().tick();
    assert_eq!(poll(bytes.as_mut()), Poll::Ready(Some(Ok(event(&chunk).into_bytes()))));
}

#[test]
fn queue_sink_receives_the_chunks_of_a_vec_sink() {
    let (mut queue, mut list) = (VecDeque::new(), Vec::new());
    let mut guard = chat("hermes", ChatOptions::default());
    let mut other = guard.clone();
    for part in ["a <tool", "s", "b"] {
        guard.push(text(0, part), &mut queue).expect("no limit");
        other.push(text(0, part), &mut list).expect("no limit");
    }
    assert_eq!(list.len(), 3);
    assert_eq!(Vec::from(queue), list);
}

#[test]
fn chunk_synthesized_for_an_annotation_has_the_response_fields() {
    let said = |chunk| Annotated { comment: Some(vec!["x".into()]), ..Annotated::from_data(chunk) };
    let guard = chat("hermes", ChatOptions::default());
    let held = Chunk { usage: Field::Null, ..text(0, "<tool") };
    let stream = guard_chunks(upstream([said(held), said(text(0, "s"))]), guard);
    let seen = drain(stream.annotations(Annotations::EmptyChunk));
    let blank = seen[0].data.as_ref().expect("a chunk");
    assert_eq!((blank.choices.len(), &blank.usage), (0, &Field::Null));
    assert_eq!(blank.fields, text(0, "").fields);
}
