//! The text between a call's marker and its arguments: name, id, index.

use toolcall_parsers::{
    family::Form,
    template::{Hole, Part},
};

use crate::{
    ExportError,
    expr::{Expr, Without, marker},
};

/// Returns the expression of `parts`, which the character `next` follows.
pub(super) fn header(parts: &[Part], form: &Form, next: Option<char>) -> Result<Expr, ExportError> {
    let (mut header, mut rest) = (Expr::default(), parts);
    while let [part, after @ ..] = rest {
        rest = after;
        let next = after.iter().find_map(first_char).or(next);
        let until =
            Without { chars: next.map(String::from).unwrap_or_default(), ..Without::default() };
        header = header.then(match part {
            Part::Literal(text) => marker(text, &form.spellings),
            Part::Hole(Hole::Name) => Expr::group("name", Expr::tool_name()),
            Part::Hole(Hole::Id(None)) => {
                let id = Without { no_blanks: true, at_least_one: true, lazy: true, ..until };
                Expr::group("id", Expr::Without(id))
            }
            Part::Hole(Hole::Id(Some(template))) => {
                Expr::group("id", self::header(&template.parts, form, next)?.trimmed())
            }
            Part::Hole(Hole::Index(_)) => Expr::Digits,
            Part::Hole(Hole::Label) => Expr::Without(until),
            Part::Group(inner) => {
                let inner = self::header(inner, form, next)?;
                // A group that took no part has no text.
                if inner.has_group("name") {
                    return Err(ExportError::new("its calls may have no name"));
                }
                Expr::Optional(Box::new(inner.ungrouped()))
            }
            Part::Hole(_) => {
                return Err(ExportError::new("its calls have other parts before their arguments"));
            }
        });
    }
    Ok(header)
}

/// Returns the first character of a literal that is not white space.
pub(super) fn first_char(part: &Part) -> Option<char> {
    match part {
        Part::Literal(text) => text.chars().find(|c| !c.is_whitespace()),
        Part::Group(_) | Part::Hole(_) => None,
    }
}
