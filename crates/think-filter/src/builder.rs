//! Building a filter: a format and how it is applied.

use alloc::vec::Vec;

use jail_match::{
    Channel, Driver, DriverSettings, EdgeError, EdgeEvents, InlineTags, Limits, ReasoningLimit,
    Table, Whitespace,
};

use crate::{
    counts::{TokenEstimate, four_bytes_a_token},
    filter::ThinkFilter,
    format::Format,
    rules::Openers,
    start::{Opening, Start},
    unclosed::Unclosed,
    withheld::Withheld,
};

impl ThinkFilter {
    /// A filter with default settings: content first, framing whitespace dropped.
    ///
    /// # Errors
    /// Names an empty marker of a custom `format`; registered ones have none.
    pub fn new(format: Format) -> Result<Self, EdgeError> {
        Self::builder(format).build()
    }

    /// A filter with other settings.
    #[must_use]
    pub fn builder(format: Format) -> ThinkFilterBuilder {
        ThinkFilterBuilder::new(format)
    }
}

/// Builds a [`ThinkFilter`] with other than default settings.
#[derive(Debug, Clone)]
pub struct ThinkFilterBuilder {
    format: Format,
    settings: DriverSettings,
    nonempty: Option<usize>,
    unclosed: Option<(Unclosed, usize)>,
    estimate: TokenEstimate,
    inline: InlineTags,
}

impl ThinkFilterBuilder {
    pub(crate) fn new(format: Format) -> Self {
        let settings = DriverSettings::default().edge_events(EdgeEvents::Reported);
        let (nonempty, unclosed, inline) = (None, None, InlineTags::default());
        Self { format, settings, nonempty, unclosed, estimate: four_bytes_a_token, inline }
    }

    /// Where the stream begins: in reasoning, if the prompt opened it; see [`Format::opening`].
    /// Not told, it is content, and [`StrayClose::First`](crate::StrayClose::First) allows for a
    /// prompt that opened some.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        let opening = self.format.opening(start);
        self.opening(opening)
    }

    fn opening(self, opening: Opening) -> Self {
        let Opening { start, newlines, suffix } = opening;
        let settings = self.settings.start(start.channel()).newlines(newlines).suffix(suffix);
        Self { settings, format: self.format.with_known_start(), ..self }
    }

    /// Where openers count, if not where the format says.
    #[must_use]
    pub fn openers(mut self, openers: Openers) -> Self {
        self.format.openers = openers;
        self
    }

    /// Where the stream begins, as the prompt's end tells; see [`Format::opening_after`].
    #[must_use]
    pub fn prompt(self, prompt: &str) -> Self {
        let opening = self.format.opening_after(prompt);
        self.opening(opening)
    }

    /// What becomes of whitespace next to the markers.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { settings: self.settings.whitespace(whitespace), ..self }
    }

    /// Bounds on what is held.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { settings: self.settings.limits(limits), ..self }
    }

    /// The most reasoning a message may hold. No limit by default: reasoning is not kept.
    #[must_use]
    pub fn reasoning_limit(self, limit: ReasoningLimit) -> Self {
        Self { settings: self.settings.reasoning(Some(limit)), ..self }
    }

    /// Makes the reasoning the answer if there is no other: when the stream stopped of itself and
    /// nothing visible was emitted, the reasoning is emitted as content.
    ///
    /// The same text never goes to two channels, so reasoning is withheld until something visible
    /// comes, or it outgrew `limit` bytes, which makes it reasoning for good: up to `limit` bytes
    /// are kept. A stream that was cut, and a message that a boundary ends, keep their reasoning.
    #[must_use]
    pub fn force_nonempty_content(self, limit: usize) -> Self {
        Self { nonempty: Some(limit), ..self }
    }

    /// The most spans of reasoning in a message: openers beyond are text. The span that the prompt
    /// opened is one. Any number unless set.
    #[must_use]
    pub fn max_blocks(self, most: u32) -> Self {
        Self { settings: self.settings.spans(Some(most)), ..self }
    }

    /// What becomes of the last span if the message ends before it is closed: the answer may be
    /// in it, its closer forgotten. It is reasoning unless set.
    ///
    /// The same text never goes to two channels, so that each span is withheld until its closer,
    /// the message's end, or more than `limit` bytes, which make it reasoning however it ends. It
    /// is not withheld under [`Unclosed::Reasoning`].
    #[must_use]
    pub fn unclosed(self, unclosed: Unclosed, limit: usize) -> Self {
        Self { unclosed: Some((unclosed, limit)), ..self }
    }

    /// Whether tags in the text still count once upstream told reasoning apart itself
    /// ([`ThinkFilter::push_reasoning`]). They do unless set.
    #[must_use]
    pub fn inline_tags(self, inline: InlineTags) -> Self {
        Self { inline, ..self }
    }

    /// How the tokens of the reasoning are estimated: [`four_bytes_a_token`] if not told.
    #[must_use]
    pub fn token_estimate(self, estimate: TokenEstimate) -> Self {
        Self { estimate, ..self }
    }

    /// Compiles the format.
    ///
    /// # Errors
    /// Names an empty marker.
    pub fn build(self) -> Result<ThinkFilter, EdgeError> {
        let (roles, edges): (Vec<_>, Vec<_>) = self.format.edges_by_role().into_iter().unzip();
        let table = Table::new(edges)?;
        let settings = if self.format.is_passthrough() {
            self.settings.start(Channel::CONTENT)
        } else {
            self.settings
        };
        Ok(ThinkFilter::with_parts(
            Driver::new(table, settings),
            roles.into(),
            self.format.prepend,
            Withheld::new(self.nonempty, self.unclosed),
            self.estimate,
            self.inline,
        ))
    }
}
