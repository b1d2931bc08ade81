//! Calls with a header, then tagged values.

use alloc::{borrow::Cow, format, string::String};

use super::{
    Call, Frame,
    error::{EncodeErrorKind, Fault},
    json,
    layout::{Layout, Naming},
    named::paired,
    value::{Node, repeated},
};
use crate::{
    engine::tagged::{Mode, mode, parameter_header, tool_header},
    grammar::{
        Attributes, Duplicates, Head, Opener, Quotes, Quoting, TaggedShape, Then as HeadThen, Trim,
    },
    tools::Tools,
    typing::{json_or_string, typed},
};

/// Which of the wrapper's openers `opener` is.
fn wrapper(shape: &TaggedShape, opener: &Opener) -> Option<usize> {
    shape.wrapper.as_ref()?.open.iter().position(|open| *open == opener.marker)
}

pub(super) fn together(shape: &TaggedShape, opener: &Opener) -> bool {
    wrapper(shape, opener).is_some()
}

pub(super) fn frame(shape: &TaggedShape, opener: &Opener, layout: &Layout) -> Frame {
    let Some(n) = wrapper(shape, opener) else { return Frame::default() };
    let mut frame = Frame::new(layout, &layout.tags);
    if let Some(wrapper) = &shape.wrapper {
        frame.tail.push_str(paired(&wrapper.close, n));
    }
    frame
}

pub(super) fn call(
    shape: &TaggedShape,
    layout: &Layout,
    call: &Call<'_>,
    tools: &Tools,
    out: &mut String,
) -> Result<(), Fault> {
    if call.id.is_some() {
        return Err(call.no_place_for_id());
    }
    let counted = |index| format!(" {index}=\"{}\"", call.index + 1);
    let index = layout.index.as_ref().map_or_else(String::new, counted);
    let header = head((&shape.call, layout.header_end), layout, call.name, &index);
    if !tool_header(&shape.call, &header.probe(), call.name) {
        return Err(Fault::new(EncodeErrorKind::Name, "the header cannot hold it"));
    }
    out.push_str(&header.text);
    between(layout, out);
    parameters(shape, layout, call, tools, out)?;
    between(layout, out);
    out.extend(shape.call_close.iter().map(|literal| literal.as_ref()));
    Ok(())
}

/// All that stands between a call's header and its end.
pub(super) fn parameters(
    shape: &TaggedShape,
    layout: &Layout,
    call: &Call<'_>,
    tools: &Tools,
    out: &mut String,
) -> Result<(), Fault> {
    if shape.duplicates == Duplicates::KeepFirst
        && let Some(key) = repeated(&call.arguments)
    {
        let why = "of repeated arguments the first counts here, the last in JSON";
        return Err(Fault::new(EncodeErrorKind::Key, why).of(key));
    }
    for (i, (key, value)) in call.arguments.iter().enumerate() {
        if i > 0 {
            between(layout, out);
        }
        parameter(shape, layout, (call.name, key, value), tools, out)
            .map_err(|fault| fault.of(key))?;
    }
    Ok(())
}

/// Whitespace between tags, once.
fn between(layout: &Layout, out: &mut String) {
    if !out.ends_with(layout.tags.as_ref()) {
        out.push_str(&layout.tags);
    }
}

/// A header as it is written.
struct Header<'s> {
    text: String,
    /// The beginning of the body, where that ends the header.
    next: &'s str,
}

impl Header<'_> {
    /// The header with what ends it.
    fn probe(&self) -> String {
        self.text.clone() + self.next
    }
}

/// The literals before the name, the name, an attribute, and one of the ends.
fn head<'s>(
    (head, end): (&'s Head, usize),
    layout: &Layout,
    name: &str,
    attribute: &str,
) -> Header<'s> {
    let mut text = String::new();
    for literal in &head.open {
        // Words do not run together.
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if word(text.chars().next_back()) && word(literal.chars().next()) {
            text.push(' ');
        }
        text.push_str(literal);
    }
    let quoted = match head.quotes {
        Quotes::Required => true,
        // A quote at the head would be taken for one that is none of the name's.
        Quotes::Optional => layout.names == Naming::Quoted || name.starts_with(['"', '\'']),
        Quotes::Literal => false,
    };
    let escaped: Cow<'_, str> = match head.attributes {
        Attributes::Any => name.replace('&', "&amp;").replace('"', "&quot;").into(),
        Attributes::None => name.into(),
    };
    let name = escaped.as_ref();
    let quote = match (quoted, name.contains('"')) {
        (false, _) => "",
        (true, false) => "\"",
        (true, true) => "'",
    };
    for part in [quote, name, quote, attribute] {
        text.push_str(part);
    }
    match head.ends.get(end) {
        Some(end) if end.then == HeadThen::BodyHere => Header { text, next: &end.text },
        Some(end) => Header { text: text + &end.text, next: "" },
        None => Header { text, next: "" },
    }
}

fn parameter(
    shape: &TaggedShape,
    layout: &Layout,
    (tool, key, value): (&str, &str, &Node<'_>),
    tools: &Tools,
    out: &mut String,
) -> Result<(), Fault> {
    let string = matches!(value, Node::String(_));
    let said = shape.string_attribute.as_ref().map(|_| string);
    let says = match (&shape.string_type, value) {
        (None, Node::String(_)) => "true",
        (None, _) => "false",
        (Some(of_strings), Node::String(_)) => of_strings,
        (Some(_), value) => value.kind(),
    };
    let attribute = shape.string_attribute.as_ref();
    let attribute = attribute.map_or_else(String::new, |it| format!(" {it}=\"{says}\""));
    let header = head((&shape.parameter, 0), layout, key, &attribute);
    let attribute = shape.string_attribute.as_deref();
    if !parameter_header(&shape.parameter, attribute, &header.probe(), key) {
        return Err(Fault::new(EncodeErrorKind::Key, "the header cannot hold it"));
    }
    out.push_str(&header.text);
    for literal in &shape.value_open {
        between(layout, out);
        out.push_str(literal);
    }
    let text = text(value, mode(shape, tool, key, (said, ""), tools), layout)?;
    let text = enclosed(shape, layout, &text, string)?;
    out.push_str(&text);
    out.push_str(&shape.value_close);
    Ok(())
}

/// The text that is read back as `value`.
fn text<'v>(value: &'v Node<'_>, mode: Mode, layout: &Layout) -> Result<Cow<'v, str>, Fault> {
    let mut json = String::new();
    json::node(value, layout.json, &mut json);
    let read = |text: &str| {
        let mut read = String::new();
        let _ = match mode {
            Mode::Typed(types) => typed(text, types, |piece| read.push_str(piece)),
            _ => json_or_string(text, |piece| read.push_str(piece)),
        };
        read
    };
    let plain: Cow<'v, str> = match value {
        Node::String(text) => text.as_str().into(),
        _ => json.clone().into(),
    };
    let why = match (mode, value) {
        (Mode::String, Node::String(_)) => return Ok(plain),
        (Mode::String, _) => "it would be read back as a string: no schema says otherwise",
        _ if read(&plain) == json => return Ok(plain),
        // A string that looks like something else may still be written as JSON.
        (Mode::Guess, _) if read(&json) == json => return Ok(json.into()),
        (_, Node::String(_)) => "its schema would make something other than a string of it",
        _ => "its schema would make a string of it",
    };
    Err(Fault::new(EncodeErrorKind::Value, why))
}

/// The text with what stands around it, so that its end is found and its edges are kept.
fn enclosed<'t>(
    shape: &TaggedShape,
    layout: &Layout,
    text: &'t str,
    string: bool,
) -> Result<Cow<'t, str>, Fault> {
    const CDATA: (&str, &str) = ("<![CDATA[", "]]>");
    let edges = shape.trim == Trim::Full && string && text.trim_ascii() != text;
    let end = closing(shape, text);
    if shape.quoting == Quoting::Cdata && (edges || end.is_some() || text.contains(CDATA.0)) {
        // A section cannot hold its own end: it goes on in another.
        let inside = text.replace(CDATA.1, "]]]]><![CDATA[>");
        return Ok(format!("{}{inside}{}", CDATA.0, CDATA.1).into());
    }
    if let Some(at) = end {
        let why = "it contains the tags that would end it";
        return Err(Fault::new(EncodeErrorKind::Value, why).at(at));
    }
    if edges {
        let why = "the whitespace at its edges would be trimmed";
        return Err(Fault::new(EncodeErrorKind::Value, why));
    }
    let newline = if shape.trim == Trim::OneNewline { "\n" } else { "" };
    let (before, behind) = match &layout.value {
        Some((before, behind)) => (before.as_ref(), behind.as_ref()),
        None => (newline, newline),
    };
    // Where one newline is trimmed, a value that has its own needs another.
    let need = |edge: &str, own: bool| if edge.is_empty() && own { newline } else { "" };
    let more = (need(before, text.starts_with('\n')), need(behind, text.ends_with('\n')));
    Ok(format!("{before}{}{text}{}{behind}", more.0, more.1).into())
}

/// Where a value holds what would end it.
fn closing(shape: &TaggedShape, text: &str) -> Option<usize> {
    let own = text.find(shape.value_close.as_ref());
    let next = shape.parameter.open.first().filter(|_| shape.implicit.next_parameter);
    let next = next.and_then(|open| {
        let at = |&(at, _): &(usize, &str)| at == 0 || text[..at].ends_with('\n');
        text.match_indices(open.as_ref()).find(at).map(|(at, _)| at)
    });
    let close = shape.call_close.first().filter(|_| shape.implicit.call_close);
    let close = close.and_then(|close| {
        let closers = shape.wrapper.as_ref().map_or(&[][..], |wrapper| &wrapper.close);
        let ends = |&(at, literal): &(usize, &str)| {
            let behind = text[at + literal.len()..].trim_ascii_start();
            closers.iter().any(|closer| behind.starts_with(closer.as_ref()))
        };
        text.match_indices(close.as_ref()).find(ends).map(|(at, _)| at)
    });
    [own, next, close].into_iter().flatten().min()
}
