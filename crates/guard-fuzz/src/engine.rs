//! The marker search, the driver and the jail against second implementations. Tables, settings and
//! texts come from the input.

use jail_match::{
    Anchor, Bind, BlockDelivery, Channel, ChannelMask, CutMarker, DriverSettings, Edge, Inner,
    LetterCase, LimitPolicy, Limits, MarkPosition, Nested, Newlines, OnCommit, OnFail, Release,
    SuffixRule, Table, Then, Uses, Whitespace,
};

use crate::{
    agree,
    input::{Input, halved},
    jail_spec::{Kind, Rule, Sequence, Spec},
};

/// Pieces of markers that overlap, share prefixes and bytes, and differ in case.
const PIECES: [&str; 24] = [
    "<", ">", "a", "B", "b", "<a>", "|>", "<a", "<<", "[", "]", "]]", "◁", "◁t▷", "｜", "“", "é",
    "\n", " ", "`", "/", "\n\n", "\\", "\"",
];

/// Pieces of texts other than markers: deciding bytes of bodies, code, whitespace.
const FILLERS: [&str; 17] = [
    "</call>",
    "</ca",
    "```\n",
    "\n```\n",
    "~~~",
    "é",
    "▷",
    ":x>",
    ":b-1]",
    ":>",
    "\u{1F600}",
    "◁",
    "\n\n\n",
    "x!",
    "\0",
    "\u{FFFD}",
    "\r\n",
];

/// The text around a piece that makes it an expression.
const FRAMES: [(&str, &str); 6] =
    [("", "+"), ("", "?a"), ("[", "b]{1,3}"), ("(?i)", "b"), ("(?:b|", ")a*"), (".", "")];

const FAILS: [OnFail; 5] =
    [OnFail::Release, OnFail::Strip, OnFail::Drop, OnFail::End, OnFail::Error];

/// Options of a table or a jail.
const OPTIONS: usize = 72;

fn word(input: &mut Input<'_>) -> String {
    (0..=input.below(3)).map(|_| *input.pick(&PIECES)).collect()
}

/// Returns markers, cut and whole, and text between them.
fn pieces(markers: impl IntoIterator<Item = String>) -> Vec<String> {
    let markers: Vec<String> = markers.into_iter().collect();
    let upper = markers.clone().into_iter().map(|marker| marker.to_ascii_uppercase());
    let all = halved(markers).into_iter().chain(upper);
    all.chain(FILLERS.map(String::from)).collect()
}

/// Checks a matcher with any markers and any text.
pub(crate) fn matcher(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let plan = input.cuts();
    let markers: Vec<String> = (0..=input.below(5)).map(|_| word(&mut input)).collect();
    let text = input.text(&pieces(markers.clone()));
    if let Err(differs) = agree::matcher(&markers, &text, plan) {
        panic!("{differs}\n  markers: {markers:?}\n  text: {text:?}");
    }
}

fn channel(input: &mut Input<'_>) -> Channel {
    Channel::new(input.below(4) as u8).expect("below the count")
}

fn edge(input: &mut Input<'_>) -> Edge {
    let marker = word(input);
    let on = match input.below(6) {
        0..=2 => ChannelMask::TEXT,
        3 => ChannelMask::ALL,
        _ => channel(input).mask(),
    };
    let on_commit = *input.pick(&[OnCommit::Stay, OnCommit::Leave]);
    let then = match input.below(13) {
        0 | 1 => Then::Erase,
        2..=4 => Then::Enter(channel(input)),
        5..=7 => Then::Leave,
        8 => Then::Switch(channel(input)),
        body => Then::Body(body as u16 - 9, on_commit),
    };
    let anchor = *input.pick(&[
        Anchor::Anywhere,
        Anchor::Anywhere,
        Anchor::Lead,
        Anchor::LineStart,
        Anchor::AfterCall,
        Anchor::Line,
        Anchor::Ended,
        Anchor::Opened,
        Anchor::Start,
        Anchor::Unquoted,
        Anchor::MessageEnd,
    ]);
    let bind = *input.pick(&[Bind::WhenFraming, Bind::Always]);
    let newlines = match input.below(2) {
        0 => Newlines::NONE,
        _ => Newlines { before: input.below(4) as u8, after: input.below(4) as u8, bind },
    };
    let uses = *input.pick(&[
        Uses::Unlimited,
        Uses::Unlimited,
        Uses::OncePerEntry,
        Uses::OncePerMessage,
        Uses::BeforeReasoning,
    ]);
    let can_end = marker.len() > 1 && marker.ends_with(['>', ']']);
    let edge = Edge::new(marker, on, then).anchored(anchor).bound(newlines).used(uses);
    let edge = edge.of_pair(input.below(4).saturating_sub(1) as u8);
    let cut = input.below(8);
    let edge = Edge {
        cut: if cut < 3 { CutMarker::Text } else { CutMarker::MarkupFrom(cut - 2) },
        ..edge
    };
    let edge = if can_end && input.one_in(2) { edge.suffixed(SuffixRule::Optional) } else { edge };
    let edge = if input.one_in(3) { edge.cased(LetterCase::FoldAscii) } else { edge };
    let edge = if input.one_in(3) { edge.as_orphan() } else { edge };
    if input.one_in(3) { edge.literal_in_code() } else { edge }
}

fn settings(input: &mut Input<'_>) -> DriverSettings {
    let whitespace = *input.pick(&Whitespace::ALL);
    // The second implementation of these two has no limit.
    let wide = matches!(whitespace, Whitespace::Trim | Whitespace::ReasoningEnd);
    let run = 1 + input.below(6);
    let limits = Limits {
        candidate: 1 + input.below(40),
        whitespace: if wide { 1 << 16 } else { run },
        depth: 1 + input.below(4),
        policy: *input.pick(&[LimitPolicy::Release, LimitPolicy::Drop]),
    };
    DriverSettings::default().start(channel(input)).whitespace(whitespace).limits(limits)
}

/// Checks a driver with any table and any text.
pub(crate) fn driver(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let plan = input.cuts();
    let settings = settings(&mut input);
    let edges: Vec<Edge> = (0..=input.below(5)).map(|_| edge(&mut input)).collect();
    if Table::new(edges.clone()).is_err() {
        return;
    }
    let text = input.text(&pieces(edges.iter().map(|edge| edge.marker.clone().into_owned())));
    if let Err(differs) = agree::driver(&edges, settings, &text, plan) {
        panic!("{differs}\n  edges: {edges:#?}\n  settings: {settings:?}\n  text: {text:?}");
    }
}

fn sequence(input: &mut Input<'_>) -> Sequence {
    let (text, kind) = match input.below(6) {
        0 => (word(input), Kind::Fold),
        1 => {
            let (head, tail) = input.pick(&FRAMES);
            let piece = *input.pick(&PIECES);
            let piece = regex::escape(piece);
            (format!("{head}{piece}{tail}"), Kind::Pattern(Some(1 + input.below(9))))
        }
        _ => (word(input), Kind::Exact),
    };
    let at = match input.below(8) {
        1 => MarkPosition::LineStart,
        2 => MarkPosition::StreamStart,
        _ => MarkPosition::Anywhere,
    };
    Sequence { text, kind, at }
}

fn rule(input: &mut Input<'_>, rules: usize) -> Rule {
    let sequences = |input: &mut Input<'_>| (0..=input.below(2)).map(|_| sequence(input)).collect();
    let (starts, ends) = (sequences(input), sequences(input));
    let quoted = input.one_in(3);
    Rule {
        starts,
        ends,
        quote: quoted.then(|| (word(input), word(input), input.one_in(2).then_some('\\'))),
        inner: match input.below(4) {
            0 => Inner::Nothing,
            1 => Inner::Own,
            2 => Inner::Every,
            _ => Inner::Only(vec![input.below(rules)]),
        },
        only_inside: input.one_in(6),
        release: *input.pick(&[Release::Hand, Release::Verbatim, Release::Strip, Release::Drop]),
        flow: *input.pick(&[BlockDelivery::Withhold, BlockDelivery::Withhold, BlockDelivery::Tap]),
        limit: 1 + input.below(60),
        over: *input.pick(&FAILS),
        unclosed: *input.pick(&FAILS),
    }
}

fn spec(input: &mut Input<'_>) -> Spec {
    let rules = 1 + input.below(3);
    Spec {
        rules: (0..rules).map(|_| rule(input, rules)).collect(),
        nested: *input.pick(&[Nested::OuterOnly, Nested::InnerFirst]),
        depth: 1 + input.below(4),
        blocks: (1 + input.below(20) as u64, *input.pick(&FAILS)),
    }
}

/// Checks a jail with any rules and any text.
pub(crate) fn jail(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let plan = input.cuts();
    let spec = spec(&mut input);
    if spec.build().is_err() {
        return;
    }
    let mut markers: Vec<String> = Vec::new();
    for rule in &spec.rules {
        markers.extend(rule.starts.iter().chain(&rule.ends).map(|one| one.text.clone()));
        markers
            .extend(rule.quote.iter().flat_map(|(open, close, _)| [open.clone(), close.clone()]));
    }
    let text = input.text(&pieces(markers));
    if let Err(differs) = agree::jail(&spec, &text, plan) {
        panic!("{differs}\n  {spec:#?}\n  text: {text:?}");
    }
}
