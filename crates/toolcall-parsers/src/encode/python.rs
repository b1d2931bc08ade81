//! Writing of values as Python literals.
//!
//! ```text
//! {"s": "it's", "b": true, "l": ["a", null]}
//! f(s="it's", b=True, l=['a', None])
//! ```

use alloc::string::String;
use core::fmt::Write;

use super::{
    header::not_identifier,
    json::Json,
    value::{self, Style},
};
use crate::{
    encode::{
        EncodeErrorKind,
        error::EncodeFault,
        input::{JsonNode, Members},
    },
    family::Spacing,
    typing::Path,
};

/// A writer of Python literals.
pub(super) struct Python;

impl Style for Python {
    fn key(&self, key: &str, out: &mut String) -> Result<(), EncodeFault> {
        string(key, out);
        Ok(())
    }

    fn scalar(
        &self,
        node: &JsonNode<'_>,
        path: &Path,
        out: &mut String,
    ) -> Result<(), EncodeFault> {
        match node {
            JsonNode::Null => out.push_str("None"),
            JsonNode::Bool(true) => out.push_str("True"),
            JsonNode::Bool(false) => out.push_str("False"),
            JsonNode::String(text) => string(text, out),
            number => return Json::at_end_of("", Spacing::Spaced).scalar(number, path, out),
        }
        Ok(())
    }
}

/// Returns the spelling of a value.
pub(super) fn text(node: &JsonNode<'_>) -> Result<String, EncodeFault> {
    let mut out = String::new();
    value::write(&Python, node, &mut Path::default(), &mut out)?;
    Ok(out)
}

/// Writes members as the keyword arguments of a call.
pub(super) fn keywords(members: &Members<'_>, out: &mut String) -> Result<(), EncodeFault> {
    for (i, (key, value)) in members.iter().enumerate() {
        if let Some(at) = not_identifier(key, &[]) {
            let why = "a keyword must be an identifier";
            return Err(EncodeFault::new(EncodeErrorKind::Key, why).for_key(key).at(at));
        }
        out.push_str(if i > 0 { ", " } else { "" });
        out.push_str(key);
        out.push('=');
        value::write(&Python, value, &mut Path::default(), out)?;
    }
    Ok(())
}

/// Writes a string like Python's `repr`: in single quotes, unless only double quotes avoid an
/// escape.
fn string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for scalar in text.chars() {
        match scalar {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if scalar == quote => out.extend(['\\', scalar]),
            // All control characters are below U+00A0, so two digits suffice. Writing to a string
            // cannot fail.
            _ if scalar.is_control() => drop(write!(out, "\\x{:02x}", u32::from(scalar))),
            _ => out.push(scalar),
        }
    }
    out.push(quote);
}
