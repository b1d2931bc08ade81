//! The vectors of the reasoning formats: every format has them, and the filter passes them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use stream_laws::{
    CutPlan,
    vector::{
        CaseFinish, CaseKind, CaseStart as Opened, CaseWhitespace, VectorCase, read_cases, run_case,
    },
};
use think_filter::{End, Format, Start, ThinkFilter, Whitespace, format, formats};

use crate::machine::Think;

/// The cases that the vectors of every format must have.
const ASPECTS: &[&str] = &[
    "explicit",
    "prompt-opened",
    "truncated-marker",
    "truncated-text",
    "empty-block",
    "unicode",
    "code-fence",
    "prose",
    "tool-call-inside",
    "newlines",
];

fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../families/vectors/reasoning");
    root.join(name).with_extension("jsonl")
}

fn has_cases(name: &str) -> bool {
    path(name).is_file()
}

fn cases(name: &str) -> Vec<VectorCase> {
    let path = path(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|no| panic!("{}: {no}", path.display()));
    read_cases(&text).unwrap_or_else(|no| panic!("{}: {no}", path.display()))
}

/// Returns one format of each group that differs only in the name, and all formats with vectors.
fn kinds() -> Vec<Format> {
    let mut kinds: Vec<Format> = Vec::new();
    for format in formats() {
        let reads_as =
            |kind: &Format| Format { name: format.name.clone(), ..kind.clone() } == format;
        if has_cases(&format.name) {
            kinds.retain(|kind| has_cases(&kind.name) || !reads_as(kind));
            kinds.push(format);
        } else if !kinds.iter().any(reads_as) {
            kinds.push(format);
        }
    }
    kinds
}

#[test]
fn every_format_has_a_vector_for_every_aspect() {
    for Format { name, .. } in kinds() {
        let cases = cases(&name);
        for aspect in ASPECTS {
            let id = format!("{name}/{aspect}");
            assert!(cases.iter().any(|case| case.id == id), "no {id}");
        }
        assert!(cases.iter().all(|case| case.kind == CaseKind::Reasoning && case.family == name));
    }
}

// Contract: S3.2, S3.26.
#[test]
fn filter_passes_the_reasoning_vectors_at_every_cut() {
    let mut ran = 0;
    for Format { name, .. } in kinds() {
        for case in cases(&name).into_iter().filter(|case| case.options.is_empty()) {
            let whitespace = match case.whitespace {
                CaseWhitespace::Verbatim => Whitespace::Verbatim,
                CaseWhitespace::Framing => Whitespace::Framing,
                CaseWhitespace::Trim => Whitespace::Trim,
            };
            let start = match case.start {
                Opened::Reasoning => Some(Start::Reasoning),
                Opened::Content => Some(Start::Content),
                Opened::Default => None,
            };
            let end = match case.finish {
                CaseFinish::Stop => End::Stop,
                CaseFinish::Length => End::Length,
            };
            let builder = ThinkFilter::builder(format(&case.family).unwrap());
            let builder = builder.whitespace(whitespace);
            let builder = match start {
                Some(start) => builder.start(start),
                None => builder,
            };
            let filter = builder.build().unwrap();
            run_case(&case, || Think::ending(filter.clone(), end), CutPlan::standard(9))
                .unwrap_or_else(|failure| panic!("{failure}"));
            ran += 1;
        }
    }
    assert!(ran > 400, "{ran}");
}
