//! The laws over every registered format, on its own markers.

use stream_laws::{
    CutPlan, TextForm, Work, check_bounded, check_byte_chunk_invariance, check_chunk_invariance,
    check_held, check_idle, check_isolation, check_linear, check_nothing_lost, check_prompt,
    check_total,
};
use think_filter::{Format, Start, ThinkFilter, Whitespace, formats};

use crate::machine::{Accounted, DROPS, Think, markers, witnesses};

pub(crate) const POLICIES: [Whitespace; 3] =
    [Whitespace::Verbatim, Whitespace::Framing, Whitespace::Trim];

fn machine(format: &Format, whitespace: Whitespace, start: Start) -> Think {
    let builder = ThinkFilter::builder(format.clone()).whitespace(whitespace).start(start);
    Think::from(builder.build().expect("a good format"))
}

fn texts(format: &Format) -> Vec<String> {
    let (open, close) = match (format.open.first(), format.close.first()) {
        (Some(open), Some(close)) => (open.as_ref(), close.as_ref()),
        _ => ("<think>", "</think>"),
    };
    let each: String = markers(format).iter().map(|marker| format!("{marker}\nx\n")).collect();
    vec![
        format!("{open}\nplan\n{close}\n\nanswer\n"),
        format!("{open}{open}a{close}{close} {open}b{close}\n\n\nc{open}d"),
        format!("a `{open}` {close}\n```\n{open}\n```\n{open}b\n{close}"),
        each,
    ]
}

// Contract: S3.2.
#[test]
fn every_input_passes_the_invariance_and_totality_laws() {
    for format in formats() {
        for text in texts(&format) {
            for policy in POLICIES {
                for start in [Start::Content, Start::Reasoning] {
                    let think = machine(&format, policy, start);
                    check_chunk_invariance(&think, &text, CutPlan::quick(1)).unwrap();
                    check_total(&think, &text, CutPlan::quick(2)).unwrap();
                    check_idle(&think, &text, CutPlan::quick(2)).unwrap();
                }
            }
        }
    }
}

// Contract: S3.26.
#[test]
fn split_and_invalid_utf8_is_chunk_invariant() {
    for format in formats() {
        let think = machine(&format, Whitespace::Framing, Start::Content);
        for text in texts(&format).into_iter().take(2) {
            let text = text.replace('a', "é").replace('x', "日🎉");
            check_byte_chunk_invariance(&think, text.as_bytes(), CutPlan::quick(1)).unwrap();
            let broken = [text.as_bytes(), b"\xF0\x9F", text.as_bytes(), b"\xE6\x97"].concat();
            check_byte_chunk_invariance(&think, &broken, CutPlan::quick(2)).unwrap();
        }
    }
}

// Contract: S3.1.
#[test]
fn every_input_byte_is_accounted_for() {
    for format in formats() {
        for text in texts(&format) {
            for policy in [Whitespace::Verbatim, Whitespace::Framing] {
                check_nothing_lost(
                    &Accounted::new(&format, policy),
                    &text,
                    DROPS,
                    CutPlan::quick(3),
                )
                .unwrap();
            }
        }
    }
}

// Contract: S3.3.
#[test]
fn held_reports_the_held_bytes() {
    for format in formats() {
        for text in texts(&format) {
            for policy in POLICIES {
                check_held(&Accounted::new(&format, policy), &text, TextForm::WireBytes).unwrap();
            }
        }
    }
}

// Contract: S3.3.
#[test]
fn nothing_is_held_without_need() {
    for format in formats() {
        let witnesses = witnesses(&markers(&format));
        for text in texts(&format) {
            check_prompt(&Accounted::new(&format, Whitespace::Verbatim), &text, &witnesses)
                .unwrap();
        }
    }
}

// Contract: S3.22.
#[test]
fn memory_and_work_are_bounded() {
    for format in formats() {
        let markers = markers(&format);
        let longest = markers.iter().map(String::len).max().unwrap_or(0).max(64) + 16;
        for unit in markers.iter().map(String::as_str).chain(["<", "\nx\n", "`", "text "]) {
            let think = machine(&format, Whitespace::Verbatim, Start::Content);
            let limit = 8 * longest;
            check_bounded(&think, std::iter::repeat_n(unit, 2 * limit), limit).unwrap();
            let first = unit.chars().next().map_or(1, char::len_utf8);
            for unit in [unit, &unit[..first]] {
                // The bound is wide, because the sizes of random pieces of a short input vary.
                let work = Work { bytes: 4096, per_byte: 256, growth_percent: 500 };
                let input = |bytes: usize| unit.repeat(bytes.div_ceil(unit.len()));
                check_linear(&think, input, work).unwrap();
            }
        }
    }
}

// Contract: S3.24.
#[test]
fn concurrent_machines_are_isolated() {
    for format in formats() {
        let (think, texts) = (machine(&format, Whitespace::Trim, Start::Content), texts(&format));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        check_isolation(&think, &texts, 7).unwrap();
    }
}
