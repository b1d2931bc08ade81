//! Detection of the families that may have written a recording.

use std::{cmp::Reverse, fmt};

use serde::Serialize;

use super::{
    reading::{Reading, readers},
    stripped::stripped,
};
use crate::{
    Profile, Start, Tools,
    limits::{MAX_CANDIDATES, MAX_DETECTED_BYTES},
    profile,
};

/// Confidence in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// No evidence for any family, or too much against the best one.
    Unknown,
    /// Some evidence for the first candidate.
    Likely,
    /// No other family reads the text as well.
    Sure,
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Likely => "likely",
            Self::Sure => "sure",
        })
    }
}

/// The families whose models may have written some text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Detection {
    /// Confidence in the first candidate. Under [`Certainty::Unknown`], candidates are guesses.
    pub certainty: Certainty,
    /// Groups of families, best first. Empty if the text contains no family's markup.
    pub candidates: Vec<Candidate>,
    /// Families whose special tokens a server may have left out of a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stripped: Vec<String>,
}

/// Families that read a text alike, and the evidence for them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Names of the families, those with the most known models first.
    pub families: Vec<String>,
    /// Number of calls that these families read.
    pub calls: usize,
    /// Number of calls that were malformed or cut.
    pub broken: usize,
    /// Texts that are markup to these families, in order of appearance.
    pub markers: Vec<String>,
    /// Texts that look like markup and are ordinary text to these families.
    pub leftovers: Vec<String>,
    /// Where the text begins: in reasoning if reasoning is closed before any is opened.
    pub start: Start,
}

impl Detection {
    /// Returns the profile that reads the text best, or `None` if the certainty is too low.
    #[must_use]
    pub fn profile(&self) -> Option<Profile> {
        let best = self.candidates.first().filter(|_| self.certainty > Certainty::Unknown)?;
        let profile = profile(best.families.first()?).ok()?;
        Some(Profile { start: best.start, ..profile })
    }
}

impl fmt::Display for Candidate {
    /// Writes the evidence in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = |f: &mut fmt::Formatter<'_>, n: usize, what: &str| {
            write!(f, "{n} call{} {what}", if n == 1 { "" } else { "s" })
        };
        calls(f, self.calls, "read")?;
        if self.broken > 0 {
            f.write_str(", ")?;
            calls(f, self.broken, "cut or broken")?;
        }
        if !self.markers.is_empty() {
            write!(f, ", markup {}", shown(&self.markers))?;
        }
        if self.start == Start::Reasoning {
            f.write_str(", begins in reasoning")?;
        }
        if !self.leftovers.is_empty() {
            write!(f, ", left as text {}", shown(&self.leftovers))?;
        }
        Ok(())
    }
}

/// Formats the first few of some marks.
fn shown(marks: &[String]) -> String {
    const FEW: usize = 6;
    let mut shown: Vec<String> =
        marks.iter().take(FEW).map(|mark| format!("`{}`", mark.escape_debug())).collect();
    if let Some(more @ 1..) = marks.len().checked_sub(FEW) {
        shown.push(format!("and {more} more"));
    }
    shown.join(" ")
}

/// Returns the families whose models may have written these messages, given as raw text with
/// special tokens kept.
///
/// Every registered family reads up to one megabyte of each text. Families that read the texts
/// alike are named together, because the wire does not distinguish them. A text without markup
/// gives no evidence, and neither do marks that no family knows.
///
/// ```
/// use llm_stream_guard::{Certainty, detect};
/// let detection = detect(["Sure. <function=ping>{}</function>"]);
/// assert_eq!(detection.candidates[0].families[0], "functionary_v31");
/// assert_eq!(detect(["It is <b>raining</b>."]).certainty, Certainty::Unknown);
/// ```
#[must_use]
pub fn detect<'t>(messages: impl IntoIterator<Item = &'t str>) -> Detection {
    let texts: Vec<&str> = messages.into_iter().map(head).collect();
    let readings = readers(&Tools::none(), None).into_iter().map(|reader| {
        let reading = reader.read(&texts);
        (reader.profile, reading)
    });
    let mut groups: Vec<(Reading, Vec<Profile>)> = Vec::new();
    for (profile, reading) in readings.filter(|(_, reading)| reading.says_something()) {
        match groups.iter_mut().find(|(other, _)| other.made == reading.made) {
            Some((_, profiles)) => profiles.push(profile),
            None => groups.push((reading, vec![profile])),
        }
    }
    groups.sort_by_key(|(reading, profiles)| (reading.badness(), Reverse(known(profiles))));
    let code = texts.iter().any(|text| text.trim_start().starts_with(char::is_alphabetic));
    let certainty = certainty(&groups, code);
    let candidates = groups
        .into_iter()
        .take(MAX_CANDIDATES)
        .map(|(reading, profiles)| candidate(reading, profiles));
    Detection { certainty, candidates: candidates.collect(), stripped: stripped(&texts) }
}

/// Returns the part of a text that is read.
fn head(text: &str) -> &str {
    let end = (0..=text.len().min(MAX_DETECTED_BYTES)).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or_default()]
}

/// Counts the models that are known to write like these profiles.
fn known(profiles: &[Profile]) -> usize {
    profiles.iter().map(|profile| profile.models.len()).max().unwrap_or_default()
}

fn candidate(reading: Reading, mut profiles: Vec<Profile>) -> Candidate {
    profiles.sort_by_key(|profile| Reverse(profile.models.len()));
    Candidate {
        families: profiles.into_iter().map(|profile| profile.name).collect(),
        calls: reading.complete,
        broken: reading.made.broken,
        markers: reading.explained,
        leftovers: reading.left,
        start: if reading.orphan { Start::Reasoning } else { Start::Content },
    }
}

/// Returns the certainty of the first group. `code` says that a text begins with a letter and may
/// be program code.
fn certainty(groups: &[(Reading, Vec<Profile>)], code: bool) -> Certainty {
    let Some((best, _)) = groups.first() else { return Certainty::Unknown };
    let marked = !best.explained.is_empty();
    let example = !marked && (best.made.has_text() || code);
    let mention = best.complete == 0 && !best.has_arguments;
    // Unknown tokens belong to an unknown family. A call without markup among other text may be an
    // example, and a marker without arguments after it may be a mention.
    if best.left_special || example || mention && !best.reasons() {
        return Certainty::Unknown;
    }
    let alone = groups.get(1).is_none_or(|(next, _)| next.badness() > best.badness());
    match best.complete > 0 && best.made.broken == 0 && marked && alone {
        true => Certainty::Sure,
        false => Certainty::Likely,
    }
}

impl Reading {
    /// Whether the reading has reasoning and no call.
    fn reasons(&self) -> bool {
        self.made.calls.is_empty() && (self.orphan || self.made.has_reasoning())
    }

    fn says_something(&self) -> bool {
        !self.explained.is_empty() || !self.made.calls.is_empty()
    }

    /// Returns the evidence against a reading, the gravest first.
    fn badness(&self) -> (usize, bool, usize, Reverse<usize>, Reverse<usize>) {
        let (calls, marks) = (Reverse(self.complete), Reverse(self.explained.len()));
        // Markup that was removed although no call came explains less than a broken call.
        let none = self.made.calls.is_empty() && self.made.broken == 0;
        (self.left_count, none, self.made.broken, calls, marks)
    }
}
