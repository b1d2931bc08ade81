//! The jail: which marks count, and which text stays outside.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jail_match::{
    Inner, Jail, JailBuilder, JailEvent, JailPair, LetterCase, Mark, MarkPosition, Nested, OnFail,
    Quote, Release,
};
use stream_laws::{
    CutPlan, RunRecord, StreamMachine, check_chunk_invariance, check_prompt, suffixes,
};

use crate::machines::Jailed;

/// Returns the output: text unchanged, blocks as `[body|end]`, drops as `(bytes)`, limits as
/// `!name!`, an error as `#name`. Checks that it is the same for every cut.
pub(crate) fn shown(jail: &Jail, text: &str) -> String {
    check_chunk_invariance(&Jailed::new(jail.clone()), text, CutPlan::standard(1)).unwrap();
    show(jail, &[text])
}

pub(crate) fn show(jail: &Jail, chunks: &[&str]) -> String {
    use jail_match::JailSignal::{Dropped, Limit};
    let (mut jail, mut seen) = (jail.clone(), String::new());
    let mut on = |event: JailEvent<'_>| match event {
        JailEvent::Text(text) => seen.push_str(text),
        JailEvent::Jailed(block) => {
            seen.push_str(&format!("[{}|{}]", block.body, block.end.unwrap_or("-")));
        }
        JailEvent::Tapped(block) => seen.push_str(&format!("<<{}>>", block.body)),
        JailEvent::Signal(Dropped { bytes, .. }) => seen.push_str(&format!("({bytes})")),
        JailEvent::Signal(Limit { kind, .. }) => seen.push_str(&format!("!{}!", kind.name())),
        _ => {}
    };
    let mut failed = Ok(());
    for chunk in chunks {
        failed = jail.push(chunk, &mut on);
    }
    failed = failed.and_then(|()| jail.finish(&mut on));
    match failed {
        Ok(()) => seen,
        Err(error) => format!("{seen}#{}", error.kind.name()),
    }
}

pub(crate) fn built(builder: JailBuilder) -> Jail {
    builder.build().unwrap()
}

fn secret() -> Jail {
    built(Jail::builder().start("<s>").end("</s>"))
}

#[test]
fn builder_is_empty_until_a_sequence_is_added() {
    assert!(Jail::builder().is_empty());
    for added in [
        Jail::builder().start("<s>"),
        Jail::builder().end("</s>"),
        Jail::builder().pair("<s>", "</s>"),
    ] {
        assert!(!added.is_empty());
    }
}

#[test]
fn text_without_marks_passes_chunk_by_chunk() {
    let (mut jail, mut pieces) = (secret(), Vec::new());
    let chunks = ["some ", "text, a > b", "é"];
    for chunk in chunks {
        let on = |event: JailEvent<'_>| {
            let JailEvent::Text(text) = event else { panic!("{event:?}") };
            pieces.push(text.to_owned());
        };
        jail.push(chunk, on).unwrap();
        assert_eq!(jail.held().bytes, 0);
    }
    jail.finish(|event| panic!("{event:?}")).unwrap();
    assert_eq!(pieces, chunks);
}

// Contract: S1.2.
#[test]
fn mark_is_found_at_every_cut() {
    let jail = built(Jail::builder().pair("◁think▷", "◁/think▷"));
    assert_eq!(shown(&jail, "é◁think▷a◁/think▷b"), "é[a|◁/think▷]b");
}

// Contract: S1.3.
#[test]
fn only_possible_mark_prefixes_are_held() {
    let marks = ["<s>", "</s>", "◁x▷", "<s>>"];
    let jail = built(Jail::builder().start("<s>").start("◁x▷").start("<s>>").end("</s>"));
    let mut witnesses = suffixes(&marks);
    witnesses.extend(["x".to_owned(), "x</s>".to_owned()]);
    for text in ["a<b<s", "◁◁x", "<s>a</s>b<s>>", "<<<s", "“◁"] {
        check_prompt(&Jailed::new(jail.clone()), text, &witnesses).unwrap();
    }
    let (mut machine, mut out) = (Jailed::new(jail), RunRecord::default());
    for (chunk, held) in [("a<", 1), ("s", 2), ("x", 0), ("<s>", 3), ("x", 4), ("</s>", 0)] {
        machine.push(chunk, &mut out);
        assert_eq!(machine.held().bytes, held, "after {chunk:?}");
    }
}

// Contract: S1.4.
#[test]
fn refuted_mark_prefix_is_emitted_once_and_in_place() {
    assert_eq!(shown(&secret(), "a<sx<<s<s>b</s>c<s"), "a<sx<<s[b|</s>]c<s");
}

// Contract: S1.5.
#[test]
fn text_around_a_block_keeps_its_place() {
    assert_eq!(
        show(&secret(), &["some text <s>abc</s> <s>d</s>e"]),
        "some text [abc|</s>] [d|</s>]e"
    );
    assert_eq!(shown(&secret(), "x<s>abc</"), "x[abc</|-]");
}

// Contract: S1.6.
#[test]
fn all_blocks_of_a_chunk_are_emitted_with_the_chunk() {
    let (mut jail, mut blocks) = (secret(), 0);
    let on = |event: JailEvent<'_>| blocks += u32::from(matches!(event, JailEvent::Jailed(_)));
    jail.push("<s>1</s> and <s>2</s><s>3</s>", on).unwrap();
    assert_eq!((blocks, jail.held().bytes), (3, 0));
}

#[test]
fn block_is_closed_only_by_an_end_of_its_pair() {
    let jail = built(Jail::builder().pair("<a>", "</a>").pair("<b>", "</b>"));
    assert_eq!(shown(&jail, "<a>1</b>2</a><b>3</a>4</b>"), "[1</b>2|</a>][3</a>4|</b>]");
    let pool = built(Jail::builder().start("<a>").start("<b>").end("</a>").end("</b>"));
    assert_eq!(shown(&pool, "<a>1</b>2</a>"), "[1|</b>]2</a>");
    let both = built(Jail::builder().start("<").end(">").pair("<a>", "</a>"));
    assert_eq!(shown(&both, "<a>b></a><ab>"), "[b>|</a>][ab|>]");
}

// Contract: S1.8.
#[test]
fn earliest_end_wins_and_at_one_offset_the_longest() {
    let pool = || Jail::builder().start("<").end("]").end("]]").end(")");
    assert_eq!(shown(&built(pool()), "<a)b]]"), "[a|)]b]]");
    assert_eq!(shown(&built(pool()), "<a]]b"), "[a|]]]b");
    assert_eq!(show(&built(pool()), &["<a]", "]b"]), "[a|]]]b");
    let longest_first = built(Jail::builder().start("<").end("]]").end("]"));
    assert_eq!(shown(&longest_first, "<a]]b"), "[a|]]]b");
    assert_eq!(shown(&longest_first, "<a]b"), "[a|]]b");
    // An inner start or a quote that is longer than an end at its place opens.
    let ends = JailPair::new("<", "]").end("]>");
    let inner = ends.clone().inner(Inner::Only(vec![1]));
    let inner = Jail::builder().rule(inner).rule(JailPair::new("][x", ";").only_inside());
    assert_eq!(shown(&built(inner), "<a][xb]c;d]e"), "[a][xb]c;d|]]e");
    let quoted = built(Jail::builder().rule(ends.quote(Quote::new("]''", "'"))));
    assert_eq!(shown(&quoted, "<a]''b]c'd]>e"), "[a]''b]c'd|]>]e");
}

// Contract: S1.9.
#[test]
fn ends_in_quotes_and_inner_blocks_do_not_close() {
    let quotes = JailPair::new("{", "}").quote(Quote::new("\"", "\"")).quote(Quote::new("'", "'"));
    assert_eq!(shown(&built(Jail::builder().rule(quotes)), "{'}'}b"), "['}'|}]b");
    let json = built(Jail::builder().rule(JailPair::new("{", "}").quote(Quote::JSON)));
    assert_eq!(shown(&json, r#"{"a}\"}\\": 1}b"#), r#"["a}\"}\\": 1|}]b"#);
    let xml = Quote::new("<parameter", "</parameter>");
    let xml = built(Jail::builder().rule(JailPair::new("<f>", "</f>").quote(xml)));
    assert_eq!(
        shown(&xml, "<f><parameter=a></f></parameter></f>b"),
        "[<parameter=a></f></parameter>|</f>]b"
    );
    let family = Quote::new("<|\"|>", "<|\"|>");
    let family = built(Jail::builder().rule(JailPair::new("<f>", "</f>").quote(family)));
    assert_eq!(shown(&family, "<f><|\"|></f><|\"|></f>b"), "[<|\"|></f><|\"|>|</f>]b");
    let inner = JailPair::new("{", "}").inner(Inner::Only(vec![1]));
    let inner = Jail::builder().rule(inner).rule(JailPair::new("<", ">").only_inside());
    assert_eq!(shown(&built(inner), "{a<}>}b<"), "[a<}>|}]b<");
}

// Contract: S1.12.
#[test]
fn released_blocks_are_verbatim() {
    use jail_match::Release::Verbatim;
    let jail = built(Jail::builder().rule(JailPair::new("<s>", "</s>").release(Verbatim)));
    let text = "a <s>b\r\n é</s> c<s>\t";
    assert_eq!(shown(&jail, text), text);
}

// Contract: S1.13.
#[test]
fn unclosed_block_follows_the_policy_of_its_pair() {
    for (unclosed, expected) in [
        (OnFail::End, "a[b|-]"),
        (OnFail::Release, "a!jail_unclosed!<s>b"),
        (OnFail::Strip, "a!jail_unclosed!(3)b"),
        (OnFail::Drop, "a!jail_unclosed!(4)"),
        (OnFail::Error, "a!jail_unclosed!<s>b#jail_unclosed"),
    ] {
        let jail = Jail::builder().rule(JailPair::new("<s>", "</s>").unclosed(unclosed));
        assert_eq!(shown(&built(jail), "a<s>b"), expected, "{unclosed:?}");
    }
}

#[test]
fn literal_marks_fold_case_and_respect_their_anchor() {
    let start = Mark::from("begin").cased(LetterCase::FoldAscii).at(MarkPosition::LineStart);
    let jail = built(Jail::builder().pair(start, "end"));
    assert_eq!(shown(&jail, "begin1end begin\nBeGin2end"), "[1|end] begin\n[2|end]");
    let jail = built(Jail::builder().pair(Mark::from("#!").at(MarkPosition::StreamStart), "\n"));
    assert_eq!(shown(&jail, "#!sh\n#!no\n"), "[sh|\n]#!no\n");
}

#[test]
fn end_is_found_next_to_scalars_with_shared_bytes() {
    // The bytes searched for are the last of one scalar and the middle of the other.
    let jail = built(Jail::builder().start("<").end("◁").end("\u{397}x"));
    assert_eq!(shown(&jail, "<abc◁d"), "[abc|◁]d");
}

#[test]
fn end_that_may_grow_closes_at_the_end_of_the_stream() {
    let jail = built(Jail::builder().start("<").end("]").end("]>>"));
    assert_eq!(shown(&jail, "<a]"), "[a|]]");
    assert_eq!(shown(&jail, "<a]>"), "[a|]]>");
}

#[test]
fn settled_jail_keeps_open_blocks_and_does_not_join_split_marks() {
    let (mut jail, mut seen) = (secret(), String::new());
    let mut on = |event: JailEvent<'_>| match event {
        JailEvent::Text(text) => seen.push_str(text),
        JailEvent::Jailed(block) => seen.push_str(&format!("[{}]", block.body)),
        _ => {}
    };
    jail.push("a<s", &mut on).unwrap();
    jail.settle(&mut on).unwrap();
    jail.push("><s>b", &mut on).unwrap();
    jail.settle(&mut on).unwrap();
    jail.push("c</s>", &mut on).unwrap();
    assert_eq!(seen, "a<s>[bc]");
}

#[test]
fn reset_jail_equals_a_new_one() {
    let mut jail = secret();
    jail.push("a<s>b", |_| {}).unwrap();
    jail.reset();
    assert_eq!((jail.held().bytes, *jail.counters()), (0, Default::default()));
    assert_eq!(show(&jail, &["b</s>"]), "b</s>");
}

#[test]
fn invalid_pairs_are_refused_with_the_entry() {
    let error = |builder: JailBuilder| builder.build().unwrap_err().to_string();
    let jail = Jail::builder;
    assert!(jail().pair("A", "x").pair("a", "y").build().is_ok());
    let folded = || Mark::from("A").cased(LetterCase::FoldAscii);
    assert!(jail().pair(folded(), "x").pair("a", "y").build().is_err());
    assert!(jail().pair("a", "x").pair(folded(), "y").build().is_err());
    for (builder, expected) in [
        (jail(), "jail: no start sequence: expected at least one"),
        (jail().end("x"), "jail: no start sequence: expected at least one"),
        (jail().pair("a", "b").end("x"), "pool: no start sequence: expected at least one"),
        (jail().start("<").end(""), "pool, end 0 (\"\"): the sequence is empty"),
        (jail().start("<").start(""), "pool, start 1 (\"\"): the sequence is empty"),
        (jail().pair("a", "b").pair("c", ""), "pair 1, end 0 (\"\"): the sequence is empty"),
        (jail().start("<").limit(0), "pool: a limit is 0: expected at least 1"),
        (jail().start("<").depth(0), "jail: a limit is 0: expected at least 1"),
        (
            jail().start("a").start("```").end("```"),
            "pool, start 1 (\"```\"): equals end 0: expected a pair that binds the two",
        ),
        (
            jail().rule(JailPair::new("```", "```").inner(Inner::Own)),
            "pair 0, start 0 (\"```\"): equals end 0: such a pair cannot open in itself",
        ),
        (
            jail().pair("a", "b").pair("a", "c"),
            "pair 1, start 0 (\"a\"): pair 0 has the same start",
        ),
        (
            jail().rule(JailPair::new("a", "b").inner(Inner::Only(vec![2]))),
            "pair 0: names pair 2, which does not exist",
        ),
        (
            jail().rule(JailPair::new("a", "b").quote(Quote::new("", "x"))),
            "pair 0, quote 0 (\"\"): the sequence is empty",
        ),
    ] {
        assert_eq!(error(builder), expected);
    }
    assert_eq!(shown(&built(jail().pair("```", "```")), "a```b```c"), "a[b|```]c");
}

#[test]
fn single_mark_is_a_block() {
    let jail = built(Jail::builder().rule(JailPair::single("ab").start("abc")).pair("<", ">"));
    assert_eq!(shown(&jail, "xababcab<ab>a"), "x[|][|][|][ab|>]a");
    // Inside another block, the mark is a part of that block.
    let jail = built(
        Jail::builder()
            .rule(JailPair::new("<", ">").inner(Inner::Every))
            .rule(JailPair::single(">>"))
            .nested(jail_match::Nested::InnerFirst),
    );
    assert_eq!(shown(&jail, "<a>>b>c>>"), "[|][ab|>]c[|]");
    // A limit on the number of blocks closes the second one, or makes it text.
    let few = |over| built(Jail::builder().rule(JailPair::single("a")).blocks(1, over));
    assert_eq!(shown(&few(OnFail::Release), "xaab"), "x[|]!jail_count!ab");
    assert_eq!(shown(&few(OnFail::Drop), "xaab"), "x[|]!jail_count!(1)b");
    assert_eq!(shown(&few(OnFail::End), "xaab"), "x[|]!jail_count![|-]b");
}

#[test]
fn bytes_of_nested_dropped_blocks_are_counted_once() {
    let inner = JailPair::new("<i>", "</i>").release(Release::Drop);
    let outer = JailPair::new("<o>", "</o>").release(Release::Drop).inner(Inner::Every);
    let rules = Jail::builder().rule(outer).rule(inner).nested(Nested::InnerFirst);
    let jail = rules.build().unwrap();
    let text = "a<o>b<i>c</i>d<i>e</i></o>f<i>g</i>";
    // The number of bytes in each signal.
    assert_eq!(show(&jail, &[text]), "a(8)(8)(9)f(8)");
    let mut jail = jail;
    jail.push(text, |_| {}).unwrap();
    jail.finish(|_| {}).unwrap();
    assert_eq!(jail.counters().dropped as usize, text.len() - "af".len());
}

#[test]
fn check_equals_only_its_clones_and_has_opaque_debug_output() {
    let mark = || Mark::from("id").checked(|_| true);
    let one = mark();
    assert_eq!(one, one.clone());
    assert_ne!(one, mark());
    assert!(format!("{one:?}").contains("Check"));
    let rules = Jail::builder().rule(JailPair::single(one)).rule(JailPair::single(mark()));
    assert_eq!((Jail::builder().pairs(), rules.pairs()), (0, 2));
}

#[test]
fn check_accepts_a_prefix_of_the_match_or_refuses_it() {
    let taken = |len: Option<usize>| {
        let mark = Mark::from("aéb").accepting(move |_| len);
        shown(&Jail::builder().rule(JailPair::single(mark)).build().unwrap(), "xaéby")
    };
    assert_eq!(taken(Some(3)), "x[|]by");
    for none in [None, Some(0), Some(2), Some(9)] {
        assert_eq!(taken(none), "xaéby", "{none:?}");
    }
}

/// What was held is lost, and open blocks stay open, so that no secret passes as text.
#[test]
fn jail_goes_on_after_a_panic_of_its_caller() {
    let jail = Jail::builder().rule(JailPair::new("<s>", "</s>")).rule(JailPair::new("(", ")"));
    let jail = jail.build().expect("two pairs");
    let text = "a <s>b(c</s>) d (e) f<s";
    for size in 1..text.len() {
        for at in 1..12 {
            let (mut jail, mut events) = (jail.clone(), 0);
            let mut on = |_: JailEvent<'_>| {
                events += 1;
                if events == at {
                    resume_unwind(Box::new("caller"));
                }
            };
            let mut step = |text: Option<&str>| {
                let push = || match text {
                    Some(text) => jail.push(text, &mut on),
                    None => jail.finish(&mut on),
                };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(push)) {
                    assert!(panic.is::<&str>(), "size {size}, event {at}: the jail panicked");
                }
            };
            text.as_bytes().chunks(size).map(str::from_utf8).for_each(|it| step(it.ok()));
            step(None);
        }
    }
    let mut jail = jail.clone();
    let push = || jail.push("x<s>key", |_| resume_unwind(Box::new("caller")));
    assert!(catch_unwind(AssertUnwindSafe(push)).is_err());
    assert_eq!(show(&jail, &["more</s> text"]), "more</s> text", "the block had not begun");
    jail.push("<s>ke", |_| {}).expect("no limit");
    let push = || jail.push("y", |_| resume_unwind(Box::new("caller")));
    assert!(catch_unwind(AssertUnwindSafe(push)).is_ok(), "the block withholds its text");
    assert_eq!(show(&jail, &["</s>z"]), "[key|</s>]z");
}
