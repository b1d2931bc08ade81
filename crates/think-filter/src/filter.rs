//! The filter: a driver over a format's table, and nothing else.

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

/// Splits a message into content and reasoning while it arrives.
///
/// Holds back only what may be the start of a marker, or whitespace that the policy may drop:
/// a short answer without a `<` goes out at once.
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
    /// Nothing in the text is a tag any more.
    literal: bool,
}

impl ThinkFilter {
    pub(crate) fn with_parts(
        driver: Driver,
        roles: Arc<[Role]>,
        prepend: Option<Text>,
        withheld: Withheld,
        estimate: TokenEstimate,
        inline: InlineTags,
    ) -> Self {
        let progress = Progress::new(withheld);
        let (prepended, finished, literal) = (false, false, false);
        let utf8 = Utf8::default();
        Self {
            driver,
            utf8,
            roles,
            progress,
            estimate,
            prepend,
            prepended,
            finished,
            inline,
            literal,
        }
    }

    /// Feeds the next piece of the message. After [`ThinkFilter::finish`] it is the first of
    /// another.
    ///
    /// # Errors
    /// Only if a limit on the reasoning with the error policy is hit: what came before is out, what
    /// stands after was not taken, and every later push returns the same error.
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

    /// Feeds the next piece of the message as bytes, which may be cut inside a UTF-8 sequence. Invalid
    /// sequences become U+FFFD and are counted ([`ThinkFilter::replaced`]).
    ///
    /// # Errors
    /// As [`ThinkFilter::push`].
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

    /// Reasoning that upstream told apart from the text, in a field of its own: it passes as
    /// reasoning, in its place. No tag is looked for in it, and none spans it.
    ///
    /// Under [`InlineTags::Literal`] a span that a tag, or the prompt, opened ends here, and tags
    /// are text in all of the message that follows.
    ///
    /// # Errors
    /// As [`ThinkFilter::push`].
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

    /// Ends the message as `end` says: what is held is emitted. An unclosed span stays reasoning,
    /// unless [`crate::ThinkFilterBuilder::unclosed`] says otherwise. A second time does nothing.
    ///
    /// # Errors
    /// As [`ThinkFilter::push`].
    pub fn finish(&mut self, end: End, mut on: impl FnMut(Piece<'_>)) -> Result<(), LimitError> {
        if self.finished {
            return Ok(());
        }
        let mut utf8 = core::mem::take(&mut self.utf8);
        // An error of this push is that of the end, too.
        utf8.finish(|text| _ = self.push(text, &mut on));
        self.utf8 = utf8;
        self.finished = true;
        let Self { driver, roles, progress, .. } = self;
        let finished =
            driver.finish(end, &mut NoBodies, &mut Pieces { progress, roles, on: &mut on });
        progress.finish(end, driver.channel() != Channel::CONTENT, &mut on);
        finished
    }

    /// Another message begins in the same stream: leading blocks count again, and a tag split
    /// across the boundary is still recognised.
    pub fn message_boundary(&mut self, mut on: impl FnMut(Piece<'_>)) {
        let Self { driver, roles, progress, .. } = self;
        let open = driver.channel() != Channel::CONTENT;
        driver.message_boundary(&mut Pieces { progress, roles, on: &mut on });
        progress.message_boundary(open, &mut on);
        self.literal = false;
    }

    /// Makes the filter as new.
    pub fn reset(&mut self) {
        self.driver.reset();
        self.utf8 = Utf8::default();
        self.progress.reset();
        (self.prepended, self.finished, self.literal) = (false, false, false);
    }

    /// What is held, and why.
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

    /// How many invalid sequences of bytes were replaced in the message so far.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.utf8.replaced()
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

    /// Counts of the message so far, all of a stream's if boundaries divide it.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.progress.counts
    }

    /// How many tokens the reasoning so far is estimated to be.
    #[must_use]
    pub fn reasoning_tokens(&self) -> u64 {
        (self.estimate)(self.counts().reasoning_bytes)
    }
}
