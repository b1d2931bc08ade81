//! The driver: one cursor over one message.
//!
//! It scans text with the table's markers, keeps the channel stack, runs candidates until they
//! commit or are refuted, and holds back only what a marker, a candidate or a whitespace policy
//! needs. What is certain goes to the sink as slices of the caller's chunk.

mod candidate;
mod cross;
mod literal;
mod scan;
mod state;

pub use state::{Counters, EdgeEvents, Held, HeldKind, Settings};

use alloc::string::String;
use smallvec::SmallVec;

use crate::{
    body::{BodyParsers, End, Feed, Resume},
    channel::Channel,
    code::Code,
    diagnostic::{Diagnostic, DiagnosticKind},
    edge::OnCommit,
    event::Event,
    limits::LimitError,
    matcher::ceil_char_boundary,
    sink::{Sink, Span, SpanKind},
    space::{Spaces, Whitespace},
    table::{Table, class},
};

#[derive(Debug, Clone, Copy)]
enum Mode {
    Text,
    Candidate(Candidate),
    Committed,
    /// What comes since this stream offset is dropped.
    Halted(u64),
    /// A limit with the error policy was hit.
    Failed(LimitError),
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Length of the opener.
    opener: usize,
    /// Bytes since the opener's first that the body has consumed, the opener with them.
    fed: usize,
    /// How many of the opener's bytes are newlines bound to it.
    bound: usize,
    /// The edge's bit, if its uses are limited.
    use_bit: u64,
    on_commit: OnCommit,
}

/// An open channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    channel: Channel,
    /// The pair of the marker that opened it; 0 if none did, or it is of none.
    pair: u8,
}

/// The text being processed: the caller's chunk, or what was held with its head behind it.
#[derive(Clone, Copy)]
struct Window<'t> {
    text: &'t str,
    /// Stream offset of its first byte.
    base: u64,
    ended: Option<End>,
    /// No marker goes on behind this window, though the stream may.
    settled: bool,
}

impl Window<'_> {
    /// Whether markers end here at the latest.
    fn is_last(&self) -> bool {
        self.settled || self.ended.is_some()
    }
}

/// Indices into a window.
#[derive(Clone, Copy)]
struct Cursor {
    /// Text before this was emitted or accounted for.
    out: usize,
    /// Markers were looked for up to here.
    pos: usize,
    /// Lines and code were tracked up to here.
    seen: usize,
    /// Text from `out` to here is known to be blank.
    blank: usize,
}

impl Cursor {
    fn at(index: usize) -> Self {
        Self { out: index, pos: index, seen: index, blank: index }
    }
}

/// The one-cursor driver. See the [crate documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Driver {
    table: Table,
    settings: Settings,
    mode: Mode,
    stack: SmallVec<[Open; 4]>,
    spaces: Spaces,
    code: Code,
    /// Text held; its first byte is at stream offset `base`.
    buf: String,
    base: u64,
    /// Newlines still bound to the marker just passed.
    swallow: usize,
    /// Edges with limited uses that are used up.
    spent: u64,
    /// Refuted text is scanned again up to this offset.
    rescan_until: u64,
    rescans: u32,
    /// Text without a stop byte may go straight to the sink.
    quiet: bool,
    counters: Counters,
}

impl Driver {
    /// A driver at the start of a message.
    #[must_use]
    pub fn new(table: Table, settings: Settings) -> Self {
        let mut driver = Self {
            table,
            settings,
            mode: Mode::Text,
            stack: SmallVec::new(),
            spaces: Spaces::new(
                settings.whitespace,
                settings.limits.whitespace,
                settings.reasoning,
            ),
            code: Code::default(),
            buf: String::new(),
            base: 0,
            swallow: 0,
            spent: 0,
            rescan_until: 0,
            rescans: 0,
            quiet: false,
            counters: Counters::default(),
        };
        driver.restart();
        driver
    }

    /// Makes the driver as new. The table and the settings stay.
    pub fn reset(&mut self) {
        self.buf.clear();
        self.base = 0;
        self.counters = Counters::default();
        self.spaces.forget_counts();
        self.restart();
    }

    fn restart(&mut self) {
        self.mode = Mode::Text;
        self.stack.clear();
        self.spent = 0;
        if self.settings.start != Channel::CONTENT {
            self.stack.push(Open { channel: self.settings.start, pair: 0 });
            if self.settings.start == Channel::REASONING {
                self.spent = self.table.reasoning_once();
            }
        }
        self.spaces.reset();
        self.code = Code::default();
        self.swallow = 0;
        (self.rescan_until, self.rescans) = (0, 0);
        self.quiet = false;
    }

    /// The channel text goes to now.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.stack.last().map_or(Channel::CONTENT, |open| open.channel)
    }

    /// Stream offset of the next byte to be received.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.counters.bytes_in
    }

    /// Counters since the start.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The settings it was built with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is held, by the driver itself. An active body may hold more: see
    /// [`BodyParsers::held`].
    #[must_use]
    pub fn held(&self) -> Held {
        let bytes = self.buf.len() + self.spaces.held();
        let kind = match self.mode {
            _ if bytes == 0 => HeldKind::Nothing,
            Mode::Candidate(_) => HeldKind::Candidate,
            Mode::Committed if !self.buf.is_empty() => HeldKind::Call,
            // An empty buffer included: then a whitespace policy holds the bytes.
            _ if self.buf.bytes().all(|byte| byte == b'\n') => HeldKind::Whitespace,
            _ => HeldKind::Marker,
        };
        Held { bytes, kind }
    }

    /// Live bytes in buffers that grow with input; bounded by the limits.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buf.len() + self.spaces.held()
    }

    /// Feeds the next piece of the stream.
    ///
    /// # Errors
    /// Only under [`LimitPolicy::Error`](crate::LimitPolicy::Error), when a limit is hit: the candidate has been released as
    /// text, no byte behind it was taken (the first of those is [`LimitError::at`] plus
    /// [`LimitError::bytes`]), and every later push returns the same error.
    #[inline]
    pub fn push<S, B>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers<S> + ?Sized,
    {
        if self.quiet && !chunk.is_empty() {
            let channel = self.channel();
            if self.table.set().next_stop(class(channel, false), chunk.as_bytes()).is_none() {
                self.counters.bytes_in += chunk.len() as u64;
                self.counters.examined += chunk.len() as u64;
                self.base += chunk.len() as u64;
                self.spaces.count(channel, chunk.len());
                self.counters.reasoning_bytes = self.spaces.reasoning_bytes();
                sink.event(Event::text(channel, chunk));
                return Ok(());
            }
        }
        if matches!(self.mode, Mode::Committed) && self.buf.is_empty() && !chunk.is_empty() {
            return self.push_committed(chunk, bodies, sink);
        }
        self.counters.bytes_in += chunk.len() as u64;
        self.push_slow(chunk, bodies, sink)
    }

    /// The way of the steady state inside a call: the body takes the chunk as it is.
    #[inline]
    fn push_committed<S, B>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers<S> + ?Sized,
    {
        self.counters.bytes_in += chunk.len() as u64;
        let feed = bodies.feed(chunk, sink);
        self.counters.examined += candidate::looked_at(feed, chunk);
        let (used, done) = match feed {
            Feed::More { used } | Feed::Committed { used } => (used, None),
            Feed::Done { used, then } | Feed::Markup { used, then } => (used, Some(then)),
            // Against the contract; what was committed stays so.
            Feed::Mismatch { .. } => (0, Some(Resume::SameChannel)),
        };
        if used > 0 {
            sink.account(Span { kind: SpanKind::Body, at: self.base, len: used as u64 });
        }
        self.base += used as u64;
        match done {
            None => {
                self.buf.push_str(&chunk[used..]);
                self.counters.held_max = self.counters.held_max.max(self.buffered());
            }
            Some(then) => {
                self.body_done(then, true, self.base, sink);
                bodies.end();
                return self.push_slow(&chunk[used..], bodies, sink);
            }
        }
        Ok(())
    }

    fn push_slow<S, B>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers<S> + ?Sized,
    {
        self.quiet = false;
        if let Mode::Failed(error) = self.mode {
            return Err(error);
        }
        let mut rest = chunk;
        let mut step = self.table.longest().max(16) + 4;
        while !rest.is_empty() {
            if self.buf.is_empty() {
                let window = Window { text: rest, base: self.base, ended: None, settled: false };
                let keep = self.process(window, bodies, sink)?;
                self.buf.push_str(&rest[keep..]);
                self.base += keep as u64;
                break;
            }
            // Something is held: decide about it with as little of the chunk as will do.
            let cut = ceil_char_boundary(rest, step);
            step *= 2;
            let before = self.buf.len();
            self.buf.push_str(&rest[..cut]);
            let keep = self.process_held(None, false, bodies, sink)?;
            if keep >= before {
                // What is still held came from this chunk: go on there, without copying.
                self.buf.clear();
                rest = &rest[keep - before..];
            } else {
                rest = &rest[cut..];
            }
        }
        self.counters.held_max = self.counters.held_max.max(self.buffered());
        self.counters.reasoning_bytes = self.spaces.reasoning_bytes();
        self.quiet = matches!(self.mode, Mode::Text)
            && self.buf.is_empty()
            && self.swallow == 0
            && self.spaces.passes(self.channel())
            && self.channel() != Channel::HIDDEN
            && (!self.tracks() || self.code.is_settled());
        Ok(())
    }

    /// Ends the stream: everything held comes out or is accounted for. The driver is then
    /// spent; [`Driver::reset`] makes it as new.
    ///
    /// # Errors
    /// As [`Driver::push`].
    pub fn finish<S, B>(&mut self, end: End, bodies: &mut B, sink: &mut S) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers<S> + ?Sized,
    {
        if let Mode::Failed(error) = self.mode {
            return Err(error);
        }
        self.quiet = false;
        self.process_held(Some(end), true, bodies, sink)?;
        self.spaces.finish(sink);
        self.end_halt(sink);
        self.counters.reasoning_bytes = self.spaces.reasoning_bytes();
        self.check_reasoning()
    }

    /// Whether a body halted: the rest of the message is dropped.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        matches!(self.mode, Mode::Halted(_))
    }

    fn is_in_body(&self) -> bool {
        matches!(self.mode, Mode::Candidate(_) | Mode::Committed)
    }

    /// Reports what was dropped since a body halted.
    fn end_halt<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if let Mode::Halted(at) = self.mode
            && self.base > at
        {
            let bytes = self.base - at;
            self.mode = Mode::Halted(self.base);
            sink.event(Diagnostic::new(DiagnosticKind::Halted, at, bytes).into());
        }
    }

    /// A message ended and another begins in the same stream: lead and line states start over,
    /// while a marker split across the boundary is still recognised.
    pub fn message_boundary<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if self.is_halted() {
            self.end_halt(sink);
            self.mode = Mode::Text;
        }
        if matches!(self.mode, Mode::Text) {
            self.spaces.finish(sink);
            self.spaces.reset();
            self.stack.clear();
            self.spent = 0;
            self.code = Code::default();
            self.swallow = 0;
            self.quiet = false;
        }
    }

    /// Processes the held text; returns how much of it is no longer held.
    fn process_held<S, B>(
        &mut self,
        ended: Option<End>,
        settled: bool,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<usize, LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers<S> + ?Sized,
    {
        let mut text = core::mem::take(&mut self.buf);
        let window = Window { text: &text, base: self.base, ended, settled };
        let keep = self.process(window, bodies, sink)?;
        self.base += keep as u64;
        text.drain(..keep);
        self.buf = text;
        Ok(keep)
    }

    /// Goes through a window; returns the index from which its text must be held.
    fn process<S, B>(
        &mut self,
        w: Window<'_>,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<usize, LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers<S> + ?Sized,
    {
        let mut c = Cursor::at(0);
        if let Mode::Candidate(candidate) = self.mode {
            c.pos = candidate.fed;
        }
        loop {
            let in_body = self.is_in_body();
            let stepped = match self.mode {
                Mode::Text => Ok(self.scan_text(&w, &mut c, bodies, sink)),
                Mode::Candidate(candidate) => {
                    self.feed_candidate(candidate, &w, &mut c, bodies, sink)
                }
                Mode::Committed => Ok(self.feed_committed(&w, &mut c, bodies, sink)),
                Mode::Halted(_) => {
                    self.account(SpanKind::Dropped, &w, c.out, w.text.len(), sink);
                    return Ok(w.text.len());
                }
                Mode::Failed(error) => return Err(error),
            };
            if in_body && !self.is_in_body() {
                bodies.end();
            }
            let go_on = stepped?;
            self.check_reasoning()?;
            if !go_on {
                return Ok(c.out);
            }
        }
    }

    /// Stops at a limit of the reasoning with the error policy.
    fn check_reasoning(&mut self) -> Result<(), LimitError> {
        self.spaces.failed().map_or(Ok(()), |error| {
            self.mode = Mode::Failed(error);
            Err(error)
        })
    }

    fn account<S: Sink + ?Sized>(
        &self,
        kind: SpanKind,
        w: &Window<'_>,
        from: usize,
        to: usize,
        sink: &mut S,
    ) {
        if to > from {
            sink.account(Span { kind, at: w.base + from as u64, len: (to - from) as u64 });
        }
    }

    /// Whether lines and code matter in the current channel.
    fn tracks(&self) -> bool {
        self.table.tracks_lines() && self.channel() == Channel::CONTENT
    }

    fn binds_optional(&self) -> bool {
        matches!(self.spaces.policy(), Whitespace::Framing | Whitespace::Trim)
    }
}
