//! The filter: a driver over a format's table, and nothing else.

use alloc::string::String;

use jail_match::{
    Channel, Counters, Driver, End, Held, Limits, NoBodies, Settings, Sink, Table, TableError,
    Whitespace,
};

use crate::format::Format;

/// A piece of the answer, borrowed from the chunk it came in. Never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Visible text.
    Content(&'a str),
    /// Reasoning.
    Reasoning(&'a str),
}

/// Splits one message into content and reasoning.
///
/// Holds back only what may be the start of a marker, or whitespace that the policy may drop:
/// a short answer without a `<` goes out at once.
///
/// ```
/// use think_filter::{Piece, ThinkFilter, format};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut filter = ThinkFilter::new(format("qwen3").ok_or("a known format")?)?;
/// let (mut content, mut reasoning) = (String::new(), String::new());
/// let mut on = |piece: Piece<'_>| match piece {
///     Piece::Content(text) => content.push_str(text),
///     Piece::Reasoning(text) => reasoning.push_str(text),
/// };
/// for chunk in ["<thi", "nk>2 + 2 is 4</th", "ink>Four."] {
///     filter.push(chunk, &mut on);
/// }
/// filter.finish(&mut on);
/// assert_eq!((content.as_str(), reasoning.as_str()), ("Four.", "2 + 2 is 4"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ThinkFilter {
    driver: Driver,
    prepend: Option<crate::format::Text>,
    prepended: bool,
}

/// Builds a [`ThinkFilter`] with other than default settings.
#[derive(Debug, Clone)]
pub struct ThinkFilterBuilder {
    format: Format,
    settings: Settings,
}

impl ThinkFilterBuilder {
    /// Where the stream begins: in reasoning, if the prompt opened it.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        let channel = match start {
            Start::Content => Channel::CONTENT,
            Start::Reasoning => Channel::REASONING,
        };
        Self { settings: self.settings.start(channel), ..self }
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

    /// Compiles the format.
    ///
    /// # Errors
    /// Names an empty marker.
    pub fn build(self) -> Result<ThinkFilter, TableError> {
        let table = Table::new(self.format.edges())?;
        let settings = if self.format.is_passthrough() {
            self.settings.start(Channel::CONTENT)
        } else {
            self.settings
        };
        Ok(ThinkFilter {
            driver: Driver::new(table, settings),
            prepend: self.format.prepend,
            prepended: false,
        })
    }
}

/// Where a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Start {
    /// In content.
    #[default]
    Content,
    /// Inside reasoning: the prompt ended with the opener.
    Reasoning,
}

impl ThinkFilter {
    /// A filter with default settings: content first, framing whitespace dropped.
    ///
    /// # Errors
    /// Names an empty marker of a custom `format`; registered ones have none.
    pub fn new(format: Format) -> Result<Self, TableError> {
        Self::builder(format).build()
    }

    /// A filter with other settings.
    #[must_use]
    pub fn builder(format: Format) -> ThinkFilterBuilder {
        ThinkFilterBuilder { format, settings: Settings::default() }
    }

    /// Feeds the next piece of the message.
    pub fn push(&mut self, chunk: &str, mut on: impl FnMut(Piece<'_>)) {
        if !self.prepended && !chunk.is_empty() {
            self.prepended = true;
            if let Some(text) = &self.prepend {
                on(Piece::Content(text));
            }
        }
        let pushed = self.driver.push(chunk, &mut NoBodies, &mut Pieces(&mut on));
        // Candidates exist only where bodies do, so no limit can be hit here.
        debug_assert!(pushed.is_ok());
    }

    /// Ends the message: what is held comes out. An unclosed span stays reasoning.
    pub fn finish(&mut self, mut on: impl FnMut(Piece<'_>)) {
        let finished = self.driver.finish(End::Stop, &mut NoBodies, &mut Pieces(&mut on));
        debug_assert!(finished.is_ok());
    }

    /// Another message begins in the same stream: leading blocks count again, and a tag split
    /// across the boundary is still recognised.
    pub fn message_boundary(&mut self, mut on: impl FnMut(Piece<'_>)) {
        self.driver.message_boundary(&mut Pieces(&mut on));
    }

    /// Makes the filter as new.
    pub fn reset(&mut self) {
        self.driver.reset();
        self.prepended = false;
    }

    /// What is held, and why.
    #[must_use]
    pub fn held(&self) -> Held {
        self.driver.held()
    }

    /// Whether text goes to reasoning now.
    #[must_use]
    pub fn is_reasoning(&self) -> bool {
        self.driver.channel() == Channel::REASONING
    }

    /// Counters of the cursor.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.driver.counters()
    }
}

/// A whole message, split.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Split {
    /// All visible text.
    pub content: String,
    /// All reasoning.
    pub reasoning: String,
}

/// Splits a whole text: a push and a finish of a clone of `filter`.
#[must_use]
pub fn split(filter: &ThinkFilter, text: &str) -> Split {
    let mut filter = filter.clone();
    let mut split = Split::default();
    let mut on = |piece: Piece<'_>| match piece {
        Piece::Content(text) => split.content.push_str(text),
        Piece::Reasoning(text) => split.reasoning.push_str(text),
    };
    filter.push(text, &mut on);
    filter.finish(&mut on);
    split
}

struct Pieces<F>(F);

impl<F: FnMut(Piece<'_>)> Sink for Pieces<F> {
    fn text(&mut self, channel: Channel, text: &str) {
        (self.0)(match channel {
            Channel::REASONING => Piece::Reasoning(text),
            _ => Piece::Content(text),
        });
    }
}
