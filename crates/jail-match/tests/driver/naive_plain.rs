//! The matcher over a whole text.

use stream_laws::{CONTENT, RunRecord};

/// Returns the longest of `markers` at the start of `text`, and the first of equal ones. Empty
/// markers never match.
fn longest(markers: &[String], text: &str) -> Option<usize> {
    let hits = (0..markers.len()).rev().filter(|&n| !markers[n].is_empty());
    hits.filter(|&n| text.starts_with(&markers[n])).max_by_key(|&n| markers[n].len())
}

pub(crate) fn matches(markers: &[String], text: &str) -> RunRecord {
    let (mut out, mut rest, mut n) = (RunRecord::default(), text, 0);
    while let Some(scalar) = rest.chars().next() {
        if let Some(id) = longest(markers, rest) {
            out.call_start(n, format!("{n}: {id}"), &markers[id]);
            out.call_end(n, "found");
            n += 1;
            rest = &rest[markers[id].len()..];
        } else {
            out.text(CONTENT, scalar);
            rest = &rest[scalar.len_utf8()..];
        }
    }
    out.coalesced().expect("no empty text")
}
