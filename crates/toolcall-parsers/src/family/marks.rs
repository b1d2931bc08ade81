//! Reading of the section on reasoning of a family's file.

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use jail_match::Newlines;
use serde_json::Value;

use super::{
    At, Erase, Family, FamilyError, Suffix,
    fields::{FamilyResult, FieldReader},
};
use crate::template::{Hole, Part, Template};

/// The markers of a family's reasoning: `[reasoning]` of its file.
///
/// Rules are the names of variants of enums in the crate `think-filter`. This crate does not depend
/// on that crate, so they are texts.
///
/// ```
/// use serde_json::json;
/// use toolcall_parsers::family::{Family, ReasoningMarks};
/// let section = json!({"block": "<plan>{text}</plan>", "at": "lead", "starts": "open"});
/// let marks = ReasoningMarks::from_value(&section, &Family::default())?;
/// assert_eq!((marks.open[0].as_str(), marks.close[0].as_str()), ("<plan>", "</plan>"));
/// assert_eq!((marks.openers, marks.starts), ("Lead", "Open"));
///
/// let error = ReasoningMarks::from_value(&json!({"block": "<plan>"}), &Family::default());
/// assert_eq!(error.unwrap_err().field(), "reasoning.block");
/// # Ok::<(), toolcall_parsers::family::FamilyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasoningMarks {
    /// The openers of reasoning.
    pub open: Vec<String>,
    /// The closers of reasoning. Closers without an opener come last.
    pub close: Vec<String>,
    /// A label that follows an opener.
    pub label: Option<String>,
    /// `Pairing`: `Any` or `Own`.
    pub pairing: &'static str,
    /// `Openers`: `Line`, `Anywhere` or `Lead`.
    pub openers: &'static str,
    /// `MarkerCase`: `Exact` or `Insensitive`.
    pub case: &'static str,
    /// `TokenSuffix`: `None` or `Any`.
    pub suffix: &'static str,
    /// `Recur`: `Any` or `Once`.
    pub recur: &'static str,
    /// `StrayClose`: `Leading`, `First`, `Keep` or `Drop`, or `None` if the file has no value.
    pub stray_close: Option<&'static str>,
    /// `DupOpen`: `Absorb` or `Keep`.
    pub dup_open: &'static str,
    /// `BoundNewlines`: `Tags`, `None`, `CloserDeclared`, `Declared` or `All`.
    pub newlines: &'static str,
    /// Markers of the answer that are removed, with the numbers of newlines before and after that
    /// are also removed.
    pub answer: Vec<(String, u8, u8)>,
    /// The opener and closer of remarks inside reasoning.
    pub remark: Option<(String, String)>,
    /// A text to insert before the first content.
    pub prepend: Option<String>,
    /// Whether the markers are special tokens.
    pub special_tokens: bool,
    /// Whether the prompt opens the reasoning: `Closed`, `Open`, or `Switch`.
    pub starts: &'static str,
    /// The arguments of the chat template that decide for `Switch`, and their defaults.
    pub switch: BTreeMap<String, bool>,
    /// Engines' names for the format.
    pub names: BTreeMap<String, Vec<String>>,
}

const KEYS: [&str; 13] = [
    "block",
    "at",
    "starts",
    "switch",
    "newlines",
    "once",
    "stray_close",
    "repeated_open",
    "case",
    "remark",
    "prepend",
    "spellings",
    "names",
];

impl ReasoningMarks {
    /// Reads the section of `family`'s file, after [`super::reasoning`] added inherited fields.
    ///
    /// # Errors
    /// The error names the field. Causes are an unknown key, a value of the wrong type, a block
    /// without `{text}` and an end, or a missing `switch`.
    pub fn from_value(section: &Value, family: &Family) -> Result<Self, FamilyError> {
        let fields = FieldReader::new(section, "reasoning".to_owned()).table(&KEYS)?;
        let word = |key: &str, words: &[(&str, &'static str)]| -> FamilyResult<&'static str> {
            let default = words.first().map_or("", |&(_, word)| word);
            Ok(fields.optional(key, |field| field.word(words))?.unwrap_or(default))
        };
        let spellings = fields.or_default("spellings", |field| {
            let all = field.entries()?;
            let read = |(text, others): (&str, FieldReader<'_>)| {
                Ok((text.to_owned(), others.list(FieldReader::marker)?))
            };
            all.iter().map(read).collect::<FamilyResult<Vec<_>>>()
        })?;
        let blocks = fields.or_default("block", |field| {
            field.list(|field| {
                let expected = || field.error("expected one `{text}` and an end after it");
                block(&field.template()?).ok_or_else(expected)
            })
        })?;
        let (mut open, mut close, mut unopened) = (Vec::new(), Vec::new(), Vec::new());
        let mut label = None;
        let several = blocks.len() > 1;
        for block in blocks {
            label = label.or(block.label);
            let closers = spelled(&block.close, &spellings);
            if block.open.is_empty() {
                unopened.extend(closers);
            } else {
                open.extend(spelled(&block.open, &spellings));
                close.extend(closers);
            }
        }
        close.extend(unopened);
        let special_tokens = family.special_tokens && open.iter().any(|open| !is_ordinary(open));
        let mut answer: Vec<_> = family.erase.iter().filter_map(self::answer).collect();
        if special_tokens {
            answer.extend(family.end_of_turn.iter().map(|token| (token.clone(), 0, 0)));
        }
        let marks = Self {
            open,
            close,
            label,
            pairing: if several && spellings.is_empty() { "Own" } else { "Any" },
            openers: word("at", &[("line", "Line"), ("anywhere", "Anywhere"), ("lead", "Lead")])?,
            case: word("case", &[("exact", "Exact"), ("any", "Insensitive")])?,
            suffix: if family.suffix == Suffix::Learnt { "Any" } else { "None" },
            recur: match fields.or_default("once", |field| field.flag())? {
                true => "Once",
                false => "Any",
            },
            stray_close: fields.optional("stray_close", |field| {
                field.word(&[
                    ("leading", "Leading"),
                    ("first", "First"),
                    ("keep", "Keep"),
                    ("drop", "Drop"),
                ])
            })?,
            dup_open: word("repeated_open", &[("absorb", "Absorb"), ("keep", "Keep")])?,
            newlines: word(
                "newlines",
                &[
                    ("tags", "Tags"),
                    ("none", "None"),
                    ("closer", "CloserDeclared"),
                    ("one", "Declared"),
                    ("all", "All"),
                ],
            )?,
            answer,
            remark: fields.optional("remark", |field| {
                match <[String; 2]>::try_from(field.list(FieldReader::marker)?) {
                    Ok([open, close]) => Ok((open, close)),
                    Err(_) => Err(field.error("expected an opener and a closer")),
                }
            })?,
            prepend: fields.optional("prepend", |field| field.token())?,
            special_tokens,
            starts: word(
                "starts",
                &[("closed", "Closed"), ("open", "Open"), ("switch", "Switch")],
            )?,
            switch: fields.or_default("switch", |field| {
                let all = field.entries()?;
                all.iter().map(|(key, on)| Ok((key.to_string(), on.flag()?))).collect()
            })?,
            names: fields.or_default("names", |field| {
                let all = field.entries()?;
                let read = |(engine, names): (&str, FieldReader<'_>)| {
                    Ok((engine.to_string(), names.list(FieldReader::token)?))
                };
                all.iter().map(read).collect()
            })?,
        };
        // A `switch` without `starts = "switch"` is allowed, because a variant may replace `starts`
        // alone.
        if marks.starts == "Switch" && marks.switch.is_empty() {
            return Err(FamilyError::new("reasoning.switch", "expected an argument"));
        }
        Ok(marks)
    }
}

/// The markers of a `block`.
struct Block {
    open: String,
    label: Option<String>,
    close: String,
}

/// Returns the markers of a block. Newlines around them are removed, because `newlines` is the rule
/// for them.
fn block(template: &Template) -> Option<Block> {
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
    let bare = |text: &str| text.trim_matches('\n').to_owned();
    let close = bare(close);
    (!close.is_empty()).then(|| Block { open: bare(open), label, close })
}

/// Returns all spellings of `marker`, the one in the file first.
fn spelled(marker: &str, spellings: &[(String, Vec<String>)]) -> Vec<String> {
    let mut all = Vec::from([marker.to_owned()]);
    for (text, others) in spellings.iter().filter(|(text, _)| marker.contains(text.as_str())) {
        all.extend(others.iter().map(|other| marker.replace(text.as_str(), other)));
    }
    all
}

/// Returns whether a marker is text and not a special token: `<think>`, or a phrase.
fn is_ordinary(marker: &str) -> bool {
    let inner = marker.strip_prefix('<').and_then(|inner| inner.strip_suffix('>'));
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    inner.map_or(marker.starts_with(|first: char| first.is_alphabetic()), is_word)
}

/// Returns erased markup as a marker of the answer, unless it is restricted to some positions.
fn answer(erase: &Erase) -> Option<(String, u8, u8)> {
    let (before, after) = erase.newlines;
    let anywhere = erase.at == At::Anywhere && !erase.once;
    let bound = |count: u8| count.min(Newlines::MAX);
    anywhere.then(|| (erase.text.clone(), bound(before), bound(after)))
}
