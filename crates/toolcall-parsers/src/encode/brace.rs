//! Calls with arguments in braces: bare keys, quoted strings.

use alloc::{borrow::Cow, format, string::String};

use super::{
    Call, Frame,
    error::{EncodeErrorKind, Fault},
    json::{self, closer},
    layout::{Layout, Spacing},
    value::{Members, Node},
};
use crate::{
    grammar::{BraceShape, BraceTypes},
    tools::{Tool, Tools},
    typing::{Path, Types, declared_at, json_or_string, typed},
};

pub(super) fn frame(shape: &BraceShape, layout: &Layout) -> Frame {
    let mut frame = Frame::new(layout, "");
    frame.glue(&shape.prefix, layout);
    frame.tail.push_str(closer(&shape.closers, shape.closing, layout));
    frame
}

pub(super) fn call(
    shape: &BraceShape,
    call: &Call<'_>,
    tools: &Tools,
    out: &mut String,
) -> Result<(), Fault> {
    if call.id.is_some() {
        return Err(call.no_place_for_id());
    }
    let odd = |c: char| c.is_control() || c.is_ascii_whitespace() || "{}[]()<>\"',".contains(c);
    if let Some(at) = call.name.find(odd) {
        let why = "a name before a brace cannot hold this";
        return Err(Fault::new(EncodeErrorKind::Name, why).at(at));
    }
    out.push_str(call.name);
    out.push('{');
    let mut writer = Writer { shape, tool: tools.get(call.name), path: Path::default(), out };
    for (i, (key, value)) in call.arguments.iter().enumerate() {
        writer.member(i, key, value).map_err(|fault| fault.of(key))?;
    }
    out.push('}');
    Ok(())
}

struct Writer<'w> {
    shape: &'w BraceShape,
    tool: Option<&'w Tool>,
    path: Path,
    out: &'w mut String,
}

impl Writer<'_> {
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
            && !key.starts_with(self.shape.quote.as_ref());
        if bare {
            self.out.push_str(key);
            return Ok(());
        }
        self.quoted(key, EncodeErrorKind::Key)
    }

    fn node(&mut self, node: &Node<'_>) -> Result<(), Fault> {
        match node {
            Node::Object(members) => self.object(members),
            Node::Array(elements) => self.array(elements),
            scalar => self.scalar(scalar),
        }
    }

    fn object(&mut self, members: &Members<'_>) -> Result<(), Fault> {
        self.out.push('{');
        for (i, (key, value)) in members.iter().enumerate() {
            self.member(i, key, value)?;
        }
        self.out.push('}');
        Ok(())
    }

    fn array(&mut self, elements: &[Node<'_>]) -> Result<(), Fault> {
        self.out.push('[');
        for (i, element) in elements.iter().enumerate() {
            self.out.push_str(if i > 0 { "," } else { "" });
            self.path.element(i);
            self.node(element)?;
            self.path.pop();
        }
        self.out.push(']');
        Ok(())
    }

    fn scalar(&mut self, node: &Node<'_>) -> Result<(), Fault> {
        let mut json = String::new();
        json::node(node, Spacing::Spaced, &mut json);
        let by_schema = self.shape.types == BraceTypes::Schema;
        match node {
            Node::String(text) if !by_schema => self.quoted(text, EncodeErrorKind::Value),
            _ if !by_schema => {
                self.out.push_str(&json);
                Ok(())
            }
            _ => {
                let text = self.typed(node, &json)?;
                self.quoted(&text, EncodeErrorKind::Value)
            }
        }
    }

    /// The text that the schema makes this value of.
    fn typed<'v>(&self, node: &'v Node<'_>, json: &'v str) -> Result<Cow<'v, str>, Fault> {
        let declared = self.tool.and_then(|tool| declared_at(&tool.parameters, self.path.steps()));
        let declared = declared.filter(|types| *types != Types::ALL);
        let read = |text: &str| {
            let mut read = String::new();
            let _ = match declared {
                Some(types) => typed(text, types, |piece| read.push_str(piece)),
                None => json_or_string(text, |piece| read.push_str(piece)),
            };
            read
        };
        let (plain, why) = match node {
            Node::String(text) => {
                (text.as_str(), "its schema would make something other than a string of it")
            }
            _ => (json, "its schema would make a string of it"),
        };
        // A string that looks like something else may still be written as JSON.
        let fits = [plain, json].into_iter().find(|text| read(text) == json);
        fits.map(Cow::from).ok_or_else(|| Fault::new(EncodeErrorKind::Value, why))
    }

    fn quoted(&mut self, text: &str, kind: EncodeErrorKind) -> Result<(), Fault> {
        let quote = self.shape.quote.as_ref();
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
