//! Any rules, any text, any cuts: a jail must do what the naive one does.

#![no_main]

use jail_match::{At, BlockDelivery, EndOrder, Inner, Nested, OnFail, Release};
use libfuzzer_sys::{
    arbitrary::{Result, Unstructured},
    fuzz_target,
};
use stream_laws::{Cut, Machine, Record, run};

// The models of the crate's own tests.
#[allow(dead_code)]
#[path = "../../crates/jail-match/tests/driver/bodies.rs"]
mod bodies;
#[allow(dead_code)]
#[path = "../../crates/jail-match/tests/driver/jail_spec.rs"]
mod jail_spec;
#[allow(dead_code)]
#[path = "../../crates/jail-match/tests/driver/machines.rs"]
mod machines;
#[path = "../../crates/jail-match/tests/driver/naive_jail.rs"]
mod naive_jail;

use jail_spec::{Kind, Rule, Sequence, Spec};

const PIECES: &[&str] = &["a", "B", "<", "<a", ">", "]]", "\n", "◁", "é", "\\", "\""];
/// What makes an expression of a piece.
const FRAMES: &[(&str, &str)] =
    &[("", "+"), ("", "?a"), ("[", "b]{1,3}"), ("(?i)", "b"), ("(?:b|", ")a*"), (".", "")];
const FAILS: &[OnFail] =
    &[OnFail::Release, OnFail::Strip, OnFail::Drop, OnFail::End, OnFail::Error];

fn word(u: &mut Unstructured<'_>) -> Result<String> {
    let pieces = u.int_in_range(1..=3)?;
    (0..pieces).map(|_| u.choose(PIECES).copied()).collect()
}

fn sequence(u: &mut Unstructured<'_>) -> Result<Sequence> {
    let (text, kind) = match u.int_in_range(0..=5)? {
        0 => (word(u)?, Kind::Fold),
        1 => {
            let (head, tail) = u.choose(FRAMES)?;
            let piece = regex::escape(u.choose(PIECES)?);
            (format!("{head}{piece}{tail}"), Kind::Pattern(Some(u.int_in_range(1..=9)?)))
        }
        _ => (word(u)?, Kind::Exact),
    };
    let at = match u.int_in_range(0..=7)? {
        0 => At::LineStart,
        1 => At::StreamStart,
        _ => At::Anywhere,
    };
    Ok(Sequence { text, kind, at })
}

fn sequences(u: &mut Unstructured<'_>) -> Result<Vec<Sequence>> {
    let count = u.int_in_range(1..=2)?;
    (0..count).map(|_| sequence(u)).collect()
}

fn rule(u: &mut Unstructured<'_>, rules: usize) -> Result<Rule> {
    let escape = |u: &mut Unstructured<'_>| Ok(u.arbitrary::<bool>()?.then_some('\\'));
    let quote = |u: &mut Unstructured<'_>| Ok((word(u)?, word(u)?, escape(u)?));
    Ok(Rule {
        starts: sequences(u)?,
        ends: sequences(u)?,
        quote: if u.ratio(1, 3)? { Some(quote(u)?) } else { None },
        inner: match u.int_in_range(0..=3)? {
            0 => Inner::Nothing,
            1 => Inner::Own,
            2 => Inner::Every,
            _ => Inner::Only(vec![u.int_in_range(0..=rules - 1)?]),
        },
        only_inside: u.ratio(1, 6)?,
        order: *u.choose(&[EndOrder::Longest, EndOrder::Listed])?,
        release: *u.choose(&[Release::Hand, Release::Verbatim, Release::Strip, Release::Drop])?,
        flow: *u.choose(&[BlockDelivery::Withhold, BlockDelivery::Withhold, BlockDelivery::Tap])?,
        limit: u.int_in_range(1..=40)?,
        over: *u.choose(FAILS)?,
        unclosed: *u.choose(FAILS)?,
    })
}

fn spec(u: &mut Unstructured<'_>) -> Result<Spec> {
    let count = u.int_in_range(1..=3)?;
    Ok(Spec {
        rules: (0..count).map(|_| rule(u, count)).collect::<Result<_>>()?,
        nested: *u.choose(&[Nested::OuterOnly, Nested::InnerFirst])?,
        depth: u.int_in_range(1..=4)?,
        blocks: (u.int_in_range(1..=20)?, *u.choose(FAILS)?),
    })
}

/// The text, and where to cut it.
fn text(u: &mut Unstructured<'_>, spec: &Spec) -> Result<(String, Vec<usize>)> {
    let (mut text, mut cuts) = (String::new(), Vec::new());
    while !u.is_empty() && text.len() < 400 {
        let rule = u.choose(&spec.rules)?;
        match u.int_in_range(0..=6)? {
            0 => text += &u.choose(&rule.starts)?.text,
            1 => text += &u.choose(&rule.ends)?.text,
            2 => text += rule.quote.as_ref().map_or("", |(open, ..)| open),
            3 => text += rule.quote.as_ref().map_or("", |(_, close, _)| close),
            4 => cuts.push(text.len()),
            _ => text += u.choose(PIECES)?,
        }
    }
    Ok((text, cuts))
}

fuzz_target!(|data: &[u8]| {
    let mut u = Unstructured::new(data);
    let Ok(spec) = spec(&mut u) else { return };
    let Ok(jail) = spec.build() else { return };
    let Ok((text, cuts)) = text(&mut u, &spec) else { return };
    let jail = machines::Jailed::new(jail);
    let expected = naive_jail::record(&spec, &text);
    let check = |record: Record, cuts: &str| {
        let record = record.coalesced().expect("no empty text");
        assert_eq!(record, expected, "{cuts}, {text:?}, {spec:#?}");
    };
    check(run(&jail, &text, Cut::Whole), "whole");
    check(run(&jail, &text, Cut::EachScalar), "each scalar");
    let (mut machine, mut record, mut from) = (jail.clone(), Record::default(), 0);
    for &cut in cuts.iter().chain([&text.len()]) {
        machine.push(&text[from..cut], &mut record);
        from = cut;
    }
    machine.finish(&mut record);
    check(record, "as given");
});
