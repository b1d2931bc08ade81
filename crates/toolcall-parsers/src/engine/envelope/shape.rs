//! Message envelopes, as data.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::grammar::{At, List, Role, Shape, TaggedShape, Text};

/// Messages with headers that say where their text goes: to the reader, to a tool, or nowhere.
///
/// A header is words and markers. It begins with one of [`Envelope::starts`], and ends with one
/// of [`Envelope::messages`]; the first route that fits it says what the message is, and one of
/// [`Envelope::ends`] ends that. Headers are markup, wherever the stream cuts them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// What begins a header.
    pub starts: List<HeaderStart>,
    /// Markers inside a header, each with the part that follows it.
    #[serde(default)]
    pub fields: List<FieldMark>,
    /// What a word that names the recipient begins with.
    #[serde(default)]
    pub recipient: Option<Text>,
    /// What ends a header and begins the message.
    pub messages: List<MessageMark>,
    /// What ends a message. Elsewhere it is removed.
    #[serde(default)]
    pub ends: List<Text>,
    /// What messages are; the first that fits counts. A header that none fits is text.
    pub routes: List<Route>,
}

/// What begins a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderStart {
    /// The literal text.
    pub marker: Text,
    /// Where it may stand.
    #[serde(default)]
    pub at: At,
    /// Whether it is the first part of what the header says.
    #[serde(default)]
    pub role: Role,
    /// The part of the header it begins.
    #[serde(default)]
    pub field: HeaderField,
}

/// A part of a header. Each holds up to three words, of which those that name the recipient may
/// stand in any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderField {
    /// Words that decide nothing: who speaks, what the text is written in.
    #[default]
    Note,
    /// The first word is the channel.
    Channel,
}

/// A marker inside a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldMark {
    /// The literal text.
    pub marker: Text,
    /// What follows it.
    pub field: HeaderField,
}

/// A marker that ends a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageMark {
    /// The literal text.
    pub marker: Text,
    /// Whether it may stand alone, its header missing or in the prompt.
    #[serde(default)]
    pub alone: bool,
}

/// What a message is. All conditions must hold; those left out do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The header began with this marker.
    #[serde(default)]
    pub start: Option<Text>,
    /// The header ended with this marker.
    #[serde(default)]
    pub message: Option<Text>,
    /// It names this channel.
    #[serde(default)]
    pub channel: Option<Text>,
    /// It names such a recipient.
    #[serde(default)]
    pub recipient: Recipient,
    /// What the message is then.
    pub to: Target,
}

/// A condition on a header's recipient.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    /// Any, or none.
    #[default]
    Any,
    /// Any.
    Given,
    /// This one.
    Is(Text),
    /// One that begins so, and goes on: the rest is a tool's name.
    Prefix(Text),
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Visible text.
    Content,
    /// Reasoning.
    Reasoning,
    /// Text for nobody: it is accounted for, and not given out.
    Hidden,
    /// A call of the recipient.
    Call(CallBody),
    /// Calls that hold their names, in one of these shapes, tried in order. What is none is
    /// visible text.
    Calls(List<Shape>),
}

/// How the arguments of a message to a tool are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallBody {
    /// As a JSON object; nothing at all is an empty one.
    Arguments,
    /// As tagged parameters. The shape's call header does not come, its ends do.
    Parameters(Box<TaggedShape>),
}

/// Something a header is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Field(HeaderField),
    /// The message mark with this number.
    Message(usize),
    End,
    /// The start with this number.
    Start(usize),
}

impl Envelope {
    /// Every literal that may stand in a header or end a message.
    pub fn markers(&self) -> impl Iterator<Item = &str> {
        let starts = self.starts.iter().map(|start| &start.marker);
        let fields = self.fields.iter().map(|field| &field.marker);
        let messages = self.messages.iter().map(|message| &message.marker);
        starts.chain(fields).chain(messages).chain(&self.ends).map(|marker| marker.as_ref())
    }

    /// The markers that make a body of a table: headers, then messages without one.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let starts = self.starts.iter().enumerate().map(|(n, start)| Entry::Header(n, start));
        let alone = self.messages.iter().filter(|mark| mark.alone);
        starts.chain(alone.map(Entry::Message))
    }

    /// The markers that may stand in a header, those of one text in the order of their rank.
    pub(super) fn marks(&self) -> impl Iterator<Item = (Mark, &str)> {
        let fields = self.fields.iter().map(|f| (Mark::Field(f.field), f.marker.as_ref()));
        let messages = self.messages.iter().enumerate();
        let messages = messages.map(|(n, m)| (Mark::Message(n), m.marker.as_ref()));
        let ends = self.ends.iter().map(|end| (Mark::End, end.as_ref()));
        let starts = self.starts.iter().enumerate().filter(|(_, s)| s.role == Role::Before);
        let starts = starts.map(|(n, s)| (Mark::Start(n), s.marker.as_ref()));
        fields.chain(messages).chain(ends).chain(starts)
    }

    /// Markers at which to go on behind a broken call: all but those calls are made of.
    pub(crate) fn stops(&self) -> impl Iterator<Item = &Text> {
        let starts = self.starts.iter().filter(|start| start.role == Role::Before);
        let starts = starts.map(|start| &start.marker).filter(|marker| !self.in_calls(marker));
        starts.chain(&self.ends)
    }

    fn in_calls(&self, marker: &str) -> bool {
        self.routes.iter().any(|route| match &route.to {
            Target::Call(CallBody::Parameters(shape)) => shape.has_tag_like(marker),
            Target::Calls(shapes) => shapes.iter().any(|shape| match shape {
                Shape::Tagged(shape) => shape.has_tag_like(marker),
                _ => false,
            }),
            _ => false,
        })
    }

    /// The number of the route for a header.
    pub(crate) fn route(&self, header: Header<'_>) -> Option<usize> {
        self.routes.iter().position(|route| {
            let is = |wanted: &Option<Text>, got| wanted.as_deref().is_none_or(|w| w == got);
            is(&route.start, header.start)
                && is(&route.message, header.message)
                && is(&route.channel, header.channel)
                && route.recipient.fits(header.recipient)
        })
    }
}

/// A marker that begins something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Entry<'e> {
    /// A header, of the start with this number.
    Header(usize, &'e HeaderStart),
    /// A message without one.
    Message(&'e MessageMark),
}

/// What a header said; empty where it said nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Header<'h> {
    pub(crate) start: &'h str,
    pub(crate) message: &'h str,
    pub(crate) channel: &'h str,
    pub(crate) recipient: &'h str,
}

impl Recipient {
    fn fits(&self, recipient: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Given => !recipient.is_empty(),
            Self::Is(wanted) => recipient == wanted,
            Self::Prefix(_) => !self.name(recipient).is_empty(),
        }
    }

    /// The tool's name in a recipient; empty if it holds none.
    pub(super) fn name<'r>(&self, recipient: &'r str) -> &'r str {
        match self {
            Self::Prefix(prefix) => recipient.strip_prefix(prefix.as_ref()).unwrap_or(""),
            _ => recipient,
        }
    }
}
