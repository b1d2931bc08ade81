//! Texts and headers of a family as expressions.

use toolcall_parsers::{
    family::Form,
    template::{Hole, Part},
};

/// White space, or none.
pub(super) const BLANK: &str = r"\s*";

/// The name of a tool: none holds a bracket, a quote or a comma.
pub(super) const NAME: &str = r#"[^\s()\[\]{}<>,"'`]+?"#;

/// An expression, to which others are added.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    pub(super) text: String,
    /// The names of its groups.
    pub(super) groups: Vec<&'static str>,
}

impl Pattern {
    /// Adds an expression; white space that may stand twice stands once.
    pub(super) fn then(&mut self, next: &str) {
        let doubled = self.text.ends_with(BLANK) && next.starts_with(BLANK);
        self.text.push_str(if doubled { &next[BLANK.len()..] } else { next });
    }

    /// Adds the parts of a header, behind which `next` stands.
    pub(super) fn header(
        &mut self,
        parts: &[Part],
        form: &Form,
        next: Option<char>,
    ) -> Result<(), String> {
        let mut behind = parts;
        while let [part, rest @ ..] = behind {
            behind = rest;
            let next = rest.iter().find_map(first).or(next);
            let until = next.map(in_class).unwrap_or_default();
            match part {
                Part::Literal(text) => self.then(&literal(text, &form.spellings)),
                Part::Hole(Hole::Name) => self.name(),
                Part::Hole(Hole::Id(None)) => self.group("id", &format!(r"[^\s{until}]+?")),
                Part::Hole(Hole::Id(Some(template))) => {
                    let mut inner = Self::default();
                    inner.header(&template.parts, form, next)?;
                    self.groups.append(&mut inner.groups);
                    self.group("id", inner.text.trim_start_matches(BLANK).trim_end_matches(BLANK));
                }
                Part::Hole(Hole::Index(_)) => self.then(r"\d+"),
                Part::Hole(Hole::Label) => self.then(&format!("[^{until}]*")),
                Part::Group(inner) => {
                    let mut optional = Self::default();
                    optional.header(inner, form, next)?;
                    // A group that took no part cannot be asked for.
                    if optional.groups.contains(&"name") {
                        return Err("its calls may have no name".to_owned());
                    }
                    self.then(&format!("(?:{})?", optional.unnamed()));
                }
                Part::Hole(_) => {
                    return Err("its calls have more in front of their arguments".to_owned());
                }
            }
        }
        Ok(())
    }

    /// Adds the name of a tool.
    pub(super) fn name(&mut self) {
        self.group("name", NAME);
    }

    /// The expression without the names of its groups.
    pub(super) fn unnamed(&self) -> String {
        self.groups
            .iter()
            .fold(self.text.clone(), |text, name| text.replace(&format!("(?P<{name}>"), "(?:"))
    }

    fn group(&mut self, name: &'static str, pattern: &str) {
        self.groups.push(name);
        self.then(&format!(r"\s*(?P<{name}>{pattern})\s*"));
    }
}

/// The first character of a part that is no white space, if it has a text.
pub(super) fn first(part: &Part) -> Option<char> {
    match part {
        Part::Literal(text) => text.chars().find(|c| !c.is_whitespace()),
        Part::Group(_) | Part::Hole(_) => None,
    }
}

/// A text as an expression, with its other spellings: white space in it and between its tags may
/// be any, or none.
pub(super) fn literal(text: &str, spellings: &[(String, Vec<String>)]) -> String {
    let mut pattern = Pattern::default();
    let (mut rest, mut before) = (text, None);
    while let Some(c) = rest.chars().next() {
        let spelled = spellings.iter().find(|(text, _)| rest.starts_with(text.as_str()));
        let here = spelled.map_or(c.len_utf8(), |(text, _)| text.len());
        let (head, tail) = rest.split_at(here);
        if before == Some('>') && c == '<' {
            pattern.then(BLANK);
        }
        match spelled {
            Some((text, others)) => {
                let ways = [text].into_iter().chain(others).map(|way| escaped(way));
                pattern.then(&any(ways));
            }
            None if c.is_whitespace() => pattern.then(BLANK),
            None => pattern.then(&escaped(head)),
        }
        (rest, before) = (tail, head.chars().next_back());
    }
    pattern.text
}

/// Any of the expressions; nothing if there are none.
pub(super) fn any(ways: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for way in ways {
        if !way.is_empty() && !all.contains(&way) {
            all.push(way);
        }
    }
    match &all[..] {
        [] => String::new(),
        [one] if !one.replace(r"\|", "").contains('|') => one.clone(),
        _ => format!("(?:{})", all.join("|")),
    }
}

/// What closes a region: one of `ends`, or `next` behind it, each an expression.
pub(super) fn closing(ends: &str, next: &str) -> String {
    match ends.is_empty() {
        true => format!(r"\s*(?={next})"),
        false => format!(r"\s*(?:{ends}\s*|(?={next}))"),
    }
}

/// A text as an expression that matches it alone.
pub(super) fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// A character of a class.
pub(super) fn in_class(c: char) -> String {
    if r"\]^-[".contains(c) { format!("\\{c}") } else { c.to_string() }
}
