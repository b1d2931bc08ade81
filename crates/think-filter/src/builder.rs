//! The builder of a filter: a format and the options of its use.

use alloc::vec::Vec;

use jail_match::{
    Channel, Driver, DriverSettings, EdgeError, EdgeEvents, InlineTags, Limits, ReasoningLimit,
    Table, Whitespace,
};

use crate::{
    counts::{TokenEstimate, four_bytes_a_token},
    filter::{FilterParts, ThinkFilter},
    format::Format,
    rules::Openers,
    start::{Opening, Start},
    unclosed::Unclosed,
    withheld::Withheld,
};

impl ThinkFilter {
    /// Creates a filter with default settings: the stream starts in content, and whitespace that
    /// frames markup is dropped.
    ///
    /// # Errors
    /// Returns an error if a marker of a custom `format` is empty. Registered formats have no empty
    /// markers.
    pub fn new(format: Format) -> Result<Self, EdgeError> {
        Self::builder(format).build()
    }

    /// Creates a builder for a filter with other settings.
    #[must_use]
    pub fn builder(format: Format) -> ThinkFilterBuilder {
        ThinkFilterBuilder::new(format)
    }
}

/// A builder of a [`ThinkFilter`], for settings other than the default.
///
/// ```
/// use think_filter::{Start, ThinkFilter, Whitespace, format};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let builder = ThinkFilter::builder(format("qwen3")?);
/// let filter = builder.start(Start::Reasoning).whitespace(Whitespace::Verbatim).build()?;
/// assert_eq!(filter.strip("plan</think>\nDone."), "\nDone.");
/// # Ok(())
/// # }
/// ```
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

    /// Sets the channel in which the stream starts: reasoning if the prompt opened it, otherwise
    /// content (see [`Format::opening`]).
    ///
    /// By default the start is unknown. The stream is read as content, and
    /// [`StrayClose::First`](crate::StrayClose::First) handles a closer for which the prompt had
    /// the opener.
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

    /// Sets the places where openers count. By default the format decides.
    #[must_use]
    pub fn openers(mut self, openers: Openers) -> Self {
        self.format.openers = openers;
        self
    }

    /// Sets the start of the stream from the end of the prompt; see [`Format::opening_after`].
    #[must_use]
    pub fn prompt(self, prompt: &str) -> Self {
        let opening = self.format.opening_after(prompt);
        self.opening(opening)
    }

    /// Sets the policy for whitespace next to markers.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { settings: self.settings.whitespace(whitespace), ..self }
    }

    /// Sets the limits on held text.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { settings: self.settings.limits(limits), ..self }
    }

    /// Sets the limit on the reasoning of a message. Default: no limit, because reasoning is not
    /// held.
    #[must_use]
    pub fn reasoning_limit(self, limit: ReasoningLimit) -> Self {
        Self { settings: self.settings.reasoning(Some(limit)), ..self }
    }

    /// Makes the reasoning content if the model stopped by itself and nothing visible was emitted.
    ///
    /// The reasoning is withheld until visible text arrives, because text never goes to two
    /// channels. Reasoning longer than `limit` bytes is released and stays reasoning. The reasoning
    /// of a stream that was cut, or of a message that a boundary ends, stays reasoning too.
    #[must_use]
    pub fn force_nonempty_content(self, limit: usize) -> Self {
        Self { nonempty: Some(limit), ..self }
    }

    /// Sets the maximum number of spans of reasoning in a message. Further openers are text. A span
    /// that the prompt opened counts. Default: no limit.
    #[must_use]
    pub fn max_blocks(self, most: u32) -> Self {
        Self { settings: self.settings.spans(Some(most)), ..self }
    }

    /// Sets the policy for a span that is open at the end of the message, because the model may
    /// have forgotten the closer before the answer. Default: [`Unclosed::Reasoning`], which
    /// withholds nothing.
    ///
    /// Under the other policies each span is withheld until its closer or the end of the message. A
    /// span longer than `limit` bytes is reasoning.
    #[must_use]
    pub fn unclosed(self, unclosed: Unclosed, limit: usize) -> Self {
        Self { unclosed: Some((unclosed, limit)), ..self }
    }

    /// Sets whether tags in the text still count after the server separated reasoning
    /// ([`ThinkFilter::push_reasoning`]). Default: tags still count.
    #[must_use]
    pub fn inline_tags(self, inline: InlineTags) -> Self {
        Self { inline, ..self }
    }

    /// Sets the estimate of reasoning tokens. Default: [`four_bytes_a_token`].
    #[must_use]
    pub fn token_estimate(self, estimate: TokenEstimate) -> Self {
        Self { estimate, ..self }
    }

    /// Compiles the format into a filter.
    ///
    /// # Errors
    /// Returns an error if a marker of the format is empty.
    pub fn build(self) -> Result<ThinkFilter, EdgeError> {
        let (roles, edges): (Vec<_>, Vec<_>) = self.format.edges_by_role().into_iter().unzip();
        let table = Table::new(edges)?;
        let settings = if self.format.is_passthrough() {
            self.settings.start(Channel::CONTENT)
        } else {
            self.settings
        };
        Ok(ThinkFilter::from_parts(FilterParts {
            driver: Driver::new(table, settings),
            roles: roles.into(),
            prepend: self.format.prepend,
            withheld: Withheld::new(self.nonempty, self.unclosed),
            estimate: self.estimate,
            inline: self.inline,
        }))
    }
}
