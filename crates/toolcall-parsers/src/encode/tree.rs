//! Calls as element trees.

use alloc::{format, string::String};

use super::{
    Call, Frame,
    error::{EncodeErrorKind, Fault},
    json,
    layout::Layout,
    value::{Members, Node},
};
use crate::{
    engine::tree::{holds_list, leaf},
    grammar::{Opener, TreeShape},
    tools::{Tool, Tools},
    typing::{Path, Types, declared_at},
};

pub(super) fn together(shape: &TreeShape, opener: &Opener) -> bool {
    opener.marker == format!("{}<{}>", shape.namespace, shape.wrapper)
}

pub(super) fn frame(shape: &TreeShape, opener: &Opener, layout: &Layout) -> Frame {
    let mut frame = Frame::new(layout, &layout.tags);
    if together(shape, opener) {
        frame.tail.extend([&shape.namespace, "</", &shape.wrapper, ">"]);
    }
    frame
}

pub(super) fn call(
    shape: &TreeShape,
    layout: &Layout,
    call: &Call<'_>,
    tools: &Tools,
    out: &mut String,
) -> Result<(), Fault> {
    if call.id.is_some() {
        return Err(call.no_place_for_id());
    }
    let tag = format!("{} {}=\"{}\"", shape.call, shape.name, call.name);
    if tag.contains('>') || shape.header(&tag) != Some(call.name) {
        return Err(Fault::new(EncodeErrorKind::Name, "the tag cannot hold it"));
    }
    out.extend([&shape.namespace, "<", &tag, ">"]);
    let tool = tools.get(call.name);
    let mut writer = Writer { shape, layout, tool, path: Path::default(), out };
    for (key, value) in &call.arguments {
        writer.member(key, value).map_err(|fault| fault.of(key))?;
    }
    out.extend([&shape.namespace, "</", &shape.call, ">"]);
    Ok(())
}

struct Writer<'w> {
    shape: &'w TreeShape,
    layout: &'w Layout,
    tool: Option<&'w Tool>,
    path: Path,
    out: &'w mut String,
}

impl Writer<'_> {
    fn member(&mut self, key: &str, value: &Node<'_>) -> Result<(), Fault> {
        if let Some(why) = self.odd(key) {
            return Err(Fault::new(EncodeErrorKind::Key, why));
        }
        self.path.member(key);
        let written = self.element(key, value);
        self.path.pop();
        written
    }

    /// Why a key is no tag.
    fn odd(&self, key: &str) -> Option<&'static str> {
        if key.is_empty() || key.trim_ascii() != key || key.starts_with('/') {
            return Some("a tag cannot be this");
        }
        if key.contains(|c: char| c.is_control() || c == '<' || c == '>') {
            return Some("a tag cannot hold it");
        }
        let markup = key == self.shape.wrapper || key == self.shape.call;
        (markup || self.shape.header(key).is_some()).then_some("it is a tag of the call's own")
    }

    /// An element, at the end of the path.
    fn element(&mut self, tag: &str, node: &Node<'_>) -> Result<(), Fault> {
        let namespace = self.shape.namespace.as_ref();
        self.out.extend([namespace, "<", tag, ">"]);
        let begun = self.out.len();
        let types = self.tool.and_then(|tool| declared_at(&tool.parameters, self.path.steps()));
        let nested = match node {
            Node::Object(members) if !members.is_empty() => self.object(members, types),
            Node::Array(elements) if !elements.is_empty() => self.array(elements, types),
            _ => self.leaf(node, types),
        };
        if let Err(fault) = nested {
            // What elements cannot hold may still be written as JSON, where the schema says that
            // the text is no string.
            self.out.truncate(begun);
            self.leaf(node, types).map_err(|_| fault)?;
        }
        self.out.extend([namespace, "</", tag, ">"]);
        Ok(())
    }

    fn object(&mut self, members: &Members<'_>, types: Option<Types>) -> Result<(), Fault> {
        let first = members.first().map_or("", |(key, _)| key);
        self.is_list(first, types, false)?;
        for (i, (key, value)) in members.iter().enumerate() {
            if i > 0 && members[i - 1].0 == *key {
                let why = "repeated members would be read back as a list";
                return Err(Fault::new(EncodeErrorKind::Value, why));
            }
            self.member(key, value)?;
        }
        Ok(())
    }

    fn array(&mut self, elements: &[Node<'_>], types: Option<Types>) -> Result<(), Fault> {
        self.is_list(&self.shape.item, types, true)?;
        for (i, element) in elements.iter().enumerate() {
            self.path.element(i);
            let written = self.element(&self.shape.item, element);
            self.path.pop();
            written?;
        }
        Ok(())
    }

    /// Whether an element with such a first child is read back as a list, or as an object.
    fn is_list(&self, first: &str, types: Option<Types>, list: bool) -> Result<(), Fault> {
        let why = match holds_list(self.shape, first, types) {
            read if read == list => return Ok(()),
            true => "it would be read back as a list",
            false => "it would be read back as an object",
        };
        Err(Fault::new(EncodeErrorKind::Value, why))
    }

    /// An element with text alone.
    fn leaf(&mut self, node: &Node<'_>, types: Option<Types>) -> Result<(), Fault> {
        let mut json = String::new();
        json::node(node, self.layout.json, &mut json);
        let read = |text: &str| {
            let mut read = String::new();
            let _ = leaf(text, types, |piece| read.push_str(piece));
            read
        };
        let plain = match node {
            Node::String(text) => text.as_str(),
            // Nothing in it is nothing to write.
            Node::Array(elements) if elements.is_empty() => "",
            Node::Object(members) if members.is_empty() => "",
            _ => &json,
        };
        let Some(text) = [plain, &json].into_iter().find(|text| read(text) == json) else {
            let why = match node {
                Node::String(_) => "its schema would make something other than a string of it",
                _ => "it would be read back as something else: no schema says otherwise",
            };
            return Err(Fault::new(EncodeErrorKind::Value, why));
        };
        if let Some(at) = self.shape.tag_in(text) {
            let why = "it contains what begins a tag";
            return Err(Fault::new(EncodeErrorKind::Value, why).at(at));
        }
        self.out.push_str(text);
        Ok(())
    }
}
