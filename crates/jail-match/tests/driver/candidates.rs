//! Candidates: refutation, rescans, limits, commits, and the text after a call.

use jail_match::{
    BodyId, BodyParsers, Driver, Edge, End, Feed, Held, HeldKind, LimitPolicy, Limits, Newlines,
    OnCommit, Opener, Refutation, Resume, ServerItem, Sink, Stretch, Table, Then, Verdict,
    Whitespace,
};
use stream_laws::{Cut, CutPlan, RunRecord, StreamMachine, check_nothing_lost, run};

use crate::{bodies::*, tables::*};

// Contract: S1.4.
#[test]
fn refuted_candidate_is_emitted_in_place_and_rescanned() {
    for (text, expected) in [
        ("a<call>b!c", "a<call>b!c"),
        ("<call><call>x!:y</call>z", "<call><call>x!:y</call>z"),
        ("<call>1<call>!<call>:</call>", "<call>1<call>!#"),
        ("<call><think>r</think>!", "<call>{r}!"),
        ("[[TWICE]]!.</call>x", "#x"),
        ("[[TWICE]]!?<call>:</call>", "[[TWICE]]!?#"),
        ("[[TWICE]]<call>:</call>x", "#x"),
        ("[[TWICE]]<call>", "[[TWICE]]"),
    ] {
        assert_eq!(shown(all(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn value_after_a_refuted_opener_may_follow_the_blank_that_refuted_it() {
    for (text, expected) in [
        ("<|head|>\n{<call>:</call>}<call>:</call>", "<|head|>\n{<call>:</call>}#"),
        ("<|head|>\n \n\"<call>:</call>", "<|head|>\n \n\"<call>:</call>"),
        ("<|head|>\n \nx{<call>:</call>", "<|head|>\n \nx{#"),
    ] {
        assert_eq!(shown(all(), verbatim(), text), expected, "{text:?}");
    }
}

/// A body that refutes its first byte and has no second reading.
#[derive(Default)]
struct Refusing {
    feeds: u32,
}

impl BodyParsers for Refusing {
    fn begin(&mut self, _: Opener) {}

    fn feed(&mut self, _: &str, _: &mut dyn Sink) -> Feed {
        self.feeds += 1;
        assert_eq!(self.feeds, 1, "it is read again");
        Verdict::RESCAN.after(0)
    }

    fn finish(&mut self, _: &str, _: End, _: &mut dyn Sink) -> Feed {
        Verdict::RESCAN.after(0)
    }
}

#[test]
fn body_without_progress_is_fed_once() {
    let mut driver = Driver::new(Table::new(calls()).unwrap(), verbatim());
    let (mut out, mut bodies) = (RunRecord::default(), Refusing::default());
    driver.push("a<call>b", &mut bodies, &mut Out(&mut out)).unwrap();
    assert_eq!((out.all_text().as_str(), bodies.feeds), ("a<call>b", 1));
}

/// Bodies that may begin nowhere.
struct Nowhere;

impl BodyParsers for Nowhere {
    fn may_begin(&self, _: BodyId) -> bool {
        false
    }

    fn begin(&mut self, _: Opener) {
        unreachable!("it may not");
    }

    fn feed(&mut self, _: &str, _: &mut dyn Sink) -> Feed {
        unreachable!("none began");
    }

    fn finish(&mut self, _: &str, _: End, _: &mut dyn Sink) -> Feed {
        unreachable!("none began");
    }
}

#[test]
fn opener_of_a_refused_body_is_text() {
    let mut driver = Driver::new(Table::new(calls()).unwrap(), verbatim());
    let mut out = RunRecord::default();
    driver.push("<call>b<call>", &mut Nowhere, &mut Out(&mut out)).unwrap();
    assert_eq!(out.all_text(), "<call>b<call>");
    let bound = Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay))
        .bound(Newlines::declared(2, 0));
    let mut driver = Driver::new(Table::new(vec![bound]).unwrap(), verbatim());
    let mut out = RunRecord::default();
    driver.push("a\n\n<c>b", &mut Nowhere, &mut Out(&mut out)).unwrap();
    assert_eq!(out.all_text(), "a\n\n<c>b");
}

#[test]
fn refuted_opener_is_not_retried_for_each_bound_newline() {
    let edge = Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay))
        .bound(Newlines::declared(Newlines::MAX, 0));
    let cursor = cursor(vec![edge], verbatim());
    let mut fork = cursor.clone();
    let mut out = RunRecord::default();
    fork.push(&format!("{}<c>!", "\n".repeat(20)), &mut out);
    assert_eq!(fork.driver.counters().refuted, 1);
    assert_eq!(out.all_text().len(), 24);
}

#[test]
fn rescans_are_limited() {
    let text = format!("{}!", "<call>".repeat(40));
    let record = recorded(calls(), verbatim(), &text);
    assert_eq!(record.all_text(), text);
    assert_eq!(notices(&record), [("rescan_limit", 16 * 6, 24 * 6 + 1)]);
}

#[test]
fn candidate_limit_applies_at_the_same_byte_at_every_cut() {
    // The limit of 8 falls inside the two bytes of `é`, so the candidate has 9.
    let text = "ab<call>xé<call>:</call>";
    let with_policy =
        |policy| candidate_limit(8).limits(Limits { candidate: 8, policy, ..Limits::default() });
    let record = recorded(calls(), with_policy(LimitPolicy::Release), text);
    assert_eq!(
        (show(&record), notices(&record)),
        ("ab<call>xé#".into(), vec![("candidate_limit", 2, 9)])
    );
    let record = recorded(calls(), with_policy(LimitPolicy::Drop), text);
    assert_eq!((show(&record), notices(&record)), ("ab#".into(), vec![("candidate_limit", 2, 9)]));
    for cut in [Cut::Whole, Cut::EachScalar, Cut::TwoWay { at: 5 }, Cut::TwoWay { at: 14 }] {
        let mut driver = Driver::new(Table::new(calls()).unwrap(), with_policy(LimitPolicy::Error));
        let (mut out, mut bodies) = (RunRecord::default(), Tiny::default());
        let mut errors = Vec::new();
        for piece in cut.pieces(text) {
            errors.extend(driver.push(piece, &mut bodies, &mut Out(&mut out)).err());
        }
        assert_eq!(out.all_text(), "ab<call>xé", "{cut}");
        let error = errors[0];
        assert_eq!((error.at, error.bytes), (2, 9), "{cut}");
        assert!(errors.iter().all(|other| *other == error));
        assert_eq!(
            error.to_string(),
            "byte 2: candidate_limit hit after 9 bytes; they were released as text"
        );
        assert_eq!(driver.push("quiet", &mut bodies, &mut Out(&mut out)), Err(error));
        assert_eq!(driver.finish(End::Stop, &mut bodies, &mut Out(&mut out)), Err(error));
        assert_eq!(driver.held().bytes, 0);
    }
}

#[test]
fn failed_driver_rejects_further_text() {
    let settings =
        verbatim().limits(Limits { candidate: 8, policy: LimitPolicy::Error, ..Limits::default() });
    let mut driver = Driver::new(Table::new(calls()).unwrap(), settings);
    let (mut out, mut bodies) = (RunRecord::default(), Tiny::default());
    assert!(driver.push("so quiet", &mut bodies, &mut Out(&mut out)).is_ok());
    assert!(driver.push("<call>xxxxx", &mut bodies, &mut Out(&mut out)).is_err());
    assert!(driver.push("so quiet", &mut bodies, &mut Out(&mut out)).is_err());
    assert_eq!(out.all_text(), "so quiet<call>xx");
}

#[test]
fn driver_works_with_zero_and_maximum_limits() {
    for size in [0, usize::MAX] {
        let limits = Limits { candidate: size, whitespace: size, depth: size, ..Limits::default() };
        for policy in [Whitespace::Framing, Whitespace::Trim] {
            let settings = verbatim().whitespace(policy).limits(limits);
            recorded(all(), settings, " a <call>b:</call> <think> c </think> <|head|>; d");
        }
    }
    let zero = Limits { whitespace: 0, ..Limits::default() }.check().unwrap_err();
    assert_eq!(zero.to_string(), "limit `whitespace` is 0: expected at least 1");
    assert_eq!(Limits::default().check(), Ok(()));
}

#[test]
fn whitespace_over_its_limit_is_text_and_reported_once() {
    for (text, expected) in [("<call>:</call>    x", "#    x"), ("   <call>:</call>", "   #")] {
        let limits = Limits { whitespace: 2, ..Limits::default() };
        let settings = verbatim().whitespace(Whitespace::Framing).limits(limits);
        let record = recorded(calls(), settings, text);
        assert_eq!(show(&record), expected, "{text:?}");
        let at = text.find("  ").map_or(0, |at| at as u64 + 2);
        assert_eq!(notices(&record), [("whitespace_limit", at, 2)], "{text:?}");
    }
}

#[test]
fn orphan_closer_is_markup_only_directly_after_a_call() {
    for (text, expected) in [
        ("<call>:</call></call>x", "#x"),
        ("<call>:</call> \n</call>x", "# \nx"),
        ("<call>:</call>x</call>", "#x</call>"),
        ("</call>", "</call>"),
        ("<call>!</call>", "<call>!</call>"),
    ] {
        assert_eq!(shown(calls(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn call_ends_reasoning_if_its_edge_leaves_the_channel() {
    assert_eq!(shown(all(), verbatim(), "<think>a<call>b:</call>c"), "{a}#c");
    assert_eq!(shown(all(), verbatim(), "<think>a<call>b!</call>c"), "{a<call>b!</call>c}");
}

#[test]
fn header_body_enters_channels() {
    assert_eq!(shown(all(), verbatim(), "a<|head|>x;b</think>c"), "a{b}c");
    assert_eq!(shown(all(), verbatim(), "a<|head|>x:b</think>c"), "a{b}c");
    // Lead anchors apply in a channel that a body opened.
    assert_eq!(shown(all(), verbatim(), "a<|head|>x:<think>b"), "a{b}");
}

#[test]
fn opener_truncated_by_the_end_is_markup_and_counted() {
    let record = recorded(calls(), verbatim(), "ab<call>cd");
    assert_eq!((show(&record), notices(&record)), ("ab".into(), vec![("cut_opener", 2, 8)]));
    assert_eq!(shown(calls(), verbatim(), "ab<cal"), "ab<cal");
}

#[test]
fn held_bytes_report_their_kind() {
    let mut machine = cursor(all(), verbatim().whitespace(Whitespace::Framing));
    let mut out = RunRecord::default();
    for (chunk, bytes, kind) in [
        ("  ", 2, HeldKind::Whitespace),
        ("a", 0, HeldKind::Nothing),
        ("<ca", 3, HeldKind::Marker),
        ("ll>", 6, HeldKind::Candidate),
        ("é", 8, HeldKind::Candidate),
        (":", 0, HeldKind::Nothing),
        ("</cal", 5, HeldKind::Call),
        ("l>", 0, HeldKind::Nothing),
        ("\n", 1, HeldKind::Whitespace),
        ("<think>r\n", 1, HeldKind::Whitespace),
        ("</th", 5, HeldKind::Marker),
        ("x", 0, HeldKind::Nothing),
    ] {
        machine.push(chunk, &mut out);
        assert_eq!(machine.driver.held(), Held { bytes, kind }, "after {chunk:?}");
    }
}

#[test]
fn counters_are_the_same_for_the_whole_text_and_for_scalars() {
    let text = "a<call>b!<call>c:</call>d";
    for cut in [Cut::Whole, Cut::EachScalar] {
        let mut machine = cursor(calls(), verbatim());
        stream_laws::push_all(&mut machine, text, cut, &mut RunRecord::default());
        let counters = machine.driver.counters();
        assert_eq!((counters.candidates, counters.refuted, counters.committed), (2, 1, 1));
        assert_eq!(counters.bytes_in, text.len() as u64);
        assert!(counters.examined >= counters.bytes_in);
        assert_eq!(machine.driver.position(), text.len() as u64);
    }
}

#[test]
fn message_boundary_starts_a_message_and_joins_a_split_tag() {
    let mut machine = cursor(all(), verbatim());
    let mut out = RunRecord::default();
    for chunk in ["<think>r</think>x <thi", "nk>s</think>y"] {
        machine.push(chunk, &mut out);
        machine.driver.message_boundary(&mut Out(&mut out));
    }
    machine.push("</think>z", &mut out);
    machine.finish(&mut out);
    assert_eq!(show(&out.coalesced().unwrap()), "{r}x {s}yz");
}

#[test]
fn newlines_after_a_message_boundary_are_not_bound_to_the_earlier_marker() {
    let mut machine = cursor(think(), verbatim().whitespace(Whitespace::Framing));
    let mut out = RunRecord::default();
    machine.push("<think>r</think>", &mut out);
    machine.driver.message_boundary(&mut Out(&mut out));
    machine.push("\nx", &mut out);
    assert_eq!(show(&out.coalesced().unwrap()), "{r}\nx");
}

#[test]
fn whitespace_policies_place_whitespace_as_documented() {
    let reasoning_end = verbatim().whitespace(Whitespace::ReasoningEnd);
    let stay = vec![
        Edge::new("<t>", CONTENT_ONLY, Then::Enter(jail_match::Channel::REASONING)),
        Edge::new("</t>", REASONING_ONLY, Then::Leave),
        Edge::new("<call>", REASONING_ONLY, Then::Body(CALL, OnCommit::Stay)),
    ];
    assert_eq!(shown(stay, reasoning_end, "<t>a <call>:</call> b </t> c"), "{a }#{ b} c");
    let trim = verbatim().whitespace(Whitespace::Trim);
    assert_eq!(shown(all(), trim, "a <call>:</call> b "), "a#  b");
    assert_eq!(shown(all(), trim, "a <think> r </think>\n b "), "a{r} b ");
    assert_eq!(shown(all(), trim, " a "), " a ");
}

#[test]
fn reset_driver_equals_a_new_one_and_clones_are_independent() {
    let fresh = cursor(all(), verbatim());
    let mut used = fresh.clone();
    used.push("<think>a\n\n<call>b", &mut RunRecord::default());
    let mut fork = used.clone();
    used.reset();
    let text = "</think><call>x:</call>";
    assert_eq!(run(&used, text, Cut::EachScalar), run(&fresh, text, Cut::EachScalar));
    let mut out = RunRecord::default();
    fork.push("!</think>c", &mut out);
    assert_eq!(show(&out.coalesced().unwrap()), "{<call>b!}c");
}

#[test]
fn invalid_tables_are_refused_with_the_entry() {
    let bad = |edges: Vec<Edge>| {
        let error = Table::new(edges).unwrap_err();
        (error.entry(), error.to_string())
    };
    let good = Edge::new("<a>", CONTENT_ONLY, Then::Erase);
    let empty = Edge::new("", CONTENT_ONLY, Then::Erase);
    assert_eq!(bad(vec![good.clone(), empty]), (1, "edge 1: the marker is empty".into()));
    let nowhere = Edge::new("<b>", jail_match::ChannelMask::NONE, Then::Erase);
    assert_eq!(bad(vec![nowhere]), (0, "edge 0 (\"<b>\"): live on no channel".into()));
    let once = good.used(jail_match::Uses::OncePerEntry);
    let (entry, text) = bad(vec![once; 65]);
    assert_eq!(
        (entry, text.as_str()),
        (64, "edge 64 (\"<a>\"): more than 64 edges have limited uses")
    );
}

#[test]
fn complete_opener_before_literal_text_opens() {
    // `<c>` waits for its rival, which literal text cannot finish.
    let edges = vec![
        Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay)),
        Edge::new("<c>!", CONTENT_ONLY, Then::Erase),
    ];
    let mut machine = cursor(edges, verbatim());
    let mut out = RunRecord::default();
    machine.push("a<c>", &mut out);
    for text in ["x:", "<c>!"] {
        machine.driver.push_literal(text, &mut machine.bodies, &mut Out(&mut out)).unwrap();
    }
    machine.push("</call>", &mut out);
    machine.driver.push_literal("<c>!\n", &mut machine.bodies, &mut Out(&mut out)).unwrap();
    machine.push("<c>!b", &mut out);
    machine.finish(&mut out);
    assert_eq!(show(&out.coalesced().unwrap()), "a#<c>!\nb");
    assert_eq!(notices(&out), []);
}

#[test]
fn input_after_a_halting_body_is_dropped_and_counted() {
    let halting = || {
        let mut edges = all();
        edges.push(Edge::new("[[LAST]]", CONTENT_ONLY, Then::Body(HALTING, OnCommit::Stay)));
        edges
    };
    let record = recorded(halting(), verbatim(), "a [[LAST]]b. c<think>d<call>e:</call>");
    assert_eq!((show(&record), notices(&record)), ("a #".into(), vec![("halted", 12, 25)]));
    check_nothing_lost(
        &cursor(halting(), verbatim()),
        "a [[LAST]]b. c<think>d",
        &["halted"],
        CutPlan::standard(3),
    )
    .unwrap();
    let record = recorded(halting(), verbatim(), "a [[LAST]]b.");
    assert_eq!((show(&record), notices(&record)), ("a #".into(), vec![]));

    let mut machine = cursor(halting(), verbatim());
    let mut out = RunRecord::default();
    machine.push("a[[LAST]]b.xyz", &mut out);
    assert!(machine.driver.is_halted());
    machine.driver.message_boundary(&mut Out(&mut out));
    machine.push("c<think>d", &mut out);
    machine.finish(&mut out);
    assert_eq!(show(&out.coalesced().unwrap()), "a#c{d}");
    assert_eq!(notices(&out), [("halted", 11, 3)]);
}

/// Returns the result for `text` with the parts `literal` marked as literal. Checks that it is the
/// same for the whole text, for single scalars, and for every cut in two.
fn marked(text: &str, literal: &[&str]) -> String {
    let run = |chunks: &[&str]| {
        let mut machine = cursor(all(), verbatim());
        let mut from = 0;
        for part in literal {
            let at = from + text[from..].find(part).unwrap();
            from = at + part.len();
            machine.driver.mark(Stretch { from: at as u64, to: from as u64 });
        }
        let mut out = RunRecord::default();
        chunks.iter().for_each(|chunk| machine.push(chunk, &mut out));
        machine.finish(&mut out);
        show(&out.coalesced().unwrap())
    };
    let whole = run(&[text]);
    for (at, _) in text.char_indices() {
        assert_eq!(run(&[&text[..at], &text[at..]]), whole, "{text:?} at {at}");
    }
    assert_eq!(run(&text.split("").collect::<Vec<_>>()), whole, "{text:?}");
    whole
}

#[test]
fn literal_text_in_a_refuted_candidate_stays_literal() {
    let quoted = "<think>r</think>";
    assert_eq!(marked("<call><think>r</think>!", &[]), "<call>{r}!");
    assert_eq!(marked("<call><think>r</think>!", &[quoted]), "<call><think>r</think>!");
    assert_eq!(marked("a<think>r</think>b<call>:</call>", &[quoted]), "a<think>r</think>b#");
    assert_eq!(marked("<call>!", &["l>"]), "<call>!", "it reaches into the marker");
    assert_eq!(marked("a<call>:</call>b", &[""]), "a#b", "an empty stretch has no effect");
}

#[test]
fn offsets_include_settled_and_literal_text_until_a_reset() {
    let mut machine = cursor(all(), verbatim());
    let mut out = RunRecord::default();
    machine.push("a<call>b", &mut out);
    machine.driver.server_item(ServerItem::Call, &mut machine.bodies, &mut Out(&mut out)).unwrap();
    machine.driver.push_literal("cd", &mut machine.bodies, &mut Out(&mut out)).unwrap();
    machine.push("<call>", &mut out);
    machine.finish(&mut out);
    assert_eq!(show(&out.coalesced().unwrap()), "a<call>bcd");
    assert_eq!(notices(&out), [("cut_opener", 10, 6)]);
    // A reset forgets marked stretches.
    machine.reset();
    machine.driver.mark(Stretch { from: 0, to: 6 });
    machine.reset();
    let mut out = RunRecord::default();
    machine.push("<call>:</call>", &mut out);
    assert_eq!(show(&out), "#");
}

/// A body with prepared answers, which records its openers and ends.
struct Scripted {
    feeds: Vec<Feed>,
    at_end: Feed,
    openers: Vec<(u64, usize)>,
    ended: u32,
}

impl BodyParsers for Scripted {
    fn begin(&mut self, opener: Opener) {
        self.openers.push((opener.at, opener.len));
    }

    fn feed(&mut self, _: &str, _: &mut dyn Sink) -> Feed {
        if self.feeds.is_empty() { Verdict::Undecided.after(0) } else { self.feeds.remove(0) }
    }

    fn finish(&mut self, _: &str, _: End, _: &mut dyn Sink) -> Feed {
        self.at_end
    }

    fn end(&mut self) {
        self.ended += 1;
    }
}

/// Returns the record of the chunks with bodies that give these answers, and the bodies.
fn answered(feeds: &[Feed], at_end: Feed, chunks: &[&str]) -> (RunRecord, Scripted) {
    let erase = |marker: &'static str| Edge::new(marker, CONTENT_ONLY, Then::Erase);
    let edges = [calls(), vec![erase("xy"), erase("<e>")]].concat();
    let mut driver = Driver::new(Table::new(edges).unwrap(), verbatim());
    let mut bodies = Scripted { feeds: feeds.to_vec(), at_end, openers: vec![], ended: 0 };
    let mut out = RunRecord::default();
    for chunk in chunks {
        driver.push(chunk, &mut bodies, &mut Out(&mut out)).unwrap();
    }
    driver.finish(End::Stop, &mut bodies, &mut Out(&mut out)).unwrap();
    (out, bodies)
}

#[test]
fn body_receives_its_start_and_one_end_and_decides_about_its_bytes() {
    let (out, bodies) = answered(&[], Verdict::RESCAN.after(0), &["abc", "d<call>", "z"]);
    assert_eq!(out.all_text(), "abcd<call>z");
    assert_eq!((bodies.openers, bodies.ended), (vec![(10, 6)], 1));
    // One byte of markup is removed, and the rest is text.
    let release = Verdict::RESCAN.after(0);
    let text = [Verdict::Refuted(Refutation::Markup { len: 1 }).after(2)];
    assert_eq!(answered(&text, release, &["<call>vw"]).0.all_text(), "w");
    // Literal text is not scanned again, but the text after it is.
    let literal = [Verdict::Refuted(Refutation::Literal).after(2)];
    assert_eq!(answered(&literal, release, &["<call>xy<e>z"]).0.all_text(), "<call>xyz");
    let closed = Verdict::Complete(Resume::SameChannel).after(2);
    assert_eq!(answered(&[], closed, &["a<call>uvw"]).0.all_text(), "aw");
    // A body commits and halts in one piece, whose rest is dropped.
    let halt = [Verdict::Certain.after(1), Verdict::Complete(Resume::Halt).after(2)];
    let (out, _) = answered(&halt, release, &["ab", "<call>:v.zz"]);
    assert_eq!((out.all_text().as_str(), notices(&out)), ("ab", vec![("halted", 11, 2)]));
}

#[test]
fn byte_that_refutes_a_candidate_may_begin_the_next() {
    let edges = vec![Edge::new("!c", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay))];
    let text = format!("{}:</call>", "!c".repeat(40));
    let record = recorded(edges, verbatim(), &text);
    assert_eq!(show(&record), format!("{}#", "!c".repeat(39)));
    assert_eq!(notices(&record), []);
    // Blocks without a call do not count as rescans either.
    let record = recorded(calls(), verbatim(), &"<call>xx?".repeat(20));
    assert_eq!((show(&record), notices(&record)), ("xx?".repeat(20), vec![]));
}

#[test]
fn whitespace_is_held_and_dropped_by_its_policy() {
    let before = verbatim().whitespace(Whitespace::BeforeCalls);
    assert_eq!(shown(calls(), before, " <call>:</call> <call>:</call> x"), "## x");

    let deep = jail_match::Channel::new(3).expect("below the count");
    let reasoning = jail_match::Channel::REASONING;
    let edges = vec![
        Edge::new("<t>", CONTENT_ONLY, Then::Enter(reasoning)),
        Edge::new("</t>", REASONING_ONLY, Then::Leave),
        Edge::new("<d>", REASONING_ONLY, Then::Enter(deep)),
        Edge::new("</d>", deep.mask(), Then::Leave),
    ];
    let end = verbatim().whitespace(Whitespace::ReasoningEnd);
    assert_eq!(shown(edges, end, "<t>a <d>b</d>c"), "{a }3{b}{c}");

    for (text, bytes, kind) in
        [(" <call>:", 0, HeldKind::Nothing), ("a <call>:", 1, HeldKind::Whitespace)]
    {
        let mut machine = cursor(calls(), verbatim().whitespace(Whitespace::Trim));
        machine.push(text, &mut RunRecord::default());
        assert_eq!(machine.driver.held(), Held { bytes, kind }, "{text:?}");
    }
}
