//! Findings: likely causes of faults, derived from the guard's events.

use jail_match::DiagnosticKind;
use toolcall_parsers::{Grammar, grammars};

use super::{
    remedies,
    report::{ExplanationSummary, Finding, Happening, RecordedNote, Step},
    words::code,
};
use crate::{
    identify::{Candidate, detect, stripped as stripped_families},
    observe::marks,
};

/// Facts for the findings that are not in the steps.
#[derive(Debug)]
pub(super) struct Facts<'f> {
    /// Name of the reading.
    pub(super) name: &'f str,
    pub(super) wire: &'f str,
    pub(super) steps: &'f [Step],
    /// Markers of other families that passed as content, with their counts.
    pub(super) foreign: Vec<(String, u64)>,
    /// Whether the family's markers are special tokens.
    pub(super) special: bool,
}

/// Adds all findings to `summary`, the likeliest causes first, and the families that the text looks
/// like.
pub(super) fn find(facts: &Facts<'_>, summary: &mut ExplanationSummary) {
    let mut found = FoundCauses(Vec::new());
    let reads_calls = summary.calls.iter().any(|call| call.outcome == Some("complete"));
    if !facts.foreign.is_empty() && !reads_calls {
        foreign(facts, "wrong_family", summary, &mut found);
    }
    stripped(facts, summary, &mut found);
    cut(facts, summary, &mut found);
    beside(facts, &mut found);
    for event in facts.steps.iter().flat_map(|step| &step.events) {
        match event {
            Happening::Refuted { at, len, marker } => {
                let says = || {
                    let read = excerpt(facts.wire, *at, *len);
                    format!(
                        "{} opens a call in this family, but what followed is none, so it passed \
                         as text: {}",
                        code(marker),
                        code(&read)
                    )
                };
                let advice = "nothing to mend if the model only mentioned it; if it meant a call, \
                              its syntax is not the family's";
                found.add("opener_in_prose", *at, says, advice);
            }
            Happening::Stopped { limit } => {
                let advice = "raise the limit, or choose another policy than the error";
                found.add("limit", 0, || format!("a limit ended the message: {limit}"), advice);
            }
            &Happening::Diagnosed { kind, at, bytes, says, advice, .. } => {
                diagnosed(facts, &mut found, Diagnosed { kind, at, bytes, says, advice });
            }
            _ => {}
        }
    }
    for call in summary.calls.iter().filter(|call| call.outcome == Some("malformed")) {
        let says = || {
            format!("the model left the family's syntax inside the call of {}", code(&call.name))
        };
        let advice = "look at the text of the call; its arguments are not to be used";
        found.add("malformed_call", 0, says, advice);
    }
    if summary.reasoning > 0 && summary.content == 0 && summary.calls.is_empty() {
        let says = || {
            "the message is reasoning to its end: the model never closed it, or was cut before \
             its answer"
                .to_owned()
        };
        let advice = "raise the token limit, or check that the stream begins in reasoning";
        found.add("no_answer", facts.wire.len() as u64, says, advice);
    }
    if !facts.foreign.is_empty() && reads_calls {
        foreign(facts, "foreign_markup", summary, &mut found);
    }
    for finding in &mut found.0 {
        let family = summary.looks_like.first().map_or(facts.name, String::as_str);
        finding.serve = remedies::setting_of_serve(finding.kind, family, end(facts));
    }
    summary.findings = found.0;
}

/// Returns how the stream ended.
fn end(facts: &Facts<'_>) -> &'static str {
    facts.steps.last().and_then(|step| step.end).unwrap_or_default()
}

/// Adds a finding for calls whose markers the server left out.
fn stripped(facts: &Facts<'_>, summary: &ExplanationSummary, found: &mut FoundCauses) {
    if !summary.calls.is_empty() {
        return;
    }
    let advice = "ask the server to keep them: `skip_special_tokens: false`";
    if let Some(family) = stripped_families(&[facts.wire]).first() {
        let says = || {
            format!(
                "these are the words between the special tokens of {}, which the server left out",
                code(family)
            )
        };
        found.add("stripped_markers", 0, says, advice);
        return;
    }
    let mut events = facts.steps.iter().flat_map(|step| &step.events);
    let opened = events.any(|event| matches!(event, Happening::Opener { .. }));
    let Some(at) = facts.wire.find("{\"") else { return };
    if !facts.special || opened {
        return;
    }
    let says = || {
        "no marker of a call came, but here stands what may be a call's JSON: this family's \
         markers are special tokens, which servers leave out of the text unless asked"
            .to_owned()
    };
    found.add("stripped_markers", at as u64, says, advice);
}

/// Converts a diagnostic into a finding of its name. An orphaned closer reports how much of the
/// answer was reasoning.
fn diagnosed(facts: &Facts<'_>, found: &mut FoundCauses, what: Diagnosed<'_>) {
    let Diagnosed { kind, at, bytes, says, advice } = what;
    if kind == DiagnosticKind::OrphanCloser.name() {
        let marker = excerpt(facts.wire, at, bytes);
        let says = || {
            format!(
                "{} closes reasoning that nothing in the stream opened: the prompt opened it, \
                 and the {at} bytes before it are reasoning that passed as the answer",
                code(marker.trim())
            )
        };
        found.add("prompt_opened_reasoning", at, says, advice);
    } else {
        found.add(kind, at, || says.to_owned(), advice);
    }
}

struct Diagnosed<'d> {
    kind: &'static str,
    at: u64,
    bytes: u64,
    says: &'d str,
    advice: &'d str,
}

/// Adds a finding for markup of other families that passed as text.
fn foreign(
    facts: &Facts<'_>,
    kind: &'static str,
    summary: &mut ExplanationSummary,
    found: &mut FoundCauses,
) {
    let Some((marker, _)) = facts.foreign.first() else { return };
    let at = facts.wire.find(marker.as_str()).unwrap_or_default();
    let around = around(facts.wire, at);
    let candidates = detect([around]).candidates;
    let reads = |family: &Candidate| family.markers.iter().any(|one| one.contains(marker.as_str()));
    summary.looks_like =
        candidates.into_iter().filter(reads).flat_map(|one| one.families).collect();
    // Families may use the marker although they read no call.
    for name in families_with(marker) {
        if !summary.looks_like.contains(&name) {
            summary.looks_like.push(name);
        }
    }
    let markers = facts.foreign.iter().map(|(marker, count)| format!("{} ({count})", code(marker)));
    let markers: Vec<String> = markers.take(6).collect();
    let (looks, advice) = match &summary.looks_like[..] {
        [] => (String::new(), "name the model, or another family".to_owned()),
        [first, others @ ..] => {
            let others: Vec<&str> = others.iter().take(4).map(String::as_str).collect();
            let or = if others.is_empty() {
                String::new()
            } else {
                format!(" (or {})", others.join(", "))
            };
            let looks = format!("; this looks like family `{first}`{or}");
            (looks, format!("name the model, or read it as that family: `--family {first}`"))
        }
    };
    let says =
        || format!("markers of another family passed as text: {}{looks}", markers.join(", "));
    found.add(kind, at as u64, says, &advice);
}

/// Returns the names of the families that use this marker.
#[must_use]
pub fn families_with(marker: &str) -> Vec<String> {
    let has = |grammar: &Grammar| marks(grammar).any(|one| one == marker);
    grammars().filter(has).map(|grammar| grammar.name().to_owned()).collect()
}

/// Returns the text around a marker in which families are searched.
fn around(wire: &str, at: usize) -> &str {
    const BEFORE: usize = 4 << 10;
    const BEHIND: usize = 64 << 10;
    let boundary = |at: &usize| wire.is_char_boundary(*at);
    let from = (0..=at.saturating_sub(BEFORE)).rev().find(boundary).unwrap_or_default();
    let to = (at.saturating_add(BEHIND)..wire.len()).find(boundary).unwrap_or(wire.len());
    &wire[from..to]
}

/// Adds a finding for calls that the stream's end cut.
fn cut(facts: &Facts<'_>, summary: &ExplanationSummary, found: &mut FoundCauses) {
    let (why, advice) = match end(facts) {
        "length" => ("the token limit ended it", "raise the request's token limit (`max_tokens`)"),
        "aborted" => (
            "the stream broke off, without a finish reason",
            "look at the server and the connection; ask again",
        ),
        _ => (
            "the model stopped there",
            "a stop string or an end token of the request may have stopped it inside the call",
        ),
    };
    for call in summary.calls.iter().filter(|call| call.outcome == Some("incomplete")) {
        let says = || {
            let bytes = call.arguments.len();
            let name = code(&call.name);
            format!("the call of {name} was cut after {bytes} bytes of arguments: {why}")
        };
        found.add("truncated_call", facts.wire.len() as u64, says, advice);
    }
}

/// Adds findings about notes of the recording that came at a wrong time.
fn beside(facts: &Facts<'_>, found: &mut FoundCauses) {
    let mut open = None;
    let text_ends = facts.steps.iter().rposition(|step| step.len > 0).unwrap_or_default();
    for (at, step) in facts.steps.iter().enumerate() {
        for event in &step.events {
            match event {
                Happening::CallStarted { name, .. } => open = Some(name),
                Happening::CallEnded { .. } => open = None,
                Happening::Noted { note } => {
                    let early = at <= text_ends;
                    note_found(note, early, open, step.at as u64, found);
                }
                _ => {}
            }
        }
    }
}

fn note_found(
    note: &RecordedNote,
    early: bool,
    open: Option<&String>,
    at: u64,
    found: &mut FoundCauses,
) {
    match (note, open) {
        (RecordedNote::Usage, Some(name)) if early => {
            let says = || {
                format!(
                    "token usage came in the middle of the call of {}, and more text after it: a \
                     client that takes usage for the end loses the rest of the call",
                    code(name)
                )
            };
            let advice = "do not end a message at usage; if nobody needs it in between, ask the \
                          server not to send it (`stream_options.continuous_usage_stats`)";
            found.add("usage_in_call", at, says, advice);
        }
        (RecordedNote::Finish { reason }, _) if early => {
            let says = || format!("text came after the finish reason {}", code(reason));
            found.add("text_after_finish", at, says, "a client that stops there loses that text");
        }
        (RecordedNote::Error { message }, _) => {
            found.add("server_error", at, || format!("the server reported: {message}"), "");
        }
        (RecordedNote::Native { field }, _) => {
            let says = || {
                format!(
                    "the server told `{field}` from the text itself: that part is not in the text \
                     explained here"
                )
            };
            let advice = "to see all of it, turn off the server's own parser for the recording";
            found.add("native_fields", at, says, advice);
        }
        _ => {}
    }
}

/// A list of findings that counts findings of equal kind.
struct FoundCauses(Vec<Finding>);

impl FoundCauses {
    fn add(&mut self, kind: &'static str, at: u64, says: impl FnOnce() -> String, advice: &str) {
        match self.0.iter_mut().find(|finding| finding.kind == kind) {
            Some(finding) => finding.count = finding.count.saturating_add(1),
            None => {
                let (says, advice) = (says(), advice.to_owned());
                let serve = String::new();
                self.0.push(Finding { kind, count: 1, at, says, advice, serve });
            }
        }
    }
}

/// Returns the text at an offset, shortened if it is long.
fn excerpt(wire: &str, at: u64, len: u64) -> String {
    const MAX_SHOWN_CHARS: usize = 60;
    let text = wire.get(at as usize..at.saturating_add(len) as usize).unwrap_or_default();
    if text.chars().count() <= MAX_SHOWN_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_SHOWN_CHARS).chain(['…']).collect()
}
