//! Items kept for comparison, and streams of bytes with every kind of line.

use proptest::prelude::*;
use sse_events::{Decoder, SseEvent, SseItem, TooLong};
use stream_laws::{Cut, CutPlan};

/// An item with its own copy of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    Event(Owned),
    /// Raw bytes, with neighbouring pieces joined.
    Raw(Vec<u8>),
    Dropped(u64),
    Failed(TooLong),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Owned {
    pub(crate) raw: String,
    pub(crate) name: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) closed: bool,
    pub(crate) ignored: u64,
}

impl Owned {
    fn of(event: &SseEvent<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            raw: text(event.raw),
            name: event.name.map(text),
            data: event.data.map(text),
            id: event.id.map(text),
            retry: event.retry,
            closed: event.closed,
            ignored: event.ignored,
        }
    }
}

/// Returns all items that a clone of `decoder` finds in `input` cut by `cut`.
pub(crate) fn decode(decoder: &Decoder, input: &[u8], cut: Cut) -> Vec<Kept> {
    let (mut decoder, mut kept) = (decoder.clone(), Vec::new());
    let keep = |kept: &mut Vec<Kept>, item: SseItem<'_>| match (kept.last_mut(), item) {
        (_, SseItem::Raw([])) => panic!("an empty piece"),
        (Some(Kept::Raw(raw)), SseItem::Raw(more)) => raw.extend_from_slice(more),
        (_, SseItem::Raw(raw)) => kept.push(Kept::Raw(raw.to_vec())),
        (_, SseItem::Event(event)) => kept.push(Kept::Event(Owned::of(&event))),
        (_, SseItem::Dropped { bytes }) => kept.push(Kept::Dropped(bytes)),
        (_, item) => panic!("{item:?}"),
    };
    let mut result = Ok(());
    for piece in cut.byte_pieces(input) {
        result = result.and_then(|()| decoder.push(piece, |item| keep(&mut kept, item)));
    }
    result = result.and_then(|()| decoder.finish(|item| keep(&mut kept, item)));
    kept.extend(result.err().map(Kept::Failed));
    kept
}

/// Returns the items of `decoder`, and checks them at every cut.
pub(crate) fn decode_every_way(decoder: &Decoder, input: &[u8], plan: CutPlan) -> Vec<Kept> {
    let whole = decode(decoder, input, Cut::Whole);
    for cut in plan.bytes(input) {
        let cut_up = decode(decoder, input, cut);
        assert_eq!(cut_up, whole, "{cut} of {:?}", String::from_utf8_lossy(input));
    }
    whole
}

pub(crate) fn events(kept: Vec<Kept>) -> Vec<Owned> {
    let event = |kept| match kept {
        Kept::Event(event) => event,
        other => panic!("expected events alone, found {other:?}"),
    };
    kept.into_iter().map(event).collect()
}

/// Generates streams of parts of fields and lines in any order.
pub(crate) fn streams() -> impl Strategy<Value = Vec<u8>> {
    const PARTS: &[&str] = &[
        "data:",
        "data: ",
        "data",
        "event:",
        "event: a",
        "id:",
        "id: 7",
        "id: \0",
        "retry:",
        "retry: 15",
        "retry: 1x",
        ":",
        ": c",
        "other: y",
        "x",
        "é",
        " ",
        "{\"a\":1}",
        "[DONE]",
        "{",
        "\n",
        "\n",
        "\r",
        "\r",
        "\r\n",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
        "\r\r",
        "\u{FEFF}",
    ];
    let part = (0..PARTS.len()).prop_map(|part| PARTS[part]);
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat().into_bytes())
}
