//! The filter: a driver with the table of a format.

use alloc::sync::Arc;

use jail_match::{
    Channel, Counters, Driver, End, Held, HeldKind, InlineTags, LimitError, NoBodies, Utf8,
};

use crate::{
    counts::{Counts, TokenEstimate},
    edges::Role,
    pieces::{Piece, Pieces, Progress},
    rules::Text,
    withheld::Withheld,
};

/// A filter that splits a message into content and reasoning while it arrives.
///
/// It holds back only text that may begin a marker, and whitespace that the policy may drop. Other
/// text is emitted with its chunk.
///
/// ```
/// use think_filter::{End, Piece, ThinkFilter, format};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut filter = ThinkFilter::new(format("qwen3")?)?;
/// let (mut content, mut reasoning) = (String::new(), String::new());
/// let mut on = |piece: Piece<'_>| match piece {
///     Piece::Content(text) => content.push_str(text),
///     Piece::Reasoning(text) => reasoning.push_str(text),
///     Piece::ReasoningStart | Piece::ReasoningEnd => {}
/// };
/// for chunk in ["<thi", "nk>2 + 2 is 4</th", "ink>Four."] {
///     filter.push(chunk, &mut on)?;
/// }
/// filter.finish(End::Stop, &mut on)?;
/// assert_eq!((content.as_str(), reasoning.as_str()), ("Four.", "2 + 2 is 4"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ThinkFilter {
    driver: Driver,
    utf8: Utf8,
    roles: Arc<[Role]>,
    progress: Progress,
    estimate: TokenEstimate,
    prepend: Option<Text>,
    prepended: bool,
    finished: bool,
    inline: InlineTags,
    /// Whether tags are text in the rest of the message.
    literal: bool,
}

/// The parts of a filter that depend on its options.
pub(crate) struct FilterParts {
    pub(crate) driver: Driver,
    pub(crate) roles: Arc<[Role]>,
    pub(crate) prepend: Option<Text>,
    pub(crate) withheld: Withheld,
    pub(crate) estimate: TokenEstimate,
    pub(crate) inline: InlineTags,
}

impl ThinkFilter {
    pub(crate) fn from_parts(parts: FilterParts) -> Self {
        let FilterParts { driver, roles, prepend, withheld, estimate, inline } = parts;
        Self {
            driver,
            utf8: Utf8::default(),
            roles,
            progress: Progress::new(withheld),
            estimate,
            prepend,
            prepended: false,
            finished: false,
            inline,
            literal: false,
        }
    }

    /// Feeds the next chunk of the message. A chunk after [`ThinkFilter::finish`] starts another
    /// message.
    ///
    /// # Errors
    /// Returns an error only if reasoning hits a limit with the error policy. Text before the limit
    /// is emitted, text after it is not read, and every later push returns the same error.
    pub fn push(&mut self, chunk: &str, mut on: impl FnMut(Piece<'_>)) -> Result<(), LimitError> {
        if self.finished && !chunk.is_empty() {
            self.reset();
        }
        let Self { driver, roles, progress, .. } = self;
        if !self.prepended && !chunk.is_empty() {
            self.prepended = true;
            if let Some(text) = &self.prepend {
                on(Piece::Content(text));
            }
        }
        let mut pieces = Pieces { progress, roles, on };
        if self.literal {
            return driver.push_literal(chunk, &mut NoBodies, &mut pieces);
        }
        driver.push(chunk, &mut NoBodies, &mut pieces)
    }

    /// Feeds the next chunk of the message as bytes, which may be cut inside a UTF-8 sequence.
    /// Invalid sequences become U+FFFD and are counted ([`ThinkFilter::replaced`]).
    ///
    /// # Errors
    /// See [`ThinkFilter::push`].
    pub fn push_bytes(
        &mut self,
        bytes: &[u8],
        mut on: impl FnMut(Piece<'_>),
    ) -> Result<(), LimitError> {
        if self.finished && !bytes.is_empty() {
            self.reset();
        }
        let (mut utf8, mut pushed) = (core::mem::take(&mut self.utf8), Ok(()));
        utf8.push(bytes, |text| {
            if pushed.is_ok() {
                pushed = self.push(text, &mut on);
            }
        });
        self.utf8 = utf8;
        pushed
    }

    /// Feeds reasoning that the server separated from the text, between the texts around it. Tags
    /// are not searched for in it, and a tag that was cut before it does not continue after it.
    ///
    /// Under [`InlineTags::Literal`] an open span ends here, even if the prompt opened it, and tags
    /// are text in the rest of the message.
    ///
    /// # Errors
    /// See [`ThinkFilter::push`].
    pub fn push_reasoning(
        &mut self,
        text: &str,
        mut on: impl FnMut(Piece<'_>),
    ) -> Result<(), LimitError> {
        if text.is_empty() {
            return Ok(());
        }
        if core::mem::take(&mut self.finished) {
            self.reset();
        }
        let Self { driver, roles, progress, .. } = self;
        let mut pieces = Pieces { progress, roles, on: &mut on };
        driver.push_literal("", &mut NoBodies, &mut pieces)?;
        if self.inline == InlineTags::Literal && !core::mem::replace(&mut self.literal, true) {
            driver.message_boundary(&mut pieces);
        }
        self.progress.text(Channel::REASONING, text, &mut on);
        Ok(())
    }

    /// Ends the message and emits held text. An unclosed span is reasoning unless
    /// [`crate::ThinkFilterBuilder::unclosed`] is set. A second call does nothing.
    ///
    /// # Errors
    /// See [`ThinkFilter::push`].
    pub fn finish(&mut self, end: End, mut on: impl FnMut(Piece<'_>)) -> Result<(), LimitError> {
        if self.finished {
            return Ok(());
        }
        let mut utf8 = core::mem::take(&mut self.utf8);
        // The driver returns the error of this push again below.
        utf8.finish(|text| _ = self.push(text, &mut on));
        self.utf8 = utf8;
        self.finished = true;
        let Self { driver, roles, progress, .. } = self;
        let finished =
            driver.finish(end, &mut NoBodies, &mut Pieces { progress, roles, on: &mut on });
        progress.finish(end, driver.channel() != Channel::CONTENT, &mut on);
        finished
    }

    /// Starts another message in the same stream. Blocks at its start count as leading, and a tag
    /// that is cut by the boundary is still recognised.
    pub fn message_boundary(&mut self, mut on: impl FnMut(Piece<'_>)) {
        let Self { driver, roles, progress, .. } = self;
        let open = driver.channel() != Channel::CONTENT;
        driver.message_boundary(&mut Pieces { progress, roles, on: &mut on });
        progress.message_boundary(open, &mut on);
        self.literal = false;
    }

    /// Resets the filter to its initial state.
    pub fn reset(&mut self) {
        self.driver.reset();
        self.utf8 = Utf8::default();
        self.progress.reset();
        (self.prepended, self.finished, self.literal) = (false, false, false);
    }

    /// Returns the number of bytes held, with the reason.
    #[must_use]
    pub fn held(&self) -> Held {
        let Held { bytes, kind } = self.driver.held();
        let (kept, cut) = (self.progress.withheld.held(), self.utf8.held());
        let kind = match (kept, bytes, cut) {
            (1.., ..) => HeldKind::Reasoning,
            (0, 0, 1..) => HeldKind::Utf8,
            _ => kind,
        };
        Held { bytes: bytes.saturating_add(kept).saturating_add(cut), kind }
    }

    /// Returns the number of invalid byte sequences replaced in the message so far.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.utf8.replaced()
    }

    /// Returns whether the next text is reasoning.
    #[must_use]
    pub fn is_reasoning(&self) -> bool {
        self.driver.channel() == Channel::REASONING
    }

    /// Returns the counters of the driver.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.driver.counters()
    }

    /// Returns the counts of the message so far. Messages that a boundary divides count together.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.progress.counts
    }

    /// Returns the estimated number of reasoning tokens so far.
    #[must_use]
    pub fn reasoning_tokens(&self) -> u64 {
        (self.estimate)(self.counts().reasoning_bytes)
    }
}
