//! Pairs: what a kind of block is, and what becomes of it.

use alloc::{borrow::Cow, vec, vec::Vec};

use super::mark::Mark;

/// A kind of block: starts, ends, and what is done with what stands between.
///
/// Any of its ends closes any of its starts.
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

/// Where a pair's starts count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartScope {
    Anywhere,
    /// Only inside the pairs that name it.
    Inside,
}

/// How far a block goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Up to an end.
    ToEnd,
    /// Its start is all of it.
    Start,
}

impl JailPair {
    /// A mark that is a block by itself, for what has no end of its own: a word, a key, a
    /// number. The block's body and end are empty; ends that are added do not matter.
    ///
    /// An expression that goes on beyond its [`Mark::hold`] hits the pair's limit, and its block is
    /// followed as far as the expression reads. Such a block is dropped ([`OnFail::Drop`]) unless
    /// [`JailPair::limit`] sets another policy: no part of it is text.
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

    /// A pair handed over whole, of at most 1 MiB, in which nothing nests.
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

    /// Adds another start.
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

    /// What may open inside. Nothing unless set.
    #[must_use]
    pub fn inner(self, inner: Inner) -> Self {
        Self { inner, ..self }
    }

    /// Its starts count only inside the pairs that name it.
    #[must_use]
    pub fn only_inside(self) -> Self {
        Self { place: StartScope::Inside, ..self }
    }

    /// What becomes of a block that ended.
    #[must_use]
    pub fn release(self, release: Release) -> Self {
        Self { release, ..self }
    }

    /// Whether its text waits for the end.
    #[must_use]
    pub fn flow(self, flow: BlockDelivery) -> Self {
        Self { flow, ..self }
    }

    /// The most bytes between start and end, and what becomes of a block with more. Its end may
    /// begin directly after them.
    #[must_use]
    pub fn limit(self, bytes: usize, over: OnFail) -> Self {
        Self { limit: bytes, over, ..self }
    }

    /// What becomes of a block that the stream's end leaves open.
    #[must_use]
    pub fn unclosed(self, unclosed: OnFail) -> Self {
        Self { unclosed, ..self }
    }
}

/// Quoted text inside a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub(crate) open: Cow<'static, str>,
    pub(crate) close: Cow<'static, str>,
    pub(crate) escape: Option<char>,
}

impl Quote {
    /// JSON strings: `"`, with `\` before what does not end them.
    pub const JSON: Self =
        Self { open: Cow::Borrowed("\""), close: Cow::Borrowed("\""), escape: Some('\\') };

    /// Text between two literals: `<parameter` and `</parameter>`.
    #[must_use]
    pub fn new(open: impl Into<Cow<'static, str>>, close: impl Into<Cow<'static, str>>) -> Self {
        Self { open: open.into(), close: close.into(), escape: None }
    }

    /// The same quotes with a character that makes the one after it literal.
    #[must_use]
    pub fn escaped(self, escape: char) -> Self {
        Self { escape: Some(escape), ..self }
    }
}

/// Which pairs may open inside a block. An inner end never closes the outer block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inner {
    /// None: the first end closes.
    #[default]
    Nothing,
    /// The pair itself: its starts and ends are counted.
    Own,
    /// Every pair, the pair itself included.
    Every,
    /// These, by their numbers in the order they were added.
    Only(Vec<usize>),
}

/// What becomes of a block that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Release {
    /// It is handed over as [`crate::JailEvent::Jailed`].
    #[default]
    Hand,
    /// It is text, as it was written.
    Verbatim,
    /// It is text without its start and end.
    Strip,
    /// It is dropped, and counted.
    Drop,
}

/// Whether a block's text waits for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockDelivery {
    /// It does.
    #[default]
    Withhold,
    /// It passes as text while it comes, and after its end the block is handed over besides, as
    /// [`crate::JailEvent::Tapped`]. The [`Release`] of the block does not matter then.
    Tap,
}

/// When blocks inside a block are released.
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
    /// Never on their own: they are part of the outermost block.
    #[default]
    OuterOnly,
    /// At their own end, by their own [`Release`]; what they leave as text is part of the block
    /// around them.
    InnerFirst,
}

/// What becomes of a block that hits a limit, or that the end of the stream leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFail {
    /// It is over, and text as it was written.
    Release,
    /// Its marks are removed: what it holds is text, and so is what follows up to its end.
    /// Quotes and inner blocks that are open go on, so that no end inside them counts.
    Strip,
    /// It is dropped up to its end, and counted. Quotes and inner blocks that are open go on.
    Drop,
    /// It is over, and treated as if it ended here.
    #[default]
    End,
    /// What is held is released as text and the call returns an error; the jail takes no more.
    Error,
}

impl OnFail {
    /// Whether the block goes on to its end.
    pub(crate) const fn goes_on(self) -> bool {
        matches!(self, Self::Strip | Self::Drop)
    }
}
