//! The vectors of the reasoning formats: that they are there, and what the filter alone makes of
//! them.

use std::{fs, path::Path};

use stream_laws::{
    CutPlan,
    vector::{Case, Finish, Kind, Policy, Start as Opened, read_cases, run_case},
};
use think_filter::{End, Format, Start, ThinkFilter, Whitespace, format, formats};

use crate::machine::Think;

/// What the vectors of every format show.
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

fn cases(name: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/reasoning");
    let path = root.join(name).with_extension("jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|no| panic!("{}: {no}", path.display()));
    read_cases(&text).unwrap_or_else(|no| panic!("{}: {no}", path.display()))
}

#[test]
fn every_format_has_a_vector_of_every_aspect() {
    for Format { name, .. } in formats() {
        let cases = cases(&name);
        for aspect in ASPECTS {
            let id = format!("{name}/{aspect}");
            assert!(cases.iter().any(|case| case.id == id), "no {id}");
        }
        assert!(cases.iter().all(|case| case.kind == Kind::Reasoning && case.family == name));
    }
}

#[test]
fn the_filter_alone_passes_them_at_every_cut() {
    let mut ran = 0;
    for Format { name, .. } in formats() {
        for case in cases(&name).into_iter().filter(|case| case.options.is_empty()) {
            let whitespace = match case.whitespace {
                Policy::Verbatim => Whitespace::Verbatim,
                Policy::Framing => Whitespace::Framing,
                Policy::Trim => Whitespace::Trim,
            };
            let start = match case.start {
                Opened::Reasoning => Start::Reasoning,
                Opened::Default | Opened::Content => Start::Content,
            };
            let end = match case.finish {
                Finish::Stop => End::Stop,
                Finish::Length => End::Length,
            };
            let builder = ThinkFilter::builder(format(&case.family).unwrap());
            let filter = builder.whitespace(whitespace).start(start).build().unwrap();
            run_case(&case, || Think::ending(filter.clone(), end), CutPlan::standard(9))
                .unwrap_or_else(|failure| panic!("{failure}"));
            ran += 1;
        }
    }
    assert!(ran > 400, "{ran}");
}
