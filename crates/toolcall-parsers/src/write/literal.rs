//! Objects with bare keys: strings in quotes of the form's own, or as a script writes them.

use alloc::{format, string::String};

use super::{
    header::not_identifier,
    json,
    typed::{self, Reading},
};
use crate::{
    encode::{
        EncodeErrorKind,
        error::Fault,
        value::{Members, Node},
    },
    family::{Form, Spacing, Types as DecidedBy, Write},
    tools::Tool,
    typing::{Path, Types, declared_at},
};

/// Writes objects whose strings stand between quotes that nothing can escape.
pub(super) struct Quoted<'w> {
    pub(super) form: &'w Form,
    pub(super) quote: &'w str,
    pub(super) write: Write,
    pub(super) tool: Option<&'w Tool>,
    pub(super) path: Path,
    pub(super) out: &'w mut String,
}

impl Quoted<'_> {
    /// Writes the arguments of a call: a fault names the argument it is in.
    pub(super) fn arguments(mut self, members: &Members<'_>) -> Result<(), Fault> {
        self.out.push('{');
        for (i, (key, value)) in members.iter().enumerate() {
            self.member(i, key, value).map_err(|fault| fault.of(key))?;
        }
        self.out.push('}');
        Ok(())
    }

    fn member(&mut self, i: usize, key: &str, value: &Node<'_>) -> Result<(), Fault> {
        self.out.push_str(if i > 0 { "," } else { "" });
        self.key(key)?;
        self.out.push(':');
        self.path.member(key);
        self.node(value)?;
        self.path.pop();
        Ok(())
    }

    /// A key: bare if nothing in it would end it.
    fn key(&mut self, key: &str) -> Result<(), Fault> {
        let bare = !key.is_empty()
            && key.trim_ascii() == key
            && !key.contains([':', ',', '{', '}', '[', ']'])
            && !key.starts_with(self.quote);
        if bare {
            self.out.push_str(key);
            return Ok(());
        }
        self.quoted(key, EncodeErrorKind::Key)
    }

    fn node(&mut self, node: &Node<'_>) -> Result<(), Fault> {
        match node {
            Node::Object(members) => {
                self.out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    self.member(i, key, value)?;
                }
                self.out.push('}');
            }
            Node::Array(elements) => {
                self.out.push('[');
                for (i, element) in elements.iter().enumerate() {
                    self.out.push_str(if i > 0 { "," } else { "" });
                    self.path.element(i);
                    self.node(element)?;
                    self.path.pop();
                }
                self.out.push(']');
            }
            Node::String(text) if self.form.types == DecidedBy::Wire => {
                self.quoted(text, EncodeErrorKind::Value)?;
            }
            scalar if self.form.types == DecidedBy::Wire => {
                json::node(scalar, json::Layout::at_end_of("", Spacing::Compact), self.out);
            }
            scalar => {
                let declared =
                    self.tool.and_then(|tool| declared_at(&tool.parameters, self.path.steps()));
                let declared = declared.filter(|types| *types != Types::ALL);
                let reading = Reading::of(self.form, declared, None);
                let text = typed::text(scalar, self.write, |text| reading.read(text))?;
                self.quoted(&text, EncodeErrorKind::Value)?;
            }
        }
        Ok(())
    }

    fn quoted(&mut self, text: &str, kind: EncodeErrorKind) -> Result<(), Fault> {
        let quote = self.quote;
        // A quote may also begin in the text and end in the one behind it.
        match format!("{text}{quote}").find(quote) {
            Some(at) if at < text.len() => {
                Err(Fault::new(kind, "it contains the quote that would end it").at(at))
            }
            _ => {
                self.out.extend([quote, text, quote]);
                Ok(())
            }
        }
    }
}

/// Writes a value as a script does: keys bare where they can be, strings as JSON.
pub(super) fn script(node: &Node<'_>, out: &mut String) {
    match node {
        Node::Object(members) => script_object(members, out),
        Node::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                script(element, out);
            }
            out.push(']');
        }
        scalar => json::node(scalar, json::Layout::at_end_of("", Spacing::Spaced), out),
    }
}

fn script_object(members: &Members<'_>, out: &mut String) {
    out.push('{');
    for (i, (key, value)) in members.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { " " });
        match not_identifier(key, &[]) {
            None => out.push_str(key),
            Some(_) => json::string(key, out),
        }
        out.push_str(": ");
        script(value, out);
    }
    out.push_str(if members.is_empty() { "}" } else { " }" });
}
