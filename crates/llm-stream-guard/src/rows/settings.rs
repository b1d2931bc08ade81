//! The settings that each row may have for itself.

use std::{borrow::Cow, str::FromStr};

use jail_match::{UnknownName, named};
use toolcall_parsers::Tools;

use crate::{
    guard::GuardBuilder,
    profile::{Profile, named_profile, profile_for_model},
};

/// A setting that a row may have for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RowSetting {
    /// The name of the row's family.
    Family,
    /// The id of the row's model.
    Model,
    /// The tools that the row's request declared, as JSON text.
    Tools,
    /// The rendered prompt of the row, or its last turn.
    Prompt,
    /// How the answer ended, as servers write it: `stop`, `tool_calls`, `length`. Other words are
    /// read as an aborted answer.
    Finish,
    /// A key that no other row has. Ids that the model did not write are made of it.
    Key,
}

/// All settings with their names.
const NAMES: [(&str, RowSetting); 6] = [
    ("family", RowSetting::Family),
    ("model", RowSetting::Model),
    ("tools", RowSetting::Tools),
    ("prompt", RowSetting::Prompt),
    ("finish", RowSetting::Finish),
    ("key", RowSetting::Key),
];

impl FromStr for RowSetting {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("setting of rows", name, &NAMES)
    }
}

/// The settings of one row, in place of those of all rows. Absent settings are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowSettings<'r> {
    /// See [`RowSetting::Family`].
    pub family: Option<&'r str>,
    /// See [`RowSetting::Model`].
    pub model: Option<&'r str>,
    /// See [`RowSetting::Tools`].
    pub tools: Option<&'r str>,
    /// See [`RowSetting::Prompt`].
    pub prompt: Option<&'r str>,
    /// See [`RowSetting::Finish`].
    pub finish: Option<&'r str>,
    /// See [`RowSetting::Key`].
    pub key: Option<&'r str>,
}

impl<'r> RowSettings<'r> {
    /// Sets one of the settings.
    pub fn set(&mut self, setting: RowSetting, value: Option<&'r str>) {
        let place = match setting {
            RowSetting::Family => &mut self.family,
            RowSetting::Model => &mut self.model,
            RowSetting::Tools => &mut self.tools,
            RowSetting::Prompt => &mut self.prompt,
            RowSetting::Finish => &mut self.finish,
            RowSetting::Key => &mut self.key,
        };
        *place = value;
    }

    /// Returns whether the row has settings that need another guard.
    #[must_use]
    pub fn needs_guard(&self) -> bool {
        let Self { family, model, tools, prompt, .. } = self;
        [family, model, tools, prompt].iter().any(|setting| setting.is_some())
    }

    /// Returns the profile of the row's family or model, or else that of all rows.
    ///
    /// # Errors
    /// A name is unknown, or nothing names a profile.
    pub fn profile<'p>(&self, of_all: Option<&'p Profile>) -> Result<Cow<'p, Profile>, String> {
        match (self.family, self.model, of_all) {
            (Some(name), ..) => {
                named_profile(name).map(Cow::Owned).map_err(|error| error.to_string())
            }
            (None, Some(id), _) => {
                profile_for_model(id).map(Cow::Owned).map_err(|error| error.to_string())
            }
            (None, None, Some(of_all)) => Ok(Cow::Borrowed(of_all)),
            (None, None, None) => Err("the row names neither a family nor a model".to_owned()),
        }
    }

    /// Sets the tools and the prompt of the row in a builder, in place of those of all rows.
    ///
    /// # Errors
    /// The tools are not an array of tools.
    pub fn set_in(&self, mut builder: GuardBuilder) -> Result<GuardBuilder, String> {
        if let Some(tools) = self.tools {
            let tools = serde_json::from_str(tools).map_err(|error| format!("tools: {error}"))?;
            let tools = Tools::from_json(&tools).map_err(|error| format!("tools: {error}"))?;
            builder = builder.tools(tools);
        }
        Ok(match self.prompt {
            Some(prompt) => builder.prompt(prompt),
            None => builder,
        })
    }
}
