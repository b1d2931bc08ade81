//! Changing the texts of a family: other markers, and tags with a suffix.

use alloc::{string::String, vec::Vec};

use super::{At, CommitOn, Family, Form};
use crate::template::{Hole, Part, Template};

/// Texts that replace a family's own markers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequences {
    /// Starts of blocks, each with its possible ends. An empty list means the family's own ends.
    pub blocks: Vec<(String, Vec<String>)>,
    /// Ends of blocks that begin with the family's own markers.
    pub ends: Vec<String>,
}

/// Policy for a family's own markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum OwnMarkers {
    /// Only the sequences begin a call.
    #[default]
    Replaced,
    /// Own markers also begin a call.
    Kept,
}

impl Family {
    /// Calls `change` with every literal of the templates of calls, and with every other spelling.
    pub fn each_literal(&mut self, mut change: impl FnMut(&mut String)) {
        for form in &mut self.forms {
            let Form { sections, calls, parameters, elements, spellings, .. } = form;
            for template in sections.iter_mut().chain(calls).chain(parameters).chain(elements) {
                each_literal(&mut template.parts, &mut change);
            }
            for (text, others) in spellings {
                change(text);
                others.iter_mut().for_each(&mut change);
            }
        }
    }

    /// Returns the family with `sequences` in place of the first tags and the ends of its blocks.
    ///
    /// With [`OwnMarkers::Replaced`], the family's own tags are markup inside a block and text
    /// elsewhere. Calls whose tags have the tool's name keep them, between the sequences. Returns
    /// `None` for a family with message headers, which cannot be replaced.
    #[must_use]
    pub fn with_sequences(&self, sequences: &Sequences, own: OwnMarkers) -> Option<Self> {
        if self.messages.is_some() {
            return None;
        }
        let mut family = self.clone();
        if !sequences.ends.is_empty() {
            for form in &mut family.forms {
                if form.names_tools() {
                    form.sections = around("", &sequences.ends);
                } else {
                    each_block(form, |block| with_ends(&block, &sequences.ends));
                }
            }
        }
        let model = family.forms.iter().find(|form| form.blocks().iter().any(is_marked));
        let Some(model) = model.or(family.forms.first()).cloned() else { return Some(family) };
        let given = sequences.blocks.iter().map(|(start, ends)| {
            let mut form = model.clone();
            (form.commit_on, form.at) = (Some(CommitOn::Marker), At::Anywhere);
            form.call_alone = None;
            if form.names_tools() {
                form.sections = around(start, ends);
                return form;
            }
            let marked = form.blocks().iter().any(is_marked);
            let named = form.blocks().iter().any(|block| !takes_all(block));
            each_block(&mut form, |block| {
                if marked && !is_marked(&block) || named && takes_all(&block) {
                    return Vec::new();
                }
                let blocks =
                    if ends.is_empty() { Vec::from([block]) } else { with_ends(&block, ends) };
                blocks.into_iter().map(|block| with_start(block, start)).collect()
            });
            form
        });
        let mut forms: Vec<Form> = given.collect();
        if own == OwnMarkers::Kept || forms.is_empty() {
            forms.append(&mut family.forms);
        }
        family.forms = forms;
        Some(family)
    }
}

impl Form {
    /// Returns the templates of blocks: sections, or calls if the form has no sections.
    fn blocks(&self) -> &[Template] {
        if self.has_sections() { &self.sections } else { &self.calls }
    }

    /// Returns whether the form has sections with literal text.
    pub(crate) fn has_sections(&self) -> bool {
        self.sections.iter().any(|section| section.parts.len() > 1)
    }

    /// Returns whether the tags of calls have the tool's name.
    fn names_tools(&self) -> bool {
        self.calls.iter().any(Template::repeats_name)
    }
}

/// Returns sections of one call between `start` and each of `ends`.
fn around(start: &str, ends: &[String]) -> Vec<Template> {
    let section = |end: &str| {
        let literal = |text: &str| (!text.is_empty()).then(|| Part::Literal(text.into()));
        let parts = [literal(start), Some(Part::Hole(Hole::Call)), literal(end)];
        Template { parts: parts.into_iter().flatten().collect() }
    };
    match ends {
        [] => Vec::from([section("")]),
        ends => ends.iter().map(|end| section(end)).collect(),
    }
}

fn each_literal(parts: &mut [Part], change: &mut impl FnMut(&mut String)) {
    for part in parts {
        match part {
            Part::Literal(text) => change(text),
            Part::Group(parts) => each_literal(parts, change),
            Part::Hole(_) => {}
        }
    }
}

fn each_block(form: &mut Form, change: impl FnMut(Template) -> Vec<Template>) {
    let blocks = if form.has_sections() { &mut form.sections } else { &mut form.calls };
    *blocks = core::mem::take(blocks).into_iter().flat_map(change).collect();
    let mut seen: Vec<Template> = Vec::new();
    blocks.retain(|block| {
        let new = !seen.contains(block);
        if new {
            seen.push(block.clone());
        }
        new
    });
}

/// Returns whether the block begins with a tag, not with a hole or a bracket.
fn is_marked(block: &Template) -> bool {
    match block.parts.first() {
        Some(Part::Literal(text)) => !text.trim_ascii().bytes().all(|b| matches!(b, b'[' | b'{')),
        _ => false,
    }
}

/// Returns the block with `start` in place of its first tag.
fn with_start(mut block: Template, start: &str) -> Template {
    if let Some(Part::Literal(text)) = block.parts.first_mut() {
        let blank = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
        let end = text[..blank].find("><").map_or(blank, |at| at + 1);
        let brackets = text[..end].len() - text[..end].trim_end_matches(['[', '{', '(']).len();
        text.replace_range(..end - brackets, start);
    } else {
        block.parts.insert(0, Part::Literal(start.into()));
    }
    block
}

/// Returns whether only the opener distinguishes the block, so that after another opener every text
/// would be such a block.
fn takes_all(block: &Template) -> bool {
    block.holes().any(|hole| matches!(hole, Hole::NameMeant(_)))
}

/// Returns the block once for each of `ends`, which replaces the text after the last hole. Brackets
/// that the block opened are kept closed.
fn with_ends(block: &Template, ends: &[String]) -> Vec<Template> {
    let last = block.parts.iter().rposition(|part| matches!(part, Part::Hole(_)));
    let (kept, following) = block.parts.split_at(last.map_or(0, |last| last + 1));
    let opens = kept.iter().flat_map(literal).fold(0, |opens: isize, c| match c {
        '[' | '(' => opens + 1,
        ']' | ')' => opens - 1,
        _ => opens,
    });
    let closing = following.iter().flat_map(literal).skip_while(char::is_ascii_whitespace);
    let closing: String = closing
        .take_while(|c| matches!(c, ']' | ')'))
        .take(usize::try_from(opens).unwrap_or(0))
        .collect();
    let ended = |end: &String| {
        let mut parts = kept.to_vec();
        parts.push(Part::Literal(alloc::format!("{closing}{end}")));
        Template { parts }
    };
    ends.iter().map(ended).collect()
}

fn literal(part: &Part) -> impl Iterator<Item = char> {
    let text = if let Part::Literal(text) = part { text } else { "" };
    text.chars()
}
