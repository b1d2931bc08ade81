//! Compiled message headers: their beginnings, their parts, and the kinds of messages they lead to.
//!
//! ```text
//! <|start|>assistant to=functions.NAME<|channel|>commentary json<|message|>BODY<|call|>
//! ```
//!
//! The prompt often contains the beginning of the first header, so a header may begin in the
//! middle:
//!
//! - at any part that has its own token,
//! - at a token that ends the header,
//! - at the start of the text, with the words of its recipient.
//!
//! Literals that are not tokens (`/`, `->`, a newline) count only in a header that a token began.
//! They also count at the start of the text, where the prompt may contain that token:
//!
//! ```text
//! <|im_start|>assistant/think\nTHOUGHT<|im_end|>        /think\nTHOUGHT<|im_end|>
//! ```

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};

use jail_match::Anchor;

use super::{field::name_starts, plan::NodeId};
use crate::{
    cursor::Undecided,
    family::{Form, Messages, RouteTo, is_token},
    template::{Hole, Part, Template},
};

/// The compiled message headers of a family.
#[derive(Debug, Clone)]
pub(crate) struct MessagePlan {
    /// The node of the body of a message that contains a call.
    pub(crate) body: NodeId,
    /// Texts that begin a header.
    pub(crate) entries: Vec<MessageEntry>,
    /// The literals of a header.
    pub(crate) marks: Vec<HeaderMark>,
    /// The prefix of the word with the recipient, such as `to=`.
    pub(crate) recipient: Option<Box<str>>,
    /// Tokens that end a message.
    pub(crate) ends: Vec<Box<str>>,
    routes: Vec<MessageRoute>,
}

/// A text that begins a header.
#[derive(Debug, Clone)]
pub(crate) struct MessageEntry {
    pub(crate) marker: Box<str>,
    pub(crate) at: Anchor,
    pub(crate) kind: EntryKind,
}

/// A literal inside a header.
#[derive(Debug, Clone)]
pub(crate) struct HeaderMark {
    pub(crate) text: Box<str>,
    pub(crate) mark: Mark,
    /// For a literal that is not a token: the number of its part. It counts only before that part.
    /// Tokens count everywhere and have `None`.
    pub(crate) words: Option<u8>,
}

/// The position in the header at which an entry begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// At the token before this part.
    Part(HeaderPart),
    /// At words that are part of the header's content, such as `to=`.
    Words,
    /// At words whose token is missing. They are a header only if a token follows.
    Bare(HeaderPart),
    /// At a literal that is not a token, because the prompt wrote the beginning. The part after it,
    /// and the number of that part.
    Resumed(HeaderPart, u8),
    /// At the end of a header whose other parts are missing. The number of the body token.
    Body(usize),
}

/// The effect of a literal inside a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// This part of the header follows.
    Part(HeaderPart),
    /// The header ends. The number of the body token.
    Body(usize),
    /// The message ends inside its header.
    End,
    /// Another header begins, with this part.
    Start(HeaderPart),
}

/// A part of a header. It contains a few words, and any of them may be the recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderPart {
    /// Words without a meaning for the route.
    Note,
    /// The first word is the channel.
    Channel,
    /// The first word is the recipient.
    Recipient,
    /// A single word whose first letter was the entry.
    Name,
}

/// A rule that gives messages a meaning.
#[derive(Debug, Clone)]
struct MessageRoute {
    recipients: Vec<Recipient>,
    channel: Option<Box<str>>,
    body: Option<usize>,
    is: RouteTo,
}

/// A condition on the recipient.
#[derive(Debug, Clone)]
enum Recipient {
    Is(Box<str>),
    /// The word consists of this prefix and a tool's name.
    Named(Box<str>),
}

/// The content of a header. Missing parts are empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeaderText<'h> {
    pub(crate) channel: &'h str,
    pub(crate) recipient: &'h str,
    pub(crate) body: usize,
}

impl MessagePlan {
    /// Compiles `messages`. Call bodies begin at the node `body`. `form` gives other spellings of
    /// tokens.
    pub(crate) fn new(messages: &Messages, body: NodeId, form: Option<&Form>) -> Self {
        let mut plan = Self {
            body,
            entries: Vec::new(),
            marks: Vec::new(),
            recipient: None,
            ends: messages.end.iter().map(|end| end.as_str().into()).collect(),
            routes: messages
                .routes
                .iter()
                .map(|route| MessageRoute::new(route, messages))
                .collect(),
        };
        // A recipient alone begins a header only if a token follows it.
        let is_last = messages.header.holes().all(|hole| *hole != Hole::Channel)
            && messages.body.iter().all(|body| is_token(body));
        plan.header(&messages.header.parts, is_last, form, &mut 0);
        for channel in &messages.channels {
            for at in [Anchor::Lead, Anchor::AfterCall] {
                plan.entry(channel, at, EntryKind::Bare(HeaderPart::Channel));
            }
        }
        for (n, text) in messages.body.iter().enumerate() {
            let is_token = is_token(text);
            plan.mark(text, Mark::Body(n), (!is_token).then_some(u8::MAX));
            let at = if is_token { Anchor::Anywhere } else { Anchor::Start };
            plan.entry(text, at, EntryKind::Body(n));
        }
        for end in &messages.end {
            plan.mark(end, Mark::End, None);
        }
        plan
    }

    /// Adds the parts of a header. `place` counts its holes.
    fn header(&mut self, parts: &[Part], is_last: bool, form: Option<&Form>, place: &mut u8) {
        let mut literal = "";
        for part in parts {
            match part {
                Part::Literal(text) => literal = text,
                Part::Group(parts) => self.header(parts, is_last, form, place),
                Part::Hole(Hole::Recipient) if !literal.ends_with(char::is_whitespace) => {
                    *place = place.saturating_add(1);
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
                    *place = place.saturating_add(1);
                    let part = match hole {
                        Hole::Channel => HeaderPart::Channel,
                        Hole::Recipient => HeaderPart::Recipient,
                        _ => HeaderPart::Note,
                    };
                    let first = self.marks.is_empty();
                    if first && *hole == Hole::Note {
                        // The token before a name may be in the prompt.
                        for letter in name_starts() {
                            let kind = EntryKind::Bare(HeaderPart::Name);
                            self.entry(letter.encode_utf8(&mut [0; 4]), Anchor::Start, kind);
                        }
                    }
                    let token = literal.trim_ascii();
                    if !first && !is_token(token) {
                        self.mark(token, Mark::Part(part), Some(*place));
                        for words in [literal, token] {
                            let kind = EntryKind::Resumed(part, *place);
                            self.entry(words, Anchor::Start, kind);
                        }
                        continue;
                    }
                    for token in spellings(token, form) {
                        let mark = if first { Mark::Start(part) } else { Mark::Part(part) };
                        self.mark(&token, mark, None);
                        if first || part == HeaderPart::Channel {
                            self.entry(&token, Anchor::Anywhere, EntryKind::Part(part));
                        }
                    }
                }
            }
        }
    }

    /// Returns whether a message may begin with `marker` before `rest`: before a word of its header.
    /// A body without a header begins none, because it may belong to the message before it.
    pub(crate) fn may_begin(
        &self,
        marker: &str,
        rest: &str,
        ended: bool,
    ) -> Result<bool, Undecided> {
        let kind = self.entries.iter().find(|entry| *entry.marker == *marker);
        match (kind.map(|entry| entry.kind), rest.chars().next()) {
            (None, _) => Ok(true),
            (Some(EntryKind::Body(_)), _) => Ok(false),
            (Some(_), Some(next)) => Ok(next.is_alphanumeric()),
            (Some(_), None) => {
                if ended {
                    Ok(true)
                } else {
                    Err(Undecided)
                }
            }
        }
    }

    fn mark(&mut self, text: &str, mark: Mark, words: Option<u8>) {
        if !text.is_empty() {
            self.marks.push(HeaderMark { text: text.into(), mark, words });
        }
    }

    /// Returns whether body text number `body` is a token.
    pub(crate) fn ends_in_token(&self, body: usize) -> bool {
        let is_it = |mark: &&HeaderMark| mark.mark == Mark::Body(body);
        self.marks.iter().find(is_it).is_none_or(|mark| mark.words.is_none())
    }

    fn entry(&mut self, marker: &str, at: Anchor, kind: EntryKind) {
        let same = |entry: &MessageEntry| *entry.marker == *marker && entry.at == at;
        if !marker.is_empty() && !self.entries.iter().any(same) {
            self.entries.push(MessageEntry { marker: marker.into(), at, kind });
        }
    }

    /// Returns the kind of the message after `header`, and the tool name of its recipient. Without
    /// a matching route the message is content.
    pub(crate) fn route<'h>(&self, header: HeaderText<'h>) -> (RouteTo, &'h str) {
        self.routed(header).unwrap_or((RouteTo::Content, ""))
    }

    /// Returns the kind of message by the first matching route, and the tool name of its recipient.
    pub(crate) fn routed<'h>(&self, header: HeaderText<'h>) -> Option<(RouteTo, &'h str)> {
        let fits = |route: &&MessageRoute| {
            route.channel.as_deref().is_none_or(|channel| channel == header.channel)
                && route.body.is_none_or(|body| body == header.body)
        };
        for route in self.routes.iter().filter(fits) {
            if route.recipients.is_empty() {
                return Some((route.is, ""));
            }
            for recipient in &route.recipients {
                match recipient {
                    Recipient::Is(word) if **word == *header.recipient => {
                        return Some((route.is, ""));
                    }
                    Recipient::Named(prefix) => match header.recipient.strip_prefix(&**prefix) {
                        Some(name) if !name.is_empty() => return Some((route.is, name)),
                        _ => {}
                    },
                    Recipient::Is(_) => {}
                }
            }
        }
        None
    }
}

/// Returns all spellings of `token`.
fn spellings(token: &str, form: Option<&Form>) -> Vec<String> {
    let mut all = Vec::from([token.to_owned()]);
    for (text, others) in form.iter().flat_map(|form| &form.spellings) {
        if token.contains(text.as_str()) {
            all.extend(others.iter().map(|other| token.replace(text.as_str(), other)));
        }
    }
    all
}

impl MessageRoute {
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
