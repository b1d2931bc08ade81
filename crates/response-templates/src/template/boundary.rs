//! Boundaries: openers, closers and anchors.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use jail_match::{Channel, ChannelMask, Edge, OnCommit, Then};

use super::{ErrorKind, Field, ResponseTemplateError};
use crate::{
    json::{JsonObject, JsonTree},
    pattern::{Fault, FaultKind, Program, compile, literals},
};

/// A compiled boundary.
#[derive(Debug)]
pub(crate) struct Boundary {
    pub(crate) program: Program,
    /// The boundary as in the template, with bars between literals.
    text: String,
}

impl Boundary {
    /// Reads the boundary at the keys `literal` or `pattern` of `object`, if there is one.
    pub(crate) fn from_keys(
        object: &JsonObject,
        literal: &str,
        pattern: &str,
    ) -> Result<Option<Self>, ResponseTemplateError> {
        let error = |kind| Err(ResponseTemplateError::new(kind, literal));
        let (program, text) = match (object.get(literal), object.get(pattern)) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => return error(ErrorKind::LiteralAndPattern),
            (Some(value), None) => {
                let texts = match value {
                    JsonTree::String(text) if text.is_empty() => {
                        return error(ErrorKind::EmptyLiteral);
                    }
                    JsonTree::String(text) => Vec::from([text.as_str()]),
                    JsonTree::Array(items) if items.is_empty() => {
                        return error(ErrorKind::EmptyList);
                    }
                    JsonTree::Array(items) => {
                        let text = |(n, item): (usize, &'_ JsonTree)| match item.as_str() {
                            Some("") => Err((n, ErrorKind::EmptyLiteral)),
                            Some(_) => Ok(()),
                            None => Err((n, ErrorKind::LiteralType)),
                        };
                        items.iter().enumerate().try_for_each(text).map_err(|(n, kind)| {
                            ResponseTemplateError::new(kind, &alloc::format!("{literal}.{n}"))
                        })?;
                        items.iter().filter_map(JsonTree::as_str).collect()
                    }
                    _ => return error(ErrorKind::LiteralKind),
                };
                let text = texts.join("|");
                (literals(texts).map_err(|fault| faulty(fault, literal))?, text)
            }
            (None, Some(value)) => {
                let text = value.as_str().unwrap_or_default().to_owned();
                (expression(value, pattern)?, text)
            }
        };
        Ok(Some(Self { program, text }))
    }

    /// Returns the first named group, and its place in the pattern.
    pub(crate) fn named(&self) -> Option<(&str, Option<usize>)> {
        let name = self.program.names.first()?;
        let byte = self.text.find(&alloc::format!("<{name}>"));
        Some((name, byte.map(|byte| self.text[..byte].chars().count())))
    }
}

impl Field {
    /// Returns the opener and the closer as edges. The marker of a missing boundary is empty.
    pub(super) fn edges(&self) -> [Edge; 2] {
        let text = |boundary: &Option<Boundary>| {
            boundary.as_ref().map_or(String::new(), |boundary| boundary.text.clone())
        };
        let (inside, then) = match self.role.channel() {
            Some(channel) => (ChannelMask::NONE.with(channel), Then::Enter(channel)),
            None => (ChannelMask::NONE, Then::Body(0, OnCommit::Stay)),
        };
        let outside = ChannelMask::NONE.with(Channel::CONTENT);
        [
            Edge::new(text(&self.open), outside, then),
            Edge::new(text(&self.close), inside, Then::Leave),
        ]
    }
}

/// Compiles the pattern in `value`.
pub(crate) fn expression(value: &JsonTree, key: &str) -> Result<Program, ResponseTemplateError> {
    let Some(text) = value.as_str() else {
        return Err(ResponseTemplateError::new(ErrorKind::Regex, key).detail("expected a string"));
    };
    compile(text).map_err(|fault| faulty(fault, key))
}

fn faulty(fault: Fault, key: &str) -> ResponseTemplateError {
    let error = |kind| ResponseTemplateError::new(kind, key).at_offset(fault.at);
    match fault.kind {
        FaultKind::Invalid(what) => error(ErrorKind::Regex).detail(what),
        FaultKind::Unsupported(feature) => error(ErrorKind::Unsupported { feature }),
    }
}
