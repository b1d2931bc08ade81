//! Message headers: what begins one, what it may hold, and what it says its message is.
//!
//! ```text
//! <|start|>assistant to=functions.NAME<|channel|>commentary json<|message|>BODY<|call|>
//! ```
//!
//! A header is read loosely, because the prompt wrote the beginning of the first one: it may begin
//! at any of its parts that has a token of its own, at a token that ends it, or at the very start
//! with the words of its recipient.

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};

use jail_match::Anchor;

use super::{field::name_starts, plan::NodeId};
use crate::{
    family::{Form, Messages, RouteTo},
    template::{Hole, Part, Template},
};

/// Message headers, compiled.
#[derive(Debug)]
pub(crate) struct MessagePlan {
    /// The node at which the body of a call message begins.
    pub(crate) body: NodeId,
    /// What begins a header.
    pub(crate) entries: Vec<Entry>,
    /// What may stand in a header.
    pub(crate) marks: Vec<(Box<str>, Mark)>,
    /// What a word that names the recipient begins with.
    pub(crate) recipient: Option<Box<str>>,
    /// Tokens that end a message.
    pub(crate) ends: Vec<Box<str>>,
    routes: Vec<Route>,
}

/// Text that begins a header.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) marker: Box<str>,
    pub(crate) at: Anchor,
    pub(crate) kind: EntryKind,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// The token before a part.
    Part(HeaderPart),
    /// The first words of the header: they are part of what it says.
    Words,
    /// The same where the token before them is missing: it is a header only if a token follows.
    Bare(HeaderPart),
    /// A token that ends a header which is missing, with its number.
    Body(usize),
}

/// A token inside a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A part follows.
    Part(HeaderPart),
    /// The header is over; the number of the token.
    Body(usize),
    /// The message is over before it began.
    End,
    /// Another header begins.
    Start(HeaderPart),
}

/// A part of a header. Each holds a few words, of which the one that names the recipient may
/// stand in any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderPart {
    /// Words that decide nothing.
    Note,
    /// The first word is the channel.
    Channel,
    /// One word, of which the first letter was read.
    Name,
}

#[derive(Debug)]
struct Route {
    recipients: Vec<Recipient>,
    channel: Option<Box<str>>,
    body: Option<usize>,
    is: RouteTo,
}

/// A condition on the recipient.
#[derive(Debug)]
enum Recipient {
    Is(Box<str>),
    /// It begins so, and goes on with the name.
    Named(Box<str>),
}

/// What a header said; empty where it said nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Header<'h> {
    pub(crate) channel: &'h str,
    pub(crate) recipient: &'h str,
    pub(crate) body: usize,
}

impl MessagePlan {
    /// Compiles `messages`; the bodies of calls begin at the node `body`. `form` may spell tokens
    /// in other ways.
    pub(crate) fn new(messages: &Messages, body: NodeId, form: Option<&Form>) -> Self {
        let mut plan = Self {
            body,
            entries: Vec::new(),
            marks: Vec::new(),
            recipient: None,
            ends: messages.end.iter().map(|end| end.as_str().into()).collect(),
            routes: messages.routes.iter().map(|route| Route::new(route, messages)).collect(),
        };
        // Behind a recipient a channel's token would still tell what the header is.
        let is_last = messages.header.holes().all(|hole| *hole != Hole::Channel);
        plan.header(&messages.header.parts, is_last, form);
        for channel in &messages.channels {
            for at in [Anchor::Lead, Anchor::AfterCall] {
                plan.entry(channel, at, EntryKind::Bare(HeaderPart::Channel));
            }
        }
        for (n, token) in messages.body.iter().enumerate() {
            plan.mark(token, Mark::Body(n));
            plan.entry(token, Anchor::Anywhere, EntryKind::Body(n));
        }
        for end in &messages.end {
            plan.mark(end, Mark::End);
        }
        plan
    }

    fn header(&mut self, parts: &[Part], is_last: bool, form: Option<&Form>) {
        let mut literal = "";
        for part in parts {
            match part {
                Part::Literal(text) => literal = text,
                Part::Group(parts) => self.header(parts, is_last, form),
                Part::Hole(Hole::Recipient) => {
                    let word = literal.trim_ascii();
                    self.recipient = Some(word.into());
                    for words in [literal, word] {
                        self.entry(words, Anchor::Start, EntryKind::Words);
                    }
                    if is_last {
                        self.entry(word, Anchor::Anywhere, EntryKind::Bare(HeaderPart::Note));
                    }
                }
                Part::Hole(hole) => {
                    let part = match hole {
                        Hole::Channel => HeaderPart::Channel,
                        _ => HeaderPart::Note,
                    };
                    let first = self.marks.is_empty();
                    if first && *hole == Hole::Note {
                        // The prompt may have written the token before a name.
                        for letter in name_starts() {
                            let kind = EntryKind::Bare(HeaderPart::Name);
                            self.entry(letter.encode_utf8(&mut [0; 4]), Anchor::Start, kind);
                        }
                    }
                    let token = literal.trim_ascii();
                    for token in spellings(token, form) {
                        let mark = if first { Mark::Start(part) } else { Mark::Part(part) };
                        self.mark(&token, mark);
                        if first || part == HeaderPart::Channel {
                            self.entry(&token, Anchor::Anywhere, EntryKind::Part(part));
                        }
                    }
                }
            }
        }
    }

    fn mark(&mut self, token: &str, mark: Mark) {
        if !token.is_empty() {
            self.marks.push((token.into(), mark));
        }
    }

    fn entry(&mut self, marker: &str, at: Anchor, kind: EntryKind) {
        let same = |entry: &Entry| *entry.marker == *marker && entry.at == at;
        if !marker.is_empty() && !self.entries.iter().any(same) {
            self.entries.push(Entry { marker: marker.into(), at, kind });
        }
    }

    /// What the message behind `header` is, and the name its recipient gives.
    pub(crate) fn route<'h>(&self, header: Header<'h>) -> (RouteTo, &'h str) {
        let fits = |route: &&Route| {
            route.channel.as_deref().is_none_or(|channel| channel == header.channel)
                && route.body.is_none_or(|body| body == header.body)
        };
        for route in self.routes.iter().filter(fits) {
            if route.recipients.is_empty() {
                return (route.is, "");
            }
            for recipient in &route.recipients {
                match recipient {
                    Recipient::Is(word) if **word == *header.recipient => return (route.is, ""),
                    Recipient::Named(prefix) => match header.recipient.strip_prefix(&**prefix) {
                        Some(name) if !name.is_empty() => return (route.is, name),
                        _ => {}
                    },
                    Recipient::Is(_) => {}
                }
            }
        }
        (RouteTo::Content, "")
    }
}

fn spellings(token: &str, form: Option<&Form>) -> Vec<String> {
    let mut all = Vec::from([token.to_owned()]);
    for (text, others) in form.iter().flat_map(|form| &form.spellings) {
        if token.contains(text.as_str()) {
            all.extend(others.iter().map(|other| token.replace(text.as_str(), other)));
        }
    }
    all
}

impl Route {
    fn new(route: &crate::family::Route, messages: &Messages) -> Self {
        let number = |token: &String| messages.body.iter().position(|body| body == token);
        Self {
            recipients: route.recipient.iter().map(Recipient::new).collect(),
            channel: route.channel.as_deref().map(Box::from),
            body: route.body.as_ref().and_then(number),
            is: route.is,
        }
    }
}

impl Recipient {
    fn new(template: &Template) -> Self {
        let literal = match template.parts.first() {
            Some(Part::Literal(text)) => text.as_str(),
            _ => "",
        };
        let named = template.parts.iter().any(|part| matches!(part, Part::Hole(Hole::Name)));
        if named { Self::Named(literal.into()) } else { Self::Is(literal.into()) }
    }
}
