//! JSON with a family's spacing.

use alloc::string::String;

use crate::{
    encode::value::{Members, Node},
    family::Spacing,
    json::escape::escape,
};

/// Blanks a level of indented JSON.
const INDENT: usize = 4;

/// How JSON is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    spacing: Spacing,
    /// Blanks before each line of indented JSON, at the current level.
    margin: usize,
}

impl Layout {
    /// The layout of a value that begins at the end of `out`: its lines are indented as the one
    /// it begins in.
    pub(super) fn at_end_of(out: &str, spacing: Spacing) -> Self {
        let line = out.rsplit('\n').next().unwrap_or("");
        Self { spacing, margin: line.len() - line.trim_start_matches(' ').len() }
    }

    fn deeper(self) -> Self {
        Self { margin: self.margin + INDENT, ..self }
    }

    fn line(self, out: &mut String) {
        if self.spacing == Spacing::Indented {
            out.push('\n');
            out.extend(core::iter::repeat_n(' ', self.margin));
        }
    }

    fn comma(self, out: &mut String) {
        out.push_str(if self.spacing == Spacing::Spaced { ", " } else { "," });
    }
}

/// Writes `node`, strings with no more escapes than JSON demands.
pub(super) fn node(node: &Node<'_>, layout: Layout, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(true) => out.push_str("true"),
        Node::Bool(false) => out.push_str("false"),
        Node::Number(spelling) => out.push_str(spelling),
        Node::String(text) => string(text, out),
        Node::Object(members) => object(members, layout, out),
        Node::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                if i > 0 {
                    layout.comma(out);
                }
                layout.deeper().line(out);
                self::node(element, layout.deeper(), out);
            }
            if !elements.is_empty() {
                layout.line(out);
            }
            out.push(']');
        }
    }
}

pub(super) fn object(members: &Members<'_>, layout: Layout, out: &mut String) {
    out.push('{');
    for (i, (key, value)) in members.iter().enumerate() {
        if i > 0 {
            layout.comma(out);
        }
        layout.deeper().line(out);
        string(key, out);
        out.push_str(if layout.spacing == Spacing::Compact { ":" } else { ": " });
        node(value, layout.deeper(), out);
    }
    if !members.is_empty() {
        layout.line(out);
    }
    out.push('}');
}

pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    escape(text, |piece| out.push_str(piece));
    out.push('"');
}
