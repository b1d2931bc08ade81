//! Profiles: data that describe how a model family writes its stream.

#[cfg(feature = "toml")]
mod files;
mod model;
mod names;
#[cfg(feature = "toml")]
mod own;
mod row;
mod table;
mod unknown;
mod written;

use std::collections::BTreeMap;

use jail_match::Whitespace;
#[cfg(feature = "response-templates")]
use response_templates::{ResponseTemplate, ResponseTemplateError, TemplateSettings};
use serde::{Deserialize, Serialize};
use think_filter::{Format, Start};
use toolcall_parsers::{Grammar, InReasoning, UnknownName, grammar, grammar_variant, same_name};
use wire_remap::RemapTable;

#[cfg(feature = "toml")]
pub use self::own::{FamilyFileError, family_file};
pub use self::{
    model::{ModelMatch, profile_for_model, resolve_model},
    names::{all_names, named_profile},
    unknown::UnknownModel,
};
use self::{
    row::{Row, Stream},
    table::FAMILIES,
};
use crate::reasoning::{Reasoning, reasoning};

/// The beginning of the `source` of families that were derived from a chat template.
pub(crate) const DERIVED: &str = "derived from a chat template";

/// How a model family writes reasoning and tool calls.
///
/// Names are looked up when a guard is built. Tool-call families, reasoning formats and profiles
/// have separate namespaces, so that a name may exist in all three.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name of the profile.
    pub name: String,
    /// Aliases of the profile's name.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Patterns of model ids that the profile is for; see [`resolve_model`].
    #[serde(default)]
    pub models: Vec<String>,
    /// Name of the reasoning format, if the models reason.
    #[serde(default)]
    pub reasoning: Option<String>,
    /// Name of the tool-call family, if the models call tools.
    #[serde(default)]
    pub tools: Option<String>,
    /// Variant of the tool-call family, if the models differ from most of the family; see
    /// [`toolcall_parsers::family_variant`].
    #[serde(default)]
    pub variant: Option<usize>,
    /// Where streams begin if the caller does not decide. A profile found by name begins in
    /// content. A profile found by a model's id begins where the model's chat template ends.
    #[serde(default)]
    pub start: Start,
    /// Arguments of the chat template that decide whether it opens the reasoning, with their values
    /// for a request that does not set them; see [`crate::GuardBuilder::request`]. Empty unless the
    /// model is known.
    #[serde(default)]
    pub switch: BTreeMap<String, bool>,
    /// Effect of a tool call's opener inside reasoning.
    #[serde(default)]
    pub tool_in_reasoning: InReasoning,
    /// Policy for white space around markup: `framing`, `verbatim`, `trim`, `before_calls` or
    /// `reasoning_end`.
    #[serde(default, with = "written::whitespace")]
    pub whitespace: Whitespace,
    /// Whether the server must be asked to keep special tokens in the text
    /// (`skip_special_tokens: false`).
    #[serde(default)]
    pub needs_special_tokens: bool,
    /// The delimiter remapping in use on the wire, if any: `hermes` or `hermes_plain`.
    #[serde(default)]
    pub remap: Option<String>,
    /// The suffix that the checkpoint's tokenizer puts into the tags of calls and reasoning:
    /// `:6124c78e` where it writes `<tool_calls:6124c78e>`.
    #[serde(default)]
    pub token_suffix: Option<String>,
    /// A custom reasoning format, in place of the one by name.
    #[serde(skip)]
    pub format: Option<Format>,
    /// A custom grammar of calls, in place of the family by name.
    #[serde(skip)]
    pub grammar: Option<Grammar>,
    /// The checkpoint's own response template, which is read in place of all formats above; see
    /// [`Profile::from_response_template`].
    #[cfg(feature = "response-templates")]
    #[serde(default, with = "written::template")]
    pub response_template: Option<ResponseTemplate>,
    /// How the response template is read.
    ///
    /// [`crate::GuardBuilder::limits`] override the limits of held text: `candidate` for bytes that
    /// may be part of a boundary, `whitespace` for bytes that may end a text.
    #[cfg(feature = "response-templates")]
    #[serde(skip)]
    pub template_settings: TemplateSettings,
}

impl Profile {
    /// Creates a profile with only a tool-call family.
    #[must_use]
    pub fn tools(family: &str) -> Self {
        Self { tools: Some(family.to_owned()), ..Self::named(family) }
    }

    /// Creates a profile with only a reasoning format.
    #[must_use]
    pub fn reasoning(format: &str) -> Self {
        Self { reasoning: Some(format.to_owned()), ..Self::named(format) }
    }

    /// Creates a profile from a checkpoint's own [response template](ResponseTemplate). `text` is
    /// the object, a `tokenizer_config.json` that contains it, or either as a JSON string. The
    /// server must be asked to keep special tokens, because most markers of templates are special
    /// tokens.
    ///
    /// # Errors
    /// Returns the fault of the template and its place.
    #[cfg(feature = "response-templates")]
    pub fn from_response_template(text: &str) -> Result<Self, ResponseTemplateError> {
        ResponseTemplate::from_json(text).map(Self::of_template)
    }

    /// Creates a profile from a response template.
    #[cfg(feature = "response-templates")]
    pub(crate) fn of_template(template: ResponseTemplate) -> Self {
        Self {
            response_template: Some(template),
            needs_special_tokens: true,
            ..Self::named("response_template")
        }
    }

    /// Creates a profile from a row of the table, for models whose streams have the properties
    /// `stream`.
    fn of(row: &Row, stream: &Stream) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Self {
            aliases: owned(row.other_names),
            models: owned(row.models),
            reasoning: stream.reasoning.map(str::to_owned),
            tools: stream.calls.map(|(family, _)| family.to_owned()),
            variant: stream.calls.and_then(|(_, variant)| variant),
            tool_in_reasoning: stream.in_reasoning,
            needs_special_tokens: stream.special_tokens,
            ..Self::named(row.name)
        }
    }

    /// Returns the grammar of the models' tool calls: the profile's own, or the family by name in
    /// the profile's variant. `None` if the models call no tools.
    ///
    /// # Errors
    /// Returns an error if no family has that name, or if the variant is unknown.
    pub fn grammar(&self) -> Result<Option<Grammar>, UnknownName> {
        if let Some(own) = &self.grammar {
            return Ok(Some(own.clone()));
        }
        let Some(family) = &self.tools else { return Ok(None) };
        let grammar = match self.variant {
            Some(variant) => grammar_variant(family, variant),
            None => grammar(family),
        };
        grammar.map(Some)
    }

    /// Returns how the models separate reasoning: the profile's own format, or the one by name.
    /// `None` if the profile reads none.
    ///
    /// # Errors
    /// Returns an error if no format has that name.
    pub fn reasoning_format(&self) -> Result<Option<Reasoning>, UnknownName> {
        match (&self.format, &self.reasoning) {
            (Some(format), _) => Ok(Some(Reasoning::Format(format.clone()))),
            (None, Some(name)) => reasoning(name).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Returns the grammar with which calls are written: [`Profile::grammar`], with the suffix of the
    /// checkpoint's tags. `None` if the models call no tools.
    ///
    /// # Errors
    /// As [`Profile::grammar`].
    pub fn grammar_to_write(&self) -> Result<Option<Grammar>, UnknownName> {
        let grammar = self.grammar()?;
        Ok(grammar.map(|grammar| match &self.token_suffix {
            Some(suffix) => grammar.with_token_suffix(suffix),
            None => grammar,
        }))
    }

    /// Returns whether the calls are read by a family that was derived from a chat template.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        let source = |grammar: &Grammar| grammar.family().source.starts_with(DERIVED);
        self.grammar.as_ref().is_some_and(source)
    }

    /// Whether a response template reads the message.
    pub(crate) fn has_template(&self) -> bool {
        #[cfg(feature = "response-templates")]
        return self.response_template.is_some();
        #[cfg(not(feature = "response-templates"))]
        false
    }

    /// Creates a profile under which all text is content.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            aliases: Vec::new(),
            models: Vec::new(),
            reasoning: None,
            tools: None,
            variant: None,
            start: Start::Content,
            switch: BTreeMap::new(),
            tool_in_reasoning: InReasoning::Literal,
            whitespace: Whitespace::default(),
            needs_special_tokens: false,
            remap: None,
            token_suffix: None,
            format: None,
            grammar: None,
            #[cfg(feature = "response-templates")]
            response_template: None,
            #[cfg(feature = "response-templates")]
            template_settings: TemplateSettings::default(),
        }
    }
}

/// Returns the rules that recognise families by texts of their chat templates; see
/// [`crate::Identification`].
pub(crate) fn template_rules()
-> impl Iterator<Item = (&'static str, &'static [&'static [&'static str]])> {
    FAMILIES.iter().map(|row| (row.name, row.template))
}

/// Returns every registered profile, by name.
#[must_use]
pub fn profiles() -> Vec<Profile> {
    FAMILIES.iter().map(|row| Profile::of(row, &row.stream)).collect()
}

/// Returns the profile with the name or alias `name`. ASCII case is ignored, and `-` equals `_`.
/// Substrings never match.
///
/// # Errors
/// An unknown name; the error lists the nearest known ones.
pub fn profile(name: &str) -> Result<Profile, UnknownName> {
    let found = FAMILIES.iter().find(|row| same_name(row.name, name)).or_else(|| {
        FAMILIES.iter().find(|row| row.other_names.iter().any(|other| same_name(other, name)))
    });
    found.map(|row| Profile::of(row, &row.stream)).ok_or_else(|| {
        let names = FAMILIES.iter().flat_map(|row| [&row.name].into_iter().chain(row.other_names));
        UnknownName::new("profile", name, names.copied())
    })
}

/// Returns the delimiter remapping called `name`: `hermes` (exact) or `hermes_plain` (a simple
/// replacement).
///
/// # Errors
/// Returns an error that lists the known names if the name is unknown.
pub(crate) fn remap(name: &str) -> Result<RemapTable, UnknownName> {
    const NAMES: [&str; 2] = ["hermes", "hermes_plain"];
    let tables = [RemapTable::hermes, RemapTable::hermes_plain];
    let found = NAMES.iter().zip(tables).find(|(known, _)| same_name(known, name));
    found
        .map(|(_, table)| table())
        .ok_or_else(|| UnknownName::new("remapping", name, NAMES.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::{profile, profiles};
    use crate::Start;

    #[test]
    fn profile_names_ignore_case_and_dashes_and_match_exactly() {
        assert_eq!(profile("QWEN3-Coder").map(|p| p.name).as_deref(), Ok("qwen3_coder"));
        assert_eq!(profile("gpt-oss").map(|p| p.name).as_deref(), Ok("harmony"));
        let error = profile("qwen3_code").expect_err("a prefix is no name");
        assert_eq!(error.nearest()[0], "qwen3_coder");
    }

    #[test]
    fn every_profile_builds_starts_in_content_and_has_unique_names() {
        let mut seen = std::collections::BTreeSet::new();
        for profile in profiles() {
            crate::Guard::builder(&profile).build().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(profile.start, Start::Content);
            assert!(profile.switch.is_empty());
            for name in profile.aliases.iter().chain([&profile.name]) {
                assert!(seen.insert(name.clone()), "{name} twice");
            }
        }
    }

    #[test]
    fn every_call_family_and_reasoning_format_has_a_profile() {
        let calls = toolcall_parsers::families().map(|family| family.name.to_owned());
        let formats = think_filter::formats().into_iter().map(|format| format.name.into_owned());
        for name in calls.chain(formats) {
            assert_eq!(profile(&name).map(|profile| profile.name), Ok(name));
        }
    }
}
