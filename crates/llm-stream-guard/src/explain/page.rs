//! The web page of an explanation, which needs no other file.

use std::collections::HashMap;

use serde::Serialize;

use super::report::{
    Delay, ExplainedToken, Explanation, ExplanationSummary, Fate, Happening, Region, Step,
};

/// The page without its data.
const PAGE: &str = include_str!("page.html");
/// Placeholder of the data in the page.
const PLACE: &str = "\"__REPORT__\"";

/// The explanation of one choice of a recording under one reading.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// Index of the choice.
    pub choice: u32,
    /// Explanation of the choice.
    #[serde(flatten)]
    pub explanation: Explanation,
}

/// The explanations of every choice of a recording, under every requested reading.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Name of the recording.
    pub file: String,
    /// The explanations, ways first.
    pub explanations: Vec<Explained>,
}

/// Returns the page with `report` in it: HTML that needs no other file.
///
/// # Errors
/// Returns an error if the report cannot be written as JSON, which does not happen.
pub fn page(report: &Report) -> Result<String, serde_json::Error> {
    let mut words = Words::default();
    let mut wires: Vec<&str> = Vec::new();
    let explanations: Vec<Packed<'_>> =
        report.explanations.iter().map(|one| Packed::of(one, &mut wires, &mut words)).collect();
    let packed = Page { file: &report.file, wires, explanations, words: words.list };
    // Text of a model must not end the surrounding script, or begin a comment in it.
    let data = serde_json::to_string(&packed)?.replace('<', "\\u003c");
    let (head, tail) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    Ok([head, &data, tail].concat())
}

/// A compact form of a report, which stores repeated texts once, because most steps are alike.
#[derive(Serialize)]
struct Page<'r> {
    file: &'r str,
    wires: Vec<&'r str>,
    explanations: Vec<Packed<'r>>,
    words: Vec<&'r str>,
}

#[derive(Serialize)]
struct Packed<'r> {
    name: &'r str,
    choice: u32,
    summary: &'r ExplanationSummary,
    /// Index of the chunk's wire.
    wire: usize,
    /// Length and fate of each region, and its marker's effect as the index of a word plus 1, or 0.
    regions: Vec<(usize, Fate, usize)>,
    /// Numbers without trailing zeros: length; bytes emitted as content, as reasoning, as arguments
    /// and in other channels; bytes held; distance of the held text from the chunk's end; two words
    /// of the reason, each as its index plus 1.
    steps: Vec<Vec<usize>>,
    /// Data that few steps have, by step.
    more: Vec<(usize, More<'r>)>,
    tokens: Vec<PackedToken<'r>>,
}

/// Ids and length of a token, and its parts: a word for the role, and the length.
type PackedToken<'r> = (&'r [u32], usize, Vec<(usize, usize)>);

#[derive(Serialize)]
struct More<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    events: &'r [Happening],
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Delay>,
}

impl<'r> Packed<'r> {
    fn of(explained: &'r Explained, wires: &mut Vec<&'r str>, words: &mut Words<'r>) -> Self {
        let Explained { choice, explanation } = explained;
        let Explanation { name, summary, wire, regions, steps, tokens, .. } = explanation;
        let known = wires.iter().position(|known| known == wire);
        let number = known.unwrap_or_else(|| {
            let next = wires.len();
            wires.push(wire);
            next
        });
        let region = |Region { len, fate, marker, .. }: &'r Region| {
            (*len, *fate, words.of(marker.as_deref()))
        };
        let regions = regions.iter().map(region).collect();
        let more = steps.iter().enumerate().filter_map(|(at, step)| Some((at, rest(step)?)));
        let more = more.collect();
        let steps = steps.iter().map(|step| numbers(step, words)).collect();
        let token = |token: &'r ExplainedToken| {
            let parts = token.parts.iter().map(|part| (words.of(Some(part.role)), part.bytes));
            (&token.ids[..], token.len, parts.collect())
        };
        let tokens = tokens.iter().map(token).collect();
        Self { name, choice: *choice, summary, wire: number, regions, steps, more, tokens }
    }
}

fn numbers<'r>(step: &'r Step, words: &mut Words<'r>) -> Vec<usize> {
    let Step { at, len, content, reasoning, arguments, other, held, .. } = step;
    let mut all = vec![*len, *content, *reasoning, *arguments, *other];
    if let Some(held) = held {
        let back = (at + len).saturating_sub(held.from);
        let (kind, why) = (words.of(Some(held.kind)), words.of(Some(&held.why)));
        all.extend([held.bytes, back, kind, why]);
    }
    let used = all.iter().rposition(|&number| number > 0).map_or(0, |last| last + 1);
    all.truncate(used);
    all
}

fn rest(step: &Step) -> Option<More<'_>> {
    let Step { ms, end, events, delay, .. } = step;
    let any = ms.is_some() || end.is_some() || !events.is_empty() || delay.is_some();
    any.then_some(More { ms: *ms, end: *end, events, delay: *delay })
}

/// A table of repeated texts.
#[derive(Default)]
struct Words<'r> {
    list: Vec<&'r str>,
    numbers: HashMap<&'r str, usize>,
}

impl<'r> Words<'r> {
    /// Returns the index of a word plus 1, or 0 for `None`.
    fn of(&mut self, word: Option<&'r str>) -> usize {
        let Some(word) = word else { return 0 };
        *self.numbers.entry(word).or_insert_with(|| {
            self.list.push(word);
            self.list.len()
        })
    }
}
