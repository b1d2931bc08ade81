//! Whole answers in one chunk, against the fastest pass over the same text.

use std::hint::black_box;

use serde::de::IgnoredAny;
use serde_json::json;

use crate::{
    measure::{Collect, feed, ratio},
    text::{code, fenced, prose},
    works::{Case, calling, everywhere, is_tagged},
};

/// A work, and for each profile how many times the pass it takes.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) aim: f64,
    pub(crate) ratios: Vec<(String, f64)>,
}

/// All rows: prose against a search for three bytes, calls against a parser that skips JSON.
pub(crate) fn rows(repeats: usize) -> Vec<Row> {
    let text = fenced(256 * 1024);
    let search = || {
        let bytes = black_box(text.as_bytes());
        black_box(memchr::memchr3_iter(b'<', b'`', b'\n', bytes).count());
    };
    let mut rows = vec![Row {
        name: "W7 prose with fences",
        aim: 3.0,
        ratios: everywhere(&text).iter_mut().map(|one| against(one, repeats, search)).collect(),
    }];
    let values = [(code(64 * 1024), "code", [1.25, 2.0]), (prose(64 * 1024), "prose", [0.5, 1.0])];
    for (value, kind, aims) in values {
        let value = format!("say \"so\": {value}");
        let arguments = json!({"path": "a.rs", "text": value}).to_string();
        let skip = || {
            let skipped = serde_json::from_str::<IgnoredAny>(black_box(&arguments));
            black_box(skipped.is_ok());
        };
        let (tagged, literal): (Vec<_>, Vec<_>) =
            calling(&[("write_file", arguments.clone())]).into_iter().partition(is_tagged);
        for (mut cases, how, aim) in [(literal, "literals", aims[0]), (tagged, "tags", aims[1])] {
            rows.push(Row {
                name: match (kind, how) {
                    ("code", "literals") => "W7 call with code: literals",
                    ("code", _) => "W7 call with code: tags",
                    (_, "literals") => "W7 call with prose: literals",
                    _ => "W7 call with prose: tags",
                },
                aim,
                ratios: cases.iter_mut().map(|one| against(one, repeats, skip)).collect(),
            });
        }
    }
    rows
}

fn against(case: &mut Case, repeats: usize, pass: impl FnMut()) -> (String, f64) {
    let mut out = Collect::room(case.wire.len());
    let Case { guard, wire, profile } = case;
    let whole = || {
        guard.reset();
        out.clear();
        feed(guard, &[wire], &mut out);
        black_box(&out.content);
    };
    (profile.clone(), ratio(repeats, pass, whole).0)
}
