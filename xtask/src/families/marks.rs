//! Reasoning formats as the fields of their rows.

use std::collections::BTreeSet;

use toolcall_parsers::family::ReasoningMarks;

/// Returns the fields and values of a format's rules that are not the default.
pub(super) fn rules(marks: &ReasoningMarks) -> Vec<(&'static str, String)> {
    let rules = [
        ("pairing", "Pairing", "Any", marks.pairing),
        ("openers", "Openers", "Line", marks.openers),
        ("case", "MarkerCase", "Exact", marks.case),
        ("suffix", "TokenSuffix", "None", marks.suffix),
        ("recur", "Recur", "Any", marks.recur),
        ("stray_close", "StrayClose", "Leading", marks.stray_close.unwrap_or("Leading")),
        ("dup_open", "DupOpen", "Absorb", marks.dup_open),
        ("newlines", "BoundNewlines", "Tags", marks.newlines),
    ];
    let changed = rules.into_iter().filter(|(_, _, default, word)| default != word);
    changed.map(|(field, kind, _, word)| (field, format!("{kind}::{word}"))).collect()
}

/// Returns the rule for closers without an opener. By default the first closer counts, because an
/// unknown prompt may have opened the reasoning.
pub(super) fn opened_by_prompts(marks: &mut ReasoningMarks) {
    marks.stray_close.get_or_insert("First");
}

/// Returns whether both formats read texts in the same way. The order of markers matters only for
/// writing.
pub(super) fn reads_as(one: &ReasoningMarks, other: &ReasoningMarks) -> bool {
    let sets = |marks: &ReasoningMarks| {
        let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<_>>();
        (set(&marks.open), set(&marks.close))
    };
    let rest = |marks: &ReasoningMarks| ReasoningMarks {
        open: Vec::new(),
        close: Vec::new(),
        starts: "Closed",
        switch: Default::default(),
        names: Default::default(),
        ..marks.clone()
    };
    sets(one) == sets(other) && rest(one) == rest(other)
}
