//! The reasoning section of a file, and the markers it shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toolcall_parsers::{
    family::{At, Erase, Family, FamilyError, Suffix},
    template::{Hole, Part, Template},
};

use super::entry::Names;

/// `[reasoning]` as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Section {
    block: Texts,
    at: Anchor,
    pub(super) starts: Starts,
    pub(super) switch: BTreeMap<String, bool>,
    newlines: Newlines,
    once: bool,
    stray_close: StrayClose,
    repeated_open: RepeatedOpen,
    case: Case,
    remark: Option<(String, String)>,
    prepend: Option<String>,
    spellings: BTreeMap<String, Texts>,
    pub(super) names: Names,
}

/// One text or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Texts {
    fn list(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }
}

/// A closed set of words, each with the variant of a crate's enum that it stands for.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($word:ident = $value:literal),+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(super) enum $name { #[default] $($word),+ }

        impl $name {
            fn name(self) -> &'static str {
                match self { $(Self::$word => $value),+ }
            }
        }
    };
}

words!(
    /// Where an opener counts.
    Anchor { Line = "Line", Anywhere = "Anywhere", Lead = "Lead" }
);
words!(
    /// Newlines that go with the markers.
    Newlines { Tags = "Tags", None = "None", Closer = "CloserDeclared", One = "Declared", All = "All" }
);
words!(
    /// What becomes of a closer when nothing is open.
    StrayClose { Leading = "Leading", Keep = "Keep", Drop = "Drop" }
);
words!(
    /// What becomes of an opener that repeats the one before it.
    RepeatedOpen { Absorb = "Absorb", Keep = "Keep" }
);
words!(
    /// Whether letter case counts.
    Case { Exact = "Exact", Any = "Insensitive" }
);
words!(
    /// Whether the prompt opens the reasoning.
    Starts { Closed = "Closed", Open = "Open", Switch = "Switch" }
);

impl Starts {
    /// The name in the guard's table.
    pub(super) fn row(self) -> &'static str {
        self.name()
    }
}

/// The markers of a format, as the fields of its row that are not the default.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Marks {
    pub(super) open: Vec<String>,
    pub(super) close: Vec<String>,
    pub(super) label: Option<String>,
    pub(super) answer: Vec<(String, u8, u8)>,
    pub(super) remark: Option<(String, String)>,
    pub(super) prepend: Option<String>,
    /// Field and word of an enum, those that are not the default.
    pub(super) words: Vec<(&'static str, String)>,
    pub(super) special_tokens: bool,
}

impl Marks {
    /// The markers that a section of a family shows.
    pub(super) fn new(section: &Section, family: &Family) -> Result<Self, FamilyError> {
        let mut marks = Self {
            remark: section.remark.clone(),
            prepend: section.prepend.clone(),
            answer: family.erase.iter().filter_map(answer).collect(),
            special_tokens: family.special_tokens,
            ..Self::default()
        };
        let blocks = section.block.list();
        let mut unopened = Vec::new();
        for (i, text) in blocks.iter().enumerate() {
            let single = matches!(section.block, Texts::One(_));
            let path = if single { String::new() } else { format!("[{i}]") };
            let error =
                |problem: String| FamilyError::new(format!("reasoning.block{path}"), problem);
            let template = Template::parse(text).map_err(|fault| error(fault.to_string()))?;
            let (open, label, close) = block(&template)
                .ok_or_else(|| error("expected one `{text}`, and an end behind it".into()))?;
            marks.label = marks.label.or(label);
            let spelled = section.spelled(&close);
            if open.is_empty() {
                unopened.extend(spelled);
            } else {
                marks.open.extend(section.spelled(&open));
                marks.close.extend(spelled);
            }
        }
        marks.special_tokens &= marks.open.iter().any(|open| !is_ordinary(open));
        if marks.special_tokens {
            marks.answer.extend(family.end_of_turn.iter().map(|token| (token.clone(), 0, 0)));
        }
        // Closers without an opener come last: the others stand at their openers' places.
        marks.close.extend(unopened);
        let pairing = if blocks.len() > 1 && section.spellings.is_empty() { "Own" } else { "Any" };
        let suffix = if family.suffix == Suffix::Learnt { "Any" } else { "None" };
        let recur = if section.once { "Once" } else { "Any" };
        let words = [
            ("pairing", "Pairing", "Any", pairing),
            ("openers", "Openers", "Line", section.at.name()),
            ("case", "MarkerCase", "Exact", section.case.name()),
            ("suffix", "TokenSuffix", "None", suffix),
            ("recur", "Recur", "Any", recur),
            ("stray_close", "StrayClose", "Leading", section.stray_close.name()),
            ("dup_open", "DupOpen", "Absorb", section.repeated_open.name()),
            ("newlines", "BoundNewlines", "Tags", section.newlines.name()),
        ];
        let changed = words.into_iter().filter(|(_, _, default, word)| default != word);
        marks.words =
            changed.map(|(field, kind, _, word)| (field, format!("{kind}::{word}"))).collect();
        Ok(marks)
    }

    /// Prompts nobody sees may open the reasoning: unless the file says otherwise, its first closer
    /// is one even if nothing is open.
    pub(super) fn opened_by_prompts(&mut self) {
        if self.words.iter().all(|(field, _)| *field != "stray_close") {
            self.words.push(("stray_close", "StrayClose::First".into()));
        }
    }

    /// Whether both read the same: the order of markers only says which is written.
    pub(super) fn reads_as(&self, other: &Self) -> bool {
        let sets = |marks: &Self| {
            let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<_>>();
            (set(&marks.open), set(&marks.close))
        };
        let rest = |marks: &Self| Self { open: Vec::new(), close: Vec::new(), ..marks.clone() };
        sets(self) == sets(other) && rest(self) == rest(other)
    }
}

impl Section {
    /// A marker in all its spellings, the shown one first.
    fn spelled(&self, marker: &str) -> Vec<String> {
        let mut all = vec![marker.to_owned()];
        for (text, others) in &self.spellings {
            if marker.contains(text.as_str()) {
                all.extend(others.list().iter().map(|other| marker.replace(text.as_str(), other)));
            }
        }
        all
    }
}

/// Opener, label and closer of a block; the newlines it shows are bound by a rule, not by the
/// marker.
fn block(template: &Template) -> Option<(String, Option<String>, String)> {
    let (open, label, close) = match template.parts.as_slice() {
        [Part::Hole(Hole::Text), Part::Literal(close)] => ("", None, close),
        [Part::Literal(open), Part::Hole(Hole::Text), Part::Literal(close)] => {
            (open.as_str(), None, close)
        }
        [Part::Literal(open), Part::Group(group), Part::Hole(Hole::Text), Part::Literal(close)] => {
            match group.as_slice() {
                [Part::Literal(label)] => (open.as_str(), Some(label.clone()), close),
                _ => return None,
            }
        }
        _ => return None,
    };
    let close = close.trim_matches('\n');
    (!close.is_empty()).then(|| (open.trim_matches('\n').to_owned(), label, close.to_owned()))
}

/// Whether text that is no special token spells the marker: `<think>`, or a phrase.
fn is_ordinary(marker: &str) -> bool {
    let inner = marker.strip_prefix('<').and_then(|inner| inner.strip_suffix('>'));
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    inner.map_or(marker.starts_with(|first: char| first.is_alphabetic()), is_word)
}

/// Erased markup as a marker of the answer; what only stands at some places is no such.
fn answer(erase: &Erase) -> Option<(String, u8, u8)> {
    let (before, after) = erase.newlines;
    let anywhere = erase.at == At::Anywhere && !erase.once;
    anywhere.then(|| (erase.text.clone(), before, after))
}
