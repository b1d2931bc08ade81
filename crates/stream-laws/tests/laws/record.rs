//! Records are compared in a form that chunks cannot influence, and malformed ones are refused.

use stream_laws::{
    COMPLETE, CONTENT, EmptyEvent, REASONING, RecordedSpanKind, RunRecord, check_grammar,
};

#[test]
fn only_adjacent_events_of_one_kind_merge() {
    let mut record = RunRecord::default();
    record.text(CONTENT, "a");
    record.text(CONTENT, "b");
    record.text(REASONING, "c");
    record.call_start(0, "id", "f");
    record.call_arguments(0, "{");
    record.call_arguments(0, "}");
    record.call_end(0, COMPLETE);
    record.text(REASONING, "d");

    let mut merged = RunRecord::default();
    merged.text(CONTENT, "ab");
    merged.text(REASONING, "c");
    merged.call_start(0, "id", "f");
    merged.call_arguments(0, "{}");
    merged.call_end(0, COMPLETE);
    merged.text(REASONING, "d");

    assert_eq!(record.coalesced(), Ok(merged));
    assert_eq!(record.all_text(), "abcd");
    assert_eq!(record.channel_text(REASONING), "cd");
}

#[test]
fn spans_merge_in_any_order_and_split() {
    let mut parts = RunRecord::default();
    parts.span(RecordedSpanKind::Call, 4, 1);
    parts.span(RecordedSpanKind::Markup, 2, 2);
    parts.span(RecordedSpanKind::Markup, 0, 2);
    parts.span(RecordedSpanKind::Call, 5, 0);
    let mut whole = RunRecord::default();
    whole.span(RecordedSpanKind::Markup, 0, 4);
    whole.span(RecordedSpanKind::Call, 4, 1);
    assert_eq!(parts.coalesced(), Ok(whole));
}

#[test]
fn empty_texts_and_fragments_are_refused() {
    let mut record = RunRecord::default();
    record.text(CONTENT, "a");
    record.text(CONTENT, "");
    assert_eq!(record.coalesced(), Err(EmptyEvent { position: 1 }));
    let mut record = RunRecord::default();
    record.call_arguments(0, "");
    assert_eq!(record.coalesced(), Err(EmptyEvent { position: 0 }));
}

/// Writes a record and returns what is wrong with its events, or nothing.
fn fault(write: impl FnOnce(&mut RunRecord)) -> String {
    let mut record = RunRecord::default();
    write(&mut record);
    check_grammar(&record.events).err().unwrap_or_default()
}

#[test]
fn call_events_out_of_order_are_refused() {
    assert_eq!(
        fault(|out| {
            out.call_start(0, "a", "f");
            out.call_end(0, "incomplete");
            out.call_start(1, "b", "f");
            out.call_arguments(1, "{}");
            out.call_end(1, COMPLETE);
        }),
        ""
    );
    assert!(fault(|out| out.call_arguments(0, "{}")).contains("before the start of call 0"));
    assert!(fault(|out| out.call_start(0, "a", "f")).contains("call 0 never ended"));
    assert!(fault(|out| out.call_start(1, "a", "f")).contains("expected index 0"));
    assert!(fault(|out| out.call_start(0, "", "f")).contains("expected an id and a name"));
    assert!(fault(|out| out.call_start(0, "a", "")).contains("expected an id and a name"));
    let twice = fault(|out| {
        out.call_start(0, "a", "f");
        out.call_end(0, "malformed");
        out.call_end(0, "malformed");
    });
    assert!(twice.contains("after the end of call 0"), "{twice}");
}

#[test]
fn complete_calls_without_a_json_object_are_refused() {
    for arguments in ["[]", "{", "1"] {
        let why = fault(|out| {
            out.call_start(0, "a", "f");
            out.call_arguments(0, arguments);
            out.call_end(0, COMPLETE);
        });
        assert!(why.contains("call 0 is complete with arguments"), "{arguments} {why}");
    }
}
