//! The parser of wire templates.
//!
//! ```text
//! template = { literal | hole | "{?" template "}" }
//! hole     = "{" word [ ":" argument | "=" text ] "}"
//! ```
//!
//! In literals `{{` and `}}` are braces, and `\n`, `\t`, `\\`, `\{`, `\}` are escapes. Inside a
//! group or an id's template `}` always closes it, so a brace must be `\}` there.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String, vec::Vec};
use core::fmt;

use jail_match::UnknownName;

use super::{Dialect, Hole, Part, Template, Trim, touch};
use crate::limits::{MAX_GROUP_DEPTH, MAX_GROUPS};

/// The names of all holes.
const WORDS: [&str; 20] = [
    "arguments",
    "call",
    "calls",
    "channel",
    "elements",
    "id",
    "index",
    "key",
    "label",
    "name",
    "note",
    "object",
    "parameters",
    "raw",
    "recipient",
    "role",
    "string",
    "text",
    "type",
    "value",
];

impl Template {
    /// Parses a template.
    ///
    /// ```
    /// use toolcall_parsers::template::Template;
    /// let template = Template::parse(r"<call>{name}{?:{id}}\n{arguments}</call>")?;
    /// assert_eq!(template.to_string(), r"<call>{name}{?:{id}}\n{arguments}</call>");
    ///
    /// let error = Template::parse("<call>{nmae}</call>").unwrap_err();
    /// assert_eq!((error.at(), error.found()), (7, "`nmae`"));
    /// # Ok::<(), toolcall_parsers::template::TemplateError>(())
    /// ```
    ///
    /// # Errors
    /// The text is not a template. The error has the position, the expected and the found text.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut reader = TemplateReader { text, at: 0, holes: Vec::new(), groups: 0 };
        let parts = reader.parts(Nesting::Top)?;
        let template = Self { parts };
        touch::check(&template, &reader.holes)?;
        Ok(template)
    }
}

/// The error for a text that is not a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    at: usize,
    expected: String,
    found: String,
}

impl TemplateError {
    pub(super) fn new(at: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { at, expected: expected.into(), found: found.into() }
    }

    /// Returns the byte offset in the template.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the text or kind of text that was expected.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the text that was found instead.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, expected, found } = self;
        write!(f, "template, byte {at}: expected {expected}, found {found}")
    }
}

impl core::error::Error for TemplateError {}

/// The syntax around parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Top,
    Group(u8),
    /// An id's template. The number of groups around the parts.
    Id(u8),
}

impl Nesting {
    /// Returns the nesting inside another group, or `None` if that is too deep.
    fn deeper(self) -> Option<Self> {
        match self {
            Self::Top => Some(Self::Group(1)),
            Self::Group(depth) => (depth < MAX_GROUP_DEPTH).then(|| Self::Group(depth + 1)),
            Self::Id(depth) => (depth < MAX_GROUP_DEPTH).then(|| Self::Id(depth + 1)),
        }
    }
}

/// A template's text and the position in it.
struct TemplateReader<'t> {
    text: &'t str,
    at: usize,
    /// The offset of each hole, in order. Holes inside an id are not included.
    holes: Vec<usize>,
    groups: usize,
}

impl<'t> TemplateReader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips `literal` if it is next. Returns whether it was.
    fn take(&mut self, literal: &str) -> bool {
        let is_next = self.rest().starts_with(literal);
        if is_next {
            self.at += literal.len();
        }
        is_next
    }

    fn error(&self, expected: &str) -> TemplateError {
        let found = match self.rest().chars().next() {
            Some(char) => format!("`{}`", char.escape_debug()),
            None => "the end".to_owned(),
        };
        TemplateError::new(self.at, expected, found)
    }

    /// Reads parts up to the end, or up to the brace that closes the enclosing syntax.
    fn parts(&mut self, nesting: Nesting) -> Result<Vec<Part>, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        while let Some(next) = self.rest().chars().next() {
            match next {
                '{' if !self.rest().starts_with("{{") => {
                    push(&mut parts, &mut literal);
                    parts.push(self.braced(nesting)?);
                }
                '}' if nesting != Nesting::Top => break,
                '{' | '}' => {
                    if !self.take("{{") && !self.take("}}") {
                        return Err(self.error("a literal (a brace is `}}`)"));
                    }
                    literal.push(next);
                }
                _ => literal.push(self.char()?),
            }
        }
        push(&mut parts, &mut literal);
        Ok(parts)
    }

    /// Reads a character of a literal, or an escape.
    fn char(&mut self) -> Result<char, TemplateError> {
        let mut chars = self.rest().chars();
        let Some(first) = chars.next() else { return Err(self.error("a character")) };
        if first != '\\' {
            self.at += first.len_utf8();
            return Ok(first);
        }
        let char = match chars.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some(same @ ('\\' | '{' | '}')) => same,
            _ => {
                self.at += 1;
                return Err(self.error(r"`n`, `t`, `\`, `{` or `}` after `\`"));
            }
        };
        self.at += 2;
        Ok(char)
    }

    /// Reads a hole or a group, including its braces.
    fn braced(&mut self, nesting: Nesting) -> Result<Part, TemplateError> {
        let from = self.at;
        if !self.take("{?") {
            self.at += 1;
            if !matches!(nesting, Nesting::Id(_)) {
                self.holes.push(from);
            }
            return Ok(Part::Hole(self.hole(nesting)?));
        }
        let Some(inner) = nesting.deeper() else {
            let expected = format!("groups nested at most {MAX_GROUP_DEPTH} deep");
            return Err(TemplateError::new(from, expected, "a deeper group"));
        };
        self.groups = self.groups.saturating_add(1);
        if self.groups > MAX_GROUPS {
            let expected = format!("at most {MAX_GROUPS} groups");
            return Err(TemplateError::new(from, expected, "one more"));
        }
        let parts = self.parts(inner)?;
        if parts.is_empty() {
            return Err(self.error("something in the group"));
        }
        self.close("`}` to end the group")?;
        Ok(Part::Group(parts))
    }

    fn close(&mut self, expected: &str) -> Result<(), TemplateError> {
        if self.take("}") { Ok(()) } else { Err(self.error(expected)) }
    }

    /// Reads a hole, after its opening brace.
    fn hole(&mut self, nesting: Nesting) -> Result<Hole, TemplateError> {
        let from = self.at;
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        let len = self.rest().bytes().take_while(|&byte| is_word(byte)).count();
        let word = self.rest().get(..len).unwrap_or_default();
        if word.is_empty() {
            return Err(self.error("a hole's name (a brace is `{{`)"));
        }
        if !WORDS.contains(&word) {
            let expected = format!("a hole{}", nearest("hole", word, &WORDS));
            return Err(TemplateError::new(from, expected, format!("`{word}`")));
        }
        self.at += len;
        let hole = if self.take("=") {
            match word {
                "name" => Hole::NameMeant(self.name()?),
                "key" => Hole::KeyMeant(self.name()?),
                _ => return Err(TemplateError::new(self.at - 1, "`}` or `:`", "`=`")),
            }
        } else if self.take(":") {
            self.argument(word, nesting)?
        } else {
            self.plain(word, from)?
        };
        self.close("`}` to end the hole")?;
        Ok(hole)
    }

    /// Returns the hole called `word`, without an argument.
    fn plain(&self, word: &str, from: usize) -> Result<Hole, TemplateError> {
        Ok(match word {
            "arguments" => Hole::Arguments(Dialect::Json),
            "call" => Hole::Call,
            "calls" => Hole::Calls { separator: String::new() },
            "channel" => Hole::Channel,
            "elements" => Hole::Elements,
            "id" => Hole::Id(None),
            "index" => Hole::Index(0),
            "key" => Hole::Key,
            "label" => Hole::Label,
            "name" => Hole::Name,
            "note" => Hole::Note,
            "object" => Hole::Object(Dialect::Json),
            "parameters" => Hole::Parameters { separator: String::new() },
            "recipient" => Hole::Recipient,
            "role" => Hole::Role,
            "string" => Hole::StringFlag,
            "text" => Hole::Text,
            "type" => Hole::Type,
            "value" => Hole::Value(Trim::Shown),
            _ => return Err(TemplateError::new(from, "`{raw:KEY}`", format!("`{{{word}}}`"))),
        })
    }

    /// The hole called `word` with the argument that is next.
    fn argument(&mut self, word: &str, nesting: Nesting) -> Result<Hole, TemplateError> {
        Ok(match word {
            "id" => self.id(nesting)?,
            "calls" => Hole::Calls { separator: self.text("a separator")? },
            "parameters" => Hole::Parameters { separator: self.text("a separator")? },
            "raw" => Hole::Raw(self.text("the argument's key")?),
            "object" => Hole::Object(self.dialect()?),
            "arguments" => Hole::Arguments(self.dialect()?),
            "value" => {
                self.one_of("value's option", &["trim"], &[()])?;
                Hole::Value(Trim::All)
            }
            "index" => {
                let from = self.at;
                let digits = self.text("the first number")?;
                let number = digits.parse();
                let bad = |_| TemplateError::new(from, "a number", format!("`{digits}`"));
                Hole::Index(number.map_err(bad)?)
            }
            "name" => match self.name()? {
                word if word == "declared" => Hole::NameDeclared,
                word => Hole::NameIs(word),
            },
            _ => return Err(TemplateError::new(self.at - 1, "`}`", "`:`")),
        })
    }

    /// Reads the template of an id.
    fn id(&mut self, nesting: Nesting) -> Result<Hole, TemplateError> {
        let inner = match nesting {
            Nesting::Top => Nesting::Id(0),
            Nesting::Group(depth) => Nesting::Id(depth),
            Nesting::Id(_) => return Err(self.error("`}`: an id cannot contain another")),
        };
        let parts = self.parts(inner)?;
        if parts.is_empty() {
            return Err(self.error("the id's template"));
        }
        Ok(Hole::Id(Some(Box::new(Template { parts }))))
    }

    /// Reads the text up to the brace that closes the hole. An empty text is an error.
    fn text(&mut self, expected: &str) -> Result<String, TemplateError> {
        let mut text = String::new();
        while !matches!(self.rest().chars().next(), None | Some('{' | '}')) {
            text.push(self.char()?);
        }
        if text.is_empty() { Err(self.error(expected)) } else { Ok(text) }
    }

    /// Reads a tool's name.
    fn name(&mut self) -> Result<String, TemplateError> {
        let from = self.at;
        let name = self.text("a tool's name")?;
        let odd = |char: char| char.is_whitespace() || "()[]{}<>\"'`".contains(char);
        match name.chars().find(|&char| odd(char)) {
            None => Ok(name),
            Some(char) => {
                let expected = "a name without blanks, brackets and quotes";
                Err(TemplateError::new(from, expected, format!("`{}`", char.escape_debug())))
            }
        }
    }

    fn dialect(&mut self) -> Result<Dialect, TemplateError> {
        let dialects = [Dialect::Json, Dialect::Python, Dialect::Literal];
        self.one_of("dialect", &["json", "python", "literal"], &dialects)
    }

    /// Reads the next word and returns its meaning.
    fn one_of<T: Copy>(
        &mut self,
        what: &'static str,
        words: &[&str],
        meanings: &[T],
    ) -> Result<T, TemplateError> {
        let from = self.at;
        let word = self.text(&format!("a {what}"))?;
        let found = words.iter().zip(meanings).find(|(known, _)| **known == word);
        found.map(|(_, &meaning)| meaning).ok_or_else(|| {
            let expected = format!("a {what}{}", nearest(what, &word, words));
            TemplateError::new(from, expected, format!("`{word}`"))
        })
    }
}

/// Ends the current literal.
fn push(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Literal(core::mem::take(literal)));
    }
}

/// Returns the known words that are most similar to `word`, in parentheses.
fn nearest(what: &'static str, word: &str, known: &[&str]) -> String {
    let unknown = UnknownName::new(what, word, known.iter().copied());
    format!(" (nearest: {})", unknown.nearest().join(", "))
}
