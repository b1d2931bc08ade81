//! Reading a message's header, however it is cut.

use alloc::string::String;

use jail_match::{Channel, Feed, Resume};

use super::{
    call::{Machine, MachineStep},
    messages::{EntryKind, HeaderMark, HeaderPart, HeaderText, Mark, MessagePlan},
    output::Output,
    plan::Plan,
};
use crate::{
    cursor::{Cursor, Undecided, longest_prefix},
    family::RouteTo,
    limits::MAX_WORDS,
};

/// How far a reading came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderRead {
    More,
    /// The body token with this number ended the header.
    Body(usize),
    /// The message ended before it began.
    Ended,
    /// The scalar before the cursor is not allowed there.
    Bad,
}

/// Reads one header after the other.
#[derive(Debug, Clone)]
pub(super) struct MessageHeader {
    part: HeaderPart,
    /// A token ended the header before anything was read.
    body: Option<usize>,
    /// Nothing but words came, and nothing before them said that they are a header.
    bare: bool,
    /// No token announced the header.
    unannounced: bool,
    /// The place of the current part among those of the header.
    place: u8,
    words: u8,
    /// Bytes of the current part.
    bytes: usize,
    word: String,
    channel: String,
    recipient: String,
    /// No reading of the body was a call: it is text.
    pub(super) is_text: bool,
    /// The header led to the body of a call.
    in_body: bool,
}

impl MessageHeader {
    pub(super) const fn new() -> Self {
        Self {
            part: HeaderPart::Note,
            body: None,
            bare: false,
            unannounced: false,
            place: 0,
            words: 0,
            bytes: 0,
            word: String::new(),
            channel: String::new(),
            recipient: String::new(),
            is_text: false,
            in_body: false,
        }
    }

    /// Whether the body, which is not a call, is to be read as text instead; once per header.
    pub(super) fn may_become_text(&self) -> bool {
        self.in_body && !self.is_text
    }

    /// A header begins with the entry of this number.
    pub(super) fn begin_at(&mut self, plan: &MessagePlan, entry: u16) {
        let Some(entry) = plan.entries.get(usize::from(entry)) else { return };
        let part = match entry.kind {
            EntryKind::Part(part) | EntryKind::Bare(part) | EntryKind::Resumed(part, _) => part,
            EntryKind::Body(_) | EntryKind::Words => HeaderPart::Note,
        };
        self.begin(part);
        self.in_body = false;
        match entry.kind {
            EntryKind::Part(_) => {}
            EntryKind::Body(n) => self.body = Some(n),
            EntryKind::Resumed(_, place) => (self.unannounced, self.place) = (true, place),
            EntryKind::Words | EntryKind::Bare(_) => {
                self.unannounced = true;
                self.word.push_str(entry.marker.trim_ascii());
                self.bytes = entry.marker.len();
                self.bare = entry.kind != EntryKind::Words;
            }
        }
    }

    /// Whether the text read may be ordinary text: words alone, at a place where text is possible.
    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    fn begin(&mut self, part: HeaderPart) {
        (self.body, self.bare) = (None, false);
        (self.unannounced, self.place) = (false, 0);
        self.channel.clear();
        self.recipient.clear();
        self.go(part);
    }

    fn go(&mut self, part: HeaderPart) {
        (self.part, self.words, self.bytes) = (part, 0, 0);
        self.word.clear();
        match part {
            HeaderPart::Channel => self.channel.clear(),
            HeaderPart::Recipient => self.recipient.clear(),
            HeaderPart::Note | HeaderPart::Name => {}
        }
    }

    /// Whether a literal counts at the current place.
    fn counts(&self, mark: &HeaderMark) -> bool {
        match mark.words {
            None => !self.bare || mark.mark != Mark::End,
            Some(place) => !self.bare && self.place < place,
        }
    }

    /// Reads on; `limit` bounds each part.
    fn feed(&mut self, plan: &MessagePlan, limit: usize, cursor: &mut Cursor<'_>) -> HeaderRead {
        if let Some(body) = self.body {
            return HeaderRead::Body(body);
        }
        while let Some(scalar) = cursor.rest().chars().next() {
            let marks = plan.marks.iter().filter(|mark| self.counts(mark));
            match longest_prefix(cursor.rest(), marks.clone().map(|mark| &*mark.text)) {
                Err(Undecided) => break,
                Ok(n @ Some(_)) => {
                    let found = n.and_then(|n| marks.clone().nth(n));
                    let Some(HeaderMark { text, mark, words }) = found else {
                        return HeaderRead::Bad;
                    };
                    self.bare = false;
                    self.end_word(plan);
                    cursor.advance(text.len());
                    match *mark {
                        Mark::Part(part) => {
                            self.go(part);
                            self.place = words.unwrap_or(self.place);
                        }
                        Mark::Body(n) => return HeaderRead::Body(n),
                        Mark::End => return HeaderRead::Ended,
                        // The header before it broke off.
                        Mark::Start(part) => self.begin(part),
                    }
                }
                Ok(None) => {
                    cursor.advance(scalar.len_utf8());
                    self.bytes = self.bytes.saturating_add(scalar.len_utf8());
                    if scalar.is_ascii_whitespace() {
                        self.end_word(plan);
                    } else if scalar.is_control()
                        || self.bare && !may_be_bare(scalar)
                        || self.words == if self.part == HeaderPart::Name { 1 } else { MAX_WORDS }
                        // A header's first word is a role, a quoted token is followed by none.
                        || self.bytes == scalar.len_utf8() && !scalar.is_alphanumeric()
                    {
                        return HeaderRead::Bad;
                    } else {
                        self.word.push(scalar);
                    }
                    if self.bytes > limit {
                        return HeaderRead::Bad;
                    }
                }
            }
        }
        HeaderRead::More
    }

    fn end_word(&mut self, plan: &MessagePlan) {
        if self.word.is_empty() {
            return;
        }
        let prefix = plan.recipient.as_deref();
        // The blank before it may be missing: `assistantto=f`.
        let glued = self.words == 0 && !self.bare && self.part != HeaderPart::Name;
        let split = prefix.and_then(|prefix| self.word.split_once(prefix)).filter(|(role, _)| {
            role.is_empty() || glued && role.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
        if let Some((before, recipient)) = split {
            self.recipient.clear();
            self.recipient.push_str(recipient);
            if self.part == HeaderPart::Channel && self.channel.is_empty() {
                self.channel.push_str(before);
            }
        } else if self.part == HeaderPart::Channel && self.channel.is_empty() {
            core::mem::swap(&mut self.channel, &mut self.word);
        } else if self.part == HeaderPart::Recipient && self.recipient.is_empty() {
            core::mem::swap(&mut self.recipient, &mut self.word);
        }
        self.word.clear();
        self.words = self.words.saturating_add(1);
    }
}

impl Machine {
    /// In a message's header.
    pub(super) fn message(
        &mut self,
        plan: &Plan,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> MachineStep {
        let Some(messages) = &plan.messages else { return self.bad(cursor, out) };
        let body = match self.message.feed(messages, out.calls.options.limits.name, cursor) {
            HeaderRead::More => return MachineStep::more(cursor.at),
            HeaderRead::Bad => return MachineStep::Return(Feed::Mismatch { used: cursor.at }),
            HeaderRead::Ended => return text(Channel::CONTENT, cursor.at),
            HeaderRead::Body(body) => body,
        };
        let (channel, recipient) = (&*self.message.channel, &*self.message.recipient);
        let header = HeaderText { channel, recipient, body };
        // Words at the start are a header only if it leads somewhere.
        let unclear = self.message.unannounced && !messages.ends_in_token(body);
        if unclear && messages.routed(header).is_none() {
            return MachineStep::Return(Feed::Mismatch { used: cursor.at });
        }
        let (is, name) = messages.route(header);
        match is {
            RouteTo::Content => text(Channel::CONTENT, cursor.at),
            RouteTo::Reasoning => text(Channel::REASONING, cursor.at),
            RouteTo::Call if self.message.is_text => text(Channel::CONTENT, cursor.at),
            RouteTo::Call => {
                self.name.clear();
                self.name.push_str(name);
                self.message.in_body = true;
                self.go(plan, messages.body);
                MachineStep::Go
            }
        }
    }
}

/// Whether `scalar` is possible in a header without a marker.
fn may_be_bare(scalar: char) -> bool {
    scalar.is_alphanumeric() || matches!(scalar, '_' | '-' | '.' | '=')
}

/// The header is whole, and text follows, in `channel`.
fn text(channel: Channel, used: usize) -> MachineStep {
    MachineStep::Return(Feed::Done { used, then: Resume::Switch(channel) })
}
