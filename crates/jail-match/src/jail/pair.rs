//! `JailPair`: delimiters, quoting, nesting, limits and release policy of one kind of block.

use alloc::{borrow::Cow, vec, vec::Vec};

use super::mark::Mark;

/// A kind of block: its starts and ends, and the treatment of the text between them.
///
/// Any of the pair's ends closes any of its starts.
///
/// ```
/// use jail_match::{Inner, Jail, OnFail, JailPair, Quote, Release};
/// let object = JailPair::new("{", "}")
///     .quote(Quote::JSON)
///     .inner(Inner::Own)
///     .limit(4096, OnFail::Release)
///     .release(Release::Drop);
/// let jail = Jail::builder().rule(object).build()?;
/// # Ok::<(), jail_match::JailError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JailPair {
    pub(crate) starts: Vec<Mark>,
    pub(crate) ends: Vec<Mark>,
    pub(crate) quotes: Vec<Quote>,
    pub(crate) inner: Inner,
    pub(crate) place: StartScope,
    pub(crate) extent: Extent,
    pub(crate) release: Release,
    pub(crate) flow: BlockDelivery,
    pub(crate) limit: usize,
    pub(crate) over: OnFail,
    pub(crate) unclosed: OnFail,
}

/// The places where the starts of a pair count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartScope {
    Anywhere,
    /// Only inside blocks of pairs that list this one.
    Inside,
}

/// The extent of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The block extends to an end.
    ToEnd,
    /// The block consists of its start.
    Start,
}

impl JailPair {
    /// Creates a pair whose blocks consist of one mark, for words, keys and numbers. The block's
    /// body and end are empty, and ends that are added have no effect.
    ///
    /// An expression that continues beyond its `Mark::hold` hits the pair's limit. Its block
    /// extends as far as the expression matches, and is dropped ([`OnFail::Drop`]) so that no part
    /// of it is text. [`JailPair::limit`] sets another policy.
    ///
    /// ```
    /// use jail_match::{Jail, JailEvent, JailPair};
    /// let mut jail = Jail::builder().rule(JailPair::single("beep")).build()?;
    /// let mut seen = String::new();
    /// let mut on = |event: JailEvent<'_>| match event {
    ///     JailEvent::Text(text) => seen.push_str(text),
    ///     JailEvent::Jailed(block) => seen.push_str(&"*".repeat(block.start.len())),
    ///     _ => {}
    /// };
    /// jail.push("a be", &mut on)?;
    /// jail.push("ep c", &mut on)?;
    /// assert_eq!(seen, "a **** c");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn single(mark: impl Into<Mark>) -> Self {
        let extent = Extent::Start;
        Self { starts: vec![mark.into()], extent, over: OnFail::Drop, ..Self::empty() }
    }

    /// Creates a pair whose blocks are handed over whole, have at most 1 MiB, and do not nest.
    #[must_use]
    pub fn new(start: impl Into<Mark>, end: impl Into<Mark>) -> Self {
        Self { starts: vec![start.into()], ends: vec![end.into()], ..Self::empty() }
    }

    pub(crate) fn empty() -> Self {
        Self {
            starts: Vec::new(),
            ends: Vec::new(),
            quotes: Vec::new(),
            inner: Inner::Nothing,
            place: StartScope::Anywhere,
            extent: Extent::ToEnd,
            release: Release::Hand,
            flow: BlockDelivery::Withhold,
            limit: 1 << 20,
            over: OnFail::End,
            unclosed: OnFail::End,
        }
    }

    /// Adds another start of the pair.
    #[must_use]
    pub fn start(mut self, start: impl Into<Mark>) -> Self {
        self.starts.push(start.into());
        self
    }

    /// Adds another end. Of several ends at one place, the longest counts.
    #[must_use]
    pub fn end(mut self, end: impl Into<Mark>) -> Self {
        self.ends.push(end.into());
        self
    }

    /// Adds a kind of quoted text in which neither ends nor inner starts count.
    #[must_use]
    pub fn quote(mut self, quote: Quote) -> Self {
        self.quotes.push(quote);
        self
    }

    /// Sets the pairs that may open inside (default none).
    #[must_use]
    pub fn inner(self, inner: Inner) -> Self {
        Self { inner, ..self }
    }

    /// Makes the pair's starts count only inside blocks of pairs that list it in [`Inner::Only`].
    #[must_use]
    pub fn only_inside(self) -> Self {
        Self { place: StartScope::Inside, ..self }
    }

    /// Sets how a block is released at its end.
    #[must_use]
    pub fn release(self, release: Release) -> Self {
        Self { release, ..self }
    }

    /// Sets whether the block's text waits for the end.
    #[must_use]
    pub fn flow(self, flow: BlockDelivery) -> Self {
        Self { flow, ..self }
    }

    /// Sets the maximum number of bytes between start and end, and the policy for a longer block.
    /// The end may begin directly after them.
    #[must_use]
    pub fn limit(self, bytes: usize, over: OnFail) -> Self {
        Self { limit: bytes, over, ..self }
    }

    /// Sets the policy for a block that is open at the end of the stream.
    #[must_use]
    pub fn unclosed(self, unclosed: OnFail) -> Self {
        Self { unclosed, ..self }
    }
}

/// A kind of quoted text inside a block, in which ends do not count.
///
/// ```
/// use jail_match::{Jail, JailPair, Quote};
/// let object = JailPair::new("{", "}").quote(Quote::new("'", "'").escaped('\\'));
/// assert!(Jail::builder().rule(object).build().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub(crate) open: Cow<'static, str>,
    pub(crate) close: Cow<'static, str>,
    pub(crate) escape: Option<char>,
}

impl Quote {
    /// The strings of JSON: `"`, with the escape `\`.
    pub const JSON: Self =
        Self { open: Cow::Borrowed("\""), close: Cow::Borrowed("\""), escape: Some('\\') };

    /// Creates quotes of two literals, such as `<parameter` and `</parameter>`.
    #[must_use]
    pub fn new(open: impl Into<Cow<'static, str>>, close: impl Into<Cow<'static, str>>) -> Self {
        Self { open: open.into(), close: close.into(), escape: None }
    }

    /// Sets a character that makes the character after it literal.
    #[must_use]
    pub fn escaped(self, escape: char) -> Self {
        Self { escape: Some(escape), ..self }
    }
}

/// The pairs that may open inside a block. An inner end never closes the outer block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inner {
    /// No pair: the first end closes the block.
    #[default]
    Nothing,
    /// The pair itself: starts and ends are counted.
    Own,
    /// Every pair, the pair itself included.
    Every,
    /// The pairs with these numbers, in the order they were added.
    Only(Vec<usize>),
}

/// How a block is released at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Release {
    /// The block is handed over as [`crate::JailEvent::Jailed`].
    #[default]
    Hand,
    /// The block is text, as it was written.
    Verbatim,
    /// The block is text without its start and end.
    Strip,
    /// The block is dropped and counted.
    Drop,
}

/// Whether a block's text waits for the block's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockDelivery {
    /// The text is withheld up to the end.
    #[default]
    Withhold,
    /// The text passes while it comes, and the block is also handed over at its end, as
    /// [`crate::JailEvent::Tapped`]. The [`Release`] of the block has no effect then.
    Tap,
}

/// The moment at which blocks inside a block are released.
///
/// ```
/// use jail_match::{Inner, Jail, JailEvent, Nested, JailPair, Release};
/// let seen = |nested: Nested| -> Result<String, Box<dyn std::error::Error>> {
///     let outer = JailPair::new("(", ")").inner(Inner::Every);
///     let inner = JailPair::new("[", "]").release(Release::Drop);
///     let mut jail = Jail::builder().rule(outer).rule(inner).nested(nested).build()?;
///     let mut seen = String::new();
///     let mut on = |event: JailEvent<'_>| {
///         if let JailEvent::Jailed(block) = event {
///             seen.push_str(block.body);
///         }
///     };
///     jail.push("(a [b] c)", &mut on)?;
///     Ok(seen)
/// };
/// assert_eq!(seen(Nested::OuterOnly)?, "a [b] c");
/// assert_eq!(seen(Nested::InnerFirst)?, "a  c");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nested {
    /// Inner blocks are a part of the outermost block.
    #[default]
    OuterOnly,
    /// Inner blocks are released at their end, by their own [`Release`]. Text they release is a
    /// part of the block around them.
    InnerFirst,
}

/// The policy for a block that hits a limit, or is open at the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFail {
    /// The block ends and is text, as it was written.
    Release,
    /// The block's marks are removed, and its body up to its end is text. Open quotes and inner
    /// blocks continue, so that no end inside them counts.
    Strip,
    /// The block is dropped up to its end and counted. Open quotes and inner blocks continue.
    Drop,
    /// The block ends at this byte as if its end had come.
    #[default]
    End,
    /// Held text is released and the call returns an error. The jail takes no more text.
    Error,
}

impl OnFail {
    /// Returns whether the block continues to its end.
    pub(crate) const fn goes_on(self) -> bool {
        matches!(self, Self::Strip | Self::Drop)
    }
}
