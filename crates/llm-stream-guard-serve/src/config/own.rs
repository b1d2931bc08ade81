//! Families of one's own, from files: their calls, and how they reason.

use std::{collections::BTreeMap, fmt, path::Path};

use llm_stream_guard::{
    Format, Grammar, GuardBuilder, Profile, Start, profile,
    think_filter::{self, Openers, Recur, StrayClose},
    toolcall_parsers::template::{Hole, Part, Template},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use toolcall_parsers::{Family, family::FamilyFile};

/// A family that is not registered.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnFamily {
    /// Its calls.
    pub grammar: Grammar,
    /// What else its streams are like. The grammar is not in there, nor is [`OwnFamily::format`].
    pub profile: Profile,
    /// How it reasons, if it has tags of its own.
    pub format: Option<Format>,
}

/// `[reasoning]`, as far as it can be said outside of the registered families.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    block: String,
    #[serde(default)]
    at: Openers,
    #[serde(default)]
    once: bool,
    stray_close: Option<StrayClose>,
    #[serde(default)]
    starts: Starts,
    #[serde(default)]
    switch: BTreeMap<String, bool>,
    /// What engines call it, which nobody asks here.
    #[serde(default, rename = "names")]
    _names: IgnoredAny,
}

/// Whether the prompt opens the reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Starts {
    #[default]
    Closed,
    Open,
    Switch,
}

/// Reads the file of a family that is not registered: TOML, or JSON if it ends so.
///
/// # Errors
/// It cannot be read, or is no family: file and field.
pub fn read_family(path: &Path) -> Result<OwnFamily, String> {
    let fault = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
    let is_json = path.extension().is_some_and(|kind| kind == "json");
    let name = path.file_stem().map_or_else(Default::default, |stem| stem.to_string_lossy());
    let family = if is_json { Family::from_json(&text) } else { Family::from_toml(&name, &text) };
    let grammar = Grammar::new(family.map_err(|error| fault(&error))?);
    let grammar = grammar.map_err(|error| fault(&error))?;
    // It was read before, so it is JSON or TOML.
    let said = match is_json {
        true => serde_json::from_str(&text).unwrap_or_default(),
        false => FamilyFile::parse(&name, &text).map_or(Value::Null, |file| file.value().clone()),
    };
    OwnFamily::new(grammar, &said).map_err(|problem| fault(&problem))
}

impl OwnFamily {
    /// Reads streams by its calls and tags; the builder is one of [`OwnFamily::profile`].
    #[must_use]
    pub fn read_by(&self, builder: GuardBuilder) -> GuardBuilder {
        let builder = builder.grammar(self.grammar.clone());
        match &self.format {
            Some(format) => builder.format(format.clone()),
            None => builder,
        }
    }

    fn new(grammar: Grammar, said: &Value) -> Result<Self, String> {
        let mut own = Self { profile: Profile::named(grammar.name()), grammar, format: None };
        let family = own.grammar.family();
        own.profile.needs_special_tokens = family.special_tokens;
        own.profile.tool_in_reasoning =
            family.forms.first().map(|form| form.in_reasoning).unwrap_or_default();
        match (said.get("reasoning"), said.get("like").and_then(Value::as_str)) {
            (Some(Value::String(name)), _) => {
                think_filter::format(name).map_err(|error| format!("`reasoning`: {error}"))?;
                own.profile.reasoning = Some(name.clone());
            }
            (Some(section), _) => own.section(section)?,
            // Where a family tells reasoning by its messages, the grammar does.
            (None, Some(like)) => {
                let base = profile(like).ok().and_then(|base| base.reasoning);
                own.profile.reasoning = base.filter(|name| think_filter::format(name).is_ok());
            }
            (None, None) => {}
        }
        Ok(own)
    }

    fn section(&mut self, section: &Value) -> Result<(), String> {
        let section: Section = serde_path_to_error::deserialize(section).map_err(|error| {
            let field = error.path().to_string();
            let field = if field == "." { String::new() } else { format!(".{field}") };
            format!("`reasoning{field}`: {}", error.inner())
        })?;
        let tags =
            tags(&section.block).map_err(|problem| format!("`reasoning.block`: {problem}"))?;
        // The prompt that nobody sees may have opened it.
        let unseen = match section.starts {
            Starts::Closed => StrayClose::default(),
            Starts::Open | Starts::Switch => StrayClose::First,
        };
        let (open, close) = tags;
        let name = self.profile.name.clone();
        self.format = Some(Format {
            open: open.into_iter().map(Into::into).collect(),
            close: vec![close.into()],
            openers: section.at,
            recur: if section.once { Recur::Once } else { Recur::Any },
            stray_close: section.stray_close.unwrap_or(unseen),
            ..Format::passthrough(name)
        });
        match (section.starts, section.switch.is_empty()) {
            (Starts::Switch, false) => self.profile.switch = section.switch,
            (Starts::Switch, true) => return Err("`reasoning.switch`: expected an argument".into()),
            (_, false) => return Err("`reasoning.switch`: `starts` does not say `switch`".into()),
            (Starts::Open, true) => self.profile.start = Start::Reasoning,
            (Starts::Closed, true) => {}
        }
        Ok(())
    }
}

/// Opener, if there is one, and closer of a block.
fn tags(block: &str) -> Result<(Option<String>, String), String> {
    let template = Template::parse(block).map_err(|fault| fault.to_string())?;
    let (open, close) = match template.parts.as_slice() {
        [Part::Hole(Hole::Text), Part::Literal(close)] => ("", close),
        [Part::Literal(open), Part::Hole(Hole::Text), Part::Literal(close)] => (&**open, close),
        _ => return Err("expected one `{text}`, and an end behind it".into()),
    };
    let bare = |text: &str| text.trim_matches('\n').to_owned();
    Ok((Some(bare(open)).filter(|open| !open.is_empty()), bare(close)))
}

#[cfg(test)]
mod tests {
    use llm_stream_guard::{End, Guard, Message};

    use super::{OwnFamily, read_family};

    fn read(name: &str, text: &str) -> Result<OwnFamily, String> {
        let file = format!("llm-stream-guard-own-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(file.to_lowercase().replace('-', "_"));
        std::fs::write(&path, text).unwrap();
        let read = read_family(&path);
        std::fs::remove_file(&path).unwrap();
        read
    }

    fn message(own: &OwnFamily, text: &str) -> Message {
        let guard = own.read_by(Guard::builder(&own.profile)).build().unwrap();
        guard.parse(text, End::Stop).unwrap()
    }

    const CALL: &str = "<run>{\"name\": \"f\", \"arguments\": {}}</run>";

    #[test]
    fn a_file_says_how_its_family_reasons() {
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
    fn what_it_says_of_reasoning_and_cannot_be_heeded_is_refused() {
        let rows = [
            ("reasoning = 'qwen9000'", "`reasoning`: "),
            ("reasoning.block = '<a>'", "`reasoning.block`: expected one `{text}`"),
            ("reasoning.blokc = 1", "`reasoning.blokc`: unknown field"),
            ("reasoning = { block = 'a{text}b', at = 'sometimes' }", "`reasoning.at`: "),
            ("reasoning = { block = 'a{text}b', starts = 'switch' }", "`reasoning.switch`: "),
            ("reasoning = { block = 'a{text}b', switch = { x = true } }", "`reasoning.switch`: "),
        ];
        for (text, problem) in rows {
            let error = read("bad.toml", &format!("{text}\n")).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
