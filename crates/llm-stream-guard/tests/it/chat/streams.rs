//! Streams: what is polled when, what passes, what errors do, signs of life.

use std::{
    cell::Cell,
    collections::VecDeque,
    marker::PhantomPinned,
    pin::{Pin, pin},
    rc::Rc,
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_core::{FusedStream, Stream};
use llm_stream_guard::{
    Delivery, JailedStream, JailedStreamBuilder,
    chat::{Annotated, ChatError, ChatItem, ChatOptions, Chunk, Synthesis, Ticking, guard_chunks},
    jail_match::OnFail,
};
use serde_json::{Value, json};

use crate::{
    chat::{
        feed::{chat, choice, stop, text, usage},
        reader::{read, read_finished},
    },
    jails::clock,
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

pin_project_lite::pin_project! {
    /// A stream that must not be moved, is pending between items, and counts what it gave.
    pub(crate) struct Upstream<T> {
        items: VecDeque<T>,
        ready: bool,
        ended: bool,
        pub(crate) given: Rc<Cell<usize>>,
        #[pin]
        pinned: PhantomPinned,
    }
}

pub(crate) fn upstream<T>(items: impl IntoIterator<Item = T>) -> Upstream<T> {
    let items = items.into_iter().collect();
    Upstream { items, ready: false, ended: false, given: Rc::default(), pinned: PhantomPinned }
}

impl<T> Stream for Upstream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.project();
        *this.ready = !*this.ready;
        if *this.ready {
            return Poll::Pending;
        }
        assert!(!*this.ended, "polled behind its end");
        let item = this.items.pop_front();
        *this.ended = item.is_none();
        this.given.set(this.given.get() + usize::from(item.is_some()));
        Poll::Ready(item)
    }
}

/// Everything that comes out; pending is polled again.
pub(crate) fn drain<S: Stream + FusedStream>(stream: S) -> Vec<S::Item> {
    let mut stream = pin!(stream);
    let mut cx = Context::from_waker(Waker::noop());
    let mut out = Vec::new();
    loop {
        match stream.as_mut().poll_next(&mut cx) {
            Poll::Ready(Some(item)) => out.push(item),
            Poll::Ready(None) => break,
            Poll::Pending => {}
        }
    }
    assert!(stream.is_terminated());
    assert!(matches!(stream.as_mut().poll_next(&mut cx), Poll::Ready(None)), "fused");
    assert_eq!(stream.size_hint(), (0, Some(0)));
    out
}

fn guarded<I: ChatItem>(items: Vec<I>) -> Vec<I> {
    drain(guard_chunks(upstream(items), chat("hermes", ChatOptions::default())))
}

fn values(chunks: Vec<Chunk>) -> Vec<Value> {
    chunks.into_iter().map(|chunk| serde_json::to_value(chunk).expect("JSON")).collect()
}

fn chunks(values: Vec<Value>) -> Vec<Chunk> {
    values.into_iter().map(|it| serde_json::from_value(it).expect("a chunk")).collect()
}

// Contract: S1.58.
#[test]
fn every_item_type_is_guarded_alike() {
    let input = || vec![text(0, "Hi <to"), text(0, "ol> "), text(0, CALL), stop(0, "stop")];
    let bare = guarded(input());
    assert_eq!(read_finished(&bare)[&0].content, "Hi <tool> ");
    let results = guarded(input().into_iter().map(Ok::<_, ()>).collect());
    assert_eq!(results.into_iter().collect::<Result<Vec<_>, _>>(), Ok(bare.clone()));
    assert_eq!(guarded(values(input())), values(bare.clone()));
    let annotated = guarded(input().into_iter().map(Annotated::from_data).collect());
    assert_eq!(annotated.into_iter().filter_map(|it| it.data).collect::<Vec<_>>(), bare);
    let both = input().into_iter().map(|chunk| Ok::<_, ()>(Annotated::from_data(chunk)));
    let both: Vec<_> = guarded(both.collect()).into_iter().filter_map(|it| it.ok()?.data).collect();
    assert_eq!(both, bare);
}

// Contract: S1.59, X.28.
#[test]
fn upstream_is_not_polled_while_pieces_wait() {
    let inner = upstream([text(0, &format!("a{CALL}b{CALL}c")), stop(0, "stop")]);
    let given = inner.given.clone();
    let mut stream = pin!(guard_chunks(inner, chat("hermes", ChatOptions::default())));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(stream.as_mut().poll_next(&mut cx).is_pending());
    for _ in 0..5 {
        assert!(stream.as_mut().poll_next(&mut cx).is_ready());
        assert_eq!(given.get(), 1);
    }
    assert_eq!(stream.size_hint(), (0, None));
    assert!(stream.as_mut().poll_next(&mut cx).is_pending());
    assert!(matches!(stream.as_mut().poll_next(&mut cx), Poll::Ready(Some(_))));
    assert_eq!(given.get(), 2);
}

// Contract: S1.50.
#[test]
fn items_without_a_chunk_pass_at_once_and_in_order() {
    let heartbeat =
        Annotated { comment: Some(vec!["alive".into()]), ..Annotated::from_data(json!(0)) };
    let dataless = Annotated { data: None, ..heartbeat.clone() };
    let withheld = |text: Chunk| Annotated::from_data(serde_json::to_value(text).expect("JSON"));
    let seen = guarded(vec![
        withheld(text(0, "<tool")),
        heartbeat.clone(),
        dataless.clone(),
        withheld(text(0, "box>")),
    ]);
    assert_eq!(seen[..2], [heartbeat, dataless]);
    assert_eq!(seen.len(), 3);
}

// Contract: S1.60, X.22.
#[test]
fn upstream_error_is_emitted_after_held_text_and_ends_the_stream() {
    let seen = guarded(vec![Ok(text(0, "a <tool")), Err("cut"), Ok(text(0, "never"))]);
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2], Err("cut"));
    let out: Vec<_> = seen.into_iter().filter_map(Result::ok).collect();
    let choice = &read(&out)[&0];
    assert_eq!((choice.content.as_str(), &choice.finish), ("a <tool", &None));
}

#[test]
fn error_data_and_error_events_end_the_stream() {
    let held = serde_json::to_value(text(0, "a <tool")).expect("JSON");
    let error = json!({"error": {"message": "overloaded"}});
    let seen = guarded(vec![held.clone(), error.clone(), held.clone()]);
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2], error);

    let event =
        Annotated { event: Some("error".into()), data: None, ..Annotated::from_data(held.clone()) };
    let seen = guarded(vec![
        Annotated::from_data(held.clone()),
        event.clone(),
        Annotated::from_data(held),
    ]);
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2], event);
    assert_eq!(
        read(&chunks(seen.into_iter().filter_map(|it| it.data).collect()))[&0].content,
        "a <tool"
    );
}

#[test]
fn harmony_messages_between_jail_sequences_are_calls() {
    let call = "<|channel|>commentary to=functions.f<|message|>{}<|call|>";
    let jail = JailedStream::builder()
        .jail_start_sequences(vec!["<TOOLCALL>", "<FUNCTION>"])
        .jail_end_sequences(vec!["</TOOLCALL>", "</FUNCTION>"])
        .tool_call_parser("harmony")
        .build()
        .expect("builds");
    let parts = ["a <TOOL", "CALL>", call, "</TOOLCALL> b <FUNCTION>", call];
    let guarded = |last: Vec<Result<Chunk, &'static str>>| {
        let items = parts.map(|part| Ok(text(0, part))).into_iter().chain(last);
        let seen = drain(jail.apply(upstream(items)));
        read(&seen.into_iter().filter_map(Result::ok).collect::<Vec<_>>()).remove(&0).unwrap()
    };
    let whole = guarded(vec![Ok(text(0, "</FUNCTION>")), Ok(stop(0, "stop"))]);
    assert_eq!((whole.content.as_str(), whole.calls.len()), ("a  b ", 2));
    assert_eq!(whole.finish.as_deref(), Some("tool_calls"));
    let cut = guarded(vec![Err("cut")]);
    assert_eq!((cut.content, cut.calls.len()), (format!("a  b <FUNCTION>{call}"), 1));
}

// Contract: S1.60, X.22.
#[test]
fn call_truncated_by_an_error_is_not_emitted() {
    let cut = &CALL[..CALL.len() - "}}</tool_call>".len()];
    let jail = JailedStream::builder().tool_call_parser("hermes").build().expect("builds");
    let items = [Ok(text(0, "a")), Ok(text(0, cut)), Err("cut")];
    let seen: Vec<_> =
        drain(jail.apply(upstream(items))).into_iter().filter_map(Result::ok).collect();
    let choice = &read(&seen)[&0];
    assert_eq!((choice.content.as_str(), choice.calls.len(), &choice.finish), ("a", 0, &None));
}

#[test]
fn limit_ends_the_stream_and_is_reported() {
    let mut options = ChatOptions::default();
    options.limits.choices = 1;
    let stream =
        guard_chunks(upstream([text(0, "a"), text(1, "b"), text(0, "c")]), chat("hermes", options));
    let mut stream = pin!(stream);
    let mut cx = Context::from_waker(Waker::noop());
    let mut texts = 0;
    loop {
        match stream.as_mut().poll_next(&mut cx) {
            Poll::Ready(Some(_)) => texts += 1,
            Poll::Ready(None) => break,
            Poll::Pending => {}
        }
    }
    assert_eq!((texts, stream.error()), (1, Some(ChatError::TooManyChoices)));
}

// Contract: S1.61, X.25.
#[test]
fn dropping_a_stream_between_pieces_is_harmless() {
    let inner = upstream([text(0, &format!("a{CALL}b <to"))]);
    let mut stream = Box::pin(guard_chunks(inner, chat("hermes", ChatOptions::default())));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(stream.as_mut().poll_next(&mut cx).is_pending());
    assert!(stream.as_mut().poll_next(&mut cx).is_ready());
    drop(stream);
}

// Contract: X.24.
#[test]
fn withheld_bytes_of_a_stream_are_reported_before_its_drop() {
    let inner = upstream([text(0, "a<tool"), text(1, "<"), text(0, "_ca")]);
    let mut stream = Box::pin(guard_chunks(inner, chat("hermes", ChatOptions::default())));
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..5 {
        drop(stream.as_mut().poll_next(&mut cx));
    }
    assert!(stream.guard().is_withholding());
    assert_eq!(stream.guard().held(), "<tool_ca".len() + "<".len());
}

#[test]
fn chat_notes_reach_the_callback() {
    let notes = std::sync::Arc::new(std::sync::Mutex::new(0));
    let count = notes.clone();
    let items = upstream([text(0, CALL), usage()]);
    let mut options = ChatOptions::default();
    options.synthesis = Synthesis::Always;
    let stream = guard_chunks(items, chat("hermes", options));
    drain(stream.on_note(move |_| *count.lock().expect("no panic") += 1));
    assert_eq!(
        *notes.lock().expect("no panic"),
        3,
        "the ends of the call and the choice, and no finish reason"
    );
}

// Contract: S1.51.
#[test]
fn ticks_become_keep_alives_only_while_text_is_withheld() {
    let alive = || choice(json!({"index": 0, "delta": {}, "alive": true}));
    for (pieces, expected) in
        [(["<tool_call>", "  ", "  ", "  "], true), (["a", "b", "c", "d"], false)]
    {
        let stream = guard_chunks(
            upstream(pieces.map(|piece| text(0, piece))),
            chat("hermes", ChatOptions::default()),
        );
        let ticks = tokio_stream::iter(0..100);
        let seen = drain(stream.keep_alive(ticks, alive));
        assert_eq!(seen.contains(&alive()), expected, "{pieces:?}");
    }
    let stream = guard_chunks(
        upstream([text(0, "<tool"), text(0, "box>")]),
        chat("hermes", ChatOptions::default()),
    );
    let seen = drain(stream.keep_alive(tokio_stream::empty::<()>(), alive));
    assert_eq!(seen.len(), 1, "without ticks nothing is added");
}

#[test]
fn jailed_stream_may_be_applied_to_chunk_streams_repeatedly() {
    let jail = JailedStream::builder()
        .jail_start_sequences(["<TOOLCALL>", "<FUNCTION>"])
        .jail_end_sequences(["</TOOLCALL>", "</FUNCTION>"])
        .tool_call_parser("hermes")
        .reasoning_parser("qwen3")
        .guard(|guard| guard.delivery(Delivery::Streaming))
        .build()
        .expect("builds");
    for _ in 0..2 {
        let input = [
            text(0, "<think>hm</think>Hi <FUNC"),
            text(0, "TION>{\"name\": \"f\", \"arguments\": {}}</FUNCTION>"),
            stop(0, "stop"),
        ];
        let seen = drain(jail.apply(upstream(input)));
        let choice = &read_finished(&seen)[&0];
        assert_eq!((choice.reasoning.as_str(), choice.content.as_str()), ("hm", "Hi "));
        assert_eq!(choice.calls[0].name, "f");
    }
}

#[test]
fn jail_without_a_parser_releases_blocks_as_text() {
    let jail = JailedStream::builder()
        .jail_start_sequence("<secret>")
        .jail_end_sequence("</secret>")
        .build()
        .expect("builds");
    let seen = drain(jail.apply(upstream([
        text(0, "a<sec"),
        text(0, "ret>b"),
        text(0, "</secret>c"),
        stop(0, "stop"),
    ])));
    assert_eq!(read_finished(&seen)[&0].content, "a<secret>b</secret>c");
    assert_eq!(seen[1].choices[0].delta.text(), Some("<secret>b</secret>c"));
}

#[test]
fn jail_sequences_work_with_a_reasoning_parser_and_no_tool_parser() {
    let jail = JailedStream::builder()
        .jail_start_sequence("<secret>")
        .jail_end_sequence("</secret>")
        .reasoning_parser("qwen3")
        .build()
        .expect("builds");
    let input = [text(0, "<think>hm</think>a <sec"), text(0, "ret>b</secret>"), stop(0, "stop")];
    let seen = drain(jail.apply(upstream(input)));
    let choice = &read_finished(&seen)[&0];
    assert_eq!(
        (choice.reasoning.as_str(), choice.content.as_str()),
        ("hm", "a <secret>b</secret>")
    );
}

// Contract: S1.55.
#[test]
fn tick_releases_a_jail_over_its_time_limit() {
    let (time, now) = clock();
    let jail = JailedStream::builder()
        .jail_start_sequence("<secret>")
        .jail_end_sequence("</secret>")
        .time_limit(Duration::from_secs(5), OnFail::Release, now)
        .build()
        .expect("builds");
    // It does not end: what comes out comes by the tick.
    let inner = tokio_stream::iter([text(0, "a"), text(0, "<secret>b")]);
    let inner = tokio_stream::StreamExt::chain(inner, tokio_stream::pending());
    let mut stream = Box::pin(jail.apply(inner));
    let mut cx = Context::from_waker(Waker::noop());
    let mut texts = String::new();
    for step in 0..8 {
        if let Poll::Ready(Some(chunk)) = stream.as_mut().poll_next(&mut cx) {
            texts.push_str(chunk.choices[0].delta.text().unwrap_or_default());
        }
        if step == 3 {
            assert_eq!(texts, "a");
            time.fetch_add(9, Ordering::Relaxed);
            stream.as_mut().tick();
        }
    }
    assert_eq!(texts, "a<secret>b");
}

// Contract: S1.11.
#[test]
fn unknown_parser_is_refused() {
    let unknown = |builder: JailedStreamBuilder| builder.build().expect_err("unknown").to_string();
    let parser = unknown(JailedStream::builder().tool_call_parser("hermess"));
    assert!(parser.contains("hermes"), "{parser}");
    let reasoning = JailedStream::builder().tool_call_parser("hermes").reasoning_parser("qwen33");
    let reasoning = unknown(reasoning);
    assert!(reasoning.contains("qwen3"), "{reasoning}");
}
