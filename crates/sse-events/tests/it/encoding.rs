//! Events that are written and read back.

use proptest::prelude::*;
use sse_events::{Decoder, Fields, SseEvent, SseItem, comment};
use stream_laws::Cut;

use crate::support::{Owned, decode, events, streams};

fn encoded(fields: Fields<'_>) -> Result<String, String> {
    let mut out = b"before".to_vec();
    let result = fields.encode(&mut out).map_err(|error| error.to_string());
    let written = out.split_off(b"before".len());
    assert_eq!(out, b"before");
    assert!(result.is_ok() || written.is_empty(), "written in spite of {result:?}");
    result.map(|()| String::from_utf8(written).expect("text"))
}

/// Returns the output of `write` for each event of `raw`.
fn written(raw: &str, mut write: impl FnMut(SseEvent<'_>, &mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    let mut decoder = Decoder::new().lenient();
    let mut on = |item: SseItem<'_>| {
        let SseItem::Event(event) = item else { panic!("{item:?}") };
        write(event, &mut out);
    };
    decoder.push(raw.as_bytes(), &mut on).expect("no limit");
    decoder.finish(&mut on).expect("no limit");
    String::from_utf8(out).expect("text")
}

fn with_data(raw: &str, data: &str) -> String {
    written(raw, |event, out| event.with_data(data.as_bytes(), out))
}

#[test]
fn fields_that_would_end_the_event_are_refused() {
    let name = |name| Fields::default().name(name);
    let id = |id| Fields::default().id(id);
    assert_eq!(encoded(name("a\nb")).unwrap_err(), "field `event`: expected one line without NUL");
    assert_eq!(encoded(id("a\rb")).unwrap_err(), "field `id`: expected one line without NUL");
    assert!(encoded(id("a\0b")).is_err());
    assert_eq!(encoded(name("a\0b")).unwrap(), "event: a\0b\n\n");
}

#[test]
fn comment_of_several_lines_is_written_as_comments() {
    let mut out = Vec::new();
    comment("still\r\nthere", &mut out);
    assert_eq!(out, b": still\n: there\n\n");
}

#[test]
fn with_data_keeps_the_other_lines() {
    let raw = "\u{FEFF}id:1\r\ndata: a\r\ndata:b\r\n:c\r\nx-y: z\r\n\r\n";
    assert_eq!(
        with_data(raw, "new\nrow"),
        "\u{FEFF}id:1\r\ndata: new\r\ndata: row\r\n:c\r\nx-y: z\r\n\r\n"
    );
    assert_eq!(with_data("data: cut", "1"), "data: 1\n\n");
    assert_eq!(
        with_data("event: a\ndata: {}\ndata: {}\n", "1"),
        "event: a\ndata: 1\n\ndata: 1\n\n"
    );
    assert_eq!(with_data("{\"error\": 1}\n\n", "1"), "data: 1\n\n");
    assert_eq!(with_data("id: 1\r\r", "1"), "id: 1\rdata: 1\r\r");
    // The LF is a byte of the last line.
    assert_eq!(with_data("data:\rdata:\r\ndata:", "1"), "data: 1\r\r");
}

#[test]
fn all_set_fields_are_written() {
    let fields = Fields::default().name("a").id("b").retry(3).data(b"c");
    assert_eq!(encoded(fields).unwrap(), "event: a\nid: b\nretry: 3\ndata: c\n\n");
}

#[test]
fn byte_order_mark_is_stripped_only_at_the_start_when_writing() {
    let second = "id: 1\n\n\u{FEFF}data: a\n\n";
    assert_eq!(with_data(second, "1"), "id: 1\ndata: 1\n\n\u{FEFF}data: a\ndata: 1\n\n");
    let inside = "\u{FEFF}data: a\n\u{FEFF}data: b\n\n";
    assert_eq!(with_data(inside, "1"), "data: 1\n\u{FEFF}data: b\n\n");
}

#[test]
fn without_data_writes_only_the_other_lines() {
    let taken = |raw| {
        written(raw, |event, out| {
            out.push(b'|');
            event.without_data(out);
        })
    };
    assert_eq!(taken("event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n"), "|event: a\r\n\r\n|");
}

#[test]
fn again_keeps_the_event_name_and_line_ends() {
    let again = |raw| written(raw, |event, out| event.again(b"2", out));
    assert_eq!(again("event: a\rid: 7\rdata: 1\r\r"), "event: a\rdata: 2\r\r");
    assert_eq!(again("id: 7\n\n"), "data: 2\n\n");
    let unnamed = |raw| written(raw, |event, out| event.without_name().again(b"2", out));
    assert_eq!(unnamed("event: a\ndata: 1\n\n"), "data: 2\n\n");
}

#[test]
fn event_is_standard_if_closed_and_each_line_has_a_field() {
    let standard =
        |raw| written(raw, |event, out| out.push(if event.is_standard() { b'y' } else { b'n' }));
    assert_eq!(standard("data: 1\n\n: note\n\ndata: cut"), "yyyn");
    assert_eq!(standard("{\"a\": 1}\n\n"), "n");
    // The row before the brace is a separate event, without a blank line.
    assert_eq!(standard("data: {}\n{}\n\ndata: {}\n\n"), "nny");
}

/// Returns a line end of any kind is read back as `\n`.
fn normalised(data: &str) -> String {
    data.replace("\r\n", "\n").replace('\r', "\n")
}

proptest! {
    #[test]
    fn encoded_events_decode_to_the_same_fields(
        name in prop::option::of("[^\r\n]*"),
        data in prop::option::of("[a \r\n:é]*"),
        id in prop::option::of("[^\r\n\0]*"),
        retry: Option<u64>,
        seed: u64,
    ) {
        let mut fields = Fields::default();
        fields.name = name.as_deref();
        fields.data = data.as_deref().map(str::as_bytes);
        fields.id = id.as_deref();
        fields.retry = retry;
        let raw = encoded(fields).expect("writable fields");
        let data = data.as_deref().map(normalised);
        let event = Owned { raw: raw.clone(), name, data, id, retry, closed: true, ignored: 0 };
        prop_assert_eq!(events(decode(&Decoder::new(), raw.as_bytes(), Cut::Random { seed })), [event]);
    }

    #[test]
    fn replacing_the_data_changes_nothing_else(input in streams(), data in "[a \r\n:é{}]*") {
        let before = events(decode(&Decoder::new(), &input, Cut::Whole));
        let mut out = Vec::new();
        let mut on = |item: SseItem<'_>| match item {
            SseItem::Event(event) if event.data.is_some() => {
                event.with_data(data.as_bytes(), &mut out);
            }
            SseItem::Event(event) => out.extend_from_slice(event.raw),
            other => panic!("{other:?}"),
        };
        let mut decoder = Decoder::new();
        decoder.push(&input, &mut on).expect("no limit");
        decoder.finish(&mut on).expect("no limit");
        let meaning = |events: Vec<Owned>| -> Vec<Owned> {
            // Line ends decide whether a blank line belongs to the line before it.
            let blank = |event: &Owned| Owned { closed: false, ..event.clone() } == Owned::default();
            let events = events.into_iter().map(|event| Owned { raw: String::new(), ..event });
            events.filter(|event| !blank(event)).collect()
        };
        let changed = before.into_iter().map(|event| match event.data {
            Some(_) => Owned { data: Some(normalised(&data)), closed: true, ..event },
            None => event,
        });
        let after = events(decode(&Decoder::new(), &out, Cut::Whole));
        prop_assert_eq!(meaning(after), meaning(changed.collect()));
    }
}
