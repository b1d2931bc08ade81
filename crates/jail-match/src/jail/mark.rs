//! Marks: the starts and ends of blocks.

use alloc::{borrow::Cow, string::String, sync::Arc};
use core::fmt;

use crate::edge::LetterCase;

/// A start or end sequence: a literal or, with the feature `regex`, an expression.
///
/// ```
/// use jail_match::{MarkPosition, LetterCase, Jail, Mark};
/// let begin = Mark::from("begin:").cased(LetterCase::FoldAscii).at(MarkPosition::LineStart);
/// let jail = Jail::builder().pair(begin, "\n").build()?;
/// # Ok::<(), jail_match::JailError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub(crate) text: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) case: LetterCase,
    pub(crate) at: MarkPosition,
    pub(crate) check: Option<Check>,
}

type Accepts = dyn Fn(&str) -> Option<usize> + Send + Sync;

/// A function of the host that decides how much of a match counts. A check equals its clones only.
#[derive(Clone)]
pub(crate) struct Check(Arc<Accepts>);

impl Check {
    /// Returns the number of bytes of `text` that count, or `None` if the host's answer is not a
    /// character boundary of it.
    pub(crate) fn accepts(&self, text: &str) -> Option<usize> {
        (self.0)(text).filter(|&len| len > 0 && text.is_char_boundary(len))
    }
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Check {}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Literal,
    /// An expression with the maximum length of a match in bytes, if stated.
    #[cfg(feature = "regex")]
    Pattern {
        hold: Option<usize>,
    },
}

/// The places where a mark may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkPosition {
    /// The mark matches anywhere.
    #[default]
    Anywhere,
    /// The mark matches at the start of the stream and directly after a `\n`.
    LineStart,
    /// The mark matches at the start of the stream.
    StreamStart,
}

impl MarkPosition {
    /// Returns whether a mark may follow the byte `before`; `None` is the start of the stream.
    pub(crate) fn holds(self, before: Option<u8>) -> bool {
        match self {
            Self::Anywhere => true,
            Self::LineStart => matches!(before, None | Some(b'\n')),
            Self::StreamStart => before.is_none(),
        }
    }
}

impl Mark {
    /// Sets whether letter case matters. Expressions have a flag for it: `(?i)`.
    #[must_use]
    pub fn cased(self, case: LetterCase) -> Self {
        Self { case, ..self }
    }

    /// Sets the places where the mark may match.
    #[must_use]
    pub fn at(self, at: MarkPosition) -> Self {
        Self { at, ..self }
    }

    /// Adds a check that a match must pass, such as a checksum or a list of words.
    ///
    /// The check is called once a match is certain, possibly several times, and only with text that
    /// the mark's earlier checks accepted. A refused match is text, and marks are searched for
    /// after its first character.
    ///
    /// ```
    /// use jail_match::{Jail, JailEvent, Mark, JailPair};
    /// let mark = Mark::from("id-7").checked(|found| found.ends_with('7'));
    /// let mut jail = Jail::builder().rule(JailPair::single(mark)).build()?;
    /// let mut found = 0;
    /// jail.push("id-7 id-8", |event| found += usize::from(matches!(event, JailEvent::Jailed(_))))?;
    /// assert_eq!(found, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn checked(self, check: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.accepting(move |text| check(text).then_some(text.len()))
    }

    /// Adds a check that returns how many bytes at the start of the match count. Marks are searched
    /// for after them.
    ///
    /// `None`, 0 and an index inside a character refuse the match. See [`Mark::checked`].
    #[must_use]
    pub fn accepting(
        mut self,
        accepts: impl Fn(&str) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        let first = self.check.take();
        self.check = Some(Check(Arc::new(move |text| {
            let text = match &first {
                Some(first) => &text[..first.accepts(text)?],
                None => text,
            };
            accepts(text)
        })));
        self
    }

    /// Creates a mark from an expression in the syntax of the `regex` crate, found leftmost-first.
    ///
    /// * `^` is the start of the stream, `(?m)^` the start of a line. `$` and `(?-u:\b)` wait for
    ///   the byte after them.
    /// * Word boundaries are those of ASCII: `(?-u:\b)`. A plain `\b` means Unicode's, and
    ///   [`crate::JailBuilder::build`] refuses it.
    /// * Classes like `\d` and `\w` are Unicode's and large: write `[0-9]` where that is meant.
    ///   `\p{..}` needs the Unicode tables of `regex-syntax`, which this crate does not turn on.
    /// * An expression may compile to at most 2 MiB.
    ///
    /// If the expression has no maximum length, state one with [`Mark::hold`].
    #[cfg(feature = "regex")]
    #[must_use]
    pub fn pattern(expression: impl Into<Cow<'static, str>>) -> Self {
        Self { kind: Kind::Pattern { hold: None }, ..Self::from(expression.into()) }
    }

    /// Sets the maximum length of a match in bytes, which is also the maximum number of bytes held
    /// for it. No effect on literals.
    ///
    /// Text that has not matched within that length passes, so the hold must cover the longest text
    /// to be found. A match that could continue beyond the hold ends there. In a
    /// [`crate::JailPair::single`] it is followed to its end instead, and all of it is dropped
    /// unless [`crate::JailPair::limit`] sets another policy.
    #[cfg(feature = "regex")]
    #[must_use]
    pub fn hold(mut self, bytes: usize) -> Self {
        if let Kind::Pattern { hold } = &mut self.kind {
            *hold = Some(bytes);
        }
        self
    }

    /// Returns whether both marks are literals and match the same text.
    pub(crate) fn collides(&self, other: &Self) -> bool {
        let fold = LetterCase::FoldAscii;
        self.kind == Kind::Literal
            && other.kind == Kind::Literal
            && if self.case == fold || other.case == fold {
                self.text.eq_ignore_ascii_case(&other.text)
            } else {
                self.text == other.text
            }
    }
}

impl From<Cow<'static, str>> for Mark {
    fn from(text: Cow<'static, str>) -> Self {
        Self {
            text,
            kind: Kind::Literal,
            case: LetterCase::Exact,
            at: MarkPosition::Anywhere,
            check: None,
        }
    }
}

impl From<&'static str> for Mark {
    fn from(text: &'static str) -> Self {
        Self::from(Cow::Borrowed(text))
    }
}

impl From<String> for Mark {
    fn from(text: String) -> Self {
        Self::from(Cow::Owned(text))
    }
}
