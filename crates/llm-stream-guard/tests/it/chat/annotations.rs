//! Annotations of chunks that are withheld or split.

use llm_stream_guard::chat::{Annotated, Annotations, ChatOptions, Chunk, guard_chunks};

use crate::chat::{
    feed::{chat, text},
    streams::{drain, upstream},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

fn item(n: usize, chunk: Chunk) -> Annotated<Chunk> {
    Annotated {
        id: Some(n.to_string()),
        comment: Some(vec![format!("c{n}")]),
        ..Annotated::from_data(chunk)
    }
}

/// Each item's ids, comments and texts, as short as can be.
fn run(mode: Annotations, chunks: Vec<Chunk>) -> Vec<(String, String, String)> {
    let items = chunks.into_iter().enumerate().map(|(n, chunk)| item(n + 1, chunk));
    let guarded = guard_chunks(upstream(items), chat("hermes", ChatOptions::default()));
    let seen = drain(guarded.annotations(mode));
    let short = |item: Annotated<Chunk>| {
        let texts = item
            .data
            .iter()
            .flat_map(|chunk| &chunk.choices)
            .map(|choice| choice.delta.text().map_or_else(|| "call".to_owned(), str::to_owned));
        let texts: Vec<_> = texts.collect();
        (item.id.unwrap_or_default(), item.comment.unwrap_or_default().join("+"), texts.join("|"))
    };
    seen.into_iter().map(short).collect()
}

fn expect(mode: Annotations, chunks: Vec<Chunk>, expected: &[(&str, &str, &str)]) {
    let owned = |(a, b, c): &(&str, &str, &str)| (a.to_string(), b.to_string(), c.to_string());
    assert_eq!(run(mode, chunks), expected.iter().map(owned).collect::<Vec<_>>(), "{mode:?}");
}

fn withheld() -> Vec<Chunk> {
    vec![text(0, "a"), text(0, "<to"), text(0, "ol"), text(0, "box>"), text(0, "b")]
}

// Contract: S1.47.
#[test]
fn coalesced_annotations_join_the_releasing_chunk() {
    let expected = [("1", "c1", "a"), ("2", "c2+c3+c4", "<toolbox>"), ("5", "c5", "b")];
    expect(Annotations::Coalesce, withheld(), &expected);
}

// Contract: S1.47.
#[test]
fn swallowed_annotations_are_dropped_except_the_first_of_the_release() {
    let expected = [("1", "c1", "a"), ("2", "c2", "<toolbox>"), ("5", "c5", "b")];
    expect(Annotations::Swallow, withheld(), &expected);
}

// Contract: S1.47.
#[test]
fn withheld_annotations_are_emitted_at_once_on_empty_chunks() {
    let expected = [
        ("1", "c1", "a"),
        ("2", "c2", ""),
        ("3", "c3", ""),
        ("4", "c4", "<toolbox>"),
        ("5", "c5", "b"),
    ];
    expect(Annotations::EmptyChunk, withheld(), &expected);
}

// Contract: S1.49.
#[test]
fn first_chunk_of_a_split_carries_the_annotation() {
    for mode in [Annotations::Coalesce, Annotations::Swallow, Annotations::EmptyChunk] {
        let seen = run(mode, vec![text(0, &format!("a{CALL}b"))]);
        let ids: Vec<_> =
            seen.iter().map(|(id, comment, _)| (id.as_str(), comment.as_str())).collect();
        assert_eq!(ids[..3], [("1", "c1"), ("", ""), ("", "")], "{mode:?}");
    }
}

// Contract: S1.48.
#[test]
fn choices_hold_their_annotations_separately() {
    let chunks =
        vec![text(0, "<to"), text(1, "<tool"), text(2, "x"), text(1, "s>"), text(0, "ok>")];
    let expected = [("3", "c3", "x"), ("2", "c2", "<tools>"), ("1", "c1", "<took>")];
    expect(Annotations::Swallow, chunks.clone(), &expected);
    let expected = [("3", "c3", "x"), ("2", "c2+c4", "<tools>"), ("1", "c1+c5", "<took>")];
    expect(Annotations::Coalesce, chunks, &expected);
}

#[test]
fn waiting_annotations_are_emitted_at_the_end_of_the_stream() {
    let chunks = vec![text(0, "a"), text(0, "")];
    expect(Annotations::Coalesce, chunks, &[("1", "c1", "a"), ("2", "c2", "")]);
}

#[test]
fn annotations_over_the_limit_are_emitted_before_the_held_text() {
    let mut chunks = vec![text(0, "<tool")];
    chunks.extend((0..1024).map(|_| text(0, "")));
    let seen = run(Annotations::Coalesce, chunks);
    assert_eq!(seen[0].2, "");
    assert!(seen[0].1.starts_with("c1+c2+"), "they come out alone");
    assert_eq!(seen[1].2, "<tool");
}
