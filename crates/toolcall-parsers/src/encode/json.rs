//! Writing of JSON with a family's spacing and escapes.

use alloc::string::String;
use core::fmt::Write as _;

use super::value::{self, Item, Style};
use crate::{
    encode::{error::EncodeFault, input::JsonNode},
    family::{Escapes, Spacing},
    typing::Path,
    value::escape as escaped,
};

/// Number of blanks per level, as in Python's `json.dumps(indent=4)`.
const INDENT: usize = 4;

/// A writer of JSON with a layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Json {
    spacing: Spacing,
    escapes: Escapes,
    /// Number of blanks before each line of an indented value.
    margin: usize,
}

impl Json {
    /// Creates a writer at the end of `out`. Its lines are indented like the last line of `out`.
    pub(super) fn at_end_of(out: &str, spacing: Spacing) -> Self {
        let line = out.rsplit('\n').next().unwrap_or("");
        let escapes = Escapes::Needed;
        Self { spacing, escapes, margin: line.bytes().take_while(|&byte| byte == b' ').count() }
    }

    /// Returns the writer with other escapes.
    pub(super) fn escaping(self, escapes: Escapes) -> Self {
        Self { escapes, ..self }
    }

    fn string(self, text: &str, out: &mut String) {
        match self.escapes {
            Escapes::Needed => string(text, out),
            Escapes::Ascii => {
                let mut json = String::new();
                string(text, &mut json);
                for scalar in json.chars() {
                    match scalar {
                        '\0'..='\x7f' => out.push(scalar),
                        _ => {
                            for unit in scalar.encode_utf16(&mut [0; 2]) {
                                // Writing to a string cannot fail.
                                let _ = write!(out, "\\u{unit:04x}");
                            }
                        }
                    }
                }
            }
        }
    }

    fn line(self, level: usize, out: &mut String) {
        if self.spacing == Spacing::Indented {
            out.push('\n');
            out.extend(core::iter::repeat_n(
                ' ',
                self.margin.saturating_add(level.saturating_mul(INDENT)),
            ));
        }
    }
}

impl Style for Json {
    fn colon(&self) -> &'static str {
        if self.spacing == Spacing::Compact { ":" } else { ": " }
    }

    fn before_item(&self, item: Item<'_>, out: &mut String) {
        let comma = if self.spacing == Spacing::Spaced { ", " } else { "," };
        out.push_str(if item.n > 0 { comma } else { "" });
        self.line(item.path.steps().count().saturating_add(1), out);
    }

    fn after_items(&self, _: &JsonNode<'_>, path: &Path, out: &mut String) {
        self.line(path.steps().count(), out);
    }

    fn key(&self, key: &str, out: &mut String) -> Result<(), EncodeFault> {
        self.string(key, out);
        Ok(())
    }

    fn scalar(&self, node: &JsonNode<'_>, _: &Path, out: &mut String) -> Result<(), EncodeFault> {
        match node {
            JsonNode::String(text) => self.string(text, out),
            JsonNode::Bool(true) => out.push_str("true"),
            JsonNode::Bool(false) => out.push_str("false"),
            JsonNode::Number(spelling) => out.push_str(spelling),
            // `value::write` does not call this for objects and arrays.
            JsonNode::Null | JsonNode::Object(_) | JsonNode::Array(_) => out.push_str("null"),
        }
        Ok(())
    }
}

/// Returns a value as JSON, without a margin.
pub(super) fn text(node: &JsonNode<'_>, spacing: Spacing) -> String {
    let mut out = String::new();
    // Cannot fail: JSON can express every value.
    let _ = value::write(&Json::at_end_of("", spacing), node, &mut Path::default(), &mut out);
    out
}

/// Writes a string with the escapes that JSON requires.
pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    escaped(text, |piece| out.push_str(piece));
    out.push('"');
}
