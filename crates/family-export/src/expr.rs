//! Expressions that match markup, independent of the target's language.

/// An expression that matches markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    Text(String),
    /// White space, or none.
    Blanks,
    /// One character of white space.
    Blank,
    /// The start of the message.
    Start,
    /// At most one newline.
    Newline,
    Digits,
    /// Any text, as little as possible.
    AnyText,
    /// Text without some characters.
    Without(Without),
    Sequence(Vec<Self>),
    Choice(Vec<Self>),
    Optional(Box<Self>),
    /// A part whose text is used under this name.
    Group(&'static str, Box<Self>),
}

/// Text without some characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Without {
    pub(crate) chars: String,
    pub(crate) no_blanks: bool,
    pub(crate) at_least_one: bool,
    /// Whether the text is as short as possible.
    pub(crate) lazy: bool,
}

impl Default for Expr {
    fn default() -> Self {
        Self::Sequence(Vec::new())
    }
}

impl From<&str> for Expr {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Expr {
    /// Returns the name of a tool, which has no bracket, quote or comma.
    pub(crate) fn tool_name() -> Self {
        let chars = "()[]{}<>,\"'`".to_owned();
        Self::Without(Without { chars, no_blanks: true, at_least_one: true, lazy: true })
    }

    /// Returns the group of this name, with white space around it.
    pub(crate) fn group(name: &'static str, inner: Self) -> Self {
        Self::sequence([Self::Blanks, Self::Group(name, Box::new(inner)), Self::Blanks])
    }

    pub(crate) fn optional(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::Optional(Box::new(Self::sequence(parts)))
    }

    pub(crate) fn sequence(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self::default(), Self::then)
    }

    /// Returns the choice between the expressions, without empty and repeated ones.
    pub(crate) fn choice(ways: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for way in ways {
            if !way.is_empty() && !all.contains(&way) {
                all.push(way);
            }
        }
        match <[Self; 1]>::try_from(all) {
            Ok([only]) => only,
            Err(all) if all.is_empty() => Self::default(),
            Err(all) => Self::Choice(all),
        }
    }

    /// Appends an expression. Text is joined, and repeated white space is written once.
    pub(crate) fn then(self, next: Self) -> Self {
        let mut parts = match self {
            Self::Sequence(parts) => parts,
            one => vec![one],
        };
        let next = match next {
            Self::Sequence(next) => next,
            one => vec![one],
        };
        for part in next {
            match (parts.last_mut(), part) {
                (Some(Self::Blanks), Self::Blanks) => {}
                (Some(Self::Text(text)), Self::Text(more)) => text.push_str(&more),
                (_, Self::Text(text)) if text.is_empty() => {}
                (_, part) => parts.push(part),
            }
        }
        Self::Sequence(parts)
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Sequence(parts) => parts.is_empty(),
            _ => false,
        }
    }

    /// Returns whether the expression matches nothing but these characters and white space.
    pub(crate) fn has_only(&self, chars: &str) -> bool {
        match self {
            Self::Text(text) => text.chars().all(|c| chars.contains(c)),
            Self::Sequence(parts) | Self::Choice(parts) => {
                parts.iter().all(|part| part.has_only(chars))
            }
            part => *part == Self::Blanks,
        }
    }

    /// Returns whether the expression has a group of this name.
    pub(crate) fn has_group(&self, name: &str) -> bool {
        match self {
            Self::Group(known, inner) => *known == name || inner.has_group(name),
            Self::Optional(inner) => inner.has_group(name),
            Self::Sequence(parts) | Self::Choice(parts) => {
                parts.iter().any(|part| part.has_group(name))
            }
            _ => false,
        }
    }

    /// Returns the expression without groups.
    pub(crate) fn ungrouped(self) -> Self {
        let all = |parts: Vec<Self>| parts.into_iter().map(Self::ungrouped);
        match self {
            Self::Group(_, inner) => inner.ungrouped(),
            Self::Optional(inner) => Self::Optional(Box::new(inner.ungrouped())),
            Self::Sequence(parts) => Self::sequence(all(parts)),
            Self::Choice(parts) => Self::Choice(all(parts).collect()),
            other => other,
        }
    }

    /// Returns the expression without white space at its ends.
    pub(crate) fn trimmed(self) -> Self {
        let Self::Sequence(mut parts) = self else { return self };
        while parts.last() == Some(&Self::Blanks) {
            parts.pop();
        }
        let blanks = parts.iter().take_while(|part| **part == Self::Blanks).count();
        Self::Sequence(parts.split_off(blanks))
    }
}

/// Returns the expression of a marker with its other spellings. Any white space matches the white
/// space in it and between its tags.
pub(crate) fn marker(text: &str, spellings: &[(String, Vec<String>)]) -> Expr {
    let (mut marker, mut rest, mut before) = (Expr::default(), text, None);
    while let Some(c) = rest.chars().next() {
        let spelled = spellings.iter().find(|(text, _)| rest.starts_with(text.as_str()));
        let (head, tail) = rest.split_at(spelled.map_or(c.len_utf8(), |(text, _)| text.len()));
        if before == Some('>') && c == '<' {
            marker = marker.then(Expr::Blanks);
        }
        marker = marker.then(match spelled {
            Some((text, others)) => {
                Expr::choice([text].into_iter().chain(others).map(|way| way.as_str().into()))
            }
            None if c.is_whitespace() => Expr::Blanks,
            None => head.into(),
        });
        (rest, before) = (tail, head.chars().next_back());
    }
    marker
}
