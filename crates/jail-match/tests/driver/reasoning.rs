//! Limits on reasoning, pairs of markers, and the events about them.

use jail_match::{
    Channel, Driver, DriverSettings, Edge, EdgeEvents, Event, LimitPolicy, Limits, NoBodies,
    OnCommit, ReasoningLimit, Sink, Span, Table, Then, Whitespace,
};

use crate::{
    bodies::CALL,
    tables::{
        CONTENT_ONLY, REASONING_ONLY, all, calls, notices, recorded, show, shown, think, verbatim,
    },
};

fn limited(bytes: usize, policy: LimitPolicy) -> DriverSettings {
    verbatim().reasoning(Some(ReasoningLimit { bytes, policy }))
}

#[test]
fn reasoning_over_the_limit_is_reported_at_the_end_of_its_span() {
    let text = "<think>abcd</think>e<think>fg";
    let record = recorded(think(), limited(3, LimitPolicy::Drop), text);
    assert_eq!(show(&record), "{abc}e");
    assert_eq!(notices(&record), [("reasoning_limit", 10, 1), ("reasoning_limit", 27, 2)]);
    let record = recorded(think(), limited(3, LimitPolicy::Release), text);
    assert_eq!(show(&record), "{abc}defg");
    assert_eq!(notices(&record), [("reasoning_limit", 10, 1), ("reasoning_limit", 27, 2)]);
    let record = recorded(think(), limited(6, LimitPolicy::Drop), text);
    assert_eq!((show(&record).as_str(), notices(&record)), ("{abcd}e{fg}", vec![]));
}

#[test]
fn after_an_error_limit_the_rest_of_the_chunk_is_not_read() {
    let mut driver =
        Driver::new(Table::new(think()).expect("a table"), limited(1, LimitPolicy::Error));
    let mut texts = Texts::default();
    let pushed = driver.push("<think>ab</think>c", &mut NoBodies, &mut texts);
    assert_eq!(pushed.map_err(|error| error.at), Err(8));
    assert_eq!((texts.reasoning.as_str(), texts.markup), ("a", "<think>".len() as u64));
}

#[test]
fn no_whitespace_is_held_after_an_error_limit() {
    for whitespace in [Whitespace::Trim, Whitespace::Framing] {
        let settings = limited(0, LimitPolicy::Error).whitespace(whitespace);
        let mut driver = Driver::new(Table::new(think()).expect("a table"), settings);
        let mut texts = Texts::default();
        assert!(driver.push("a\n<think>b", &mut NoBodies, &mut texts).is_err());
        assert_eq!(driver.held().bytes, 0, "{whitespace:?}");
    }
}

#[test]
fn reasoning_limit_applies_per_message() {
    let table = Table::new(think()).expect("a good table");
    let mut driver = Driver::new(table, limited(1, LimitPolicy::Drop));
    let mut texts = Texts::default();
    for text in ["<think>ab", "<think>cd"] {
        driver.push(text, &mut NoBodies, &mut texts).expect("no error policy");
        driver.message_boundary(&mut texts);
    }
    assert_eq!(texts.reasoning, "ac");
    assert_eq!(driver.counters().reasoning_bytes, 2);
}

#[test]
fn held_whitespace_counts_towards_the_reasoning_limit_when_emitted() {
    let framing = limited(2, LimitPolicy::Drop).whitespace(Whitespace::Framing);
    assert_eq!(shown(think(), framing, "<think>\n \n</think>a"), "a");
    assert_eq!(shown(think(), framing, "<think> a b</think>c"), "{ a}c");
}

/// Returns two pairs of tags, neither of which closes the other.
fn pairs() -> Vec<Edge> {
    let pair = |open, close, pair| {
        [
            Edge::new(open, CONTENT_ONLY, Then::Enter(Channel::REASONING)).of_pair(pair),
            Edge::new(close, REASONING_ONLY, Then::Leave).of_pair(pair),
        ]
    };
    [pair("<a>", "</a>", 1), pair("<b>", "</b>", 2)].concat()
}

#[test]
fn closer_of_another_pair_is_text() {
    assert_eq!(shown(pairs(), verbatim(), "<a>x</b>y</a>z</a>"), "{x</b>y}z</a>");
    let opened = verbatim().start(Channel::REASONING);
    assert_eq!(shown(pairs(), opened, "x</b>y<a>z</b>"), "{x}y{z</b>}");
}

#[derive(Default)]
struct Texts {
    reasoning: String,
    /// Bytes accounted for.
    markup: u64,
    matched: Vec<String>,
}

impl Sink for Texts {
    fn event(&mut self, event: Event<'_>) {
        self.matched.push(match event {
            Event::Content(text) => text.to_owned(),
            Event::Reasoning(text) => {
                self.reasoning.push_str(text);
                text.to_owned()
            }
            Event::EdgeMatched(edge) => format!("#{edge}"),
            _ => return,
        });
    }

    fn account(&mut self, span: Span) {
        self.markup += span.len;
    }
}

#[test]
fn sink_receives_matched_edges_between_texts() {
    let table = Table::new(think()).expect("a good table");
    let mut driver = Driver::new(table, verbatim().edge_events(EdgeEvents::Reported));
    let mut texts = Texts::default();
    let text = "</think><think><think>a</think>b</think>";
    driver.push(text, &mut NoBodies, &mut texts).expect("no error policy");
    assert_eq!(texts.matched, ["#3", "#0", "#1", "a", "#2", "b", "</think>"]);
}

#[test]
fn whitespace_and_reasoning_over_their_limits_are_reported_in_place() {
    let narrow = |settings: DriverSettings| {
        let limits = Limits { whitespace: 2, ..Limits::default() };
        settings.whitespace(Whitespace::Trim).limits(limits)
    };
    let record = recorded(calls(), narrow(verbatim()), "abcd   e");
    assert_eq!(notices(&record), [("whitespace_limit", 6, 2)]);
    let text = "<think>ab   cd   ef";
    for (bytes, at) in [(1, 8), (4, 11), (8, 15)] {
        let record = recorded(think(), narrow(limited(bytes, LimitPolicy::Drop)), text);
        let reported: Vec<_> =
            notices(&record).into_iter().filter(|it| it.0 == "reasoning_limit").collect();
        assert_eq!(reported, [("reasoning_limit", at, text.len() as u64 - at)], "{bytes}");
    }
    // Reasoning that becomes content comes after held whitespace of the content.
    let trim = |policy| limited(1, policy).whitespace(Whitespace::Trim);
    assert_eq!(shown(think(), trim(LimitPolicy::Release), "a <think>bc</think>"), "a{b} c");
    let text = "a<call>:</call> <think>bc</think>";
    assert_eq!(shown(all(), trim(LimitPolicy::Drop), text), "a#{b}");
}

#[test]
fn reasoning_over_its_limit_is_reported_at_its_end_or_before_a_call() {
    let edges = || {
        vec![
            Edge::new("<t>", CONTENT_ONLY, Then::Enter(Channel::REASONING)),
            Edge::new("</t>", REASONING_ONLY, Then::Leave),
            Edge::new("<e>", REASONING_ONLY, Then::Erase),
            Edge::new("<s>", REASONING_ONLY, Then::Body(CALL, OnCommit::Stay)),
            Edge::new("<l>", REASONING_ONLY, Then::Body(CALL, OnCommit::Leave)),
        ]
    };
    let kind = "reasoning_limit";
    for (text, expected) in [
        ("<t>ab<e>c</t>", vec![(kind, 4, 2)]),
        ("<t>ab<s>!c</t>", vec![(kind, 4, 6)]),
        ("<t>ab<l>!c</t>", vec![(kind, 4, 1), (kind, 5, 5)]),
    ] {
        let record = recorded(edges(), limited(1, LimitPolicy::Drop), text);
        assert_eq!(notices(&record), expected, "{text:?}");
    }
}
