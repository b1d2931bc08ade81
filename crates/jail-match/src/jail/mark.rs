//! Marks: what begins and what ends a block.

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

/// How much of a match counts, as the caller says. Equal to its clones only.
#[derive(Clone)]
pub(crate) struct Check(Arc<Accepts>);

impl Check {
    /// How many bytes of `text` count; none, if the caller's answer is no place in it.
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
    /// An expression with the most bytes a match may take, if stated.
    #[cfg(feature = "regex")]
    Pattern {
        hold: Option<usize>,
    },
}

/// Where a mark may stand in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkPosition {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At the start of the stream and directly after a `\n`.
    LineStart,
    /// At the start of the stream.
    StreamStart,
}

impl MarkPosition {
    /// Whether a mark may stand after `before`; `None` is the start of the stream.
    pub(crate) fn holds(self, before: Option<u8>) -> bool {
        match self {
            Self::Anywhere => true,
            Self::LineStart => matches!(before, None | Some(b'\n')),
            Self::StreamStart => before.is_none(),
        }
    }
}

impl Mark {
    /// The same mark with another case rule. Expressions have their own: `(?i)`.
    #[must_use]
    pub fn cased(self, case: LetterCase) -> Self {
        Self { case, ..self }
    }

    /// The same mark, only there.
    #[must_use]
    pub fn at(self, at: MarkPosition) -> Self {
        Self { at, ..self }
    }

    /// The same mark, only where `check` says of the text it matched that it is one: a number
    /// whose digits add up, a word of a list. Called when the match is certain, as often as it is
    /// looked at; not called for what an earlier check of the mark refused. What is refused is
    /// text, and what follows its first character is looked at anew.
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

    /// As [`Mark::checked`], for a check that says how many bytes of the match count, from its
    /// start; the rest is looked at anew. `None`, 0 and what is no place between characters
    /// refuse the match.
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

    /// An expression in the syntax of the `regex` crate, found leftmost-first.
    ///
    /// `^` is the start of the stream, `(?m)^` that of a line; `$` and `(?-u:\b)` look one byte
    /// ahead, which is then waited for. Word boundaries are those of ASCII: `\b` alone asks for
    /// Unicode's, and [`crate::JailBuilder::build`] refuses it. Classes like `\d` and `\w` are
    /// Unicode's unless `(?-u)` says otherwise, and large: write `[0-9]` where that is meant.
    /// `\p{..}` is not understood, unless another crate turns on the tables of `regex-syntax`.
    /// An expression may compile to 2 MiB, and is refused beyond.
    ///
    /// A match takes at most as many bytes as the expression allows: state it with
    /// [`Mark::hold`] where the expression is unbounded.
    #[cfg(feature = "regex")]
    #[must_use]
    pub fn pattern(expression: impl Into<Cow<'static, str>>) -> Self {
        Self { kind: Kind::Pattern { hold: None }, ..Self::from(expression.into()) }
    }

    /// The most bytes a match of this expression may take: so much is held while it may go on.
    /// Nothing for literals.
    ///
    /// What has not matched within as many bytes is text: the hold must be as long as the longest
    /// text that is to be found. What has matched and could go on is a match that ends there,
    /// except in a [`crate::Pair::single`]: there the match is followed to its end, and all of it
    /// is dropped unless [`crate::Pair::limit`] sets another policy.
    #[cfg(feature = "regex")]
    #[must_use]
    pub fn hold(mut self, bytes: usize) -> Self {
        if let Kind::Pattern { hold } = &mut self.kind {
            *hold = Some(bytes);
        }
        self
    }

    /// Whether the two are literals that read the same text.
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
