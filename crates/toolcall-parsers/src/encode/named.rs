//! Calls with a header, then JSON.

use alloc::{format, string::String, vec::Vec};

use super::{
    Call, Frame,
    error::{EncodeErrorKind, Fault},
    json,
    layout::Layout,
};
use crate::{
    engine::named::fits,
    grammar::{Field, FieldKind, NamedShape, Next, Opener, Role, Stop, Text},
};

/// Which of a section's openers `opener` is.
fn section(shape: &NamedShape, opener: &Opener) -> Option<usize> {
    shape.section.as_ref()?.open.iter().position(|open| *open == opener.marker)
}

pub(super) fn together(shape: &NamedShape, opener: &Opener) -> bool {
    section(shape, opener).is_some()
}

pub(super) fn frame(shape: &NamedShape, opener: &Opener, layout: &Layout) -> Frame {
    let mut frame = Frame::new(layout, "");
    if let (Some(n), Some(section)) = (section(shape, opener), &shape.section) {
        frame.tail.push_str(paired(&section.close, n));
    }
    frame
}

/// The closer of the opener with this number.
pub(super) fn paired(closers: &[Text], n: usize) -> &str {
    closers.get(n).or_else(|| closers.first()).map_or("", |closer| closer)
}

pub(super) fn call(
    shape: &NamedShape,
    opener: &Opener,
    layout: &Layout,
    call: &Call<'_>,
    out: &mut String,
) -> Result<(), Fault> {
    if shape.name.as_ref().is_some_and(|name| name != call.name) {
        return Err(Fault::new(EncodeErrorKind::Name, "every call has another in this syntax"));
    }
    if opener.role == Role::Part || section(shape, opener).is_some() {
        out.push_str(&shape.open);
    }
    let mut arguments = String::new();
    json::object(&call.arguments, layout.json, &mut arguments);
    let path = path(shape, call.id.is_some(), &arguments)
        // A header that demands an id may leave it empty.
        .or_else(|| if call.id.is_none() { path(shape, true, &arguments) } else { None })
        .ok_or_else(|| match call.id {
            Some(_) => call.no_place_for_id(),
            None => Fault::new(EncodeErrorKind::Grammar, "no header leads to the arguments"),
        })?;
    for (field, stop) in path {
        self::field(&field.kind, field, call, out)?;
        out.push_str(if field.kind == FieldKind::Name { &layout.behind_name } else { "" });
        out.push_str(match stop.next {
            Next::ArgumentsHere => blanks(&stop.text),
            Next::Field(_) | Next::Arguments => &stop.text,
        });
    }
    out.push_str(&layout.arguments.0);
    out.push_str(&arguments);
    out.push_str(&layout.arguments.1);
    out.extend(shape.close.iter().map(|literal| literal.as_ref()));
    Ok(())
}

/// The shortest way through the header that writes a name, and an id exactly if one is given.
fn path<'s>(
    shape: &'s NamedShape,
    id: bool,
    arguments: &str,
) -> Option<Vec<(&'s Field, &'s Stop)>> {
    if shape.name.is_some() && shape.header.is_empty() && !id {
        return Some(Vec::new());
    }
    let mut ways = alloc::vec![(0_usize, Vec::new())];
    // Headers are a few fields long; the bound is for those that go round in circles.
    for _ in 0..8 {
        let mut longer = Vec::new();
        for (n, way) in ways {
            let Some(field) = shape.header.get(n) else { continue };
            let mut stops: Vec<&Stop> = field.stops.iter().collect();
            stops.sort_by_key(|stop| stop.next == Next::ArgumentsHere);
            for stop in stops {
                let mut way = way.clone();
                way.push((field, stop));
                match stop.next {
                    Next::Field(next) => longer.push((usize::from(next), way)),
                    Next::ArgumentsHere if !arguments.starts_with(stop.text.trim_ascii_start()) => {
                    }
                    Next::Arguments | Next::ArgumentsHere if serves(&way, id) => return Some(way),
                    Next::Arguments | Next::ArgumentsHere => {}
                }
            }
        }
        ways = longer;
    }
    None
}

/// The whitespace at the head of a text.
fn blanks(text: &str) -> &str {
    &text[..text.len() - text.trim_ascii_start().len()]
}

fn serves(way: &[(&Field, &Stop)], id: bool) -> bool {
    let has = |kind: fn(&FieldKind) -> bool| way.iter().any(|(field, _)| kind(&field.kind));
    let both = has(|kind| matches!(kind, FieldKind::IdWithName { .. }));
    let name = has(|kind| matches!(kind, FieldKind::Name | FieldKind::Declared));
    both || name && has(|kind| *kind == FieldKind::Id) == id
}

fn field(kind: &FieldKind, field: &Field, call: &Call<'_>, out: &mut String) -> Result<(), Fault> {
    let (what, text): (_, Text) = match kind {
        FieldKind::Word(word) => (EncodeErrorKind::Grammar, word.clone()),
        // Nobody reads it; the name says most.
        FieldKind::Label => (EncodeErrorKind::Name, String::from(call.name).into()),
        FieldKind::Name | FieldKind::Declared => {
            (EncodeErrorKind::Name, String::from(call.name).into())
        }
        FieldKind::Id => (EncodeErrorKind::Id, String::from(call.id.unwrap_or("")).into()),
        FieldKind::IdWithName { prefix, separator } => match call.id {
            None => {
                let (name, n) = (call.name, call.index);
                (EncodeErrorKind::Name, format!("{prefix}{name}{separator}{n}").into())
            }
            Some(id) => {
                let name = id.strip_prefix(prefix.as_ref()).unwrap_or(id);
                let named = name.strip_prefix(call.name).is_some_and(|rest| {
                    let number = rest.strip_prefix(separator.as_ref()).unwrap_or("x");
                    rest.is_empty() || number.bytes().all(|byte| byte.is_ascii_digit())
                });
                if !named {
                    return Err(Fault::new(EncodeErrorKind::Id, "an id must contain the name"));
                }
                (EncodeErrorKind::Id, String::from(id).into())
            }
        },
    };
    if text.is_empty() && matches!(kind, FieldKind::Name | FieldKind::IdWithName { .. }) {
        return Err(Fault::new(what, "it is empty"));
    }
    if text.trim_ascii() != text {
        return Err(Fault::new(what, "it has whitespace at its edges"));
    }
    for (at, scalar) in text.char_indices() {
        let ends = field.stops.iter().any(|stop| text[at..].starts_with(stop.text.as_ref()));
        if ends || !fits(kind, "", &text[..at], scalar) {
            return Err(Fault::new(what, "the header cannot hold this").at(at));
        }
    }
    out.push_str(&text);
    Ok(())
}
