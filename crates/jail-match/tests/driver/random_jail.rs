//! Random rules of jails, over random texts.

use jail_match::{BlockDelivery, Inner, MarkPosition, Nested, OnFail, Release};
use proptest::prelude::*;

use crate::{
    jail_spec::{Kind, Rule, Sequence, Spec},
    random::{marker, text},
};

/// Expressions with their stated hold, and texts that they match. Expressions without a stated hold
/// may look ahead.
const PATTERNS: &[(&str, Option<usize>, &str)] = &[
    ("a+b?", Some(4), "aaab"),
    ("[ab]{2}", None, "ab"),
    ("(?m)^a", None, "a"),
    ("(?i)<a", None, "<A"),
    ("b$", None, "b"),
    ("(?m)a$", None, "a\n"),
    (r"\A.", None, "<"),
    ("<[ab]*>", Some(5), "<ab>"),
    ("◁.", None, "◁t"),
    ("(?s).b", None, "\nb"),
    (r"\d+", Some(3), "12"),
    ("a|ab", None, "ab"),
    ("ab|a", None, "ab"),
    (r"(?-u:\b)a", None, " a"),
    ("<a>|<", None, "<a>"),
    ("a(?:<|$)", None, "a<"),
    ("(?:<a|<<)+?>?", Some(6), "<a<<>"),
    ("[^a]b", None, "éb"),
];

pub(crate) fn sequence() -> impl Strategy<Value = Sequence> {
    let at = prop_oneof![6 => Just(MarkPosition::Anywhere), 1 => Just(MarkPosition::LineStart), 1 => Just(MarkPosition::StreamStart)];
    let literal = (marker(), prop_oneof![3 => Just(Kind::Exact), 1 => Just(Kind::Fold)]);
    let pattern = prop::sample::select(PATTERNS)
        .prop_map(|(text, hold, _)| (text.to_owned(), Kind::Pattern(hold)));
    let patterns = if cfg!(feature = "regex") { 2 } else { 0 };
    let either = prop_oneof![4 => literal, patterns => pattern];
    (either, at).prop_map(|((text, kind), at)| Sequence { text, kind, at })
}

fn on_fail() -> impl Strategy<Value = OnFail> {
    prop::sample::select(&[
        OnFail::Release,
        OnFail::Strip,
        OnFail::Drop,
        OnFail::End,
        OnFail::End,
        OnFail::Error,
    ])
}

fn rule(rules: usize) -> impl Strategy<Value = Rule> {
    let sequences = || prop::collection::vec(sequence(), 1..3);
    let escape = prop::option::of(Just('\\'));
    let quote = prop::option::weighted(0.3, (marker(), marker(), escape));
    let inner = prop_oneof![
        2 => Just(Inner::Nothing),
        2 => Just(Inner::Own),
        2 => Just(Inner::Every),
        1 => prop::collection::vec(0..rules, 0..3).prop_map(Inner::Only),
    ];
    let release =
        prop::sample::select(&[Release::Hand, Release::Verbatim, Release::Strip, Release::Drop]);
    let flow = prop_oneof![3 => Just(BlockDelivery::Withhold), 1 => Just(BlockDelivery::Tap)];
    let limit = prop_oneof![1 => 1usize..12, 1 => 12usize..64];
    let how = (release, flow, any::<u8>());
    (sequences(), sequences(), quote, inner, how, limit, on_fail(), on_fail()).prop_map(
        |(starts, ends, quote, inner, (release, flow, inside), limit, over, unclosed)| Rule {
            starts,
            ends,
            quote,
            inner,
            only_inside: inside < 48,
            release,
            flow,
            limit,
            over,
            unclosed,
        },
    )
}

fn spec() -> impl Strategy<Value = Spec> {
    let rules = (1usize..4).prop_flat_map(|n| prop::collection::vec(rule(n), n));
    let nested = prop::sample::select(&[Nested::OuterOnly, Nested::InnerFirst]);
    let most = prop_oneof![2 => Just(u64::MAX), 1 => 1u64..4];
    (rules, nested, 1usize..5, (most, on_fail()))
        .prop_map(|(rules, nested, depth, blocks)| Spec { rules, nested, depth, blocks })
        .prop_filter("rules that contradict themselves", |spec| spec.build().is_ok())
}

/// Returns a text that the sequence matches.
fn sample(sequence: &Sequence) -> String {
    match sequence.kind {
        Kind::Pattern(_) => PATTERNS
            .iter()
            .find(|(text, ..)| *text == sequence.text)
            .map_or(String::new(), |(.., sample)| (*sample).to_owned()),
        _ => sequence.text.clone(),
    }
}

pub(crate) fn spec_and_text() -> impl Strategy<Value = (Spec, String)> {
    spec().prop_flat_map(|spec| {
        let mut samples = vec!["\\".to_owned()];
        for rule in &spec.rules {
            samples.extend(rule.starts.iter().chain(&rule.ends).map(sample));
            samples.extend(rule.quote.iter().flat_map(|(open, close, _)| [open, close]).cloned());
        }
        (Just(spec), text(samples))
    })
}
