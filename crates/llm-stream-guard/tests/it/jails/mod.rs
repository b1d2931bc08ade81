//! Jails in the façade: around streams of text, around a guard's content, and what is told of
//! them.

mod content;
mod families;
mod observe;
mod streams;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use llm_stream_guard::{End, Event, Guard, LimitError, OwnedEvent};

/// A clock the test moves, in seconds.
pub(crate) fn clock() -> (Arc<AtomicU64>, impl Fn() -> Duration) {
    let time = Arc::new(AtomicU64::new(100));
    let read = time.clone();
    (time, move || Duration::from_secs(read.load(Ordering::Relaxed)))
}

/// Feeds the pieces; content as it is, reasoning in braces, calls as `name(arguments)`,
/// diagnostics as `!kind!`.
fn fed(guard: &Guard, pieces: &[&str]) -> (String, Result<(), LimitError>) {
    let (mut guard, mut seen) = (guard.clone(), String::new());
    let mut sink = |event: Event<'_>| {
        if let (Event::Reasoning(text), true) = (event, seen.ends_with('}')) {
            seen.truncate(seen.len() - 1);
            seen.push_str(&format!("{text}}}"));
        } else {
            seen.push_str(&shown(&event.to_owned()));
        }
    };
    let mut result = Ok(());
    for piece in pieces {
        result = guard.push(piece, &mut sink);
    }
    result = result.and_then(|()| guard.finish(End::Stop, &mut sink));
    (seen, result)
}

fn shown(event: &OwnedEvent) -> String {
    match event {
        OwnedEvent::Content(text) => text.clone(),
        OwnedEvent::Reasoning(text) => format!("{{{text}}}"),
        OwnedEvent::CallStart { name, .. } => format!("{name}("),
        OwnedEvent::CallArguments { fragment, .. } => fragment.clone(),
        OwnedEvent::CallEnd { .. } => ")".to_owned(),
        OwnedEvent::Diagnostic(one) => format!("!{}!", one.kind.name()),
        other => panic!("an event without a test: {other:?}"),
    }
}

/// What is seen of `text`, the same for every two-way cut and scalar by scalar.
fn seen(guard: &Guard, text: &str) -> String {
    let (whole, result) = fed(guard, &[text]);
    result.unwrap();
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        assert_eq!(fed(guard, &[&text[..at], &text[at..]]).0, whole, "cut at {at}");
    }
    let scalars: Vec<String> = text.chars().map(String::from).collect();
    let scalars: Vec<&str> = scalars.iter().map(String::as_str).collect();
    assert_eq!(fed(guard, &scalars).0, whole, "scalar by scalar");
    whole
}
