//! Calls in Python syntax.

use alloc::string::String;
use core::fmt::Write;

use super::{
    Call, Frame,
    error::{EncodeErrorKind, Fault},
    json::{self, closer},
    layout::{Arrangement, Layout, Spacing},
    value::{Members, Node, repeated},
};
use crate::grammar::{Keys, PythonCall, PythonContainer, PythonShape};

pub(super) fn together(shape: &PythonShape) -> bool {
    shape.container != PythonContainer::Call
}

pub(super) fn frame(shape: &PythonShape, layout: &Layout) -> Frame {
    let mut frame = Frame::new(layout, ", ");
    frame.glue(&shape.glue, layout);
    let listed = match shape.container {
        PythonContainer::List => true,
        PythonContainer::ListOrCall => layout.calls != Arrangement::Alone,
        PythonContainer::Lines => {
            frame.between = layout.between.as_deref().unwrap_or("\n").into();
            false
        }
        PythonContainer::Call => false,
    };
    if listed {
        frame.head.push('[');
        frame.tail.insert(0, ']');
    }
    frame.tail.push_str(closer(&shape.closers, shape.closing, layout));
    frame
}

pub(super) fn call(shape: &PythonShape, call: &Call<'_>, out: &mut String) -> Result<(), Fault> {
    match &shape.call {
        PythonCall::Call => function(call, out),
        PythonCall::Object => script(call, out),
        PythonCall::Dict(keys) => dict(keys, call, out),
    }
}

fn function(call: &Call<'_>, out: &mut String) -> Result<(), Fault> {
    open(call, out)?;
    if let Some(key) = repeated(&call.arguments) {
        return Err(Fault::new(EncodeErrorKind::Key, "a keyword cannot be repeated").of(key));
    }
    for (i, (key, value)) in call.arguments.iter().enumerate() {
        if let Some(at) = odd(key, &[]) {
            let why = "a keyword must be an identifier";
            return Err(Fault::new(EncodeErrorKind::Key, why).of(key).at(at));
        }
        out.push_str(if i > 0 { ", " } else { "" });
        out.push_str(key);
        out.push('=');
        node(value, out);
    }
    out.push(')');
    Ok(())
}

/// A name and its parenthesis.
fn open(call: &Call<'_>, out: &mut String) -> Result<(), Fault> {
    if call.id.is_some() {
        return Err(call.no_place_for_id());
    }
    let no_name = |at, why| Err(Fault::new(EncodeErrorKind::Name, why).at(at));
    match odd(call.name, &['.', '-']) {
        Some(at) => return no_name(at, "a function's name cannot hold this"),
        None if call.name.ends_with(['.', '-']) => {
            return no_name(call.name.len() - 1, "a function's name cannot end so");
        }
        None => out.push_str(call.name),
    }
    out.push('(');
    Ok(())
}

/// A call with one object, its keys bare where they can be.
fn script(call: &Call<'_>, out: &mut String) -> Result<(), Fault> {
    open(call, out)?;
    if !call.arguments.is_empty() {
        script_object(&call.arguments, out);
    }
    out.push(')');
    Ok(())
}

fn script_object(members: &Members<'_>, out: &mut String) {
    out.push('{');
    for (i, (key, value)) in members.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { " " });
        match odd(key, &[]) {
            None => out.push_str(key),
            Some(_) => json::string(key, out),
        }
        out.push_str(": ");
        script_node(value, out);
    }
    out.push_str(if members.is_empty() { "}" } else { " }" });
}

fn script_node(node: &Node<'_>, out: &mut String) {
    match node {
        Node::Object(members) => script_object(members, out),
        Node::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                script_node(element, out);
            }
            out.push(']');
        }
        scalar => json::node(scalar, Spacing::Spaced, out),
    }
}

/// The first byte that an identifier cannot hold; some more scalars may follow its first.
fn odd(word: &str, more: &[char]) -> Option<usize> {
    let fits = |at, c: char| {
        let begins = c == '_' || c.is_alphabetic();
        begins || at > 0 && (c.is_alphanumeric() || more.contains(&c))
    };
    match word.char_indices().find(|&(at, c)| !fits(at, c)) {
        Some((at, _)) => Some(at),
        None if word.is_empty() => Some(0),
        None => None,
    }
}

fn dict(keys: &Keys, call: &Call<'_>, out: &mut String) -> Result<(), Fault> {
    let (Some(name), Some(arguments)) = (keys.name.first(), keys.arguments.first()) else {
        return Err(Fault::new(EncodeErrorKind::Grammar, "there is no key for name or arguments"));
    };
    if call.name.is_empty() {
        return Err(Fault::new(EncodeErrorKind::Name, "it is empty"));
    }
    out.push('{');
    if let Some(id) = call.id {
        string(keys.id.first().ok_or_else(|| call.no_place_for_id())?, out);
        out.push_str(": ");
        string(id, out);
        out.push_str(", ");
    }
    string(name, out);
    out.push_str(": ");
    string(call.name, out);
    out.push_str(", ");
    string(arguments, out);
    out.push_str(": ");
    object(&call.arguments, out);
    out.push('}');
    Ok(())
}

fn node(node: &Node<'_>, out: &mut String) {
    match node {
        Node::Null => out.push_str("None"),
        Node::Bool(true) => out.push_str("True"),
        Node::Bool(false) => out.push_str("False"),
        Node::Number(spelling) => out.push_str(spelling),
        Node::String(text) => string(text, out),
        Node::Object(members) => object(members, out),
        Node::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                self::node(element, out);
            }
            out.push(']');
        }
    }
}

fn object(members: &Members<'_>, out: &mut String) {
    out.push('{');
    for (i, (key, value)) in members.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        string(key, out);
        out.push_str(": ");
        node(value, out);
    }
    out.push('}');
}

/// As Python's `repr` writes it: in single quotes unless only double ones need no escapes.
fn string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for scalar in text.chars() {
        match scalar {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if scalar == quote => {
                out.push('\\');
                out.push(scalar);
            }
            _ if scalar.is_control() => {
                // Control characters end below U+00A0; writing to a string cannot fail.
                let _ = write!(out, "\\x{:02x}", u32::from(scalar));
            }
            _ => out.push(scalar),
        }
    }
    out.push(quote);
}
