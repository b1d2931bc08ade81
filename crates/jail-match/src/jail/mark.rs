//! Marks: what begins and what ends a block.

use alloc::{borrow::Cow, string::String};

use crate::edge::Case;

/// A start or end sequence: a literal or, with the feature `regex`, an expression.
///
/// ```
/// use jail_match::{At, Case, Jail, Mark};
/// let begin = Mark::from("begin:").cased(Case::FoldAscii).at(At::LineStart);
/// let jail = Jail::builder().pair(begin, "\n").build()?;
/// # Ok::<(), jail_match::JailError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub(crate) text: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) case: Case,
    pub(crate) at: At,
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
pub enum At {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At the start of the stream and directly after a `\n`.
    LineStart,
    /// At the start of the stream.
    StreamStart,
}

impl At {
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
    pub fn cased(self, case: Case) -> Self {
        Self { case, ..self }
    }

    /// The same mark, only there.
    #[must_use]
    pub fn at(self, at: At) -> Self {
        Self { at, ..self }
    }

    /// An expression in the syntax of the `regex` crate, found leftmost-first.
    ///
    /// `^` is the start of the stream, `(?m)^` that of a line; `$` and `\b` look one byte ahead,
    /// which is then waited for. A match takes at most as many bytes as the expression allows:
    /// state it with [`Mark::hold`] where the expression is unbounded.
    #[cfg(feature = "regex")]
    #[must_use]
    pub fn pattern(expression: impl Into<Cow<'static, str>>) -> Self {
        Self { kind: Kind::Pattern { hold: None }, ..Self::from(expression.into()) }
    }

    /// The most bytes a match of this expression may take: so much is held while it may go on.
    /// A match that could grow beyond ends there. Nothing for literals.
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
        let fold = Case::FoldAscii;
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
        Self { text, kind: Kind::Literal, case: Case::Exact, at: At::Anywhere }
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
