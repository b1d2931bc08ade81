//! The parts of a wire marker, and the forms derived from them.
//!
//! A marker has a *lead* (its leading punctuation, `[[` or `[[/`), a *core* (`CALL`) and a *trail*
//! (its trailing punctuation, `]]`). Escapes go between lead and core, a nonce between core and
//! trail. A truncated form lacks one end of a doubled bracket.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// The three parts of a marker. Any of them may be empty in a marker without letters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) lead: &'a str,
    pub(crate) core: &'a str,
    pub(crate) trail: &'a str,
}

impl<'a> Parts<'a> {
    pub(crate) fn split(marker: &'a str) -> Self {
        let rest = marker.trim_start_matches(|c: char| !c.is_alphanumeric());
        let core = rest.trim_end_matches(|c: char| !c.is_alphanumeric());
        let lead = &marker[..marker.len() - rest.len()];
        Self { lead, core, trail: &rest[core.len()..] }
    }
}

/// Returns the byte offset at which escapes are inserted.
///
/// Both sides of the offset are non-empty. Returns `None` if the marker has fewer than two
/// characters.
pub(crate) fn escape_point(marker: &str) -> Option<usize> {
    let parts = Parts::split(marker);
    let first = marker.chars().next()?.len_utf8();
    if first == marker.len() {
        return None;
    }
    if parts.lead.is_empty() || parts.core.is_empty() {
        Some(first)
    } else {
        Some(parts.lead.len())
    }
}

/// Adds a session's nonce to a marker: `[[CALL]]` becomes `[[CALL:nonce]]`.
pub(crate) fn with_nonce(marker: &str, nonce: &str) -> String {
    let Parts { lead, core, trail } = Parts::split(marker);
    format!("{lead}{core}:{nonce}{trail}")
}

/// Removes the last character, if that halves a doubled bracket: `[[CALL]]` becomes `[[CALL]`.
pub(crate) fn without_last(marker: &str) -> Option<&str> {
    let mut ends = marker.char_indices().rev();
    let (at, last) = ends.next()?;
    let (_, before) = ends.next()?;
    let parts = Parts::split(marker);
    let whole = !parts.core.is_empty() && !parts.lead.is_empty();
    (whole && last == before && !last.is_alphanumeric()).then(|| &marker[..at])
}

/// Removes the first character, if that halves a doubled bracket: `[[/CALL]]` becomes `[/CALL]]`.
pub(crate) fn without_first(marker: &str) -> Option<&str> {
    let mut starts = marker.char_indices();
    let (_, first) = starts.next()?;
    let (at, second) = starts.next()?;
    let parts = Parts::split(marker);
    let whole = !parts.core.is_empty() && !parts.trail.is_empty();
    (whole && first == second && !first.is_alphanumeric()).then(|| &marker[at..])
}

/// Returns the length of the lead and the core, the shortest prefix that names the marker
/// (`[[CALL`).
pub(crate) fn naming_prefix(marker: &str) -> usize {
    let parts = Parts::split(marker);
    if parts.core.is_empty() { marker.len() } else { parts.lead.len() + parts.core.len() }
}

/// Returns the spellings into which models garble a marker: other letter case, one blank inside
/// each end, or both.
pub(crate) fn garbled(marker: &str) -> Vec<String> {
    let Parts { lead, core, trail } = Parts::split(marker);
    let mut forms = Vec::new();
    if core.is_empty() {
        return forms;
    }
    let lower = core.to_ascii_lowercase();
    let title: String = core
        .chars()
        .enumerate()
        .map(|(i, c)| if i == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect();
    // Padding puts the blank after the slash (`[[/ `) or before it (`[[ /`).
    let slash = lead.strip_suffix('/').filter(|bare| !bare.is_empty());
    for core in [core, &lower, &title, &core.to_ascii_uppercase()] {
        forms.push(format!("{lead}{core}{trail}"));
        if !lead.is_empty() && !trail.is_empty() {
            forms.push(format!("{lead} {core} {trail}"));
            if let Some(bare) = slash {
                forms.push(format!("{bare} /{core} {trail}"));
            }
        }
    }
    forms.sort();
    forms.dedup();
    forms.retain(|form| form != marker);
    forms
}

/// Inserts `escape` at the offset `point` of the marker, `times` times.
pub(crate) fn escaped(marker: &str, point: usize, escape: char, times: usize) -> String {
    let mut out = marker[..point].to_string();
    out.extend(core::iter::repeat_n(escape, times));
    out.push_str(&marker[point..]);
    out
}
