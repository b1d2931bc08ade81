//! The generic jail: text between a start and an end sequence is withheld and handed over as
//! one piece.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use crate::{
    body::{Bodies, End, Feed, Opener, Resume, Tail},
    channel::Channel,
    driver::{Counters, Driver, Held, HeldKind, Settings},
    edge::{Edge, OnCommit, Then},
    limits::{LimitError, Limits},
    marker::{MarkerSet, MarkerSetBuilder, Probe},
    sink::{Notice, NoticeKind, Sink},
    space::Whitespace,
    table::{Table, TableError},
};

/// What a [`Jail`] reports, in source order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JailEvent<'a> {
    /// Text outside. Never empty.
    Text(&'a str),
    /// A whole jailed block.
    Jailed(Jailed<'a>),
}

/// A jailed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jailed<'a> {
    /// The start sequence.
    pub start: &'a str,
    /// What stood behind it.
    pub body: &'a str,
    /// The end sequence; `None` if the stream ended or the limit was hit first.
    pub end: Option<&'a str>,
}

/// Withholds what stands between start and end sequences.
///
/// Any end closes any start; the one that begins first in the text wins, the longest of several
/// at one place.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use jail_match::{Jail, JailEvent};
/// let mut jail = Jail::builder().start("<secret>").end("</secret>").build()?;
/// let mut seen = String::new();
/// let mut on = |event: JailEvent<'_>| match event {
///     JailEvent::Text(text) => seen.push_str(text),
///     JailEvent::Jailed(jailed) => seen.push_str(&format!("[{} bytes]", jailed.body.len())),
/// };
/// for chunk in ["my <sec", "ret>abc</secr", "et> is out"] {
///     jail.push(chunk, &mut on);
/// }
/// jail.finish(&mut on);
/// assert_eq!(seen, "my [3 bytes] is out");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Jail {
    driver: Driver,
    body: Body,
}

/// Builds a [`Jail`].
#[derive(Debug, Clone)]
pub struct JailBuilder {
    starts: Vec<Cow<'static, str>>,
    ends: Vec<Cow<'static, str>>,
    limit: usize,
}

impl JailBuilder {
    /// Adds a start sequence.
    #[must_use]
    pub fn start(mut self, start: impl Into<Cow<'static, str>>) -> Self {
        self.starts.push(start.into());
        self
    }

    /// Adds an end sequence.
    #[must_use]
    pub fn end(mut self, end: impl Into<Cow<'static, str>>) -> Self {
        self.ends.push(end.into());
        self
    }

    /// The most bytes a block may hold, sequences not counted (default 1 MiB). A block that
    /// grows beyond is handed over as it is, and the text behind it is outside.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Compiles the sequences.
    ///
    /// # Errors
    /// If there is no start sequence, a sequence is empty, or the limit is 0.
    pub fn build(self) -> Result<Jail, JailError> {
        if self.starts.is_empty() {
            return Err(JailError::NoStart);
        }
        if self.limit == 0 {
            return Err(JailError::ZeroLimit);
        }
        let mut ends = MarkerSetBuilder::new();
        for (n, end) in self.ends.iter().enumerate() {
            if end.is_empty() {
                return Err(JailError::EmptyEnd(n));
            }
            ends.marker(end, false, 1);
        }
        let edges = self.starts.iter().enumerate().map(|(n, start)| {
            let then = Then::Body(n as u16, OnCommit::Stay);
            Edge::new(start.clone(), Channel::CONTENT.mask(), then)
        });
        let table = Table::new(edges).map_err(JailError::Table)?;
        let settings = Settings::default()
            .whitespace(Whitespace::Verbatim)
            .limits(Limits { candidate: usize::MAX, ..Limits::default() });
        Ok(Jail {
            driver: Driver::new(table, settings),
            body: Body {
                starts: self.starts,
                ends: ends.build(),
                limit: self.limit,
                start: 0,
                at: 0,
                text: String::new(),
            },
        })
    }
}

impl Jail {
    /// A jail without sequences.
    #[must_use]
    pub fn builder() -> JailBuilder {
        JailBuilder { starts: Vec::new(), ends: Vec::new(), limit: 1 << 20 }
    }

    /// Feeds the next piece of the stream.
    pub fn push(&mut self, chunk: &str, on: impl FnMut(JailEvent<'_>)) {
        let pushed = self.driver.push(chunk, &mut self.body, &mut Blocks(on));
        settled(pushed);
    }

    /// Ends the stream: an open block is handed over without an end.
    pub fn finish(&mut self, on: impl FnMut(JailEvent<'_>)) {
        let finished = self.driver.finish(End::Stop, &mut self.body, &mut Blocks(on));
        settled(finished);
    }

    /// Makes the jail as new.
    pub fn reset(&mut self) {
        self.driver.reset();
        self.body.text.clear();
    }

    /// What is held, and why.
    #[must_use]
    pub fn held(&self) -> Held {
        let held = self.driver.held();
        let jailed = self.body.text.len();
        if jailed == 0 {
            return held;
        }
        Held { bytes: held.bytes + jailed, kind: HeldKind::Call }
    }

    /// Counters of the cursor.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.driver.counters()
    }
}

/// The error policy is never set here.
fn settled(result: Result<(), LimitError>) {
    debug_assert!(result.is_ok());
}

/// Receives jailed blocks beside text.
pub trait JailSink: Sink {
    /// A block ended.
    fn jailed(&mut self, jailed: Jailed<'_>);
}

struct Blocks<F>(F);

impl<F: FnMut(JailEvent<'_>)> Sink for Blocks<F> {
    fn text(&mut self, _: Channel, text: &str) {
        (self.0)(JailEvent::Text(text));
    }
}

impl<F: FnMut(JailEvent<'_>)> JailSink for Blocks<F> {
    fn jailed(&mut self, jailed: Jailed<'_>) {
        (self.0)(JailEvent::Jailed(jailed));
    }
}

/// The body behind every start sequence: it accumulates up to an end sequence.
#[derive(Debug, Clone)]
struct Body {
    starts: Vec<Cow<'static, str>>,
    ends: MarkerSet,
    limit: usize,
    start: usize,
    at: u64,
    text: String,
}

impl Body {
    fn hand_over<S: JailSink + ?Sized>(&mut self, end: Option<&str>, sink: &mut S) {
        let start = self.starts.get(self.start).map_or("", |start| start.as_ref());
        sink.jailed(Jailed { start, body: &self.text, end });
        self.text.clear();
    }
}

impl<S: JailSink + ?Sized> Bodies<S> for Body {
    fn begin(&mut self, opener: Opener) {
        self.start = usize::from(opener.body);
        self.at = opener.at;
        self.text.clear();
    }

    fn committed(&self) -> bool {
        true
    }

    fn feed(&mut self, text: &str, sink: &mut S) -> Feed {
        let bytes = text.as_bytes();
        let room = self.limit - self.text.len();
        let mut pos = 0;
        let mut keep = bytes.len();
        while let Some(hit) = self.ends.next_stop(0, &bytes[pos..]) {
            match self.ends.probe(0, bytes, pos + hit, pos, false, |_, _| true) {
                Probe::Miss => pos += hit + 1,
                Probe::Partial { at } => {
                    keep = at;
                    break;
                }
                Probe::Match { at, len, .. } if at <= room => {
                    self.text.push_str(&text[..at]);
                    self.hand_over(Some(&text[at..at + len]), sink);
                    return Feed::Done { used: at + len, then: Resume::Here };
                }
                Probe::Match { .. } => break,
            }
        }
        if keep > room {
            let cut = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            self.text.push_str(&text[..cut]);
            let bytes = self.text.len() as u64;
            sink.notice(Notice { kind: NoticeKind::CandidateLimit, at: self.at, bytes });
            self.hand_over(None, sink);
            return Feed::Done { used: cut, then: Resume::Here };
        }
        self.text.push_str(&text[..keep]);
        Feed::More { used: keep }
    }

    fn finish(&mut self, tail: &str, _: End, sink: &mut S) -> Tail {
        self.text.push_str(tail);
        self.hand_over(None, sink);
        Tail::Closed { used: tail.len() }
    }

    fn held(&self) -> usize {
        self.text.len()
    }
}

/// A jail that cannot work. The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailError {
    /// No start sequence was given.
    NoStart,
    /// The end sequence with this number is empty.
    EmptyEnd(usize),
    /// The limit is 0.
    ZeroLimit,
    /// A start sequence is faulty.
    Table(TableError),
}

impl fmt::Display for JailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStart => f.write_str("no start sequence: expected at least one"),
            Self::EmptyEnd(n) => write!(f, "end sequence {n} is empty"),
            Self::ZeroLimit => f.write_str("the limit is 0: expected at least 1 byte"),
            Self::Table(error) => write!(f, "start sequence: {error}"),
        }
    }
}

impl core::error::Error for JailError {}
