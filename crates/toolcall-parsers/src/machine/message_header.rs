//! Reading of a message's header, in any number of chunks.
//!
//! ```text
//! <|start|>assistant<|channel|>commentary to=functions.ring<|message|>{"n": 1}<|call|>
//!          Note               Channel                      Body(0): a call of `ring`
//! ```

use alloc::string::String;

use jail_match::{Channel, Resume, Verdict};

use super::{
    call::{Machine, MachineStep},
    call_sink::CallSink,
    messages::{EntryKind, HeaderMark, HeaderPart, HeaderText, Mark, MessagePlan},
};
use crate::{
    cursor::{TextCursor, Undecided, longest_prefix},
    family::RouteTo,
    limits::MAX_HEADER_WORDS,
};

/// The result of reading a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderRead {
    More,
    /// The header ended with the body token of this number.
    Body(usize),
    /// The message ended inside its header.
    Ended,
    /// The character before the cursor is not allowed there.
    Bad,
}

/// A reader of message headers.
#[derive(Debug, Clone)]
pub(super) struct MessageHeader {
    part: HeaderPart,
    /// The body token that ended the header, if the entry was already that token.
    body: Option<usize>,
    /// Whether only words were read, so that the text may not be a header.
    bare: bool,
    /// Whether the header began without a token.
    unannounced: bool,
    /// The number of the current part.
    place: u8,
    words: u8,
    /// Length of the current part in bytes.
    bytes: usize,
    word: String,
    channel: String,
    recipient: String,
    /// Whether the body is read as text, because no reading of it was a call.
    pub(super) is_text: bool,
    /// Whether the header led to the body of a call.
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

    /// Returns whether the body may be read as text after it proved not to be a call. True once per
    /// header.
    pub(super) fn may_become_text(&self) -> bool {
        self.in_body && !self.is_text
    }

    /// Starts a header that began with entry number `entry`.
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

    /// Returns whether the text may be ordinary text: only words were read, at a position where
    /// text is possible.
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

    /// Returns whether the literal `mark` is possible in the current part.
    fn counts(&self, mark: &HeaderMark) -> bool {
        match mark.words {
            None => !self.bare || mark.mark != Mark::End,
            Some(place) => !self.bare && self.place < place,
        }
    }

    /// Reads the header up to its end. `limit` is the maximum length of each part.
    fn feed(
        &mut self,
        plan: &MessagePlan,
        limit: usize,
        cursor: &mut TextCursor<'_>,
    ) -> HeaderRead {
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
                        // A new header begins inside this one, which was cut.
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
                        || self.words == if self.part == HeaderPart::Name { 1 } else { MAX_HEADER_WORDS }
                        // A header begins with a role. After a quoted token there is other text.
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
        // The blank before the recipient may be missing: `assistantto=f`.
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
    /// Reads the header of a message, and switches to its channel or to its call.
    pub(super) fn message(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let Some(messages) = &plan.messages else { return self.bad(out) };
        let body = match self.message.feed(messages, out.calls.options.limits.name, &mut out.cursor)
        {
            HeaderRead::More => return MachineStep::more(out.cursor.at),
            HeaderRead::Bad => return MachineStep::refuted(out.cursor.at),
            HeaderRead::Ended => return text(Channel::CONTENT, out.cursor.at),
            HeaderRead::Body(body) => body,
        };
        let (channel, recipient) = (&*self.message.channel, &*self.message.recipient);
        let header = HeaderText { channel, recipient, body };
        // Without a token, words are a header only if a route matches.
        let unclear = self.message.unannounced && !messages.ends_in_token(body);
        if unclear && messages.routed(header).is_none() {
            return MachineStep::refuted(out.cursor.at);
        }
        let (is, name) = messages.route(header);
        match is {
            RouteTo::Content => text(Channel::CONTENT, out.cursor.at),
            RouteTo::Reasoning => text(Channel::REASONING, out.cursor.at),
            RouteTo::Call if self.message.is_text => text(Channel::CONTENT, out.cursor.at),
            RouteTo::Call => {
                self.call.name.clear();
                self.call.name.push_str(name);
                self.message.in_body = true;
                self.go(plan, messages.body);
                MachineStep::Go
            }
        }
    }
}

/// Returns whether `scalar` may occur in a header without tokens.
fn may_be_bare(scalar: char) -> bool {
    scalar.is_alphanumeric() || matches!(scalar, '_' | '-' | '.' | '=')
}

/// Returns the step after a header that is followed by text of `channel`.
fn text(channel: Channel, used: usize) -> MachineStep {
    MachineStep::Return(Verdict::Complete(Resume::Switch(channel)).after(used))
}
