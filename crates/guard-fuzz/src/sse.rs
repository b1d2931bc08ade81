//! Event streams made of the parts of lines, under limits of the input.

use std::{
    convert::Infallible,
    io::Cursor,
    pin::pin,
    task::{Context, Poll, Waker},
};

use futures_core::Stream as _;
use llm_stream_guard::sse::{Decoder, SseEvent, SseItem, SseLimitPolicy, SseLimits};
use sse_stream::{Sse, SseByteStream};
use stream_laws::Cut;

use crate::input::Input;

const PIECES: [&str; 24] = [
    "data:",
    "data: ",
    "event:",
    "event: a",
    "id:",
    "id: 7",
    "id: \0",
    "retry:",
    "retry: 15",
    "retry: 1x",
    ": c",
    "other: y",
    "{\"a\":1}",
    "[DONE]",
    "\n\n",
    "\r\n",
    "\r\n\r\n",
    "\r\r",
    "\u{FEFF}",
    "é",
    "data",
    "\n",
    "\r",
    "data: x\n\n",
];

/// Everything that a decoder found.
#[derive(Debug, PartialEq, Eq, Default)]
struct Found {
    items: Vec<String>,
    /// The bytes of all items.
    bytes: Vec<u8>,
    dropped: u64,
}

fn decode(decoder: &Decoder, input: &[u8], cut: Cut, most: usize) -> Found {
    let (mut decoder, mut found) = (decoder.clone(), Found::default());
    let mut raw = false;
    let mut on = |found: &mut Found, item: SseItem<'_>| {
        // The pieces of raw bytes depend on the cuts, so they are joined.
        let again = std::mem::replace(&mut raw, matches!(item, SseItem::Raw(_)));
        match item {
            SseItem::Event(event) => {
                found.bytes.extend_from_slice(event.raw);
                found.items.push(format!("{event:?}"));
            }
            SseItem::Raw(bytes) => {
                found.bytes.extend_from_slice(bytes);
                if !again {
                    found.items.push("raw".into());
                }
            }
            SseItem::Dropped { bytes } => {
                found.dropped += bytes;
                found.items.push(format!("dropped {bytes}"));
            }
            item => panic!("{item:?}"),
        }
    };
    let mut result = Ok(());
    for piece in cut.byte_pieces(input) {
        result = result.and_then(|()| decoder.push(piece, |item| on(&mut found, item)));
        let held = decoder.held();
        assert!(held <= most, "{held} bytes held of {most}");
    }
    result = result.and_then(|()| decoder.finish(|item| on(&mut found, item)));
    found.items.extend(result.err().map(|error| error.to_string()));
    found
}

/// Returns the events of another implementation, which reports no comments and drops an event that
/// the end cuts.
fn theirs(input: &[u8], cut: Cut) -> Vec<Sse> {
    let pieces =
        cut.byte_pieces(input).map(|piece| Ok::<_, Infallible>(Cursor::new(piece.to_vec())));
    let mut stream = pin!(SseByteStream::new(tokio_stream::iter(pieces.collect::<Vec<_>>())));
    let cx = &mut Context::from_waker(Waker::noop());
    let mut all = Vec::new();
    loop {
        match stream.as_mut().poll_next(cx) {
            Poll::Ready(Some(event)) => all.push(event.expect("valid UTF-8")),
            Poll::Ready(None) => return all,
            // The other implementation continues at once.
            Poll::Pending => {}
        }
    }
}

fn ours(input: &[u8], cut: Cut) -> Vec<Sse> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut decoder, mut all) = (Decoder::new(), Vec::new());
    let mut on = |item: SseItem<'_>| {
        let SseItem::Event(SseEvent { name, data, id, retry, closed: true, .. }) = item else {
            return;
        };
        let (event, data, id) = (name.map(text), data.map(text), id.map(text));
        all.push(Sse { event, data, id, retry });
    };
    for piece in cut.byte_pieces(input) {
        decoder.push(piece, &mut on).expect("the limits are far");
    }
    decoder.finish(&mut on).expect("the limits are far");
    all.retain(|event| *event != Sse::default());
    all
}

/// Checks that a decoder finds the same items at every cut, loses no byte, holds a limited number
/// of bytes, and finds the events of another implementation.
pub(crate) fn decoder(data: &[u8]) {
    let mut input = Input::new(data, 8);
    let plan = input.cuts();
    let (line, event) = (1 + input.below(40), 1 + input.below(80));
    let policy =
        *input.pick(&[SseLimitPolicy::Release, SseLimitPolicy::Drop, SseLimitPolicy::Error]);
    let far = input.one_in(2);
    let mut decoder = Decoder::new();
    if !far {
        decoder = decoder.limits(SseLimits::default().line(line).event(event).policy(policy));
    }
    if input.one_in(2) {
        decoder = decoder.lenient();
    }
    let text = input.text(&PIECES);
    // Some inputs are arbitrary bytes, because lines need not be UTF-8.
    let bytes = if input.one_in(4) { input.rest() } else { text.as_bytes() };
    let most = if far { usize::MAX } else { 2 * (line.max(event) + 4) };
    let whole = decode(&decoder, bytes, Cut::Whole, most.saturating_add(bytes.len()));
    if far || policy != SseLimitPolicy::Error {
        let seen = whole.bytes.len() as u64 + whole.dropped;
        assert_eq!(seen, bytes.len() as u64, "{whole:?} of {bytes:?}");
    }
    for cut in plan.bytes(bytes) {
        let longest = cut.byte_pieces(bytes).map(<[u8]>::len).max().unwrap_or_default();
        let found = decode(&decoder, bytes, cut, most.saturating_add(longest));
        assert_eq!(found, whole, "{cut} of {:?}", String::from_utf8_lossy(bytes));
    }
    let seed = u64::from(input.byte());
    let cut = Cut::Random { seed };
    let (our, their) = (ours(text.as_bytes(), cut), theirs(text.as_bytes(), cut));
    assert_eq!(our, their, "{text:?}");
}
