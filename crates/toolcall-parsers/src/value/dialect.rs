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
    /// Strict JSON but for two mercies: raw control characters in strings are escaped, lone
    /// surrogates replaced.
    Json,
    /// JSON as careless models write it, see [`Tolerated`].
    Lenient,
    /// Syntax of Python literals.
    Python,
    /// Objects with bare keys, strings in quotes of the family or of scripts, bare scalars.
    Literal,
}

/// A way in which a text of [`Syntax::Lenient`] is not JSON.
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
    /// A backslash that begins no escape of JSON.
    Escape,
    /// A number in a spelling that JSON lacks.
    Number,
    /// A list of one object in the place of the object. Tolerated in strict JSON, too.
    List,
}

/// The properties of a form that readers of its values need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueDialect<'a> {
    pub(crate) syntax: Syntax,
    /// For [`Syntax::Literal`]: what begins and ends a verbatim string besides the quotes of
    /// scripts.
    pub(crate) quotes: &'a [String],
    /// Texts that end the call around the value, for values without their own end.
    pub(crate) ends: &'a [String],
    /// Texts that may follow the call: end-of-turn tokens and openers. An end inside a string
    /// counts only before one of these or the end of the stream.
    pub(crate) follows: &'a [String],
    /// For [`Syntax::Python`]: the declared tools, whose calls no string of another's holds.
    pub(crate) tools: Option<&'a Tools>,
    pub(crate) limits: CallLimits,
    /// Whether the end of a string may be searched for.
    pub(crate) may_search: bool,
    /// The stream ended: the text that is read is the last.
    pub(crate) ended: bool,
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
    /// A dialect without anything of a family.
    pub(crate) fn new(syntax: Syntax, limits: CallLimits) -> Self {
        let (may_search, ended) = (true, false);
        Self {
            syntax,
            quotes: &[],
            ends: &[],
            follows: &[],
            tools: None,
            limits,
            may_search,
            ended,
        }
    }

    pub(crate) fn is(&self, syntax: Syntax) -> bool {
        self.syntax == syntax
    }

    /// Whether a string, as a key, a name or an id, may begin with the head of `text`. An
    /// undecided head may.
    pub(crate) fn begins_string(&self, text: &str) -> bool {
        let prefix = self.is(Syntax::Python) && text.starts_with(['r', 'R', 'u', 'U', 'f', 'F']);
        prefix || self.quote(text) != Ok(None)
    }

    /// Whether a key may be without quotes.
    pub(super) fn bare_keys(&self) -> bool {
        matches!(self.syntax, Syntax::Lenient | Syntax::Literal)
    }

    /// Whether an inner quote may be unescaped in a string, see [`super::string`].
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

    /// The quote at the head of `text`.
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

    /// The form's own quote at the head of `text`.
    pub(super) fn own_quote(&self, text: &str) -> Result<Option<Quote>, Undecided> {
        let own = longest_prefix(text, self.quotes.iter().map(String::as_str))?;
        Ok(own.map(Quote::Own))
    }

    /// The first byte and the length of `quote`.
    pub(super) fn measure(&self, quote: Quote) -> (u8, usize) {
        match quote {
            Quote::Byte(byte) => (byte, 1),
            Quote::Own(n) => {
                let text = self.quotes.get(n).map_or("", String::as_str);
                (text.as_bytes().first().copied().unwrap_or(0), text.len())
            }
        }
    }

    /// Whether `text` begins with `quote`.
    pub(super) fn matches(&self, quote: Quote, text: &str) -> Prefix {
        match quote {
            Quote::Byte(byte) if text.as_bytes().first() == Some(&byte) => Prefix::Match,
            Quote::Byte(_) => Prefix::Mismatch,
            Quote::Own(n) => match_prefix(text, self.quotes.get(n).map_or("", String::as_str)),
        }
    }

    /// The JSON of a word that means the same everywhere in the dialect, or nothing.
    pub(super) fn word(&self, word: &str) -> Option<&'static str> {
        let found = self.words().find(|&(spelled, _)| spelled == word);
        found.map(|(_, json)| json)
    }

    /// The words of the dialect, with their JSON.
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

/// Text that is allowed between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Between {
    #[default]
    Blanks,
    /// Inside a comment up to the line's end.
    Line,
    /// Inside a comment up to `*/`.
    Block,
}

/// The text after blanks and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlanksBefore {
    Token,
    /// A comment, of which nothing is read yet.
    Comment,
    More,
}

impl Between {
    /// Goes over blanks in `text` from `*i` on; over comments only if `comments` were announced.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "`i` is a place in the text or its end, and moves over bytes that were found there"
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
