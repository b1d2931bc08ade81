//! Calls in messages with headers.

use alloc::{string::String, vec, vec::Vec};

use super::{
    Call,
    error::{EncodeErrorKind, Fault},
    frame, json,
    layout::{Arrangement, Layout},
    one, tagged, together,
};
use crate::{
    engine::envelope::message_header,
    grammar::{
        At, CallBody, Certainty, Envelope, HeaderField, Opener, Recipient, Role, Route, Shape,
        Target, Text,
    },
    tools::Tools,
};

/// Ways to write calls in `envelope`: one for each shape of each route they may stand on.
pub(super) fn layouts(envelope: &Envelope) -> Vec<Layout> {
    let routes = envelope.routes.iter().enumerate();
    let layouts = routes.flat_map(|(opener, route)| {
        let shapes = match &route.to {
            Target::Call(_) => 1,
            Target::Calls(shapes) => shapes.len(),
            Target::Content | Target::Reasoning | Target::Hidden => 0,
        };
        (0..shapes).map(move |shape| Layout {
            opener,
            shape,
            blocks: Text::default(),
            end: Some(0),
            ..Layout::default()
        })
    });
    layouts.collect()
}

pub(super) fn write(
    envelope: &Envelope,
    layout: &Layout,
    calls: &[Call<'_>],
    tools: &Tools,
) -> Result<String, (usize, Fault)> {
    let fault = |why| (0, Fault::new(EncodeErrorKind::Grammar, why));
    let Some(route) = envelope.routes.get(layout.opener) else {
        return Err(fault("the layout names no route"));
    };
    let header = match &layout.header[..] {
        [] => header(envelope, route).ok_or_else(|| fault("the route has no header"))?,
        header => header.to_vec(),
    };
    let body = Body::of(&route.to, layout).ok_or_else(|| fault("the layout names no shape"))?;
    // A header that holds a name is of one call.
    let together = header.len() == 1
        && match (layout.calls, &body) {
            (Arrangement::Alone, _) | (_, Body::Call(_)) => false,
            (Arrangement::Together, _) => true,
            (Arrangement::AsShaped, Body::Calls(shape, opener)) => together(shape, opener),
        };
    let end = layout.end.and_then(|end| envelope.ends.get(end)).map_or("", |end| end.as_ref());
    let mut wire = String::from(if calls.is_empty() { "" } else { &layout.around.0 });
    for block in calls.chunks(if together { calls.len().max(1) } else { 1 }) {
        let first = &block[0];
        wire.push_str(if first.index > 0 { &layout.blocks } else { "" });
        let header = header.join(first.name);
        let holds = message_header(envelope, &header).is_some_and(|(n, name)| {
            n == layout.opener && (matches!(body, Body::Calls(..)) || name == first.name)
        });
        if !holds {
            let why = "the header cannot hold it";
            return Err((first.index, Fault::new(EncodeErrorKind::Name, why)));
        }
        wire.push_str(&header);
        match &body {
            Body::Call(body) => {
                call(body, layout, first, tools, &mut wire)
                    .map_err(|fault| (first.index, fault))?;
            }
            Body::Calls(shape, opener) => {
                // What the message is may be said by the marker of its calls.
                if !header.ends_with(opener.marker.as_ref()) {
                    wire.push_str(&opener.marker);
                }
                self::calls((shape, opener), layout, block, tools, &mut wire)?;
            }
        }
        if !wire.ends_with(end) {
            wire.push_str(end);
        }
    }
    wire.push_str(if calls.is_empty() { "" } else { &layout.around.1 });
    Ok(wire)
}

/// What a message holds.
enum Body<'e> {
    /// The arguments of a call.
    Call(&'e CallBody),
    /// Calls, behind what opens them.
    Calls(&'e Shape, Opener),
}

impl<'e> Body<'e> {
    fn of(to: &'e Target, layout: &Layout) -> Option<Self> {
        let shape = match to {
            Target::Call(body) => return Some(Self::Call(body)),
            Target::Calls(shapes) => shapes.get(layout.shape)?,
            Target::Content | Target::Reasoning | Target::Hidden => return None,
        };
        let section = match shape {
            Shape::Named(shape) => shape.section.as_ref(),
            Shape::Tagged(shape) => shape.wrapper.as_ref(),
            Shape::Json(_) | Shape::Python(_) | Shape::Brace(_) | Shape::Tree(_) => None,
        };
        let opener = Opener {
            marker: section.and_then(|it| it.open.first()).cloned().unwrap_or_default(),
            at: At::Anywhere,
            certainty: Certainty::Marked,
            role: Role::Before,
            newlines_before: 0,
            shapes: Vec::new(),
        };
        Some(Self::Calls(shape, opener))
    }
}

/// The shortest header of a route, with the call's name between any two of these.
fn header(envelope: &Envelope, route: &Route) -> Option<Vec<Text>> {
    let start = envelope.starts.iter().find(|start| match &route.start {
        Some(wanted) => start.marker == *wanted,
        None => start.role == Role::Before,
    })?;
    let mut before = String::from(start.marker.as_ref());
    let mut behind = String::new();
    let prefix = match &route.recipient {
        Recipient::Any => None,
        Recipient::Given => Some(""),
        Recipient::Prefix(prefix) => Some(prefix.as_ref()),
        // Its calls hold their names.
        Recipient::Is(recipient) => {
            before.extend([" ", envelope.recipient.as_deref()?, recipient]);
            None
        }
    };
    if let Some(prefix) = prefix {
        before.extend([" ", envelope.recipient.as_deref()?, prefix]);
    }
    let rest = if prefix.is_some() { &mut behind } else { &mut before };
    if let Some(channel) = &route.channel {
        if start.field != HeaderField::Channel {
            let mark = envelope.fields.iter().find(|mark| mark.field == HeaderField::Channel)?;
            rest.push_str(&mark.marker);
        }
        rest.push_str(channel);
    }
    rest.push_str(match &route.message {
        Some(message) => message,
        None => &envelope.messages.first()?.marker,
    });
    Some(if prefix.is_some() { vec![before.into(), behind.into()] } else { vec![before.into()] })
}

/// The arguments of a call whose header is written.
fn call(
    body: &CallBody,
    layout: &Layout,
    call: &Call<'_>,
    tools: &Tools,
    out: &mut String,
) -> Result<(), Fault> {
    if call.id.is_some() {
        return Err(call.no_place_for_id());
    }
    match body {
        CallBody::Arguments => {
            json::object(&call.arguments, layout.json, out);
            Ok(())
        }
        CallBody::Parameters(shape) => tagged::parameters(shape, layout, call, tools, out),
    }
}

/// Calls that hold their names.
fn calls(
    (shape, opener): (&Shape, &Opener),
    layout: &Layout,
    block: &[Call<'_>],
    tools: &Tools,
    out: &mut String,
) -> Result<(), (usize, Fault)> {
    let first = block[0].index;
    let frame = frame(shape, opener, layout).map_err(|fault| (first, fault))?;
    out.push_str(&frame.head);
    for call in block {
        out.push_str(if call.index > first { &frame.between } else { "" });
        one(shape, opener, layout, call, tools, out).map_err(|fault| (call.index, fault))?;
    }
    out.push_str(&frame.tail);
    Ok(())
}
