//! A family's file, checked, with the parts that it takes from other files.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use toolcall_parsers::{
    Grammar,
    family::{
        Family, FamilyError, FamilyFile, ModelPattern, ReasoningMarks, merge, reasoning, resolve,
        with_variant,
    },
};

use super::{marks, names};

/// Names by the engine that has them; those of `other` are ours.
pub(super) type Names = BTreeMap<String, Vec<String>>;

/// The fields of a family's file.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) about: String,
    pub(super) source: String,
    #[serde(default)]
    pub(super) models: Vec<String>,
    #[serde(default)]
    pub(super) names: Names,
    /// Rules of texts in the models' chat templates.
    #[serde(default)]
    pub(super) template: Vec<Vec<String>>,
    #[serde(default)]
    variant: Vec<VariantHead>,
}

/// The models of a variant.
#[derive(Debug, Deserialize)]
struct VariantHead {
    models: Vec<String>,
}

/// A family with its file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) head: Head,
    /// The file with the parts that it takes from other files.
    pub(super) file: Value,
    /// The complete file for people to read, including the section on reasoning that it refers to.
    pub(super) shown: Value,
    pub(super) family: Family,
    pub(super) stream: Stream,
    /// The reasoning format that this file defines, if any.
    pub(super) marks: Option<ReasoningMarks>,
    /// The names that engines give that format.
    pub(super) reasoning_names: Names,
    pub(super) variants: Vec<Variant>,
}

/// The family as some models write it.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) models: Vec<String>,
    pub(super) stream: Stream,
}

/// The beginning of a family's stream.
#[derive(Debug, PartialEq)]
pub(super) struct Stream {
    pub(super) calls: Option<(String, Option<usize>)>,
    pub(super) reasoning: Option<String>,
    pub(super) in_reasoning: &'static str,
    /// Whether the prompt opens the reasoning.
    pub(super) starts: &'static str,
    pub(super) switch: BTreeMap<String, bool>,
    pub(super) special_tokens: bool,
}

/// The keys of a file that describe calls.
const CALLS: [&str; 9] = [
    "calls",
    "end_of_turn",
    "erase",
    "foreign",
    "messages",
    "prompt",
    "special_tokens",
    "suffix",
    "write",
];

impl Entry {
    /// Reads and checks a file, with the files it may refer to.
    pub(super) fn new(file: &FamilyFile, files: &[FamilyFile]) -> Result<Self, FamilyError> {
        Self::read(file, files).map_err(|error| file.error(error))
    }

    fn read(file: &FamilyFile, files: &[FamilyFile]) -> Result<Self, FamilyError> {
        let name = file.name().to_owned();
        let lookup = |name: &str| {
            let found = files.iter().find(|file| file.name() == name);
            found.map(|file| file.value().clone())
        };
        let head: Head = typed(file.value(), "")?;
        let resolved = resolve(&name, file.value(), lookup)?;
        let family = Family::from_value(&resolved)?;
        Grammar::new(family.clone())?;
        let section = reasoning(&name, file.value(), lookup)?;
        let mut marks = None;
        if let Some((owner, section)) = &section
            && *owner == name
        {
            marks = Some(ReasoningMarks::from_value(section, &family)?);
        }
        // A format that begins from another file's has its own names.
        let own_names = file.value().pointer("/reasoning/names");
        let reasoning_names = match (&marks, own_names) {
            (Some(_), Some(own)) => typed(own, "reasoning.names")?,
            _ => Names::new(),
        };
        let stream = stream(&family, None, section.as_ref())?;
        let mut shown = resolved.clone();
        if let (Some((_, section)), Some(shown)) = (&section, shown.as_object_mut()) {
            shown.insert("reasoning".into(), section.clone());
        }
        names::check_engines(&head.names, "names")?;
        names::check_engines(&reasoning_names, "reasoning.names")?;
        let mut entry = Self {
            name,
            head,
            file: resolved,
            shown,
            family,
            stream,
            marks,
            reasoning_names,
            variants: Vec::new(),
        };
        entry.check_spellings()?;
        let variants = file.value().get("variant").and_then(Value::as_array);
        for (i, variant) in variants.into_iter().flatten().enumerate() {
            let path = format!("variant[{i}]");
            if with_variant(&entry.file, variant) == with_variant(&entry.file, &Map::new().into()) {
                return Err(FamilyError::new(path, "it changes nothing"));
            }
            let read = entry.variant(i, variant, section.as_ref(), &lookup);
            let read = read.map_err(|error| inside(&path, &error))?;
            entry.variants.push(read);
        }
        Ok(entry)
    }

    fn variant(
        &mut self,
        i: usize,
        variant: &Value,
        section: Option<&(String, Value)>,
        lookup: &impl Fn(&str) -> Option<Value>,
    ) -> Result<Variant, FamilyError> {
        let changed = with_variant(&self.file, variant);
        let family = Family::from_value(&changed)?;
        Grammar::new(family.clone())?;
        let section = match variant.get("reasoning") {
            None => section.cloned(),
            Some(Value::Object(over)) if !over.contains_key("like") => {
                let none = Value::Object(Map::new());
                let base = section.map_or(&none, |(_, base)| base);
                let merged = merge(base, &Value::Object(over.clone()));
                let owner = section.map_or(&self.name, |(owner, _)| owner).clone();
                Some((owner, merged))
            }
            Some(_) => reasoning(&self.name, variant, lookup)?,
        };
        if let Some((owner, section)) = &section
            && *owner == self.name
        {
            let marks = ReasoningMarks::from_value(section, &family)?;
            match &self.marks {
                None => self.marks = Some(marks),
                Some(own) if marks::reads_as(own, &marks) => {}
                Some(_) => {
                    let problem = "other tags are another format: one with a file of its own";
                    return Err(FamilyError::new("reasoning.block", problem));
                }
            }
        }
        let head = self.head.variant.get(i);
        let number = (calls_of(&changed) != calls_of(&self.file)).then_some(i);
        Ok(Variant {
            models: head.map(|head| head.models.clone()).unwrap_or_default(),
            stream: stream(&family, number, section.as_ref())?,
        })
    }

    /// Returns whether the models call tools.
    pub(super) fn has_calls(&self) -> bool {
        !self.family.forms.is_empty()
    }

    /// Returns the fields about calls as compact JSON.
    pub(super) fn calls(&self) -> String {
        let mut calls = calls_of(&self.file);
        let variants = self.file.get("variant").and_then(Value::as_array);
        if self.variants.iter().any(|it| matches!(it.stream.calls, Some((_, Some(_))))) {
            let variants =
                variants.into_iter().flatten().map(|variant| Value::Object(calls_of(variant)));
            calls.insert("variant".into(), variants.collect());
        }
        Value::Object(calls).to_string()
    }

    /// Returns the variants as the file has them.
    fn declared_variants(&self) -> impl Iterator<Item = &Value> {
        self.file.get("variant").and_then(Value::as_array).into_iter().flatten()
    }

    /// Returns the file for a model of the family, by the part of its id that matched.
    pub(super) fn file_for(&self, text: &str) -> Value {
        let fits = |variant: &Variant| {
            let mut patterns = variant.models.iter().map(|pattern| ModelPattern::new(pattern));
            patterns.any(|pattern| pattern.is_for(text))
        };
        let found = self.variants.iter().position(fits);
        let over = found.and_then(|n| self.declared_variants().nth(n));
        over.map_or_else(|| self.file.clone(), |over| with_variant(&self.file, over))
    }

    /// Returns an error for a spelling of a text that no template has.
    fn check_spellings(&self) -> Result<(), FamilyError> {
        for (i, form) in self.family.forms.iter().enumerate() {
            let all = [&form.sections, &form.calls, &form.parameters, &form.elements];
            let texts: Vec<String> = all.into_iter().flatten().map(ToString::to_string).collect();
            for (text, _) in &form.spellings {
                let text = text.replace('\\', r"\\").replace('\n', r"\n");
                if !texts.iter().any(|template| template.contains(&text)) {
                    let single = self.file.get("calls").is_some_and(Value::is_object);
                    let index = if single { String::new() } else { format!("[{i}]") };
                    let field = format!("calls{index}.spellings.{text}");
                    return Err(FamilyError::new(field, "no template has it"));
                }
            }
        }
        Ok(())
    }
}

/// Records for each reasoning format whether a prompt may open it in some family.
pub(super) fn tell_opened_by_prompts(entries: &mut [Entry]) {
    let streams = entries.iter().flat_map(|entry| {
        entry.variants.iter().map(|variant| &variant.stream).chain([&entry.stream])
    });
    let opened: BTreeSet<String> = streams
        .filter(|stream| stream.starts != "Closed")
        .filter_map(|stream| stream.reasoning.clone())
        .collect();
    for entry in entries.iter_mut().filter(|entry| opened.contains(&entry.name)) {
        if let Some(marks) = &mut entry.marks {
            marks::opened_by_prompts(marks);
        }
    }
}

fn calls_of(file: &Value) -> Map<String, Value> {
    let entries = file.as_object().into_iter().flatten();
    let calls = entries.filter(|(key, _)| CALLS.contains(&key.as_str()));
    calls.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn stream(
    family: &Family,
    variant: Option<usize>,
    section: Option<&(String, Value)>,
) -> Result<Stream, FamilyError> {
    let (reasoning, marks) = match section {
        Some((owner, section)) => {
            let marks = ReasoningMarks::from_value(section, family)?;
            (Some(owner.clone()), Some(marks))
        }
        None => (None, None),
    };
    let in_reasoning = family.forms.first().map(|form| form.in_reasoning).unwrap_or_default();
    Ok(Stream {
        calls: (!family.forms.is_empty()).then(|| (family.name.clone(), variant)),
        reasoning,
        in_reasoning: match in_reasoning {
            toolcall_parsers::InReasoning::Literal => "Literal",
            toolcall_parsers::InReasoning::Suspend => "Suspend",
            toolcall_parsers::InReasoning::End => "End",
        },
        starts: marks.as_ref().map_or("Closed", |marks| marks.starts),
        switch: marks.map(|marks| marks.switch).unwrap_or_default(),
        special_tokens: family.special_tokens,
    })
}

/// Reads a part of a file as a type. Errors name the field.
pub(super) fn typed<'v, T: Deserialize<'v>>(
    value: &'v Value,
    path: &str,
) -> Result<T, FamilyError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let dot = if path.is_empty() || inner == "." { "" } else { "." };
        let inner = if inner == "." { "" } else { &inner };
        FamilyError::new(format!("{path}{dot}{inner}"), error.inner())
    })
}

/// Returns the same error of a field inside a table.
fn inside(path: &str, error: &FamilyError) -> FamilyError {
    let dot = if error.field().is_empty() { "" } else { "." };
    FamilyError::new(format!("{path}{dot}{}", error.field()), error.problem())
}
