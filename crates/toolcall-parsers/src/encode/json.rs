//! Calls as JSON values.

use alloc::string::String;

use super::{
    Call, Frame,
    error::{EncodeErrorKind, Fault},
    layout::{Arrangement, Closer, Layout, Spacing},
    value::{Members, Node},
};
use crate::{
    grammar::{Closing, Container, Item, JsonShape, Text},
    json::escape::escape,
};

/// Writes `node`, strings with no more escapes than JSON demands.
pub(super) fn node(node: &Node<'_>, spacing: Spacing, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(true) => out.push_str("true"),
        Node::Bool(false) => out.push_str("false"),
        Node::Number(spelling) => out.push_str(spelling),
        Node::String(text) => string(text, out),
        Node::Object(members) => object(members, spacing, out),
        Node::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { spacing.comma() } else { "" });
                self::node(element, spacing, out);
            }
            out.push(']');
        }
    }
}

pub(super) fn object(members: &Members<'_>, spacing: Spacing, out: &mut String) {
    out.push('{');
    for (i, (key, value)) in members.iter().enumerate() {
        out.push_str(if i > 0 { spacing.comma() } else { "" });
        string(key, out);
        out.push_str(spacing.colon());
        node(value, spacing, out);
    }
    out.push('}');
}

pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    escape(text, |piece| out.push_str(piece));
    out.push('"');
}

/// The end marker, if this layout writes it.
pub(super) fn closer<'s>(closers: &'s [Text], closing: Closing, layout: &Layout) -> &'s str {
    let written = match layout.closer {
        Closer::IfExpected => closing == Closing::Expected,
        Closer::Always => true,
        Closer::Never => false,
    };
    closers.first().filter(|_| written).map_or("", |closer| closer)
}

/// Whether a block takes several calls unless its layout says otherwise.
pub(super) fn together(shape: &JsonShape) -> bool {
    matches!(shape.container, Container::Array | Container::Objects)
}

pub(super) fn frame(shape: &JsonShape, layout: &Layout) -> Result<Frame, Fault> {
    let mut frame = Frame::new(layout, layout.json.comma());
    frame.glue(&shape.glue, layout);
    let listed = match shape.container {
        Container::Array => true,
        Container::ObjectOrArray => layout.calls == Arrangement::Together,
        Container::Objects => {
            frame.between = layout.between.as_deref().unwrap_or("\n").into();
            false
        }
        Container::Object if layout.calls == Arrangement::Together => {
            return Err(Fault::new(EncodeErrorKind::Grammar, "one object holds one call"));
        }
        Container::Object => false,
    };
    if listed {
        frame.head.push('[');
        frame.tail.insert(0, ']');
    }
    frame.tail.push_str(closer(&shape.closers, shape.closing, layout));
    Ok(frame)
}

pub(super) fn call(
    shape: &JsonShape,
    layout: &Layout,
    call: &Call<'_>,
    out: &mut String,
) -> Result<(), Fault> {
    let mut first = true;
    let mut key = |key: &str, out: &mut String| {
        out.push_str(if core::mem::take(&mut first) { "{" } else { layout.json.comma() });
        string(key, out);
        out.push_str(layout.json.colon());
    };
    let keys = match &shape.item {
        Item::NameIsKey if call.id.is_some() => return Err(call.no_place_for_id()),
        Item::NameIsKey => {
            key(call.name, out);
            object(&call.arguments, layout.json, out);
            out.push('}');
            return Ok(());
        }
        Item::Arguments(_) if call.id.is_some() => return Err(call.no_place_for_id()),
        Item::Arguments(name) if call.name == name => {
            object(&call.arguments, layout.json, out);
            return Ok(());
        }
        Item::Arguments(_) => {
            return Err(Fault::new(EncodeErrorKind::Name, "the syntax is for another tool"));
        }
        Item::Keys(keys) => keys,
    };
    let (Some(name), Some(arguments)) = (keys.name.first(), keys.arguments.first()) else {
        return Err(Fault::new(EncodeErrorKind::Grammar, "there is no key for name or arguments"));
    };
    if let Some(id) = call.id {
        // Before the name, with which the call begins: an id behind it comes too late.
        key(keys.id.first().ok_or_else(|| call.no_place_for_id())?, out);
        string(id, out);
    }
    key(name, out);
    string(call.name, out);
    key(arguments, out);
    object(&call.arguments, layout.json, out);
    out.push('}');
    Ok(())
}
