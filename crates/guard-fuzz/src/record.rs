//! The record of a stream, checks of passages, and a queue.

use std::{
    collections::VecDeque,
    num::{NonZeroU64, NonZeroUsize},
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use stream_lifecycle::{
    CheckDelivery, Decision, Lifecycle, LifecycleEvent, Marks, Overflow, Passage, Queue,
    Subscriber, Window, Windows,
};

use crate::{
    chaotic::{Acts, Chaos, Wants},
    input::Input,
    support::{Broken, Does},
};

fn acts(input: &mut Input<'_>) -> Acts {
    match input.below(10) {
        8 => Acts::Refuses,
        9 => Acts::Panics,
        _ => Acts::Takes,
    }
}

/// Checks that a stream ends once, whatever its parts do: refuse, panic, wait, close or leave.
pub(crate) fn life(data: &[u8]) {
    let mut input = Input::new(data, 96);
    let few = |input: &mut Input<'_>| (0..input.below(8)).map(|_| acts(input)).collect();
    let (ends, subscriber) = (acts(&mut input), acts(&mut input));
    let collects = few(&mut input);
    let rail = input.one_in(2).then(|| few(&mut input));
    let cleanup = input.one_in(2).then(|| input.below(3) as u8);
    let script = (0..input.below(16)).map(|_| match input.below(10) {
        0..=5 => Does::Item("a"),
        6 | 7 => Does::Wait,
        8 => Does::Fail("x"),
        _ => Does::Panic("y"),
    });
    let script = script.collect();
    // Starting a thread is slow, so only few inputs do.
    let wants = input.rest().iter().take(64).map(|byte| match byte % 64 {
        0..=3 => Wants::Close,
        4..=7 => Wants::Drop,
        8 => Wants::MoveToAnotherThread,
        _ => Wants::Poll,
    });
    let consumer = wants.collect();
    Chaos { script, collects, rail, ends, subscriber, cleanup, consumer }.ends_once();
}

/// Returns the texts of an input, which zero bytes separate.
fn items(text: &str) -> Vec<String> {
    text.split('\0').map(String::from).collect()
}

/// Returns all items of a stream that announces each wait.
fn drain<S: Stream>(stream: S) -> Vec<S::Item> {
    let (mut stream, mut all) = (pin!(stream), Vec::new());
    let cx = &mut Context::from_waker(Waker::noop());
    for _ in 0..1_000_000 {
        match stream.as_mut().poll_next(cx) {
            Poll::Ready(None) => return all,
            Poll::Ready(item) => all.extend(item),
            Poll::Pending => {}
        }
    }
    panic!("it never ends");
}

/// Returns the passages of `text`, each with up to `context` characters before it.
fn passages(text: &str, size: usize, context: usize) -> Vec<String> {
    let scalars: Vec<char> = text.chars().collect();
    let starts = (0..scalars.len()).step_by(size);
    let passage = |start: usize| {
        let end = (start + size).min(scalars.len());
        scalars[start.saturating_sub(context)..end].iter().collect()
    };
    starts.map(passage).collect()
}

/// Checks that a check receives the same passages at every cut, in order and without gaps. Also
/// checks that refused text is not emitted if items wait for the check.
pub(crate) fn window(data: &[u8]) {
    const BAD: &str = "BAD";
    let mut input = Input::new(data, 8);
    let (size, context) = (1 + input.below(24), input.below(12));
    let delivery = *input.pick(&[CheckDelivery::Hold, CheckDelivery::StreamFirst]);
    let waits = input.below(3);
    let pieces = ["\0", "\0\0", BAD, "é", "\u{1F331}", "hello "];
    let items = items(&input.text(&pieces));
    let text: String = items.concat();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let check = move |passage: Passage| {
        note.lock().expect("no panic").push(passage.text.clone());
        let mut left = waits;
        std::future::poll_fn(move |cx| {
            if left > 0 {
                left -= 1;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let bad = passage.text.contains(BAD);
            Poll::Ready(if bad { Decision::End("bad".into()) } else { Decision::Continue })
        })
    };
    let windows = Windows::chars(NonZeroUsize::new(size).expect("not zero"));
    let rail = Window::over_text(windows.context(context).delivery(delivery), check);
    let upstream = tokio_stream::iter(items.into_iter().map(Ok::<_, std::io::Error>));
    let record = Lifecycle::new("fuzzed").enforce(rail);
    let shown: String = drain(record.wrap(upstream)).into_iter().map(Result::unwrap).collect();
    let seen = seen.lock().expect("no panic").clone();
    let wanted = passages(&text, size, context);
    let bad = wanted.iter().position(|passage| passage.contains(BAD));
    let checked = &wanted[..bad.map_or(wanted.len(), |at| at + 1)];
    // The last passage may be empty to mark the end.
    let seen: Vec<&String> = seen.iter().filter(|passage| !passage.is_empty()).collect();
    let same = seen.iter().zip(checked).all(|(one, other)| *one == other);
    assert!(same && seen.len() >= checked.len(), "{seen:?}, not {checked:?}");
    assert!(text.starts_with(&shown), "{shown:?} of {text:?}");
    match bad {
        None => assert_eq!(shown, text),
        Some(at) if delivery == CheckDelivery::Hold => {
            assert!(shown.chars().count() <= at * size, "{shown:?}: passage {at} is refused");
        }
        Some(_) => {}
    }
}

/// A model of a queue that keeps the items sent.
#[derive(Default)]
struct Copy(Mutex<VecDeque<Arc<LifecycleEvent>>>);

impl Subscriber for Copy {
    fn receive(&self, event: &Arc<LifecycleEvent>) {
        self.0.lock().expect("no panic").push_back(Arc::clone(event));
    }
}

/// Checks that a queue delivers items in order, drops only what it must, and counts what it drops.
pub(crate) fn queue(data: &[u8]) {
    let mut input = Input::new(data, 4);
    let capacity = 1 + input.below(6);
    let overflow = *input.pick(&[Overflow::DropOldest, Overflow::DropNewest]);
    let (queue, mut inbox) =
        Queue::bounded(NonZeroUsize::new(capacity).expect("not zero"), overflow);
    let copy = Arc::new(Copy::default());
    let mut streams = Vec::new();
    let (mut received, mut delivered, mut ends_sent) = (Vec::new(), 0_u64, 0_usize);
    let cx = &mut Context::from_waker(Waker::noop());
    for (n, byte) in input.rest().iter().take(200).enumerate() {
        match byte % 8 {
            0 => {
                let items = vec![Ok::<_, Broken>("a".to_owned()); usize::from(byte / 8) % 8];
                let record = Lifecycle::new(n.to_string())
                    .marks(Marks::Every(NonZeroU64::MIN))
                    .subscriber(copy.clone())
                    .subscriber(Arc::new(queue.clone()));
                streams.push(Box::pin(record.wrap(tokio_stream::iter(items))));
            }
            1 => drop(streams.pop()),
            2 | 3 => {
                received.extend(inbox.take());
            }
            4 => {
                let mut flush = pin!(queue.flush());
                let done = flush.as_mut().poll(cx).is_ready();
                let sent = copy.0.lock().expect("no panic").len() as u64;
                let settled = received.len() as u64 + queue.lost();
                // The last item taken counts as delivered once its receiver returns.
                assert!(!done || settled == sent, "flushed with {settled} of {sent} settled");
            }
            _ => {
                let many = streams.len();
                if let Some(stream) = streams.get_mut(usize::from(byte / 8) % many.max(1)) {
                    let _ = stream.as_mut().poll_next(cx);
                }
            }
        }
        let sent = copy.0.lock().expect("no panic").len();
        let waiting = sent - received.len() - queue.lost() as usize;
        assert!(waiting <= capacity, "{waiting} wait in a queue of {capacity}");
    }
    drop(streams);
    let lost = queue.lost();
    drop(queue);
    while let Some(event) = inbox.take() {
        received.push(event);
    }
    let sent = copy.0.lock().expect("no panic");
    delivered += received.len() as u64;
    assert_eq!(delivered + lost, sent.len() as u64);
    let mut rest = sent.iter();
    for event in &received {
        assert!(rest.any(|one| Arc::ptr_eq(one, event)), "out of order, or twice");
    }
    ends_sent += sent.iter().filter(|event| event.end().is_some()).count();
    let ends = received.iter().filter(|event| event.end().is_some()).count();
    let marks_lost = sent.iter().filter(|e| matches!(***e, LifecycleEvent::Mark(_))).count();
    assert!(ends == ends_sent || lost > 0 || marks_lost == 0);
}
