//! Limits of jails, nesting, the release of blocks, and the signals about them.

use jail_match::{
    BlockDelivery, DiagnosticKind, Inner, Jail, JailEvent, JailPair, JailSignal, Nested, OnFail,
    Quote, Release,
};

use stream_laws::{CutPlan, check_bounded, check_nothing_lost};

use crate::{
    jail::{built, show, shown},
    machines::Jailed,
};

fn curly() -> JailPair {
    JailPair::new("{", "}")
}

#[test]
fn block_never_exceeds_its_byte_limit() {
    let jail = built(Jail::builder().start("<").end("</s>").limit(4));
    assert_eq!(shown(&jail, "<abcd</s>e"), "[abcd|</s>]e");
    assert_eq!(shown(&jail, "<abcdefg"), "!jail_bytes![abcd|-]efg");
    assert_eq!(shown(&jail, "<abcé"), "!jail_bytes![abc|-]é");
    assert_eq!(shown(&jail, "<abcd</s"), "!jail_bytes![abcd|-][/s|-]");
}

// Contract: S1.55.
#[test]
fn byte_limit_applies_its_policy() {
    for (over, expected) in [
        (OnFail::Release, "a!jail_bytes!{bcdef}[g|}]"),
        (OnFail::Strip, "a!jail_bytes!(1)bcdef(1)[g|}]"),
        (OnFail::Drop, "a!jail_bytes!(7)[g|}]"),
        (OnFail::End, "a!jail_bytes![bcd|-]ef}[g|}]"),
        (OnFail::Error, "a!jail_bytes!{bcd#jail_bytes"),
    ] {
        let jail = built(Jail::builder().rule(curly().limit(3, over)));
        assert_eq!(shown(&jail, "a{bcdef}{g}"), expected, "{over:?}");
    }
}

#[test]
fn every_byte_is_released_handed_over_or_reported_at_the_end() {
    let drops = ["jail_markup", "jail_dropped", "jail_dropped_limit"];
    for release in [Release::Hand, Release::Verbatim, Release::Strip, Release::Drop] {
        for fail in [OnFail::Release, OnFail::Strip, OnFail::Drop, OnFail::End] {
            let pair = curly().release(release).limit(3, fail).unclosed(fail);
            let jail =
                Jailed::new(built(Jail::builder().rule(pair).rule(JailPair::new("<s>", "</s>"))));
            for text in ["a{b}{cdefg}<s", "a{b", "<s>{a}</", "{abcd", "<<s>é</s"] {
                check_nothing_lost(&jail, text, &drops, CutPlan::standard(2)).unwrap();
            }
        }
    }
}

#[test]
fn block_memory_is_bounded_only_with_a_limit() {
    let bounded = |limit| {
        let jail = built(Jail::builder().rule(curly().inner(Inner::Own).limit(limit, OnFail::End)));
        check_bounded(&Jailed::new(jail), std::iter::repeat_n("{ab", 100), 64)
    };
    assert!(bounded(60).is_ok());
    assert!(bounded(usize::MAX).is_err());
}

#[test]
fn block_count_limit_applies_its_policy() {
    for (over, expected) in [
        (OnFail::Release, "[a|}]!jail_count!{b}c"),
        (OnFail::Strip, "[a|}]!jail_count!(1)b(1)c"),
        (OnFail::Drop, "[a|}]!jail_count!(3)c"),
        (OnFail::End, "[a|}]!jail_count![|-]b}c"),
        (OnFail::Error, "[a|}]!jail_count!{#jail_count"),
    ] {
        let jail = built(Jail::builder().rule(curly()).blocks(1, over));
        assert_eq!(shown(&jail, "{a}{b}c"), expected, "{over:?}");
    }
}

#[test]
fn expire_applies_chunk_and_time_limits_of_the_caller() {
    for (then, expected) in [
        (OnFail::Release, "!jail_time!{abc}"),
        (OnFail::Strip, "!jail_time!(1)abc(1)"),
        (OnFail::Drop, "!jail_time!(5)"),
        (OnFail::End, "!jail_time![ab|-]c}"),
    ] {
        let mut jail = built(Jail::builder().rule(curly()));
        let mut seen = String::new();
        let mut on = |event: JailEvent<'_>| match event {
            JailEvent::Text(text) => seen.push_str(text),
            JailEvent::Jailed(block) => seen.push_str(&format!("[{}|-]", block.body)),
            JailEvent::Signal(JailSignal::Dropped { bytes, .. }) => {
                seen.push_str(&format!("({bytes})"));
            }
            JailEvent::Signal(JailSignal::Limit { kind, .. }) => {
                seen.push_str(&format!("!{}!", kind.name()));
            }
            _ => {}
        };
        assert_eq!(jail.expire(DiagnosticKind::JailTime, then, &mut on), Ok(false));
        jail.push("{ab", &mut on).unwrap();
        assert_eq!(jail.expire(DiagnosticKind::JailTime, then, &mut on), Ok(true));
        assert_eq!(jail.open_at(), None);
        jail.push("c}", &mut on).unwrap();
        jail.finish(&mut on).unwrap();
        assert_eq!(seen, expected, "{then:?}");
    }
    let mut jail = built(Jail::builder().rule(curly()));
    jail.push("{ab", |_| {}).unwrap();
    let error = jail.expire(DiagnosticKind::JailChunks, OnFail::Error, |_| {}).unwrap_err();
    assert_eq!((error.kind, error.at, error.bytes), (DiagnosticKind::JailChunks, 0, 3));
    assert_eq!(jail.push("c", |_| {}), Err(error));
}

#[test]
fn failed_jail_rejects_input_until_reset() {
    let mut jail = built(Jail::builder().rule(curly().limit(2, OnFail::Error)));
    let error = jail.push("a{bcd", |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 1: jail_bytes hit after 3 bytes; they were released as text"
    );
    assert_eq!(jail.push("x", |event| panic!("{event:?}")), Err(error));
    assert_eq!(jail.settle(|event| panic!("{event:?}")), Err(error));
    assert_eq!(jail.finish(|event| panic!("{event:?}")), Err(error));
    assert_eq!(jail.held().bytes, 0);
    jail.reset();
    assert!(jail.push("x", |_| {}).is_ok());
}

#[test]
fn nested_blocks_of_one_pair_are_counted() {
    let jail = built(Jail::builder().rule(curly().inner(Inner::Own)));
    assert_eq!(shown(&jail, "a{b{c}{d{e}}f}g}"), "a[b{c}{d{e}}f|}]g}");
}

#[test]
fn inner_end_never_closes_the_outer_block() {
    let pairs = Jail::builder().rule(curly().inner(Inner::Every)).rule(JailPair::new("(", ")"));
    let jail = built(pairs.nested(Nested::InnerFirst));
    assert_eq!(shown(&jail, "{a(b}c)d}e"), "[b}c|)][ad|}]e");
    assert_eq!(shown(&jail, "{a)b}"), "[a)b|}]");
}

#[test]
fn inner_blocks_are_released_first_or_only_with_the_outer_block() {
    let rules = |release, nested| {
        let inner = JailPair::new("(", ")").release(release).only_inside();
        let pairs = Jail::builder().rule(curly().inner(Inner::Only(vec![1]))).rule(inner);
        built(pairs.nested(nested))
    };
    for (release, expected) in [
        (Release::Hand, "[b|)][ac|}]"),
        (Release::Verbatim, "[a(b)c|}]"),
        (Release::Strip, "(1)(1)[abc|}]"),
        (Release::Drop, "(3)[ac|}]"),
    ] {
        let jail = rules(release, Nested::InnerFirst);
        assert_eq!(shown(&jail, "{a(b)c}"), expected, "{release:?}");
        let jail = rules(release, Nested::OuterOnly);
        assert_eq!(shown(&jail, "{a(b)c}"), "[a(b)c|}]", "{release:?}");
    }
}

// Contract: S1.56.
#[test]
fn block_depth_is_limited() {
    let jail = built(Jail::builder().rule(curly().inner(Inner::Own)).depth(2));
    assert_eq!(shown(&jail, "{a{b{c}d}e}"), "!depth_limit![a{b{c}d|}]e}");
}

#[test]
fn limit_of_an_outer_block_ends_the_inner_ones() {
    let outer = curly().inner(Inner::Every).limit(4, OnFail::End);
    let jail = Jail::builder().rule(outer).rule(JailPair::new("(", ")"));
    let jail = built(jail.nested(Nested::InnerFirst));
    assert_eq!(shown(&jail, "{a(bcdef)"), "!jail_bytes![a(bc|-]def)");
}

// Contract: S1.9.
#[test]
fn limit_that_falls_inside_quotes_keeps_the_quotes() {
    let json = |over| curly().quote(Quote::JSON).limit(4, over).release(Release::Drop);
    let text = r#"{"aaaaaaaa}SECRET"}tail"#;
    for (over, expected) in [
        (OnFail::Drop, "!jail_bytes!(19)tail"),
        (OnFail::Strip, r#"!jail_bytes!(1)"aaaaaaaa}SECRET"(1)tail"#),
    ] {
        let jail = built(Jail::builder().rule(json(over)));
        assert_eq!(shown(&jail, text), expected, "{over:?}");
        let tapped = built(Jail::builder().rule(json(over).flow(BlockDelivery::Tap)));
        let dropped = shown(&tapped, text);
        assert!(dropped.ends_with(")tail"), "{dropped}");
        assert_eq!(dropped.contains("SECRET"), over == OnFail::Strip, "{dropped}");
    }
    let mut jail = built(Jail::builder().rule(json(OnFail::Drop).limit(64, OnFail::Drop)));
    let mut seen = String::new();
    let mut on = |event: JailEvent<'_>| {
        if let JailEvent::Text(text) = event {
            seen.push_str(text);
        }
    };
    jail.push(r#"{"aa"#, &mut on).unwrap();
    jail.expire(DiagnosticKind::JailTime, OnFail::Drop, &mut on).unwrap();
    jail.push(r#"a}SECRET"}tail"#, &mut on).unwrap();
    assert_eq!(seen, "tail");
}

#[test]
fn limit_that_falls_inside_a_mark_keeps_the_mark() {
    let quote = Quote::new("<parameter", "</parameter>");
    let text = "<f><parameter>a</f></parameter>\\</f>b";
    for limit in 1..34 {
        let pair = JailPair::new("<f>", "</f>").quote(quote.clone()).limit(limit, OnFail::Drop);
        let jail = built(Jail::builder().rule(pair.release(Release::Drop)));
        assert!(shown(&jail, text).ends_with("(36)b"), "{limit}");
        let json = JailPair::new("{", "}").quote(Quote::JSON).limit(limit, OnFail::Drop);
        let jail = built(Jail::builder().rule(json.release(Release::Drop)));
        assert!(shown(&jail, r#"{"a\"}\\\"}", "\}"}b"#).ends_with(")b"), "{limit}");
    }
}

#[test]
fn limit_that_falls_inside_an_inner_block_still_finds_the_outer_end() {
    let own = |over| curly().inner(Inner::Own).limit(4, over);
    for nested in [Nested::OuterOnly, Nested::InnerFirst] {
        for (over, expected) in [
            (OnFail::Drop, "!jail_bytes!(17)tail"),
            (OnFail::Strip, "!jail_bytes!(1)aa{bbbbb}SECRET(1)tail"),
        ] {
            let jail = built(Jail::builder().rule(own(over)).nested(nested));
            assert_eq!(shown(&jail, "{aa{bbbbb}SECRET}tail"), expected, "{over:?} {nested:?}");
        }
    }
    // An inner block that drops up to its end does so although the outer one is stripped.
    let outer = curly().inner(Inner::Every).limit(6, OnFail::Strip);
    let inner = JailPair::new("(", ")").limit(1, OnFail::Drop);
    let jail = built(Jail::builder().rule(outer).rule(inner).nested(Nested::InnerFirst));
    assert_eq!(shown(&jail, "{a(bcdefg)h}i"), "!jail_bytes!!jail_bytes!(1)a(8)h(1)i");
}

#[test]
fn tapped_block_is_handed_over_after_its_end() {
    let tap = |pair: JailPair| pair.flow(BlockDelivery::Tap);
    let rules =
        Jail::builder().rule(tap(curly().inner(Inner::Every))).rule(tap(JailPair::new("(", ")")));
    let jail = built(rules.nested(Nested::InnerFirst));
    assert_eq!(show(&jail, &["{a(b)c}d"]), "{a(b)<<b>>c}<<a(b)c>>d");
}

#[test]
fn inner_block_over_its_limit_does_not_affect_the_outer_block() {
    for (over, expected) in [
        (OnFail::Release, "!jail_bytes![a(bcd)e|}]"),
        (OnFail::Strip, "!jail_bytes!(1)(1)[abcde|}]"),
        (OnFail::Drop, "!jail_bytes!(5)[ae|}]"),
        (OnFail::End, "!jail_bytes![bc|-][ad)e|}]"),
        (OnFail::Error, "!jail_bytes!{a(bc#jail_bytes"),
    ] {
        let inner = JailPair::new("(", ")").limit(2, over);
        let jail = Jail::builder().rule(curly().inner(Inner::Every)).rule(inner);
        let jail = built(jail.nested(Nested::InnerFirst));
        assert_eq!(shown(&jail, "{a(bcd)e}"), expected, "{over:?}");
    }
}

#[test]
fn block_is_released_by_the_policy_of_its_pair() {
    for (release, expected) in [
        (Release::Hand, "a[b|}]c"),
        (Release::Verbatim, "a{b}c"),
        (Release::Strip, "a(1)b(1)c"),
        (Release::Drop, "a(3)c"),
    ] {
        let jail = built(Jail::builder().rule(curly().release(release)));
        assert_eq!(shown(&jail, "a{b}c"), expected, "{release:?}");
    }
}

#[test]
fn tapped_block_passes_as_it_arrives() {
    let jail = built(Jail::builder().rule(curly().flow(BlockDelivery::Tap)));
    assert_eq!(show(&jail, &["a{bc}d"]), "a{bc}<<bc>>d");
    let (mut jail, mut seen) = (jail, String::new());
    let on = |event: JailEvent<'_>| {
        if let JailEvent::Text(text) = event {
            seen.push_str(text);
        }
    };
    jail.push("a{bc", on).unwrap();
    assert_eq!((seen.as_str(), jail.held().bytes, jail.buffered()), ("a{bc", 0, 3));
}

#[test]
fn signals_report_state_changes_without_text() {
    let rules = || Jail::builder().rule(curly().inner(Inner::Own).limit(6, OnFail::Strip));
    let (mut jail, mut signals) = (built(rules()), Vec::new());
    let mut on = |event: JailEvent<'_>| {
        if let JailEvent::Signal(signal) = event {
            signals.push(format!("{signal:?}"));
        }
    };
    jail.push("a{b{c}}{defghij}", &mut on).unwrap();
    jail.finish(&mut on).unwrap();
    assert_eq!(
        signals,
        [
            "Opened { pair: 0, at: 1, depth: 1 }",
            "Opened { pair: 0, at: 3, depth: 2 }",
            "Closed { pair: 0, at: 3, bytes: 3, why: End }",
            "Closed { pair: 0, at: 1, bytes: 6, why: End }",
            "Opened { pair: 0, at: 7, depth: 1 }",
            "Limit { kind: JailBytes, at: 7, bytes: 7, then: Strip }",
            "Dropped { at: 7, bytes: 1, why: Markup }",
            "Dropped { at: 15, bytes: 1, why: Markup }",
            "Closed { pair: 0, at: 7, bytes: 9, why: End }",
        ]
    );
    let counters = *jail.counters();
    assert_eq!((counters.bytes_in, counters.opened, counters.ended), (16, 3, 3));
    assert_eq!((counters.limits, counters.dropped, counters.depth_max), (1, 2, 2));
}

#[test]
fn partial_and_refuted_marks_are_counted() {
    let mut jail = built(Jail::builder().pair("<s>", "</s>"));
    for chunk in ["a<", "s", "x<", "s>b</", "x"] {
        jail.push(chunk, |_| {}).unwrap();
    }
    let counters = *jail.counters();
    assert_eq!((counters.partial, counters.refuted), (3, 2));
    assert_eq!(counters.held_max, "<s>b</x".len());
}

#[test]
fn passed_and_dropped_bytes_are_counted_once() {
    let tapped = |pair: JailPair, limit| pair.flow(BlockDelivery::Tap).limit(limit, OnFail::Drop);
    let outer = JailPair::new("[", "]").release(Release::Drop).inner(Inner::Every);
    let middle = tapped(curly().inner(Inner::Every), 8);
    let inner = tapped(JailPair::new("(", ")"), 2);
    let rules = Jail::builder().rule(outer).rule(middle).rule(inner).nested(Nested::InnerFirst);
    // The drops of 2, 6 and 9 bytes add up to the 17 bytes of the text.
    let text = "[{a(bcd)efghijk}]";
    assert_eq!(shown(&built(rules), text), "!jail_bytes!(2)!jail_bytes!(6)(9)");
}
