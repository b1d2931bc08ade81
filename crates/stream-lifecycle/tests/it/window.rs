//! Asynchronous checks of passages, and the items that wait for them.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use stream_lifecycle::{
    CheckDelivery, Component, Decision, Ending, ErrorInfo, Passage, Window, Windows,
};

use crate::support::{Broken, Does, Log, Trace, drain, items, next, poll, recorded, upstream};

fn chars(size: usize) -> Windows {
    Windows::chars(NonZeroUsize::new(size).unwrap())
}

/// Returns a check that records each passage as `context|new`, takes a few polls for it, and
/// refuses `bad`.
fn checker(
    seen: &Trace,
    waits: usize,
) -> impl FnMut(Passage) -> Box<dyn Future<Output = Decision> + Send + Unpin> + Send + 'static {
    let seen = seen.clone();
    move |passage: Passage| {
        let Passage { text, context, last, .. } = &passage;
        let (context, new) = text.split_at(*context);
        seen.note(format!("{context}|{new}{}", if *last { "." } else { "" }));
        let mut left = waits;
        Box::new(std::future::poll_fn(move |cx| {
            if left > 0 {
                left -= 1;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(match passage.text.contains("bad") {
                true => Decision::End("bad word".into()),
                false => Decision::Continue,
            })
        }))
    }
}

/// Returns the consumer's items, the passages of the check, and the ending, for a text in pieces.
fn run(
    windows: Windows,
    waits: usize,
    pieces: impl IntoIterator<Item = &'static str>,
) -> (String, Vec<String>, Ending) {
    let (log, seen) = (Log::default(), Trace::default());
    let rail = Window::over_text(windows, checker(&seen, waits));
    let text = drain(recorded(&log).enforce(rail).wrap(items(pieces)));
    (text.into_iter().map(Result::unwrap).collect(), seen.all(), log.end().ending)
}

fn leaked(text: &str, size: usize) -> Vec<&'static str> {
    let scalars: Vec<char> = text.chars().collect();
    scalars.chunks(size).map(|piece| &*piece.iter().collect::<String>().leak()).collect()
}

// Contract: S4.13.
#[test]
fn window_passages_are_invariant_to_item_cuts() {
    let text = "héllo wörld";
    for waits in [0, 2] {
        for size in 1..=11 {
            let windows = chars(4).context(3);
            let (seen, passages, ending) = run(windows, waits, leaked(text, size));
            assert_eq!(passages, ["|héll", "éll|o wö", " wö|rld."], "pieces of {size}");
            assert_eq!((seen.as_str(), ending), (text, Ending::Complete));
            let stream_first = windows.delivery(CheckDelivery::StreamFirst);
            let (seen, same, _) = run(stream_first, waits, leaked(text, size));
            assert_eq!((seen.as_str(), same), (text, passages));
            let bytes = Windows::bytes(NonZeroUsize::new(4).unwrap()).context(2);
            let (_, passages, _) = run(bytes, waits, leaked(text, size));
            assert_eq!(passages, ["|hél", "l|lo w", " w|örl", "rl|d."], "pieces of {size}");
        }
    }
}

// Contract: S4.13.
#[test]
fn last_passage_is_marked_when_full_or_partial() {
    for (text, passages) in [
        ("abcdefgh", vec!["|abcd", "|efgh", "|."]),
        ("abcd", vec!["|abcd", "|."]),
        ("abcde", vec!["|abcd", "|e."]),
        ("héllo wö", vec!["|héll", "|o wö", "|."]),
    ] {
        for size in 1..=text.chars().count() {
            let (seen, checked, ending) = run(chars(4), 1, leaked(text, size));
            assert_eq!((seen.as_str(), ending), (text, Ending::Complete));
            assert_eq!(checked, passages, "pieces of {size}");
        }
    }
}

// A million characters are polled and pushed in windows of several sizes. Quadratic work would not
// end.
#[test]
fn work_does_not_grow_with_the_window_size() {
    for size in [10, 500_000] {
        let windows = chars(size).limit(usize::MAX).delivery(CheckDelivery::StreamFirst);
        let rail = Window::over_text(windows, |_| std::future::ready(Decision::Continue));
        let pieces = (0..500_000).map(|_| "é");
        let log = Log::default();
        assert_eq!(drain(recorded(&log).enforce(rail).wrap(items(pieces))).len(), 500_000);
        // One item holds the whole text.
        let rail = Window::over_text(windows, |_| std::future::ready(Decision::Continue));
        let whole: &'static str = "é".repeat(500_000).leak();
        let log = Log::default();
        assert_eq!(drain(recorded(&log).enforce(rail).wrap(items([whole]))).len(), 1);
    }
}

// Contract: S4.13.
#[test]
fn held_items_are_checked_and_streamed_items_precede_the_refusal() {
    let pieces = ["all ", "is ", "well", " but", " bad", " now", " end"];
    let error = ErrorInfo::class("bad word");
    let refused = Ending::Failed { who: Component::Guardrail, error };
    let (seen, passages, ending) = run(chars(8).context(8), 1, pieces);
    assert_eq!(passages, ["|all is w", "all is w|ell but ", "ell but |bad now "]);
    assert_eq!((seen.as_str(), &ending), ("all is well but", &refused));
    let (seen, _, ending) = run(chars(8).delivery(CheckDelivery::StreamFirst), 1, pieces);
    assert!(seen.starts_with("all is well but bad now"), "{seen:?}");
    assert_eq!(ending, refused);
}

// Contract: S4.27.
#[test]
fn upstream_waits_while_a_full_passage_waits_for_the_check() {
    let (log, seen) = (Log::default(), Trace::default());
    let inner = items(["ab", "cd", "ef", "gh"]);
    let polls = inner.seen();
    let rail = Window::over_text(
        chars(2).delivery(CheckDelivery::StreamFirst),
        checker(&seen, usize::MAX),
    );
    let mut stream = Box::pin(recorded(&log).enforce(rail).wrap(inner));
    // One passage is checked and the next is full, so upstream waits.
    assert_eq!(next(&mut stream), Some(Ok("ab".into())));
    assert_eq!(next(&mut stream), Some(Ok("cd".into())));
    for _ in 0..5 {
        assert!(poll(&mut stream).is_pending());
    }
    assert_eq!((polls.polls(), seen.all().len()), (2, 1));
    drop(stream);
    assert_eq!(log.end().ending, Ending::Dropped);
}

// Contract: S4.13.
#[test]
fn abandoned_poll_keeps_items_and_a_dropped_stream_drops_the_check() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let begun = Arc::new(Mutex::new(0));
    let (count, guard) = (Arc::clone(&begun), Arc::clone(&dropped));
    let check = move |_: Passage| {
        *count.lock().unwrap() += 1;
        let (guard, mut polls) = (Counted(Arc::clone(&guard)), 0);
        std::future::poll_fn(move |cx| {
            let _guard = &guard;
            polls += 1;
            cx.waker().wake_by_ref();
            if polls < 9 { Poll::Pending } else { Poll::Ready(Decision::Continue) }
        })
    };
    let log = Log::default();
    let rail = Window::over_text(chars(3), check);
    let inner = upstream([Does::Item("abc"), Does::Item("def"), Does::Wait, Does::Item("g")]);
    let mut stream = Box::pin(recorded(&log).enforce(rail).wrap(inner));
    // Every pending poll is an abandoned `next`.
    let mut given_up = 0;
    let first = loop {
        match poll(&mut stream) {
            Poll::Ready(item) => break item,
            Poll::Pending => given_up += 1,
        }
    };
    assert_eq!(first, Some(Ok("abc".into())));
    assert!(given_up > 0);
    // The first check ran once to its end, and the next one runs.
    assert_eq!((*begun.lock().unwrap(), dropped.load(Ordering::SeqCst)), (2, 1));
    drop(stream);
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
    let end = log.end();
    assert_eq!((end.withheld.bytes, end.withheld.kind, end.withheld.items), (3, "check", 1));
    assert_eq!(end.data, Some("abc".into()));
}

// Contract: S4.10.
#[test]
fn check_that_panics_ends_the_stream_as_a_guardrail() {
    let log = Log::default();
    let check = |_: Passage| async { std::panic::panic_any("no model") };
    let rail = Window::over_text(chars(1), check);
    let mut stream = Box::pin(recorded(&log).enforce(rail).wrap(items(["a"])));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(&mut stream)));
    assert!(caught.is_err());
    let message = "no model".to_owned();
    assert_eq!(log.end().ending, Ending::Panicked { who: Component::Guardrail, message });
}

// Contract: S4.13.
#[test]
fn texts_are_checked_separately_and_a_paused_text_does_not_block_others() {
    let log = Log::default();
    let seen = Trace::default();
    let note = seen.clone();
    let check = move |passage: Passage| {
        note.note(format!("{} {}", passage.text_id, passage.text));
        std::future::ready(Decision::Continue)
    };
    let read = |item: &String, on: &mut dyn FnMut(u64, &str)| {
        let (id, text) = item.split_once(':').unwrap_or(("9", ""));
        on(id.parse().unwrap(), text);
    };
    let rail = Window::new(chars(4).limit(10), read, check);
    let pieces = ["0:ab", "tick", "1:abcd", "1:efgh", "1:ijk", "0:cdef", "1:l"];
    let all = drain(recorded(&log).enforce(rail).wrap(items(pieces)));
    assert_eq!(all, pieces.map(|item| Ok::<_, Broken>(item.to_owned())), "in order");
    assert_eq!(seen.all(), ["1 abcd", "1 efgh", "0 abcd", "1 ijkl", "0 ef", "1 "]);
    // Beyond the limit, the incomplete passage of the first text is checked.
    let (log, seen) = (Log::default(), Trace::default());
    let rail = Window::over_text(chars(100).limit(3), checker(&seen, 0));
    drain(recorded(&log).enforce(rail).wrap(items(["ab", "cd", "e"])));
    assert_eq!(seen.all(), ["|abcd", "|e."]);
}

#[test]
fn texts_over_the_limit_end_the_stream() {
    let ending = |texts: u64| {
        let log = Log::default();
        let read = |item: &String, on: &mut dyn FnMut(u64, &str)| {
            on(item.parse().unwrap(), item);
        };
        let rail = Window::new(chars(8), read, |_| std::future::ready(Decision::Continue));
        let all = (0..texts).map(|n| &*n.to_string().leak());
        drop(drain(recorded(&log).enforce(rail).wrap(items(all))));
        log.end().ending
    };
    assert_eq!(ending(1024), Ending::Complete);
    let error = ErrorInfo::class("texts_limit");
    assert_eq!(ending(1025), Ending::Failed { who: Component::Guardrail, error });
}
