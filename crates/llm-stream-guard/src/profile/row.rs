//! A row of the table of families.

use toolcall_parsers::InReasoning;

/// A row of the table of families: the part of a family's file that guards need.
#[derive(Debug)]
pub(crate) struct Row {
    /// Name of the row's family.
    pub(crate) name: &'static str,
    /// Aliases of the family's name.
    pub(crate) other_names: &'static [&'static str],
    /// Patterns of normalised model ids. The match that begins first in the id counts, then the
    /// pattern with the most literal characters.
    pub(crate) models: &'static [&'static str],
    /// Rules of texts in a chat template; of the texts of a rule all must be there, but those that
    /// begin with `!`.
    pub(crate) template: &'static [&'static [&'static str]],
    /// Properties of the family's streams, for models without a variant.
    pub(crate) stream: Stream,
    /// Variants of the family; the first that fits counts.
    pub(crate) variants: &'static [Variant],
}

/// A variant of a family, for some of its models.
#[derive(Debug)]
pub(crate) struct Variant {
    /// Patterns of model ids.
    pub(crate) models: &'static [&'static str],
    /// Properties of the streams of these models.
    pub(crate) stream: Stream,
}

/// Properties of a stream.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The tool-call family and the variant of it, if the models call tools.
    pub(crate) calls: Option<(&'static str, Option<usize>)>,
    /// The reasoning format, if the models reason between tags.
    pub(crate) reasoning: Option<&'static str>,
    /// Effect of a call's opener inside reasoning.
    pub(crate) in_reasoning: InReasoning,
    /// Where streams begin.
    pub(crate) starts: Starts,
    /// The template argument that turns reasoning on, and whether it is on by default.
    pub(crate) switch: &'static [(&'static str, bool)],
    /// Whether the server must be asked to keep special tokens in the text.
    pub(crate) special_tokens: bool,
}

/// Whether the prompt opens the reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starts {
    /// The prompt never opens the reasoning.
    Closed,
    /// The prompt always opens the reasoning.
    Open,
    /// The prompt opens the reasoning unless the request's template arguments turn reasoning off.
    Switch,
}
