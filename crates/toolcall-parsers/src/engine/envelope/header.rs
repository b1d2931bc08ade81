//! Reading a header, however it is cut.

use alloc::string::String;

use super::shape::{Envelope, Header, HeaderField, Mark};
use crate::{
    engine::text::{Undecided, longest},
    grammar::Role,
    options::CallLimits,
};

/// The route of a header, and the tool's name it gives: what the encoder asks before it writes
/// one.
pub(crate) fn message_header(envelope: &Envelope, written: &str) -> Option<(usize, String)> {
    let starts = envelope.starts.iter().map(|start| match start.role {
        Role::Before => start.marker.as_ref(),
        _ => "",
    });
    let (n, start) = starts
        .enumerate()
        .filter(|(_, marker)| !marker.is_empty() && written.starts_with(marker))
        .max_by_key(|(_, marker)| marker.len())?;
    let mut reader = HeaderReader::new();
    reader.begin(envelope, Some(n));
    let rest = &written[start.len()..];
    let Read::Message { used, mark } = reader.feed(envelope, CallLimits::default().name, rest)
    else {
        return None;
    };
    let route = envelope.route(Header {
        start: reader.start.and_then(|n| envelope.starts.get(n)).map_or("", |s| &s.marker),
        message: &envelope.messages[mark].marker,
        channel: reader.channel(),
        recipient: reader.recipient(),
    })?;
    let name = envelope.routes[route].recipient.name(reader.recipient());
    (used == rest.len()).then(|| (route, name.into()))
}

/// Words in one part of a header, at most.
const WORDS: u8 = 3;

/// How far a reading came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// `used` bytes are done with; the rest comes again.
    More { used: usize },
    /// The message mark with this number ended the header.
    Message { used: usize, mark: usize },
    /// The message ended before it began.
    Ended { used: usize },
    /// The scalar that ends at `at` cannot stand there.
    Bad { at: usize },
}

/// Reads one header after the other.
#[derive(Debug, Clone)]
pub(super) struct HeaderReader {
    /// The number of the marker it began with, if it had one.
    start: Option<usize>,
    field: HeaderField,
    words: u8,
    /// Bytes of the current part.
    bytes: usize,
    word: String,
    channel: String,
    recipient: String,
}

impl HeaderReader {
    pub(super) const fn new() -> Self {
        Self {
            start: None,
            field: HeaderField::Note,
            words: 0,
            bytes: 0,
            word: String::new(),
            channel: String::new(),
            recipient: String::new(),
        }
    }

    /// A header begins, with the marker of this number if it has one.
    pub(super) fn begin(&mut self, envelope: &Envelope, start: Option<usize>) {
        self.start = start;
        self.channel.clear();
        self.recipient.clear();
        let field = start.and_then(|n| envelope.starts.get(n)).map(|start| start.field);
        self.part(field.unwrap_or_default());
    }

    fn part(&mut self, field: HeaderField) {
        (self.field, self.words, self.bytes) = (field, 0, 0);
        self.word.clear();
        if field == HeaderField::Channel {
            self.channel.clear();
        }
    }

    pub(super) fn start(&self) -> Option<usize> {
        self.start
    }

    pub(super) fn channel(&self) -> &str {
        &self.channel
    }

    pub(super) fn recipient(&self) -> &str {
        &self.recipient
    }

    /// Reads on; `limit` bounds each part.
    pub(super) fn feed(&mut self, envelope: &Envelope, limit: usize, text: &str) -> Read {
        let mut i = 0;
        while let Some(scalar) = text[i..].chars().next() {
            let marks = envelope.marks().map(|(_, marker)| marker);
            match longest(&text[i..], marks) {
                Err(Undecided) => break,
                Ok(Some(n)) => {
                    let Some((mark, marker)) = envelope.marks().nth(n) else { break };
                    self.end_word(envelope);
                    i += marker.len();
                    match mark {
                        Mark::Field(field) => self.part(field),
                        Mark::Message(mark) => return Read::Message { used: i, mark },
                        Mark::End => return Read::Ended { used: i },
                        // The header before it broke off.
                        Mark::Start(n) => self.begin(envelope, Some(n)),
                    }
                }
                Ok(None) => {
                    i += scalar.len_utf8();
                    self.bytes += scalar.len_utf8();
                    if scalar.is_ascii_whitespace() {
                        self.end_word(envelope);
                    } else if scalar.is_control() || self.words == WORDS {
                        return Read::Bad { at: i };
                    } else {
                        self.word.push(scalar);
                    }
                    if self.bytes > limit {
                        return Read::Bad { at: i };
                    }
                }
            }
        }
        Read::More { used: i }
    }

    fn end_word(&mut self, envelope: &Envelope) {
        if self.word.is_empty() {
            return;
        }
        let prefix = envelope.recipient.as_deref();
        if let Some(recipient) = prefix.and_then(|prefix| self.word.strip_prefix(prefix)) {
            self.recipient.clear();
            self.recipient.push_str(recipient);
        } else if self.field == HeaderField::Channel && self.channel.is_empty() {
            core::mem::swap(&mut self.channel, &mut self.word);
        }
        self.word.clear();
        self.words += 1;
    }
}
