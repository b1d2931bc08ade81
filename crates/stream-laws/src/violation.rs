//! How a broken law is reported: which law, under which cut, what was expected and found.

use core::fmt::{self, Debug, Display, Write as _};

use crate::record::RunRecord;

/// The laws of streaming machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// L1: the result does not depend on where the input was cut.
    ChunkInvariance,
    /// L2: every byte of the input is text or accounted for, once.
    NothingLost,
    /// L3: no text is held that is certain.
    Prompt,
    /// L4: memory does not grow with the stream.
    Bounded,
    /// L5: work grows with the input, not with its square.
    Linear,
    /// L6: no panic, well-formed events, complete calls carry a JSON object.
    Total,
    /// L7: encoded calls come back.
    RoundTrip,
    /// L8: markup never becomes text.
    NoLeak,
    /// L9: neighbours do not influence each other.
    Isolation,
    /// L10: atomic delivery equals streaming delivery, coalesced per call.
    Delivery,
    /// L11: the bytes reported as held are the bytes held.
    Held,
    /// L12: a machine that finished is at rest, and may be used again.
    Idle,
    /// L13: the arguments of a complete call hold no markup that its wire did not quote.
    CleanArguments,
    /// L14: no two calls have the same id.
    Ids,
    /// L15: markup that a value quotes is part of the value.
    QuotedMarkup,
}

impl Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ChunkInvariance => "L1 chunk invariance",
            Self::NothingLost => "L2 nothing lost",
            Self::Prompt => "L3 prompt",
            Self::Bounded => "L4 bounded",
            Self::Linear => "L5 linear",
            Self::Total => "L6 total",
            Self::RoundTrip => "L7 round trip",
            Self::NoLeak => "L8 no leak",
            Self::Isolation => "L9 isolation",
            Self::Delivery => "L10 delivery",
            Self::Held => "L11 held",
            Self::Idle => "L12 idle",
            Self::CleanArguments => "L13 clean arguments",
            Self::Ids => "L14 ids",
            Self::QuotedMarkup => "L15 quoted markup",
        })
    }
}

/// A law that did not hold, with what is needed to see why.
#[derive(Clone, PartialEq, Eq)]
pub struct LawViolation {
    /// The law that did not hold.
    pub law: Law,
    /// The name of the cut (or of the schedule, or of the prefix) that showed it.
    pub cut: String,
    /// The expected and the actual result, with the input.
    pub detail: String,
}

impl LawViolation {
    /// Returns a violation of `law` by `input` cut in the way `cut` names.
    pub fn new(law: Law, cut: impl Display, input: impl AsRef<[u8]>, detail: impl Display) -> Self {
        let detail = format!("{detail}\n  input: {}", excerpt(input.as_ref()));
        Self { law, cut: cut.to_string(), detail }
    }
}

impl Display for LawViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken\n  cut: {}\n  {}", self.law, self.cut, self.detail)
    }
}

/// Writes the same text as [`Display`], so that `unwrap` in a test prints a readable report.
impl Debug for LawViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl core::error::Error for LawViolation {}

/// Returns the first difference of two coalesced records, or `None`.
#[must_use]
pub fn difference(expected: &RunRecord, got: &RunRecord) -> Option<String> {
    first_difference("event", &expected.events, &got.events)
        .or_else(|| first_difference("diagnostic", &expected.diagnostics, &got.diagnostics))
        .or_else(|| first_difference("span", &expected.spans, &got.spans))
}

pub(crate) fn first_difference<T: PartialEq + Debug>(
    what: &str,
    expected: &[T],
    got: &[T],
) -> Option<String> {
    let same = expected.iter().zip(got).take_while(|(left, right)| left == right).count();
    if same == expected.len() && same == got.len() {
        return None;
    }
    let show = |list: &[T]| {
        list.get(same).map_or_else(|| format!("no {what}"), |item| shorten(&format!("{item:?}")))
    };
    Some(format!(
        "{what} {same} differs\n  expected: {}\n  got:      {}",
        show(expected),
        show(got)
    ))
}

/// Longest excerpt of an input or event in a report, in escaped characters.
const EXCERPT: usize = 600;

pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let mut escaped = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        let _ = write!(escaped, "{}", chunk.valid().escape_debug());
        let _ = write!(escaped, "{}", chunk.invalid().escape_ascii());
    }
    escaped.push('"');
    format!("{} ({} bytes)", shorten(&escaped), bytes.len())
}

pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= EXCERPT {
        return text.to_owned();
    }
    // Both ends: the trigger is often at the start, the damage at the end.
    let head: String = text.chars().take(EXCERPT / 2).collect();
    let tail: Vec<char> = text.chars().rev().take(EXCERPT / 2).collect();
    format!("{head} … {}", tail.iter().rev().collect::<String>())
}
