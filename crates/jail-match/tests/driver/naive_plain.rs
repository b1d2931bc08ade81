//! The matcher and the jail over a whole text.

use stream_laws::{CONTENT, Record};

/// The longest of `markers` at the head of `text`; of equal ones the first. Empty ones never.
fn longest(markers: &[String], text: &str) -> Option<usize> {
    let hits = (0..markers.len()).rev().filter(|&n| !markers[n].is_empty());
    hits.filter(|&n| text.starts_with(&markers[n])).max_by_key(|&n| markers[n].len())
}

pub(crate) fn matches(markers: &[String], text: &str) -> Record {
    let (mut out, mut rest, mut n) = (Record::default(), text, 0);
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

pub(crate) fn jailed(starts: &[String], ends: &[String], limit: usize, text: &str) -> Record {
    let (mut out, mut rest, mut n) = (Record::default(), text, 0);
    while let Some(scalar) = rest.chars().next() {
        let Some(start) = longest(starts, rest) else {
            out.text(CONTENT, scalar);
            rest = &rest[scalar.len_utf8()..];
            continue;
        };
        rest = &rest[starts[start].len()..];
        let most = limit.min(rest.len());
        let closed = (0..=most)
            .filter(|&at| rest.is_char_boundary(at))
            .find_map(|at| longest(ends, &rest[at..]).map(|end| (at, end)));
        let cut = (0..=most).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
        let (len, behind, end) = match closed {
            Some((at, end)) => (at, at + ends[end].len(), ends[end].as_str()),
            None => (cut, cut, ""),
        };
        let body = format!("{}|{}|{end}", starts[start], &rest[..len]);
        out.call_start(n, format!("{n}"), body);
        out.call_end(n, "jailed");
        n += 1;
        rest = &rest[behind..];
    }
    out.coalesced().expect("no empty text")
}
