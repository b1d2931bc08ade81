//! Reading of message headers from a family's file.

use alloc::{format, string::String};

use super::{
    Messages, Route, RouteTo,
    fields::{FamilyResult, FieldReader},
    is_token,
};
use crate::template::{Hole, Part, Template};

pub(super) fn read(field: FieldReader<'_>) -> FamilyResult<Messages> {
    let fields = field.table(&["header", "body", "end", "channels", "routes"])?;
    let header = fields.required("header")?;
    let body = fields.required("body")?.some(body)?;
    let channels = |field: FieldReader<'_>| match body.iter().find(|body| !is_token(body)) {
        Some(body) => Err(field.error(format!(
            "`channels` needs special tokens in `messages.body`, but it has {body:?}"
        ))),
        None => field.list(FieldReader::marker),
    };
    Ok(Messages {
        header: self::header(&header)?,
        channels: fields.or_default("channels", channels)?,
        end: fields.or_default("end", |field| field.list(end))?,
        routes: fields.or_default("routes", |field| field.list(route))?,
        body,
    })
}

/// Reads a header. It must begin with a token, because other text would also match in answers.
fn header(field: &FieldReader<'_>) -> FamilyResult<Template> {
    let header = field.template()?;
    if !matches!(header.parts.first(), Some(Part::Literal(text)) if is_token(text.trim())) {
        return Err(field.error(
            "expected a special token at the start, such as `<|start|>`: other text occurs in answers",
        ));
    }
    match words_with_letters(&header.parts) {
        None => Ok(header),
        Some(text) => Err(field.error(format!(
            "{text:?} cannot be distinguished from the words before it: it begins with a letter or digit"
        ))),
    }
}

/// Returns a literal between two parts that could also continue the part before it, because it
/// begins with a letter or digit. A literal before a recipient (`to=`) is part of its word.
fn words_with_letters(parts: &[Part]) -> Option<&str> {
    let mut literal = "";
    for part in parts {
        match part {
            Part::Literal(text) => literal = text,
            Part::Group(parts) => match words_with_letters(parts) {
                Some(text) => return Some(text),
                None => literal = "",
            },
            Part::Hole(Hole::Recipient) if !literal.ends_with(char::is_whitespace) => {}
            Part::Hole(_) if literal.trim_start().starts_with(char::is_alphanumeric) => {
                return Some(literal);
            }
            Part::Hole(_) => {}
        }
    }
    None
}

fn body(field: &FieldReader<'_>) -> FamilyResult<String> {
    let text = field.marker()?;
    match text.starts_with(char::is_alphanumeric) {
        true => {
            Err(field.error("expected a special token, or a text that begins with punctuation"))
        }
        false => Ok(text),
    }
}

/// Reads the end of a message. It must be a token, because other text would also match in answers.
fn end(field: &FieldReader<'_>) -> FamilyResult<String> {
    let text = field.marker()?;
    match is_token(&text) {
        true => Ok(text),
        false => Err(field
            .error("expected a special token, such as `<|end|>`: other text occurs in answers")),
    }
}

fn route(field: &FieldReader<'_>) -> FamilyResult<Route> {
    let fields = field.table(&["recipient", "channel", "body", "is"])?;
    let is =
        [("content", RouteTo::Content), ("reasoning", RouteTo::Reasoning), ("call", RouteTo::Call)];
    Ok(Route {
        recipient: fields.or_default("recipient", |field| field.some(FieldReader::template))?,
        channel: fields.optional("channel", |field| field.marker())?,
        body: fields.optional("body", |field| field.marker())?,
        is: fields.required("is")?.word(&is)?,
    })
}
