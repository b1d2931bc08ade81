//! Families from a user's files: the syntax of their calls and of their reasoning.

use std::{fmt, path::Path};

use serde_json::Value;
use think_filter::{
    BoundNewlines, DupOpen, Format, MarkerCase, Openers, Pairing, Recur, Start, StrayClose,
    TokenSuffix, Wrapper,
};
use toolcall_parsers::{
    Family, Grammar,
    family::{FamilyError, FamilyFile, ReasoningMarks, reasoning},
    same_name,
};

use super::{Profile, files::FILES, profile};

/// A family's file that cannot be read. The message names file, line and field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyFileError(String);

impl fmt::Display for FamilyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FamilyFileError {}

/// Returns the whole file of a registered family, with inherited parts included. Aliases are not
/// accepted.
#[must_use]
pub fn family_file(name: &str) -> Option<Value> {
    let file = FILES.iter().find(|(known, _)| same_name(known, name));
    file.and_then(|(_, text)| serde_json::from_str(text).ok())
}

impl Profile {
    /// Reads the file of a family that is not registered: TOML, or JSON by its extension. The file
    /// is in the [family language], and describes calls and reasoning.
    ///
    /// [family language]: https://github.com/llm-stream-guard/llm-stream-guard/blob/main/docs/family-language.md
    ///
    /// # Errors
    /// The file cannot be read, or is not a family. The error names file and field.
    pub fn from_family_file(path: &Path) -> Result<Self, FamilyFileError> {
        let fault =
            |error: &dyn fmt::Display| FamilyFileError(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
        let is_json = path.extension().is_some_and(|kind| kind == "json");
        let name = path.file_stem().map_or_else(Default::default, |stem| stem.to_string_lossy());
        let read = if is_json { Self::from_family_json(&text) } else { read_toml(&name, &text) };
        read.map_err(|error| fault(&error))
    }

    /// Reads a family from the text of a TOML file. `name` is the family's name. A mistake is a
    /// [`FamilyFileError`].
    ///
    /// ```
    /// use llm_stream_guard::{End, Guard, Profile};
    /// let file = "reasoning = 'qwen3'\n[calls]\ncall = '<run>{object}</run>'\n";
    /// let guard = Guard::builder(&Profile::from_family_toml("runner", file)?).build()?;
    /// let wire = "<think>Hm.</think><run>{\"name\": \"ping\", \"arguments\": {}}</run>";
    /// let message = guard.parse(wire, End::Stop)?;
    /// assert_eq!((message.reasoning.as_str(), message.calls[0].name.as_str()), ("Hm.", "ping"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The text is not a family. The error names line and field.
    pub fn from_family_toml(name: &str, text: &str) -> Result<Self, FamilyFileError> {
        read_toml(name, text).map_err(|error| FamilyFileError(error.to_string()))
    }

    /// Reads a family from JSON with the keys of a family's file, and `name`.
    ///
    /// # Errors
    /// The text is not a family. The error names the field.
    pub fn from_family_json(text: &str) -> Result<Self, FamilyError> {
        let grammar = Grammar::new(Family::from_json(text)?)?;
        // The text was read before, so that it is valid JSON.
        own_profile(grammar, &serde_json::from_str(text).unwrap_or_default())
    }
}

fn read_toml(name: &str, text: &str) -> Result<Profile, FamilyError> {
    let family = Family::from_toml(name, text)?;
    let file = FamilyFile::parse(name, text)?;
    Grammar::new(family)
        .map_err(FamilyError::from)
        .and_then(|grammar| own_profile(grammar, file.value()))
        .map_err(|error| file.error(error))
}

/// Returns the profile of a family with this grammar and this file.
fn own_profile(grammar: Grammar, said: &Value) -> Result<Profile, FamilyError> {
    let family = grammar.family();
    let mut own = Profile::named(grammar.name());
    own.needs_special_tokens = family.special_tokens;
    own.tool_in_reasoning = family.forms.first().map(|form| form.in_reasoning).unwrap_or_default();
    if let Some((owner, section)) = reasoning(&own.name, said, family_file)? {
        let marks = ReasoningMarks::from_value(&section, family)?;
        // The tags of a registered family are those of its format, with all its properties.
        let registered = profile(&owner).ok().filter(|_| owner != own.name);
        let registered = registered.and_then(|profile| profile.reasoning);
        match registered.filter(|name| think_filter::format(name).is_ok()) {
            Some(name) => own.reasoning = Some(name),
            None => own.format = Some(format(&own.name, &marks)),
        }
        match marks.starts {
            "Switch" => own.switch = marks.switch,
            "Open" => own.start = Start::Reasoning,
            _ => {}
        }
    }
    own.grammar = Some(grammar);
    Ok(own)
}

/// Returns the reasoning format that a section describes.
fn format(name: &str, marks: &ReasoningMarks) -> Format {
    let texts = |texts: &[String]| texts.iter().map(|text| text.clone().into()).collect();
    let wrapper = |(marker, newlines_before, newlines_after): &(String, u8, u8)| Wrapper {
        marker: marker.clone().into(),
        newlines_before: *newlines_before,
        newlines_after: *newlines_after,
    };
    Format {
        open: texts(&marks.open),
        close: texts(&marks.close),
        pairing: match marks.pairing {
            "Own" => Pairing::Own,
            _ => Pairing::Any,
        },
        label: marks.label.clone().map(Into::into),
        openers: match marks.openers {
            "Anywhere" => Openers::Anywhere,
            "Lead" => Openers::Lead,
            _ => Openers::Line,
        },
        case: match marks.case {
            "Insensitive" => MarkerCase::Insensitive,
            _ => MarkerCase::Exact,
        },
        suffix: match marks.suffix {
            "Any" => TokenSuffix::Any,
            _ => TokenSuffix::None,
        },
        recur: match marks.recur {
            "Once" => Recur::Once,
            _ => Recur::Any,
        },
        stray_close: match (marks.stray_close, marks.starts) {
            (Some("Keep"), _) => StrayClose::Keep,
            (Some("Drop"), _) => StrayClose::Drop,
            (Some("Leading"), _) | (None, "Closed") => StrayClose::Leading,
            // The prompt, which is not visible here, may have opened the reasoning.
            _ => StrayClose::First,
        },
        dup_open: match marks.dup_open {
            "Keep" => DupOpen::Keep,
            _ => DupOpen::Absorb,
        },
        newlines: match marks.newlines {
            "None" => BoundNewlines::None,
            "CloserDeclared" => BoundNewlines::CloserDeclared,
            "Declared" => BoundNewlines::Declared,
            "All" => BoundNewlines::All,
            _ => BoundNewlines::Tags,
        },
        answer: marks.answer.iter().map(wrapper).collect(),
        remark: marks.remark.clone().map(|(open, close)| (open.into(), close.into())),
        prepend: marks.prepend.clone().map(Into::into),
        special_tokens: marks.special_tokens,
        ..Format::passthrough(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use think_filter::StrayClose;

    use crate::{End, Guard, Message, Profile, profile};

    fn read(name: &str, text: &str) -> Result<Profile, String> {
        let file = format!("llm-stream-guard-own-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(file.to_lowercase().replace('-', "_"));
        std::fs::write(&path, text).unwrap();
        let read = Profile::from_family_file(&path).map_err(|error| error.to_string());
        std::fs::remove_file(&path).unwrap();
        read
    }

    fn message(own: &Profile, text: &str) -> Message {
        let guard = Guard::builder(own).build().unwrap();
        guard.parse(text, End::Stop).unwrap()
    }

    const CALL: &str = "<run>{\"name\": \"f\", \"arguments\": {}}</run>";

    #[test]
    fn custom_family_file_defines_its_reasoning_format() {
        let calls = "calls.call = '<run>{object}</run>'\n";
        let rows = [
            ("tags.toml", "[reasoning]\nblock = '<plan>\\n{text}\\n</plan>'\n", "<plan>hm</plan>"),
            (
                "open.toml",
                "[reasoning]\nblock = '<plan>{text}</plan>'\nstarts = 'open'\n",
                "hm</plan>",
            ),
            ("name.toml", "reasoning = 'qwen3'\n", "<think>hm</think>"),
            ("like.toml", "like = 'qwen3'\n", "<think>hm</think>"),
            // The format's own start, and another one.
            ("starts.toml", "reasoning = 'deepseek_r1'\n", "hm</think>"),
            (
                "that_and_open.toml",
                "reasoning = { like = 'qwen3', starts = 'open' }\n",
                "hm</think>",
            ),
            (
                "all_keys.toml",
                "[reasoning]\nblock = ['<a>\\n{text}\\n</a>', '<b>{text}</b>']\nnewlines = 'all'\n\
                 case = 'any'\nrepeated_open = 'keep'\nspellings = { a = ['x'] }\n\
                 remark = ['<r>', '</r>']\nprepend = '!'\n",
                "<X>hm</x>",
            ),
        ];
        for (name, reasoning, said) in rows {
            let text = if reasoning.starts_with('[') {
                format!("{calls}{reasoning}")
            } else {
                format!("{reasoning}{calls}")
            };
            let own = read(name, &text).unwrap();
            let message = message(&own, &format!("{said}So. {CALL}"));
            assert_eq!((&*message.reasoning, message.calls.len()), ("hm", 1), "{name}");
        }
        let json = r#"{"name": "own", "calls": {"call": "<run>{object}</run>"}, "reasoning": {"block": "<a>{text}</a>"}}"#;
        let own = read("own.json", json).unwrap();
        assert_eq!(message(&own, "<a>hm</a>yes").reasoning, "hm");
    }

    #[test]
    fn unusable_reasoning_sections_are_refused() {
        let rows = [
            ("reasoning = 'qwen9000'", ":1: `reasoning`: no family is called `qwen9000`"),
            ("reasoning.block = '<a>'", ":1: `reasoning.block`: expected one `{text}`"),
            (
                "reasoning.block = ['<a>{text}</a>', '<{tex']",
                ":1: `reasoning.block[1]`: template, byte",
            ),
            ("reasoning.blokc = 1", ":1: `reasoning.blokc`: unknown field"),
            ("\nreasoning = { block = 'a{text}b', at = 'sometimes' }", ":2: `reasoning.at`: "),
            ("reasoning = { block = 'a{text}b', starts = 'switch' }", ":1: `reasoning.switch`: "),
            ("reasoning.block = 7", ":1: `reasoning.block`: expected a text"),
            (
                "[calls]\ncall = '<x={name}>{parameters}</x>'\nparameter = '{key}: {value}\\n'",
                ":3: `calls.parameter`: a hole without a tag before it",
            ),
        ];
        for (text, problem) in rows {
            let error = read("bad.toml", &format!("{text}\n")).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn every_family_file_has_the_same_reasoning_format_as_a_custom_file() {
        let files = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../families");
        let mut read = 0;
        for entry in std::fs::read_dir(files).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|kind| kind != "toml") {
                continue;
            }
            read += 1;
            let own = Profile::from_family_file(&path).unwrap_or_else(|error| panic!("{error}"));
            let known = profile(&own.name).unwrap();
            assert_eq!(own.tool_in_reasoning, known.tool_in_reasoning, "{}", known.name);
            assert_eq!(own.needs_special_tokens, known.needs_special_tokens);
            if let Some(grammar) = known.grammar().unwrap() {
                let own = own.grammar().unwrap().unwrap();
                let (own, known) = (own.family(), grammar.family());
                assert_eq!(own.forms, known.forms);
                assert_eq!((&own.messages, &own.erase), (&known.messages, &known.erase));
                assert_eq!(own.end_of_turn, known.end_of_turn);
            }
            let Some(mut format) = own.format else {
                assert_eq!(own.reasoning, known.reasoning, "{}", known.name);
                continue;
            };
            let registered = think_filter::format(known.reasoning.as_deref().unwrap()).unwrap();
            // Another family's prompts may open it.
            if registered.stray_close == StrayClose::First {
                format.stray_close = StrayClose::First;
            }
            assert_eq!(format, registered, "{}", known.name);
        }
        assert!(read > 90, "{read}");
    }
}
