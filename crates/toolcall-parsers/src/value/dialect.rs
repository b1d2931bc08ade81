//! The syntaxes that values are written in.

use alloc::string::String;

use serde_json::Value;

use super::unescape::Flavor;
use crate::{
    cursor::{Prefix, Undecided, longest_prefix, match_prefix},
    options::CallLimits,
    tools::Tools,
};

/// The syntax of values in a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Strict JSON with two exceptions: raw control characters in strings are escaped, and lone
    /// surrogates are replaced.
    Json,
    /// JSON with the deviations of [`Tolerated`].
    Lenient,
    /// The syntax of Python literals.
    Python,
    /// Objects with bare keys, strings in the family's own quotes or in `"`, `'` and backticks, and
    /// bare scalars.
    Literal,
}

/// A deviation from JSON that [`Syntax::Lenient`] accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tolerated {
    /// A string between single quotes.
    SingleQuotes,
    /// A key without quotes.
    BareKey,
    /// `True`, `False` or `None`.
    PythonWord,
    /// A comma before a closing bracket.
    TrailingComma,
    /// A comment: `//`, `#` or `/* */`.
    Comment,
    /// A backslash that does not begin an escape of JSON.
    Escape,
    /// A number that JSON spells differently.
    Number,
    /// A list of one object in place of the object. Also accepted in strict JSON.
    List,
}

/// The properties of a form that readers of its values need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueDialect<'a> {
    pub(crate) syntax: Syntax,
    /// For [`Syntax::Literal`]: the family's own quotes, which enclose verbatim strings.
    pub(crate) quotes: &'a [String],
    /// Texts that end the call, for values whose end is missing.
    pub(crate) ends: &'a [String],
    /// Texts that may follow the call: end-of-turn tokens and openers. An end inside a string
    /// counts only before one of them, or at the end of the stream.
    pub(crate) follows: &'a [String],
    /// Those of `follows` that begin a call.
    pub(crate) openers: &'a [String],
    /// For [`Syntax::Python`]: the declared tools. The head of a tool's call in a string shows that
    /// the string's end is missing.
    pub(crate) tools: Option<&'a Tools>,
    /// The schema that gives values their types, if the wire does not.
    pub(crate) typing: Option<Typing<'a>>,
    pub(crate) limits: CallLimits,
    /// Whether the end of a string may be searched for.
    pub(crate) may_search: bool,
    /// Whether the stream has ended, so that the text being read is the last.
    pub(crate) ended: bool,
    /// Whether the stream was cut, so that the model did not end its message.
    pub(crate) cut: bool,
}

/// The tool's schema, for [`Syntax::Literal`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typing<'a> {
    /// The schema of the arguments, if the tool is declared.
    pub(crate) parameters: Option<&'a Value>,
    /// Whether quotes enclose values of every type, because the wire carries no types. Otherwise a
    /// quoted value is a string, and the schema decides the type of an unknown word.
    pub(crate) quoted: bool,
}

/// The delimiter of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Byte(u8),
    /// The form's quote with this number.
    Own(usize),
}

impl<'a> ValueDialect<'a> {
    /// Creates a dialect without the properties of a family.
    pub(crate) fn new(syntax: Syntax, limits: CallLimits) -> Self {
        let (may_search, ended) = (true, false);
        Self {
            syntax,
            quotes: &[],
            ends: &[],
            follows: &[],
            openers: &[],
            tools: None,
            typing: None,
            limits,
            may_search,
            ended,
            cut: false,
        }
    }

    /// Returns whether the text may go on as it must, where it stops. Undecided until the stream has
    /// ended. After a cut it counts, because the rest is missing.
    pub(super) fn open_end(&self) -> Result<bool, Undecided> {
        if self.ended { Ok(self.cut) } else { Err(Undecided) }
    }

    pub(crate) fn is(&self, syntax: Syntax) -> bool {
        self.syntax == syntax
    }

    /// Returns whether a string may begin at the start of `text`. True if undecided.
    pub(crate) fn begins_string(&self, text: &str) -> bool {
        let prefix = self.is(Syntax::Python) && text.starts_with(['r', 'R', 'u', 'U', 'f', 'F']);
        prefix || self.quote(text) != Ok(None)
    }

    /// Returns whether keys without quotes are accepted.
    pub(super) fn bare_keys(&self) -> bool {
        matches!(self.syntax, Syntax::Lenient | Syntax::Literal)
    }

    /// Returns whether quotes inside a string may be unescaped, see [`super::string`].
    pub(super) fn nests_quotes(&self) -> bool {
        matches!(self.syntax, Syntax::Python | Syntax::Literal)
    }

    pub(super) fn flavor(&self) -> Flavor {
        match self.syntax {
            Syntax::Json | Syntax::Lenient => Flavor::Json,
            Syntax::Python => Flavor::Python,
            Syntax::Literal => Flavor::Script,
        }
    }

    /// Returns the quote at the start of `text`.
    pub(super) fn quote(&self, text: &str) -> Result<Option<Quote>, Undecided> {
        if let Some(own) = self.own_quote(text)? {
            return Ok(Some(own));
        }
        Ok(match text.as_bytes().first() {
            Some(b'"') => Some(Quote::Byte(b'"')),
            Some(b'\'') if self.syntax != Syntax::Json => Some(Quote::Byte(b'\'')),
            Some(b'`') if self.syntax == Syntax::Literal => Some(Quote::Byte(b'`')),
            _ => None,
        })
    }

    /// Returns the family's own quote at the start of `text`.
    pub(super) fn own_quote(&self, text: &str) -> Result<Option<Quote>, Undecided> {
        let own = longest_prefix(text, self.quotes.iter().map(String::as_str))?;
        Ok(own.map(Quote::Own))
    }

    /// Returns the first byte and the length of `quote`.
    pub(super) fn measure(&self, quote: Quote) -> (u8, usize) {
        match quote {
            Quote::Byte(byte) => (byte, 1),
            Quote::Own(n) => {
                let text = self.quotes.get(n).map_or("", String::as_str);
                (text.as_bytes().first().copied().unwrap_or(0), text.len())
            }
        }
    }

    /// Compares the start of `text` with `quote`.
    pub(super) fn matches(&self, quote: Quote, text: &str) -> Prefix {
        match quote {
            Quote::Byte(byte) if text.as_bytes().first() == Some(&byte) => Prefix::Match,
            Quote::Byte(_) => Prefix::Mismatch,
            Quote::Own(n) => match_prefix(text, self.quotes.get(n).map_or("", String::as_str)),
        }
    }

    /// Returns the JSON of a word such as `None`.
    pub(super) fn word(&self, word: &str) -> Option<&'static str> {
        let found = self.words().find(|&(spelled, _)| spelled == word);
        found.map(|(_, json)| json)
    }

    /// Returns the words of the dialect and their JSON.
    pub(super) fn words(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        const WORDS: [(&str, &str); 9] = [
            ("true", "true"),
            ("false", "false"),
            ("null", "null"),
            ("True", "true"),
            ("False", "false"),
            ("None", "null"),
            ("none", "null"),
            ("nil", "null"),
            ("undefined", "null"),
        ];
        let known = match self.syntax {
            Syntax::Json => 3,
            Syntax::Lenient => 6,
            Syntax::Python | Syntax::Literal => WORDS.len(),
        };
        WORDS.into_iter().take(known)
    }
}

/// The position in the text between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Between {
    #[default]
    Blanks,
    /// Inside a comment that ends with the line.
    Line,
    /// Inside a comment that ends with `*/`.
    Block,
}

/// The text after blanks and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlanksBefore {
    Token,
    /// A comment, which was not skipped yet.
    Comment,
    More,
}

impl Between {
    /// Skips blanks in `text` from `*i` on. Skips comments only if `comments` is set, and stops
    /// before them otherwise.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "`i` is an index of the text or its length"
    )]
    pub(super) fn skip(&mut self, text: &str, i: &mut usize, comments: bool) -> BlanksBefore {
        let bytes = text.as_bytes();
        loop {
            match self {
                Self::Blanks => {
                    *i += crate::cursor::blanks(&text[*i..]);
                    let next = match (bytes.get(*i), bytes.get(*i + 1)) {
                        (None, _) | (Some(b'/'), None) => return BlanksBefore::More,
                        (Some(b'/'), Some(b'*')) => Self::Block,
                        (Some(b'/'), Some(b'/')) | (Some(b'#'), _) => Self::Line,
                        _ => return BlanksBefore::Token,
                    };
                    if !comments {
                        return BlanksBefore::Comment;
                    }
                    *i += if bytes[*i] == b'#' { 1 } else { 2 };
                    *self = next;
                }
                Self::Line => match memchr::memchr(b'\n', &bytes[*i..]) {
                    Some(at) => (*i, *self) = (*i + at + 1, Self::Blanks),
                    None => {
                        *i = bytes.len();
                        return BlanksBefore::More;
                    }
                },
                Self::Block => match memchr::memchr(b'*', &bytes[*i..]) {
                    Some(at) if bytes.get(*i + at + 1) == Some(&b'/') => {
                        (*i, *self) = (*i + at + 2, Self::Blanks);
                    }
                    Some(at) if *i + at + 1 < bytes.len() => *i += at + 1,
                    Some(at) => {
                        *i += at;
                        return BlanksBefore::More;
                    }
                    None => {
                        *i = bytes.len();
                        return BlanksBefore::More;
                    }
                },
            }
        }
    }
}
