//! Markers: overlaps, common prefixes, anchors, newlines, code, channels.

use jail_match::{
    Anchor, Bind, Channel, CutMarker, Dangling, Diagnostic, DiagnosticKind, Driver, DriverSettings,
    Edge, End, Event, InlineTags, LetterCase, Limits, MarkerSetBuilder, Newlines, NoBodies,
    OnCommit, Outcome, SuffixRule, Table, Then, Uses, Whitespace,
};
use stream_laws::{Cut, CutPlan, RecordedSpanKind, RunRecord, StreamMachine as _, run};

use crate::{agree, bodies::*, tables::*};

fn erase(marker: &'static str) -> Edge {
    Edge::new(marker, CONTENT_ONLY, Then::Erase)
}

#[test]
fn markers_after_their_own_prefix_are_found() {
    for (marker, text, expected) in [
        ("<tool_call>", "<<tool_call>x", "<x"),
        ("[[CALL]]", "[[[CALL]]x", "[x"),
        ("aab", "aaaab", "aa"),
        ("◁think▷", "◁◁think▷x", "◁x"),
        ("｜a", "｜｜a｜", "｜｜"),
    ] {
        assert_eq!(shown(vec![erase(marker)], verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn short_marker_waits_only_while_a_longer_one_may_match() {
    let edges =
        vec![erase("<a>"), Edge::new("<a>bcd", CONTENT_ONLY, Then::Enter(Channel::REASONING))];
    assert_eq!(shown(edges.clone(), verbatim(), "1<a>bcX2<a>bcd3<a>b"), "1bcX2{3<a>b}");
    let mut machine = cursor(edges, verbatim());
    let mut out = RunRecord::default();
    stream_laws::StreamMachine::push(&mut machine, "<a>", &mut out);
    assert_eq!(machine.driver.held().bytes, 3);
    stream_laws::StreamMachine::push(&mut machine, "c", &mut out);
    assert_eq!(machine.driver.held().bytes, 0);
    assert_eq!(show(&out), "c");
}

#[test]
fn newline_waits_while_a_longer_marker_may_end_the_message() {
    let quote = erase("\"").anchored(Anchor::LineStart).bound(Newlines::declared(1, 0));
    let edges = vec![quote, erase("\"◁").anchored(Anchor::MessageEnd)];
    for (text, expected) in [("a\n\"◁◁b", "a◁◁b"), ("a\n\"◁", "a\n"), ("a\n\"b", "ab")] {
        assert_eq!(shown(edges.clone(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn letter_case_is_folded_only_for_ascii_and_on_request() {
    let edges = vec![
        erase("<Ä>").cased(LetterCase::FoldAscii),
        erase("<b>"),
        erase("</tHiNk>").cased(LetterCase::FoldAscii),
    ];
    assert_eq!(shown(edges, verbatim(), "<Ä><ä><b><B></THINK>"), "<ä><B>");
}

#[test]
fn first_of_equal_markers_wins() {
    let others = ["<a", "<b", "<c"].map(erase);
    let folded = Edge::new("<", CONTENT_ONLY, Then::Enter(Channel::REASONING));
    let folded = folded.cased(LetterCase::FoldAscii);
    let first = [&[folded.clone(), erase("<")], &others[..]].concat();
    assert_eq!(shown(first, verbatim(), "<x"), "{x}");
    let last = [&others[..], &[erase("<"), folded]].concat();
    assert_eq!(shown(last, verbatim(), "<x"), "x");
}

#[test]
fn suffix_inside_a_marker_belongs_to_the_marker() {
    let edges = || {
        vec![
            erase("<t>").suffixed(SuffixRule::Optional),
            erase("</T>").suffixed(SuffixRule::Optional).cased(LetterCase::FoldAscii),
        ]
    };
    for (text, expected) in [
        ("a<t>b<t:6124c78e>c</t:6124c78e>d", "abcd"),
        ("a<t:x_-Y>b<t:6124c78e>c<t>d</t:x_-Y>", "ab<t:6124c78e>c<t>d"),
        ("<<t:a>:b>", "<:b>"),
        ("<t:><t:a b><t :a><t:a:b>", "<t:><t:a b><t :a><t:a:b>"),
        ("<t:a<t:b>", "<t:a"),
        ("<t:é>", "<t:é>"),
        ("<t:a", "<t:a"),
    ] {
        assert_eq!(shown(edges(), verbatim(), text), expected, "{text:?}");
    }
    let word = "x".repeat(SuffixRule::MAX_CHARS);
    assert_eq!(shown(edges(), verbatim(), &format!("<t:{word}>")), "");
    let long = format!("<t:{word}x>");
    assert_eq!(shown(edges(), verbatim(), &long), long);
    let mut machine = cursor(edges(), verbatim());
    let mut out = RunRecord::default();
    stream_laws::StreamMachine::push(&mut machine, &long[..long.len() - 2], &mut out);
    assert_eq!(machine.driver.held().bytes, long.len() - 2);
    stream_laws::StreamMachine::push(&mut machine, "x", &mut out);
    assert_eq!(machine.driver.held().bytes, 0, "longer than any suffix");
}

#[test]
fn learnt_suffix_is_reported_and_a_known_suffix_is_required() {
    let read = |settings: DriverSettings, text: &str| {
        let table = Table::new(vec![erase("<t>").suffixed(SuffixRule::Optional)]).unwrap();
        let (mut driver, mut seen) = (Driver::new(table, settings), String::new());
        let mut sink = |event: Event<'_>| {
            if let Event::Content(text) = event {
                seen.push_str(text);
            }
        };
        driver.push(text, &mut NoBodies, &mut sink).unwrap();
        driver.finish(End::Stop, &mut NoBodies, &mut sink).unwrap();
        (driver.suffix(), seen)
    };
    let (known, seen) = read(verbatim(), "a<t:x>b<t:y>");
    assert_eq!((known.as_str(), seen.as_str()), (":x", "ab<t:y>"));
    assert_eq!(format!("{known:?}"), "\":x\"");
    assert_eq!(read(verbatim().suffix(known), "<t:y>a<t:x>").1, "<t:y>a");
}

#[test]
fn marker_that_begins_with_a_newline_is_found_within_a_run() {
    let edges = vec![erase("\n<x>"), erase("</t>").bound(Newlines::declared(1, 0))];
    assert_eq!(shown(edges.clone(), verbatim(), "a\n\n<x>b\n\n</t>c\n\n"), "a\nb\nc\n\n");
    let long = vec![erase("\n\n\n\n<x>"), erase("</t>").bound(Newlines::declared(1, 0))];
    assert_eq!(shown(long, verbatim(), "a\n\n\n\n\n<x>b\n\n\n\n\n</t>c"), "a\nb\n\n\n\nc");
}

#[test]
fn declared_newlines_always_bind_and_framing_newlines_unless_verbatim() {
    let declared = vec![erase("<x>").bound(Newlines::declared(1, 2))];
    let framing = vec![erase("<x>").bound(Newlines::framing(1, 2))];
    let text = "a\n\n<x>\n\n\nb";
    assert_eq!(shown(declared.clone(), verbatim(), text), "a\n\nb");
    assert_eq!(shown(framing.clone(), verbatim(), text), "a\n\n\n\n\nb");
    assert_eq!(shown(framing, verbatim().whitespace(Whitespace::Framing), text), "a\n\nb");
}

#[test]
fn bound_newlines_are_limited_to_the_maximum() {
    for most in [Newlines::MAX, u8::MAX] {
        let edges = vec![erase("<x>").bound(Newlines::declared(most, most))];
        let run = "\n".repeat(100);
        let expected = format!("a{0}{0}b", "\n".repeat(36));
        assert_eq!(shown(edges, verbatim(), &format!("a{run}<x>{run}b")), expected);
    }
}

#[test]
fn newlines_belong_to_the_longest_marker_after_them() {
    let edges = vec![
        erase("<a>").bound(Newlines::declared(1, 0)),
        Edge::new("<a>b", CONTENT_ONLY, Then::Enter(Channel::REASONING)),
    ];
    assert_eq!(shown(edges, verbatim(), "1\n<a>x\n<a>by"), "1x\n{y}");
}

#[test]
fn newline_is_not_held_for_a_marker_of_another_channel() {
    // The stray closer is live at the lead only, the closer in reasoning only.
    let mut machine = cursor(think(), verbatim().whitespace(Whitespace::Framing));
    let mut out = RunRecord::default();
    stream_laws::StreamMachine::push(&mut machine, "text\n", &mut out);
    assert_eq!(show(&out), "text\n");
    assert_eq!(machine.driver.held().bytes, 0);
}

#[test]
fn leading_markers_are_live_at_the_start_and_after_reasoning() {
    let edges = || {
        vec![
            erase("<l>").anchored(Anchor::Lead),
            Edge::new("<think>", CONTENT_ONLY, Then::Enter(Channel::REASONING)),
            Edge::new("</think>", REASONING_ONLY, Then::Leave),
            Edge::new("<h>", REASONING_ONLY.with(Channel::CONTENT), Then::Enter(Channel::HIDDEN)),
            Edge::new("</h>", Channel::HIDDEN.mask(), Then::Leave),
        ]
    };
    for (text, expected) in [
        ("<l>a<l>", "a<l>"),
        (" \n<l>a", " \na"),
        ("a<think>r</think> <l>b<l>", "a{r} b<l>"),
        // Hidden spans do not count as text.
        ("a<h>x</h><l>", "a<l>"),
        ("<h>x</h><l>a", "a"),
    ] {
        assert_eq!(shown(edges(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn line_start_markers_act_only_at_the_start_of_a_line() {
    let edges = vec![erase("# ").anchored(Anchor::LineStart)];
    assert_eq!(shown(edges, verbatim(), "# a # b\n# c\n # d"), "a # b\nc\n # d");
}

#[test]
fn markers_literal_in_code_are_text_inside_code() {
    let edges = || vec![erase("<x>").literal_in_code(), erase("<y>")];
    for (text, expected) in [
        ("`<x><y>` <x>", "`<x>` "),
        ("```\n<x>\n```\n<x>", "```\n<x>\n```\n"),
        ("`a\n<x>", "`a\n"),
        ("```<x>", "```<x>"),
        ("```\n``` a\n<x>", "```\n``` a\n<x>"),
    ] {
        assert_eq!(shown(edges(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn bound_newline_ends_its_line() {
    let edges = vec![erase("</t>").bound(Newlines::declared(1, 0)), erase("<x>").literal_in_code()];
    assert_eq!(shown(edges, verbatim(), "`a\n</t><x>b"), "`ab");
}

#[test]
fn limited_uses_are_counted_per_channel_entry_or_message() {
    let edges = vec![
        Edge::new("<t>", CONTENT_ONLY, Then::Enter(Channel::REASONING)),
        Edge::new("</t>", REASONING_ONLY, Then::Leave),
        Edge::new("<e>", REASONING_ONLY, Then::Erase).used(Uses::OncePerEntry),
        Edge::new("<m>", CONTENT_ONLY, Then::Erase).used(Uses::OncePerMessage),
        Edge::new("<h>", REASONING_ONLY, Then::Enter(Channel::HIDDEN)),
        Edge::new("</h>", Channel::HIDDEN.mask(), Then::Leave),
    ];
    let text = "<m><m><t><e>1<e><h>x</h><e></t><t><e>2</t>";
    assert_eq!(shown(edges, verbatim(), text), "<m>{1<e><e>2}");
}

#[test]
fn line_marker_acts_at_line_starts_and_after_markup() {
    let edges = || {
        vec![
            Edge::new("<t>", CONTENT_ONLY, Then::Enter(Channel::REASONING)).anchored(Anchor::Line),
            Edge::new("</t>", REASONING_ONLY, Then::Leave),
            erase("<e>"),
            Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay)),
        ]
    };
    for (text, expected) in [
        ("<t>1</t>a\n \t<t>2</t>b", "{1}a\n \t{2}b"),
        ("a <t>b\n      <t>c", "a <t>b\n      {c}"),
        ("a<e> <t>1</t> <t>2</t>b", "a {1} {2}b"),
        ("a<e>b<t>c", "ab<t>c"),
        ("a<c>:</call> <t>b", "a# {b}"),
        ("a`\n<t>1", "a`\n{1}"),
    ] {
        assert_eq!(shown(edges(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn closer_of_a_span_ended_by_a_call_is_markup_once() {
    let edges = || {
        vec![
            Edge::new("<t>", CONTENT_ONLY, Then::Enter(Channel::REASONING)),
            Edge::new("</t>", REASONING_ONLY, Then::Leave),
            erase("</t>").anchored(Anchor::Ended),
            Edge::new("<c>", REASONING_ONLY, Then::Body(CALL, OnCommit::Leave)),
        ]
    };
    for (text, expected) in [
        ("<t>1<c>:</call>a</t>b</t>", "{1}#ab</t>"),
        ("<t>1<c>:</call>a<t>2</t>b</t>", "{1}#a{2}b</t>"),
        ("<t>1</t>a</t>", "{1}a</t>"),
    ] {
        assert_eq!(shown(edges(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn orphan_closer_is_markup_only_before_any_reasoning() {
    let edges = || {
        vec![
            Edge::new("<t>", CONTENT_ONLY, Then::Enter(Channel::REASONING)).anchored(Anchor::Line),
            Edge::new("</t>", REASONING_ONLY, Then::Leave),
            erase("</t>").used(Uses::BeforeReasoning),
        ]
    };
    for (text, expected) in [("a</t>b</t>c", "ab</t>c"), ("<t>1</t>a</t>b", "{1}a</t>b")] {
        assert_eq!(shown(edges(), verbatim(), text), expected, "{text:?}");
    }
}

#[test]
fn orphan_closer_with_newlines_does_not_depend_on_cuts() {
    let framed = Newlines { before: 2, after: 0, bind: Bind::Always };
    let edges = [
        Edge::new("<", CONTENT_ONLY, Then::Enter(Channel::REASONING))
            .bound(framed)
            .literal_in_code()
            .as_orphan(),
        erase("b\n\n\n\n").anchored(Anchor::Lead).as_orphan(),
    ];
    let text = "`<b\n\n\n\n<";
    agree::driver(&edges, verbatim(), text, CutPlan::quick(1)).expect("the same for every cut");
}

#[test]
fn refuted_opener_does_not_count_as_used() {
    let once =
        Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay)).used(Uses::OncePerMessage);
    assert_eq!(shown(vec![once], verbatim(), "<c>!<c>:</call><c>:"), "<c>!#<c>:");
}

#[test]
fn depth_is_limited_for_markers_and_bodies() {
    let deep = Channel::new(3).expect("below the count");
    let edges = || {
        vec![
            Edge::new("<d>", jail_match::ChannelMask::ALL, Then::Enter(deep)),
            Edge::new("<|head|>", jail_match::ChannelMask::ALL, Then::Body(HEADER, OnCommit::Stay)),
        ]
    };
    let settings = verbatim().limits(Limits { depth: 2, ..Limits::default() });
    let record = recorded(edges(), settings, "<d><d>a<d>b");
    assert_eq!(show(&record), "3{a<d>b}");
    assert_eq!(notices(&record), [("depth_limit", 7, 3)]);
    let record = recorded(edges(), settings, "<d><|head|>;a<|head|>;b");
    assert_eq!(show(&record), "{ab}");
    assert_eq!(notices(&record), [("depth_limit", 22, 0)]);
}

#[test]
fn hidden_text_is_markup() {
    let edges = vec![
        Edge::new("<h>", CONTENT_ONLY, Then::Enter(Channel::HIDDEN)),
        Edge::new("</h>", Channel::HIDDEN.mask(), Then::Leave),
    ];
    let record = recorded(edges, verbatim(), "a<h>secret</h>b");
    assert_eq!(show(&record), "ab");
    assert_eq!(
        (record.spans.len(), record.spans[0].kind, record.spans[0].len),
        (1, RecordedSpanKind::Markup, 13)
    );
}

#[test]
fn switching_closes_every_channel() {
    let edges = vec![
        Edge::new("<t>", CONTENT_ONLY, Then::Enter(Channel::REASONING)),
        Edge::new("<h>", REASONING_ONLY, Then::Enter(Channel::HIDDEN)),
        Edge::new("<c>", Channel::HIDDEN.mask(), Then::Switch(Channel::CONTENT)),
    ];
    let trim = verbatim().whitespace(Whitespace::Trim);
    let cursor = cursor(edges, trim);
    let record = run(&cursor, "<t> a <h>x<c> b<t> c <h>y<c>d", Cut::EachScalar);
    assert_eq!(show(&record.coalesced().unwrap()), "{a}b{c}d");
}

#[test]
fn truncated_marker_is_markup_from_its_first_token() {
    let cut = |marker: &'static str| Edge::new(marker, CONTENT_ONLY, Then::Erase).of_tokens().cut;
    for (marker, bytes) in [("<|a|>x", 5), ("<|a|>x<|b|>", 5), ("<｜a｜>x<｜b｜>", 9)] {
        assert_eq!(cut(marker), CutMarker::MarkupFrom(bytes), "{marker}");
    }
    for marker in ["<|a|>", "<a|>x", "a<|b|>c", "<|>x", "<|a"] {
        assert_eq!(cut(marker), CutMarker::Text, "{marker}");
    }
}

#[test]
fn search_stops_at_a_possible_marker_in_text_of_every_length() {
    let mut set = MarkerSetBuilder::new();
    set.marker("<a>", false, 1);
    set.marker("◁b", false, 2);
    set.stop_byte(b'`', 2);
    let set = set.build();
    assert_eq!(set.longest(), 4);
    for (class, byte, stops) in
        [(0, b'<', true), (1, b'<', false), (0, b'`', false), (1, b'`', true), (0, b'x', false)]
    {
        for filler in [0, 7, 200] {
            let mut text = vec![b'.'; filler];
            text.push(byte);
            assert_eq!(set.next_stop(class, &text), stops.then_some(filler), "{class} {byte}");
        }
    }
}

#[test]
fn outcomes_and_diagnostics_have_their_names_and_places() {
    let names = [Outcome::Complete, Outcome::Repaired, Outcome::Malformed, Outcome::Incomplete];
    assert_eq!(names.map(Outcome::name), ["complete", "repaired", "malformed", "incomplete"]);
    let reported = Diagnostic::new(DiagnosticKind::DepthLimit, 3, 2).about(Some(1));
    assert_eq!((reported.at, reported.bytes, reported.call), (3, 2, Some(1)));
    assert!(reported.kind.is_limit() && !DiagnosticKind::Tolerated.is_limit());
    assert!(erase("<a>").ending_message().ends_message);
}

#[test]
fn setters_change_only_their_setting() {
    let newlines = Newlines::framing(1, 2);
    let settings = verbatim()
        .inline_tags(InlineTags::Literal)
        .dangling(Dangling::Drop)
        .newlines(newlines)
        .start(Channel::REASONING);
    assert_eq!((settings.newlines, settings.start), (newlines, Channel::REASONING));
    assert_eq!(settings.inline_tags, InlineTags::Literal);
    assert_eq!(settings.dangling, Dangling::Drop);
    assert_eq!(settings.whitespace, Whitespace::Verbatim);
}

#[test]
fn reset_driver_has_zero_counters() {
    let mut cursor = cursor(all(), verbatim());
    let mut record = RunRecord::default();
    cursor.push("<think>why<call>a:b</call>", &mut record);
    assert_eq!(cursor.driver.counters().reasoning_bytes, 3);
    cursor.reset();
    cursor.push("<think>so", &mut record);
    assert_eq!(cursor.driver.counters().reasoning_bytes, 2);
}

/// Returns the output of a stream that ends with `end`, and the places of its diagnostics.
fn ended(
    edges: Vec<Edge>,
    settings: DriverSettings,
    text: &str,
    end: End,
) -> (String, Vec<(u64, u64)>) {
    let mut machine = cursor(edges, settings);
    let mut out = RunRecord::default();
    machine.push(text, &mut out);
    machine.driver.finish(end, &mut machine.bodies, &mut Out(&mut out)).expect("no error policy");
    let reported = notices(&out).into_iter().map(|(_, at, bytes)| (at, bytes)).collect();
    (show(&out), reported)
}

#[test]
fn truncated_marker_is_dropped_if_it_cannot_be_text() {
    let edges = || vec![erase("<ab>"), erase("cd>")];
    let settings = verbatim().dangling(Dangling::Drop);
    for (text, end, expected, reported) in [
        ("x<ab", End::Length, "x", vec![(1, 3)]),
        ("x<a", End::Aborted, "x", vec![(1, 2)]),
        ("x<", End::Length, "x<", vec![]),
        ("x cd", End::Length, "x cd", vec![]),
        ("x<ab", End::Stop, "x<ab", vec![]),
    ] {
        assert_eq!(
            ended(edges(), settings, text, end),
            (expected.to_owned(), reported),
            "{text:?}"
        );
    }
    assert_eq!(ended(edges(), verbatim(), "x<ab", End::Length).0, "x<ab");
    let edges = || {
        vec![
            erase("<end>").ending_message(),
            Edge { cut: CutMarker::AfterEnd, ..erase("<next>") },
            erase("<e>"),
            Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay)),
        ]
    };
    for (text, expected, reported) in [
        ("a<end> <ne", "a ", vec![(7, 3)]),
        ("a<c>:</call><ne", "a#", vec![(12, 3)]),
        ("a<end>b<ne", "ab<ne", vec![]),
        ("a<e><ne", "a<ne", vec![]),
    ] {
        let got = ended(edges(), verbatim(), text, End::Stop);
        assert_eq!(got, (expected.to_owned(), reported), "{text:?}");
    }
}

#[test]
fn suffixes_opened_anchors_and_bound_newlines_are_applied() {
    let call = Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay));
    let edges =
        vec![call.suffixed(SuffixRule::Optional), erase("<t>").suffixed(SuffixRule::Optional)];
    assert_eq!(shown(edges, verbatim(), "ab<c>:</call><t>d"), "ab#d");
    let edges = || {
        vec![
            Edge::new("<c>", CONTENT_ONLY, Then::Body(CALL, OnCommit::Stay)),
            erase("</b>").anchored(Anchor::Opened),
            erase("<e>"),
        ]
    };
    for (text, expected) in
        [("<c>?a</b>b</b>", "?ab</b>"), ("<c>?a<e>b</b>c", "?abc"), ("a</b>", "a</b>")]
    {
        assert_eq!(shown(edges(), verbatim(), text), expected, "{text:?}");
    }
    let edges = vec![
        erase("\n\n</t>"),
        erase("</t>").bound(Newlines::declared(1, 0)),
        erase("<q>").bound(Newlines::declared(3, 0)),
    ];
    assert_eq!(shown(edges, verbatim(), "a\n\n\n</t>b"), "a\nb");
}

#[test]
fn search_for_several_bytes_covers_a_long_text() {
    let mut set = MarkerSetBuilder::new();
    let ids = ["<a", "[b", "{c", "|d"].map(|marker| set.marker(marker, false, 1));
    assert_eq!(ids, [0, 1, 2, 3]);
    let set = set.build();
    for at in [40, 1023, 1024, 2500] {
        let mut text = vec![b'.'; at];
        text.push(b'|');
        assert_eq!(set.next_stop(0, &text), Some(at));
    }
}
