//! Random tables and texts made of their fragments.

use jail_match::{
    Anchor, Bind, Channel, ChannelMask, CutMarker, DriverSettings, Edge, LetterCase, LimitPolicy,
    Limits, Newlines, OnCommit, SuffixRule, Then, Uses, Whitespace,
};
use proptest::prelude::*;

/// Pieces of markers that overlap, share prefixes and bytes, and differ in case.
const PIECES: &[&str] = &[
    "<",
    ">",
    "a",
    "b",
    "B",
    "<a>",
    "|>",
    "<ab",
    "<<",
    "[",
    "]",
    "◁",
    "◁think▷",
    "｜",
    "“",
    "ä",
    "\n",
    " ",
    "`",
    "/",
    "\n\n",
];

/// Pieces of texts other than markers: deciding bytes of bodies, code, whitespace.
const FILLERS: &[&str] = &[
    "{", "{\"", "\\\"", "}", "\"", "'", "(", ":", "!", ";", ".", "?", "</call>", "</ca", "x", " ",
    "\n", "\n\n", "`", "```", "\n```\n", "~~~", "\t", "é", "▷", "A", "12", ":x>", ":b-1]", ":>",
    "\0", "\u{FFFD}", "\r\n", "\n{", "\n[", "\n \"",
];

pub(crate) fn marker() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..4).prop_map(|pieces| pieces.concat())
}

fn channel() -> impl Strategy<Value = Channel> {
    (0u8..4).prop_map(|n| Channel::new(n).expect("below the count"))
}

fn then() -> impl Strategy<Value = Then> {
    let on_commit = prop_oneof![Just(OnCommit::Stay), Just(OnCommit::Leave)];
    prop_oneof![
        2 => Just(Then::Erase),
        3 => channel().prop_map(Then::Enter),
        3 => Just(Then::Leave),
        1 => channel().prop_map(Then::Switch),
        4 => (0u16..4, on_commit).prop_map(|(body, on_commit)| Then::Body(body, on_commit)),
    ]
}

pub(crate) fn edge() -> impl Strategy<Value = Edge> {
    let on = prop_oneof![
        3 => Just(ChannelMask::TEXT),
        2 => channel().prop_map(Channel::mask),
        1 => Just(ChannelMask::ALL),
    ];
    let anchor = prop_oneof![
        4 => Just(Anchor::Anywhere),
        2 => Just(Anchor::Lead),
        1 => Just(Anchor::LineStart),
        1 => Just(Anchor::AfterCall),
        2 => Just(Anchor::Line),
        1 => Just(Anchor::Ended),
        1 => Just(Anchor::Opened),
        1 => Just(Anchor::Start),
        1 => Just(Anchor::Unquoted),
        1 => Just(Anchor::MessageEnd),
    ];
    let newlines = prop_oneof![
        3 => Just(Newlines::NONE),
        2 => (0u8..4, 0u8..4, any::<bool>()).prop_map(|(before, after, always)| Newlines {
            before,
            after,
            bind: if always { Bind::Always } else { Bind::WhenFraming },
        }),
    ];
    let uses = prop_oneof![
        4 => Just(Uses::Unlimited),
        1 => Just(Uses::OncePerEntry),
        1 => Just(Uses::OncePerMessage),
        1 => Just(Uses::BeforeReasoning),
    ];
    let pair = prop_oneof![3 => Just(0u8), 2 => 1u8..3];
    let cut =
        prop_oneof![3 => Just(CutMarker::Text), 1 => (1usize..6).prop_map(CutMarker::MarkupFrom)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), pair, cut);
    (marker(), on, then(), anchor, newlines, uses, flags).prop_map(
        |(
            marker,
            on,
            then,
            anchor,
            newlines,
            uses,
            (fold, literal, suffixed, orphan, pair, cut),
        )| {
            let edge = Edge::new(marker, on, then).anchored(anchor).bound(newlines).used(uses);
            let edge = Edge { cut, orphan, ..edge.of_pair(pair) };
            let edge = if suffixed { with_suffix(edge) } else { edge };
            let edge = if fold { edge.cased(LetterCase::FoldAscii) } else { edge };
            if literal { edge.literal_in_code() } else { edge }
        },
    )
}

/// Generates openers that are text in a sentence, closers, and closers without an opener.
pub(crate) fn tags() -> impl Strategy<Value = Vec<Edge>> {
    let tag = prop::sample::select(&["<a>", "<ab", "<a><", "</a>", "◁a", "a\n", "<A>"][..]);
    let uses = prop_oneof![Just(Uses::Unlimited), Just(Uses::BeforeReasoning)];
    let anchor = prop_oneof![
        2 => Just(Anchor::Anywhere),
        1 => Just(Anchor::Lead),
        1 => Just(Anchor::Ended),
    ];
    let close = (tag.clone(), anchor, uses, any::<(bool, bool, bool)>());
    let open = (tag, any::<(bool, bool, bool)>());
    (prop::collection::vec(open, 1..3), prop::collection::vec(close, 1..3)).prop_map(
        |(open, close)| {
            let (content, reasoning) = (Channel::CONTENT.mask(), Channel::REASONING.mask());
            let flagged = |edge: Edge, (fold, suffixed, literal): (bool, bool, bool)| {
                let edge = if fold { edge.cased(LetterCase::FoldAscii) } else { edge };
                let edge = if literal { edge.literal_in_code() } else { edge };
                if suffixed { with_suffix(edge) } else { edge }
            };
            let opener = |(tag, flags)| {
                let edge = Edge::new(tag, content, Then::Enter(Channel::REASONING));
                flagged(edge.anchored(Anchor::Line), flags)
            };
            let closer = |(tag, anchor, uses, flags)| {
                let closer = flagged(Edge::new(tag, reasoning, Then::Leave), flags);
                let orphan = Edge { on: content, then: Then::Erase, ..closer.clone() };
                let newlines = Newlines::framing(1, 1);
                [closer, orphan.anchored(anchor).used(uses).bound(newlines).as_orphan()]
            };
            open.into_iter().map(opener).chain(close.into_iter().flat_map(closer)).collect()
        },
    )
}

/// Returns the edge with an optional suffix, if its marker can carry one.
fn with_suffix(edge: Edge) -> Edge {
    let can = edge.marker.len() > 1 && edge.marker.ends_with(['>', ']']);
    edge.suffixed(if can { SuffixRule::Optional } else { SuffixRule::None })
}

pub(crate) fn settings() -> impl Strategy<Value = DriverSettings> {
    let whitespace = prop_oneof![
        Just(Whitespace::Verbatim),
        Just(Whitespace::Framing),
        Just(Whitespace::Trim),
        Just(Whitespace::BeforeCalls),
        Just(Whitespace::ReasoningEnd),
    ];
    let policy = prop_oneof![Just(LimitPolicy::Release), Just(LimitPolicy::Drop)];
    (whitespace, policy, 1usize..24, 1usize..6, 1usize..4, channel()).prop_map(
        |(whitespace, policy, candidate, blanks, depth, start)| {
            // The second implementation of these two has no limit.
            let wide = matches!(whitespace, Whitespace::Trim | Whitespace::ReasoningEnd);
            let blanks = if wide { 4096 } else { blanks };
            let limits = Limits { candidate, whitespace: blanks, depth, policy };
            DriverSettings::default().start(start).whitespace(whitespace).limits(limits)
        },
    )
}

/// Generates text of the markers, their prefixes, their other case, and fillers.
pub(crate) fn text(markers: Vec<String>) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        3 => (0..markers.len()).prop_map({ let m = markers.clone(); move |n| m[n].clone() }),
        1 => (0..markers.len()).prop_map({
            let m = markers.clone();
            move |n| m[n].to_ascii_uppercase()
        }),
        1 => (0..markers.len(), 1usize..6).prop_map(move |(n, scalars)| {
            markers[n].chars().take(scalars).collect()
        }),
        4 => prop::sample::select(FILLERS).prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}
