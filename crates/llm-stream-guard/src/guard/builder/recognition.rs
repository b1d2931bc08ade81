//! The calls and the reasoning that a guard recognises, and where the answer begins.

use think_filter::{Format, Opening, Start};
use toolcall_parsers::Grammar;
use wire_remap::Regime;

use crate::{
    guard::{BuildError, GuardBuilder},
    profile,
    reasoning::Reasoning,
};

impl GuardBuilder {
    /// Returns the grammar of the calls and the format of the reasoning, with the tags of this
    /// checkpoint.
    pub(super) fn recognition(&self) -> Result<(Option<Grammar>, Option<Format>), BuildError> {
        let mut grammar = self.profile.grammar()?;
        let format = match self.profile.reasoning_format()? {
            Some(Reasoning::Format(format)) => Some(format),
            Some(Reasoning::Channels(channels)) => {
                let tools = grammar.get_or_insert_with(|| channels.clone()).name();
                if tools != channels.name() {
                    let (reasoning, tools) = (channels.name().to_owned(), tools.to_owned());
                    return Err(BuildError::TwoGrammars { reasoning, tools });
                }
                None
            }
            None => None,
        };
        let suffix = self.suffix_of_tags(grammar.as_ref(), format.as_ref());
        let format = format.map(|format| self.cased(format));
        Ok(match &suffix {
            None => (grammar, format),
            Some(suffix) => (
                grammar.map(|grammar| grammar.with_token_suffix(suffix)),
                format.map(|format| format.with_token_suffix(suffix)),
            ),
        })
    }

    /// Returns where the answer begins, and the format with that knowledge.
    pub(super) fn opening(
        &self,
        format: Option<Format>,
        grammar: &Grammar,
    ) -> Result<(Opening, Option<Format>), BuildError> {
        let channels = Some(grammar.clone()).filter(Grammar::has_messages);
        let reasons = format.clone().map(Reasoning::Format);
        let reasons = reasons.or_else(|| channels.clone().map(Reasoning::Channels));
        let known = reasons.and_then(|told| match (self.reasoning.start, &self.prompt) {
            (Some(start), _) => Some(told.opening(start)),
            (None, Some(prompt)) => Some(told.opening_after(prompt)),
            (None, None) => None,
        });
        let format = if known.is_some() { format.map(Format::with_known_start) } else { format };
        let mut opening = known.unwrap_or_else(|| self.profile.start.into());
        if format.as_ref().is_none_or(Format::is_passthrough) {
            if channels.is_none() {
                opening = Start::Content.into();
            }
            if let Some(option) = self.reasoning.of_tags() {
                return Err(BuildError::NoTags { option });
            }
        }
        Ok((opening, format))
    }

    /// Returns the remapping that was set, or that of the profile.
    pub(super) fn regime(&self) -> Result<Regime, BuildError> {
        Ok(match (&self.remap, &self.profile.remap) {
            (Some(regime), _) => regime.clone(),
            (None, Some(name)) => profile::remap(name)?.into(),
            (None, None) => Regime::off(),
        })
    }
}
