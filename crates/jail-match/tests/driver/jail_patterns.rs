//! Expressions as starts and ends.

use jail_match::{Inner, Jail, JailBuilder, JailEvent, JailPair, Mark, MarkPosition, OnFail};
use stream_laws::{
    CutPlan, RunRecord, StreamMachine, Work, check_bounded, check_linear, check_nothing_lost,
};

use crate::{
    jail::{built, shown},
    machines::Jailed,
};

fn pair(start: &'static str, end: &'static str) -> JailBuilder {
    Jail::builder().pair(Mark::pattern(start), Mark::pattern(end))
}

// Contract: S1.53.
#[test]
fn expressions_and_literals_match_side_by_side() {
    let jail = built(Jail::builder().start(Mark::pattern("<t[0-9]>")).start("<s>").end("</"));
    assert_eq!(shown(&jail, "<t>a<t1>b</<s>c</d"), "<t>a[b|</][c|</]d");
    // Of several marks at one place the longest counts.
    let jail = built(Jail::builder().pair(Mark::pattern("<a?"), "1").pair("<ab", "2"));
    assert_eq!(shown(&jail, "<ab1 2<a1<1"), "[1 |2][|1][|1]");
}

#[test]
fn expressions_may_be_anchored() {
    let jail = built(pair("(?m)^begin", "(?m)end$"));
    assert_eq!(shown(&jail, "begin1\nend. end\nbegin"), "[1\nend. |end]\n[|-]");
    assert_eq!(shown(&built(pair("^a", "b")), "a1b\na1b"), "[1|b]\na1b");
    let marked =
        Jail::builder().pair(Mark::pattern("a+b").hold(3).at(MarkPosition::LineStart), "\n");
    assert_eq!(shown(&built(marked), "ab1\nxab2\naab3\n"), "[1|\n]xab2\n[3|\n]");
}

// Contract: S1.53.
#[test]
fn hold_is_derived_from_the_expression_or_configured() {
    let jail = built(pair("<t[0-9]{1,3}>", "</t>"));
    let (mut machine, mut out) = (Jailed::new(jail), RunRecord::default());
    for (chunk, held) in [("a<", 1), ("t12", 4), ("3", 5), ("4", 0), ("<t1", 3), (">", 4)] {
        machine.push(chunk, &mut out);
        assert_eq!(machine.held().bytes, held, "after {chunk:?}");
    }
    let jail = built(Jail::builder().pair(Mark::pattern("<a+>").hold(4), "!"));
    assert_eq!(shown(&jail, "<aa>1!<aaa>2!"), "[1|!]<aaa>2!");
    // A match that could continue ends at the hold.
    let jail = built(Jail::builder().pair(Mark::pattern("a+").hold(2), "b"));
    assert_eq!(shown(&jail, "aaab"), "[a|b]");
}

#[test]
fn invalid_expressions_are_refused_with_the_entry() {
    let error = |builder: JailBuilder| builder.build().unwrap_err().to_string();
    let expected = "pair 0, end 0 (\"a+\"): the expression has no maximum length: expected one in \
                    bytes (`Mark::hold`)";
    assert_eq!(error(pair("a", "a+")), expected);
    let expected = "pair 0, start 0 (\"a?\"): it may match the empty text";
    assert_eq!(error(pair("a?", "b")), expected);
    let expected = "pool, start 0 (\"a\"): the hold is 0: expected at least 1 byte";
    assert_eq!(error(Jail::builder().start(Mark::pattern("a").hold(0))), expected);
    assert!(error(pair("(", "b")).starts_with("pair 0, start 0 (\"(\"): "));
    let huge = error(pair(r"\w{1000}\d{1000}", "b"));
    assert!(huge.contains("limit"), "{huge}");
    // An expression must match UTF-8 only.
    assert!(pair(r"(?-u:\xFF)", "b").build().is_err());
}

// Contract: S1.54.
#[test]
fn expression_is_found_at_every_cut() {
    let jail = built(pair(r"(?i)◁[a-zé]{1,8}▷", r"◁/\w{1,8}▷"));
    assert_eq!(shown(&jail, "◁É◁thiNk▷é◁/é▷"), "◁É[é|◁/é▷]");
}

#[test]
fn blocks_of_expressions_nest() {
    let pair = JailPair::new(Mark::pattern("<[a-z]>"), Mark::pattern("</[a-z]>")).inner(Inner::Own);
    assert_eq!(shown(&built(Jail::builder().rule(pair)), "<a><b>1</x>2</y>3"), "[<b>1</x>2|</y>]3");
}

#[test]
fn work_and_memory_of_expressions_are_bounded() {
    let pair = JailPair::new(Mark::pattern("a+b").hold(24), Mark::pattern("c[^d]*d").hold(16));
    let jail = Jailed::new(built(Jail::builder().rule(pair.limit(64, Default::default()))));
    for unit in ["a", "ab", "aabc", "ac", "abcc", "x", "é"] {
        check_bounded(&jail, std::iter::repeat_n(unit, 1024), 64 + 32).unwrap();
        // Each run that began before a byte and still reads examines it.
        let work = Work { bytes: 2048, per_byte: 24 + 24 + 8, growth_percent: 230 };
        check_linear(&jail, |bytes| unit.repeat(bytes.div_ceil(unit.len())), work).unwrap();
    }
}

#[test]
fn single_expression_is_a_block() {
    let key = Mark::pattern("sk-[a-z0-9]{4,8}");
    let jail = built(Jail::builder().rule(JailPair::single(key)));
    assert_eq!(shown(&jail, "use sk-abcd.sk-123456789 sk-abc"), "use [|].[|]9 sk-abc");
}

/// Returns a jail for keys of at least four letters, with a hold of eight bytes.
fn key(then: OnFail) -> Jail {
    let key = JailPair::single(Mark::pattern("k-[a-zé]{4,}").hold(8)).limit(1, then);
    built(Jail::builder().rule(key.unclosed(OnFail::Drop)))
}

#[test]
fn match_over_its_hold_applies_the_limit_policy_up_to_its_end() {
    for (then, expected) in [
        (OnFail::Drop, "a !jail_bytes!(14) b"),
        (OnFail::End, "a !jail_bytes![|-]gééx b"),
        (OnFail::Release, "a !jail_bytes!k-abcdefgééx b"),
        (OnFail::Strip, "a !jail_bytes!(8)gééx b"),
    ] {
        let jail = key(then);
        assert_eq!(shown(&jail, "a k-abcdefgééx b"), expected, "{then:?}");
        let machine = Jailed::new(jail.clone());
        let dropped = ["jail_dropped_limit", "jail_markup"];
        check_nothing_lost(&machine, "a k-abcdefgééx b", &dropped, CutPlan::standard(1)).unwrap();
        // A match that ends at its hold or before it hits no limit.
        assert_eq!(shown(&jail, "k-abcdef k-abcd"), "[|] [|]", "{then:?}");
        assert_eq!(shown(&jail, "k-abcdef"), "[|]", "{then:?}");
    }
    let (mut jail, mut out) = (key(OnFail::Error), String::new());
    let error = jail.push("a k-abcdefgh", |event| {
        if let JailEvent::Text(text) = event {
            out.push_str(text);
        }
    });
    assert_eq!(error.unwrap_err().kind.name(), "jail_bytes");
    assert_eq!(out, "a k-abcdef");
}

#[test]
fn single_mark_over_its_hold_is_dropped_by_default() {
    let key = Mark::pattern("sk-[A-Za-z0-9]{8,}").hold(32);
    let jail = built(Jail::builder().rule(JailPair::single(key)));
    let long = format!("a sk-{} b", "x".repeat(100));
    assert_eq!(shown(&jail, &long), "a !jail_bytes!(103) b");
    assert_eq!(shown(&jail, "a sk-12345678 b"), "a [|] b");
}

#[test]
fn match_that_may_grow_waits_for_its_end() {
    // The hold falls where the expression has matched and may match more.
    let rule = |then| JailPair::single(Mark::pattern("a(bc)+").hold(4)).limit(1, then);
    let jail = built(Jail::builder().rule(rule(OnFail::Drop)));
    assert_eq!(shown(&jail, "abcbcbcbd abc"), "!jail_bytes!(8)d [|]");
    assert_eq!(shown(&jail, "abcd"), "[|]d");
}

#[test]
fn check_accepts_or_refuses_matches() {
    let even = |text: &str| text.bytes().filter(u8::is_ascii_digit).count() % 2 == 0;
    let mark = Mark::pattern("#[0-9]{1,6}").checked(even);
    let jail = built(Jail::builder().rule(JailPair::single(mark)));
    assert_eq!(shown(&jail, "#12 #123 #1#1234"), "[|] #123 #1[|]");
    // All checks of a mark must accept, and a part of the match may count.
    let mark = Mark::pattern("x+").hold(8).accepting(|_| Some(3)).checked(|text| text == "xxx");
    let jail = built(Jail::builder().rule(JailPair::single(mark)));
    assert_eq!(shown(&jail, "xx xxxxxxx"), "xx [|][|]x");
    // A refused match is searched again after its first character.
    let mark = Mark::from("ab").checked(|_| false);
    let jail = built(Jail::builder().rule(JailPair::single(mark)).pair("b", "c"));
    assert_eq!(shown(&jail, "ab1c"), "a[1|c]");
    // An answer inside a character refuses the match.
    let mark = Mark::from("é").accepting(|_| Some(1));
    let jail = built(Jail::builder().rule(JailPair::single(mark)));
    assert_eq!(shown(&jail, "é"), "é");
}

#[test]
fn unicode_word_boundaries_are_refused_and_ascii_ones_work() {
    let rule = JailPair::single(Mark::pattern(r"\bkey"));
    let error = Jail::builder().rule(rule).build().unwrap_err().to_string();
    assert!(error.starts_with(r#"pair 0, start 0 ("\\bkey"): "#), "{error}");
    let jail = built(Jail::builder().rule(JailPair::single(Mark::pattern(r"(?-u:\b)k[0-9]\w"))));
    assert_eq!(shown(&jail, "k1é ak1b"), "[|] ak1b");
}

#[test]
fn text_after_a_long_mark_is_scanned_at_once() {
    // The mark could have been longer.
    let jail = built(Jail::builder().rule(JailPair::single(Mark::pattern("a(bcd)?"))));
    assert_eq!(shown(&jail, "abcx"), "[|]bcx");
    // The text after a block that its limit ended may begin another block.
    assert_eq!(shown(&key(OnFail::End), "k-abcdefghk-abcd"), "!jail_bytes![|-]gh[|]");
    let (mut machine, mut out) = (Jailed::new(key(OnFail::Drop)), RunRecord::default());
    machine.push("k-abcdefgh b", &mut out);
    assert_eq!((out.all_text().as_str(), machine.held().bytes), (" b", 0));
}
