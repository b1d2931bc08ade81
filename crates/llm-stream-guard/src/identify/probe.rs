//! Probe turns: a template renders known calls, and every family tries to read the result.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use toolcall_parsers::{EncodeCall, Grammar, encode, family_variants};

use super::{
    Checkpoint,
    job::Render,
    markup::marks,
    reading::{Reading, calls_of, readers},
    turns::{ANSWER, ANSWERED, CALLS, PROMPT, Probe, Prompter, SWITCHES, TOOLS, TURNS},
};
use crate::{Profile, Start, Tools, reasoning};

/// Evidence from rendering a checkpoint's template.
#[derive(Debug, Default)]
pub(super) struct Probed {
    /// Families that read the probe's calls, best first. Each has a profile, of the variant that
    /// writes the same bytes if there is one.
    pub(super) readers: Vec<Fit>,
    /// Whether the rendering contains the calls, readable or not.
    pub(super) calls_are_rendered: bool,
    /// Whether the template expects arguments as a string of JSON.
    pub(super) string_arguments: bool,
    /// Tokens after an answer.
    pub(super) end_of_turn: Vec<String>,
    /// Text in the tags before their closing bracket.
    pub(super) token_suffix: Option<String>,
    /// The reason why no rendering succeeded.
    pub(super) problem: Option<String>,
}

/// A family that reads the calls of a rendering.
#[derive(Debug)]
pub(super) struct Fit {
    pub(super) profile: Profile,
    /// Whether the family's encoder writes the same bytes as the template.
    pub(super) encodes: bool,
    /// Distance of the rest of the rendering: marks left as text, then other differences between
    /// families with the same wire.
    pub(super) left: usize,
    pub(super) ends: bool,
    pub(super) reasons: bool,
}

/// Renders probe turns with a template and tries every family on them.
pub(super) fn probe(checkpoint: &Checkpoint, text: &str, render: Render<'_>) -> Probed {
    let template = Prompter::new(checkpoint, text, render);
    let mut probed = Probed { end_of_turn: template.ends(), ..Probed::default() };
    let (mut problems, mut rendered) = (None, false);
    for (n, turn) in TURNS.into_iter().enumerate() {
        let calls = &CALLS[..turn.calls];
        let wire = match template.wire(n) {
            Ok(wire) => wire,
            Err(problem) => {
                problems.get_or_insert(problem);
                continue;
            }
        };
        rendered = true;
        if !wire.contains(CALLS[0].0) {
            continue;
        }
        probed.calls_are_rendered = true;
        let told = checkpoint.token_suffix.clone();
        let guessed = suffix_of(&wire).filter(|_| told.is_none());
        let tried = [guessed.map(Some), Some(told)].into_iter().flatten().map(|suffix| {
            let fits = template
                .fits(Trial { wire: &wire, calls, suffix: suffix.as_deref() }, &probed.end_of_turn);
            (fits, suffix)
        });
        let found = tried.filter(|(fits, _)| !fits.is_empty());
        // Families that learn suffixes read unknown suffixes, but cannot write them.
        let worst = |(fits, _): &(Vec<Fit>, _)| fits.first().map(|best| (best.left, !best.encodes));
        if let Some((readers, token_suffix)) = found.min_by_key(worst) {
            if let Some(best) = readers.first() {
                best.keep_ends(&mut probed.end_of_turn);
            }
            let string_arguments = turn.string;
            return Probed { readers, string_arguments, token_suffix, problem: None, ..probed };
        }
    }
    // Some forms of a turn fail with most templates.
    probed.problem = problems.filter(|_| !rendered);
    probed
}

/// Calls as a template writes them, to be read by every family.
#[derive(Clone, Copy)]
struct Trial<'a> {
    wire: &'a str,
    calls: &'a [Probe],
    /// The suffix of the wire's markers.
    suffix: Option<&'a str>,
}

impl Prompter<'_> {
    /// Returns the tokens after an answer.
    fn ends(&self) -> Vec<String> {
        let whole = self.rendering(ANSWERED).unwrap_or_default();
        let tail = whole.rfind(ANSWER).map_or("", |at| &whole[at + ANSWER.len()..]);
        let mut ends: Vec<String> = marks(tail).map(|mark| mark.text.to_owned()).collect();
        let eos = self.checkpoint.eos_token.iter().filter(|eos| tail.contains(&***eos)).cloned();
        ends.extend(eos);
        let mut seen = BTreeSet::new();
        ends.retain(|end| seen.insert(end.clone()));
        ends
    }

    /// Returns the families that read exactly the trial's calls in its wire.
    fn fits(&self, trial: Trial<'_>, ends: &[String]) -> Vec<Fit> {
        let Trial { wire, calls, suffix } = trial;
        let expected = calls_of(calls.iter().map(|&(name, arguments, _)| (name, arguments)));
        let tools = serde_json::from_str(TOOLS).unwrap_or_default();
        let tools = Tools::from_json(&tools).unwrap_or_default();
        let thinks = |close: &str| self.text_has(close);
        let mut fits = Vec::new();
        for reader in readers(&tools, suffix) {
            let reading: Reading = reader.read(&[wire]);
            if reading.made.calls != expected || reading.made.broken > 0 {
                continue;
            }
            let format = reader.profile.reasoning.as_deref().map(reasoning);
            let reasons = match format {
                Some(Ok(crate::Reasoning::Format(format))) => {
                    format.close.iter().any(|close| thinks(close))
                }
                Some(_) => true,
                None => !thinks("</think>"),
            };
            let (profile, encodes) = self.variant(reader.profile, trial);
            let grammar = profile.grammar().ok().flatten();
            let known = |end: &String| {
                grammar.as_ref().is_some_and(|grammar| grammar.removed().any(|text| text == end))
            };
            let left = reading.left.iter().filter(|mark| !ends.contains(mark)).count();
            let ends = ends.iter().any(known);
            fits.push(Fit { profile, encodes, left, ends, reasons });
        }
        let least = fits.iter().map(|fit| fit.left).min().unwrap_or_default();
        fits.retain(|fit| fit.left == least);
        for fit in &mut fits {
            self.open(&mut fit.profile);
        }
        fits.sort_by_key(|fit| Reverse((fit.rank(), fit.profile.models.len())));
        fits
    }

    fn text_has(&self, text: &str) -> bool {
        self.checkpoint.template.as_ref().is_some_and(|template| template.contains(text))
    }

    /// Returns the variant of a family that writes the calls as the template does, or the family
    /// itself, and whether the bytes are equal.
    fn variant(&self, profile: Profile, trial: Trial<'_>) -> (Profile, bool) {
        let Trial { wire, calls, suffix } = trial;
        let writes = |grammar: Grammar| {
            let grammar =
                suffix.map_or(grammar.clone(), |suffix| grammar.with_token_suffix(suffix));
            // Ids are at the template's place, or absent.
            [true, false].into_iter().any(|ids| {
                let calls = calls.iter().map(|&(name, arguments, id)| {
                    let call = EncodeCall::new(name, arguments);
                    if ids { call.with_id(id) } else { call }
                });
                let calls: Vec<_> = calls.collect();
                let written = encode(&grammar, &calls, &Tools::implied_by(&calls));
                written.is_ok_and(|written| wire.contains(within(&written)))
            })
        };
        let variants = profile.tools.as_deref().map_or(0, family_variants);
        let all = std::iter::once(None).chain((0..variants).map(Some));
        for variant in all {
            let profile = Profile { variant, ..profile.clone() };
            if profile.grammar().ok().flatten().is_some_and(writes) {
                return (profile, true);
            }
        }
        (profile, false)
    }

    /// Sets where the template's prompt ends, and which switch changes that.
    fn open(&self, profile: &mut Profile) {
        let Some(Ok(format)) = profile.reasoning.as_deref().map(reasoning) else { return };
        let start = |prompt: Option<&str>| prompt.map(|prompt| format.start_after(prompt));
        profile.start = start(self.rendering(PROMPT).ok()).unwrap_or_default();
        let moved = SWITCHES.into_iter().enumerate().filter(|&(n, _)| {
            let [off, on] = [false, true].map(|on| start(self.switched(n, on)));
            // Only a switch that begins a thought counts: some switches close an open one.
            off != on && on == Some(Start::Reasoning)
        });
        let moved = moved.map(|(_, name)| name);
        let on = profile.start == Start::Reasoning;
        profile.switch = moved.map(|name| (name.to_owned(), on)).collect::<BTreeMap<_, _>>();
    }
}

impl Fit {
    /// Keeps those marks after an answer that the family knows as ends of a turn, or the first mark
    /// if the family knows none. Later marks belong to the next turn.
    fn keep_ends(&self, ends: &mut Vec<String>) {
        let grammar = self.profile.grammar().ok().flatten().unwrap_or_default();
        let known = |end: &&String| grammar.removed().any(|text| text == *end);
        let from = ends.iter().position(|end| known(&end)).unwrap_or_default();
        ends.drain(..from);
        let count = ends.iter().take_while(known).count();
        ends.truncate(count.max(1));
    }

    /// Returns the rank among families with the same wire; greater is better.
    pub(super) fn rank(&self) -> (bool, bool, bool) {
        (self.encodes, self.ends, self.reasons)
    }
}

/// Removes the first header, which the prompt writes, and the end of the message, which servers
/// leave out.
fn within(written: &str) -> &str {
    let header = written.strip_prefix("<|start|>assistant").unwrap_or(written);
    header.trim_end_matches("<|call|>").trim_end_matches("<|eom|>")
}

/// Returns the text that several tags have in common after a colon.
fn suffix_of(wire: &str) -> Option<String> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for mark in marks(wire).filter(|mark| !mark.special) {
        let inside = mark.text.trim_matches(['<', '>', '/']);
        if let Some(at) = inside.rfind(':') {
            *seen.entry(&inside[at..]).or_default() += 1;
        }
    }
    seen.into_iter().max_by_key(|(_, count)| *count).map(|(suffix, _)| suffix.to_owned())
}
