//! The decoding of lines: the same at every cut, without lost bytes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use proptest::prelude::*;
use sse_events::{Decoder, SseItem, SseLimitPolicy, SseLimits};
use stream_laws::{Cut, CutPlan};

use crate::support::{Kept, Owned, decode, decode_every_way, events, streams};

const EVERY: CutPlan = CutPlan { two_way_up_to: 256, three_way_up_to: 256, random: 16, seed: 5 };

fn read(input: &str) -> Vec<Owned> {
    events(decode_every_way(&Decoder::new(), input.as_bytes(), EVERY))
}

fn data(raw: &str, data: &str) -> Owned {
    Owned { raw: raw.into(), data: Some(data.into()), closed: true, ..Owned::default() }
}

#[test]
fn all_line_ends_are_read_equally_at_every_cut() {
    for eol in ["\n", "\r", "\r\n"] {
        let one = format!("data: a{eol}data:b{eol}{eol}");
        let two = format!("data{eol}{eol}");
        let input = format!("{one}{two}");
        assert_eq!(read(&input), [data(&one, "a\nb"), data(&two, "")], "{eol:?}");
    }
    // An LF after a CR that counted as lone is a byte of the next event.
    let mixed = "data: a\r\rdata: b\r\r\ndata: c\r\n\r\n";
    let expected =
        [data("data: a\r\r", "a"), data("data: b\r\r", "b"), data("\ndata: c\r\n\r\n", "c")];
    assert_eq!(read(mixed), expected);
}

#[test]
fn last_valid_field_of_a_name_is_used() {
    let raw = "event: x\nevent: y\nid: 7\nid: \0\nretry: 20\nretry: soon\n: hush\ndata:  two\nwhat: 1\n\n";
    let event = Owned {
        name: Some("y".into()),
        id: Some("7".into()),
        retry: Some(20),
        ignored: 7,
        ..data(raw, " two")
    };
    assert_eq!(read(raw), [event]);
}

#[test]
fn byte_order_mark_at_the_start_is_skipped() {
    let raw = "\u{FEFF}data: é\n\n";
    assert_eq!(read(raw), [data(raw, "é")]);
    let late = &read("\ndata: x\n\n\u{FEFF}data: y\n\n")[2];
    assert_eq!((late.data.as_deref(), late.ignored), (None, 10));
}

#[test]
fn lone_comment_is_reported_at_once() {
    let mut decoder = Decoder::new();
    let mut raws = Vec::new();
    let mut push = |bytes: &[u8]| {
        let mut on = |item: SseItem<'_>| match item {
            SseItem::Event(event) => raws.push(event.raw.to_vec()),
            other => panic!("{other:?}"),
        };
        decoder.push(bytes, &mut on).expect("no limit");
        raws.len()
    };
    assert_eq!(push(b": ping\n"), 1);
    assert_eq!(push(b"\n"), 2);
    // A comment inside an event belongs to the event.
    assert_eq!(push(b"data: x\n: ping\n"), 2);
    assert_eq!(push(b"\n"), 3);
    // After a lone CR, the next CR needs no byte after it.
    assert_eq!(push(b"data: x\r\rdata: y\r"), 4);
    assert_eq!(push(b"\r"), 5);
}

#[test]
fn event_truncated_by_the_end_is_reported_as_not_closed() {
    for (input, closed) in [("data: x\n\n", true), ("data: x\n", false), ("data: x", false)] {
        assert_eq!(read(input), [Owned { closed, ..data(input, "x") }]);
    }
    assert_eq!(read("data: x\r\n\r"), [data("data: x\r\n\r", "x")]);
    assert_eq!(read(""), []);
    assert!(!read(": cut")[0].closed);
}

#[test]
fn lenient_decoder_splits_complete_rows_without_a_blank_line() {
    let input = "data: {\"a\":\ndata: 1}\n\ndata: {}\ndata: [DONE]\n{\"error\": 1}\n";
    let lenient = decode_every_way(&Decoder::new().lenient(), input.as_bytes(), EVERY);
    let seen: Vec<_> = events(lenient).into_iter().map(|e| (e.data.unwrap(), e.closed)).collect();
    let expected =
        [("{\"a\":\n1}", true), ("{}", false), ("[DONE]", false), ("{\"error\": 1}", false)];
    assert_eq!(seen, expected.map(|(data, closed)| (data.to_owned(), closed)));
    // The standard joins rows, and ignores lines that begin with a brace.
    let strict = read(input);
    assert_eq!((strict[1].data.as_deref(), strict[1].ignored), (Some("{}\n[DONE]"), 12));
}

#[test]
fn reset_decoder_equals_a_new_one() {
    let mut decoder = Decoder::new();
    decoder.push(b"data: x\r\rdata: half", |_| {}).expect("no limit");
    assert_eq!(decoder.held(), 10);
    decoder.reset();
    assert_eq!(decoder.held(), 0);
    let raw = "\u{FEFF}data: y\r\n\r\n";
    assert_eq!(events(decode(&decoder, raw.as_bytes(), Cut::EachByte)), [data(raw, "y")]);
}

#[test]
fn reset_keeps_limits_and_leniency() {
    let limits = SseLimits::default().line(9).policy(SseLimitPolicy::Drop);
    let mut decoder = Decoder::new().limits(limits).lenient();
    decoder.reset();
    let kept = decode(&decoder, b"{\"a\":1}\n\ndata: too long\n\n", Cut::Whole);
    let [Kept::Event(event), Kept::Dropped(16)] = &kept[..] else { panic!("{kept:?}") };
    assert_eq!(event.data.as_deref(), Some("{\"a\":1}"));
}

#[test]
fn joined_rows_are_included_in_the_held_bytes() {
    let mut decoder = Decoder::new();
    decoder.push(b"data: one\ndata: two\n", |_| {}).expect("no limit");
    assert_eq!(decoder.held(), "data: one\ndata: two\n".len() + "one\ntwo".len());
}

proptest! {
    #[test]
    fn items_are_chunk_invariant_and_raw_bytes_equal_the_input(input in streams(), seed: u64) {
        for decoder in [Decoder::new(), Decoder::new().lenient()] {
            let kept = decode_every_way(&decoder, &input, CutPlan::quick(seed));
            let raw: String = events(kept).into_iter().map(|event| event.raw).collect();
            prop_assert_eq!(raw.as_bytes(), &input);
        }
    }

    #[test]
    fn raw_bytes_of_invalid_utf8_equal_the_input(input: Vec<u8>, seed: u64) {
        let mut raw = Vec::new();
        let mut decoder = Decoder::new();
        let mut on = |item: SseItem<'_>| if let SseItem::Event(event) = item {
            raw.extend_from_slice(event.raw);
        };
        for piece in (Cut::Random { seed }).byte_pieces(&input) {
            decoder.push(piece, &mut on).expect("no limit");
        }
        decoder.finish(&mut on).expect("no limit");
        prop_assert_eq!(raw, input);
    }
}

#[test]
fn work_is_linear_for_a_line_in_many_pieces() {
    // One line of a megabyte arrives byte by byte: quadratic work would not finish.
    let input = [b"data: ".as_slice(), &vec![b'x'; 1 << 20], b"\n\n"].concat();
    let kept = decode(&Decoder::new(), &input, Cut::EachByte);
    let [Kept::Event(event)] = kept.as_slice() else { panic!("one event") };
    assert_eq!(event.data.as_ref().map(String::len), Some(1 << 20));
}

#[test]
fn raw_bytes_of_all_items_concatenate_to_the_input() {
    let input =
        b": ping\n\nid: 7\ndata: a\n\ndata: longer than the limit\n\nevent: x\r\n\r\ndata: cut";
    let limits = SseLimits::default().event(20).policy(SseLimitPolicy::Release);
    for len in 1..=input.len() {
        let (mut decoder, mut out) = (Decoder::new().limits(limits), Vec::new());
        for chunk in input.chunks(len) {
            decoder.push(chunk, |item| out.extend_from_slice(item.raw())).unwrap();
        }
        decoder.finish(|item| out.extend_from_slice(item.raw())).unwrap();
        assert_eq!(out, input);
    }
    let mut decoder = Decoder::new().limits(limits.policy(SseLimitPolicy::Drop));
    decoder.push(b"data: longer than the limit\n\n", |item| assert_eq!(item.raw(), b"")).unwrap();
}

/// The event that was being read is lost, and the next chunk begins another one.
#[test]
fn decoder_goes_on_after_a_panic_of_its_caller() {
    for first in ["data: a\n\n", "data: a\n\ndata: b", "data: a\r\n\r"] {
        let mut decoder = Decoder::new();
        let push = || {
            decoder.push(b"da", |_| {})?;
            decoder.push(first.trim_start_matches("da").as_bytes(), |_| resume_unwind(Box::new(())))
        };
        assert_eq!(catch_unwind(AssertUnwindSafe(push)).is_err(), first != "data: a\r\n\r");
        let mut seen = Vec::new();
        let mut on =
            |item: SseItem<'_>| seen.push(String::from_utf8_lossy(item.raw()).into_owned());
        decoder.push(b"\ndata: c\n\n", &mut on).expect("short events");
        decoder.finish(&mut on).expect("short events");
        assert!(seen.concat().ends_with("data: c\n\n"), "{first:?} {seen:?}");
    }
}
