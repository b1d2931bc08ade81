//! Tables, settings and checks that the tests share.

use jail_match::{
    Anchor, Channel, ChannelMask, DriverSettings, Edge, Limits, Newlines, OnCommit, Table, Then,
    Uses, Whitespace,
};
use stream_laws::{
    CONTENT, CutPlan, REASONING, RecordedEvent, RunRecord, check_chunk_invariance, run,
};

use crate::bodies::{CALL, Cursor, HEADER, TWICE};

pub(crate) const CONTENT_ONLY: ChannelMask = Channel::CONTENT.mask();
pub(crate) const REASONING_ONLY: ChannelMask = Channel::REASONING.mask();

/// Returns think tags as most families have them: a closer at the start of a message and a second
/// opener at the start of the reasoning are removed.
pub(crate) fn think() -> Vec<Edge> {
    vec![
        Edge::new("<think>", CONTENT_ONLY, Then::Enter(Channel::REASONING))
            .bound(Newlines::framing(0, 1))
            .literal_in_code(),
        Edge::new("<think>", REASONING_ONLY, Then::Erase)
            .anchored(Anchor::Lead)
            .used(Uses::OncePerEntry),
        Edge::new("</think>", REASONING_ONLY, Then::Leave).bound(Newlines::framing(1, 2)),
        Edge::new("</think>", CONTENT_ONLY, Then::Erase)
            .anchored(Anchor::Lead)
            .bound(Newlines::framing(1, 2)),
    ]
}

/// Returns `<call>` in content and reasoning, a closer without an opener after it, and a header.
pub(crate) fn calls() -> Vec<Edge> {
    vec![
        Edge::new("<call>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay)),
        Edge::new("<call>", REASONING_ONLY, Then::Body(CALL, OnCommit::Leave)),
        Edge::new("</call>", ChannelMask::TEXT, Then::Erase).anchored(Anchor::AfterCall),
        Edge::new("[[TWICE]]", CONTENT_ONLY, Then::Body(TWICE, OnCommit::Stay)),
        Edge::new("<|head|>", CONTENT_ONLY, Then::Body(HEADER, OnCommit::Stay)),
    ]
}

pub(crate) fn all() -> Vec<Edge> {
    [think(), calls()].concat()
}

pub(crate) fn verbatim() -> DriverSettings {
    DriverSettings::default().whitespace(Whitespace::Verbatim)
}

pub(crate) fn candidate_limit(candidate: usize) -> DriverSettings {
    verbatim().limits(Limits { candidate, ..Limits::default() })
}

pub(crate) fn cursor(edges: Vec<Edge>, settings: DriverSettings) -> Cursor {
    Cursor::new(Table::new(edges).expect("a good table"), settings)
}

/// Returns the output: content unchanged, reasoning in braces, calls as `#`. Checks that it is the
/// same for every cut.
pub(crate) fn shown(edges: Vec<Edge>, settings: DriverSettings, text: &str) -> String {
    show(&recorded(edges, settings, text))
}

pub(crate) fn recorded(edges: Vec<Edge>, settings: DriverSettings, text: &str) -> RunRecord {
    let cursor = cursor(edges, settings);
    check_chunk_invariance(&cursor, text, CutPlan::standard(1)).unwrap();
    run(&cursor, text, stream_laws::Cut::Whole).coalesced().expect("no empty text")
}

pub(crate) fn show(record: &RunRecord) -> String {
    let piece = |event: &RecordedEvent| match event {
        RecordedEvent::Text { channel: CONTENT, text } => text.clone(),
        RecordedEvent::Text { channel: REASONING, text } => format!("{{{text}}}"),
        RecordedEvent::Text { channel, text } => format!("{channel}{{{text}}}"),
        RecordedEvent::CallStart { .. } => "#".to_owned(),
        _ => String::new(),
    };
    record.events.iter().map(piece).collect()
}

/// Names, offsets and sizes of the notices.
pub(crate) fn notices(record: &RunRecord) -> Vec<(&str, u64, u64)> {
    record.diagnostics.iter().map(|one| (one.kind.as_str(), one.offset, one.bytes)).collect()
}
