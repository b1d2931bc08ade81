//! Expressions as starts and ends.

use jail_match::{At, Inner, Jail, JailBuilder, Mark, Pair};
use stream_laws::{Machine, Record, Work, check_bounded, check_linear};

use crate::{
    jail::{built, shown},
    machines::Jailed,
};

fn pair(start: &'static str, end: &'static str) -> JailBuilder {
    Jail::builder().pair(Mark::pattern(start), Mark::pattern(end))
}

#[test]
fn expressions_stand_beside_literals() {
    let jail = built(Jail::builder().start(Mark::pattern("<t[0-9]>")).start("<s>").end("</"));
    assert_eq!(shown(&jail, "<t>a<t1>b</<s>c</d"), "<t>a[b|</][c|</]d");
    // At one place the longest counts.
    let jail = built(Jail::builder().pair(Mark::pattern("<a?"), "1").pair("<ab", "2"));
    assert_eq!(shown(&jail, "<ab1 2<a1<1"), "[1 |2][|1][|1]");
}

#[test]
fn expressions_may_be_anchored() {
    let jail = built(pair("(?m)^begin", "(?m)end$"));
    assert_eq!(shown(&jail, "begin1\nend. end\nbegin"), "[1\nend. |end]\n[|-]");
    assert_eq!(shown(&built(pair("^a", "b")), "a1b\na1b"), "[1|b]\na1b");
    let marked = Jail::builder().pair(Mark::pattern("a+b").hold(3).at(At::LineStart), "\n");
    assert_eq!(shown(&built(marked), "ab1\nxab2\naab3\n"), "[1|\n]xab2\n[3|\n]");
}

#[test]
fn the_hold_is_derived_or_stated() {
    let jail = built(pair("<t[0-9]{1,3}>", "</t>"));
    let (mut machine, mut out) = (Jailed::new(jail), Record::default());
    for (chunk, held) in [("a<", 1), ("t12", 4), ("3", 5), ("4", 0), ("<t1", 3), (">", 4)] {
        machine.push(chunk, &mut out);
        assert_eq!(machine.held().bytes, held, "after {chunk:?}");
    }
    let jail = built(Jail::builder().pair(Mark::pattern("<a+>").hold(4), "!"));
    assert_eq!(shown(&jail, "<aa>1!<aaa>2!"), "[1|!]<aaa>2!");
    // A match that could go on ends at the hold.
    let jail = built(Jail::builder().pair(Mark::pattern("a+").hold(2), "b"));
    assert_eq!(shown(&jail, "aaab"), "[a|b]");
}

#[test]
fn bad_expressions_name_the_entry() {
    let error = |builder: JailBuilder| builder.build().unwrap_err().to_string();
    let expected =
        "pair 0, end 0 (\"a+\"): a match has no greatest length: expected a hold in bytes";
    assert_eq!(error(pair("a", "a+")), expected);
    let expected = "pair 0, start 0 (\"a?\"): it may match the empty text";
    assert_eq!(error(pair("a?", "b")), expected);
    let expected = "pool, start 0 (\"a\"): the hold is 0: expected at least 1 byte";
    assert_eq!(error(Jail::builder().start(Mark::pattern("a").hold(0))), expected);
    assert!(error(pair("(", "b")).starts_with("pair 0, start 0 (\"(\"): "));
    let huge = error(pair(r"\w{1000}\d{1000}", "b"));
    assert!(huge.contains("limit"), "{huge}");
    // A byte that is no text cannot be looked for.
    assert!(pair(r"(?-u:\xFF)", "b").build().is_err());
}

#[test]
fn an_expression_is_found_wherever_it_is_cut() {
    let jail = built(pair(r"(?i)◁[a-zé]{1,8}▷", r"◁/\w{1,8}▷"));
    assert_eq!(shown(&jail, "◁É◁thiNk▷é◁/é▷"), "◁É[é|◁/é▷]");
}

#[test]
fn expressions_nest() {
    let pair = Pair::new(Mark::pattern("<[a-z]>"), Mark::pattern("</[a-z]>")).inner(Inner::Own);
    assert_eq!(shown(&built(Jail::builder().rule(pair)), "<a><b>1</x>2</y>3"), "[<b>1</x>2|</y>]3");
}

#[test]
fn work_and_memory_of_expressions_are_bounded() {
    let pair = Pair::new(Mark::pattern("a+b").hold(24), Mark::pattern("c[^d]*d").hold(16));
    let jail = Jailed::new(built(Jail::builder().rule(pair.limit(64, Default::default()))));
    for unit in ["a", "ab", "aabc", "ac", "abcc", "x", "é"] {
        check_bounded(&jail, std::iter::repeat_n(unit, 1024), 64 + 32).unwrap();
        // A byte is looked at by each match that may have begun before it.
        let work = Work { bytes: 2048, per_byte: 24 + 24 + 8, growth_percent: 230 };
        check_linear(&jail, |bytes| unit.repeat(bytes.div_ceil(unit.len())), work).unwrap();
    }
}

#[test]
fn an_expression_may_be_a_block_by_itself() {
    let key = Mark::pattern("sk-[a-z0-9]{4,8}");
    let jail = built(Jail::builder().rule(Pair::single(key)));
    assert_eq!(shown(&jail, "use sk-abcd.sk-123456789 sk-abc"), "use [|].[|]9 sk-abc");
}
