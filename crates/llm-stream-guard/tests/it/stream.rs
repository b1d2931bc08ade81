//! The stream adapters: what they poll, when, and in which order things come out.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    marker::PhantomPinned,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use futures_core::{FusedStream, Stream};
use llm_stream_guard::{
    End, Event, Guard, JailedStream, LimitPolicy, Limits, Outcome, OwnedEvent, guard_text, profile,
};

type Item = Result<&'static str, &'static str>;

/// A stream that is not `Unpin`, yields a script, and counts its polls.
struct Script {
    items: RefCell<VecDeque<Poll<Item>>>,
    polls: Cell<usize>,
    _pinned: PhantomPinned,
}

impl Script {
    fn new(items: impl IntoIterator<Item = Poll<Item>>) -> Self {
        let items = RefCell::new(items.into_iter().collect());
        Self { items, polls: Cell::new(0), _pinned: PhantomPinned }
    }
}

impl Stream for &Script {
    type Item = Item;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Item>> {
        self.polls.set(self.polls.get() + 1);
        match self.items.borrow_mut().pop_front() {
            Some(item) => item.map(Some),
            None => Poll::Ready(None),
        }
    }
}

fn guard(name: &str) -> Guard {
    Guard::builder(&profile(name).unwrap()).build().unwrap()
}

/// Polls once; nobody is woken.
pub(crate) fn poll<S: Stream>(stream: Pin<&mut S>) -> Poll<Option<S::Item>> {
    stream.poll_next(&mut Context::from_waker(Waker::noop()))
}

fn content(text: &str) -> OwnedEvent {
    OwnedEvent::Content(text.to_owned())
}

#[test]
fn upstream_is_not_polled_while_events_are_queued() {
    let call = "a<tool_call>{\"name\": \"f\"}</tool_call>b";
    let script = Script::new([Poll::Ready(Ok(call)), Poll::Pending]);
    let mut stream = pin!(guard_text(&script, guard("hermes")));
    for _ in 0..5 {
        assert!(matches!(poll(stream.as_mut()), Poll::Ready(Some(Ok(_)))));
        assert_eq!(script.polls.get(), 1, "text, start, arguments, end and text came of one poll");
    }
    assert!(poll(stream.as_mut()).is_pending());
    assert_eq!(script.polls.get(), 2);
}

#[test]
fn held_events_precede_the_upstream_error_which_ends_the_stream() {
    let cut = "a<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"y";
    let script = Script::new([Poll::Ready(Ok(cut)), Poll::Ready(Err("gone"))]);
    let mut stream = pin!(guard_text(&script, guard("hermes")));
    let mut seen = Vec::new();
    while let Poll::Ready(Some(item)) = poll(stream.as_mut()) {
        seen.push(item);
    }
    let incomplete = OwnedEvent::CallEnd { index: 0, outcome: Outcome::Incomplete };
    assert_eq!(seen.first(), Some(&Ok(content("a"))));
    assert_eq!(&seen[seen.len() - 2..], [Ok(incomplete), Err("gone")]);
    assert!(stream.is_terminated());
    let polls = script.polls.get();
    assert_eq!(poll(stream.as_mut()), Poll::Ready(None));
    assert_eq!(script.polls.get(), polls, "a fused stream leaves upstream alone");
}

#[test]
fn end_of_upstream_releases_a_partial_marker() {
    let script = Script::new([Poll::Ready(Ok("3 <tool")), Poll::Pending]);
    let mut stream = pin!(guard_text(&script, guard("hermes")));
    assert_eq!(poll(stream.as_mut()), Poll::Ready(Some(Ok(content("3 ")))));
    assert!(poll(stream.as_mut()).is_pending());
    assert_eq!(poll(stream.as_mut()), Poll::Ready(Some(Ok(content("<tool")))));
    assert_eq!(poll(stream.as_mut()), Poll::Ready(None));
    assert_eq!(stream.size_hint(), (0, Some(0)));
}

#[test]
fn limit_with_the_error_policy_ends_the_stream_after_the_released_text() {
    let limits = Limits { candidate: 20, policy: LimitPolicy::Error, ..Limits::default() };
    let guard = Guard::builder(&profile("hermes").unwrap()).limits(limits).build().unwrap();
    let script =
        Script::new([Poll::Ready(Ok("<tool_call>{\"k\": \"0123456789")), Poll::Ready(Ok("x"))]);
    let mut stream = pin!(guard_text(&script, guard));
    let mut text = String::new();
    while let Poll::Ready(Some(Ok(event))) = poll(stream.as_mut()) {
        if let OwnedEvent::Content(more) = event {
            text.push_str(&more);
        }
    }
    assert!(text.starts_with("<tool_call>"), "{text:?}");
    assert!(stream.limit_hit().is_some());
    assert_eq!(script.polls.get(), 1, "upstream is left alone behind the limit");
}

#[test]
fn jail_without_a_parser_releases_a_block_as_one_piece() {
    let jail = JailedStream::builder()
        .jail_start_sequences(["<a>", "<b>"])
        .jail_end_sequence("</>")
        .build()
        .unwrap();
    let script = Script::new(["x<", "b>1", "2</", ">y"].map(|piece| Poll::Ready(Ok(piece))));
    let mut stream = pin!(jail.apply_text(&script));
    let mut seen = Vec::new();
    while let Poll::Ready(Some(Ok(event))) = poll(stream.as_mut()) {
        seen.push(event);
    }
    let joined: Vec<_> = ["x", "<b>12</>y"].map(content).to_vec();
    assert_eq!(seen, joined);
    let error = JailedStream::builder().tool_call_parser("hermez").build().unwrap_err();
    assert!(error.to_string().contains("`hermes`"), "{error}");
}

#[test]
fn scalar_that_is_cut_comes_before_the_text_after_it() {
    let mut guard = Guard::builder(&profile("qwen3").expect("registered")).build().expect("builds");
    let mut seen = String::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Content(text) = event {
            seen.push_str(text);
        }
    };
    guard.push_bytes(b"a\xc3", &mut sink).expect("no limit");
    guard.push("x", &mut sink).expect("no limit");
    guard.push_bytes("é".as_bytes(), &mut sink).expect("no limit");
    guard.finish(End::Stop, &mut sink).expect("no limit");
    assert_eq!(seen, "a\u{FFFD}xé");
}
