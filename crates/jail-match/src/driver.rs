//! The driver: one cursor over one message.
//!
//! It scans text with the table's markers, keeps the channel stack, runs candidates until they
//! commit or are refuted, and holds back only what a marker, a candidate or a whitespace policy
//! needs. What is certain goes to the sink as slices of the caller's chunk.

mod scan;

use alloc::string::String;
use smallvec::SmallVec;

use crate::{
    body::{Bodies, End, Feed, Opener, Resume, Tail},
    channel::Channel,
    code::Code,
    edge::{OnCommit, Then, Uses},
    limits::{LimitError, LimitPolicy, Limits},
    matcher::ceil_char_boundary,
    sink::{Notice, NoticeKind, Sink, Span, SpanKind},
    space::{Boundary, Spaces, Whitespace},
    table::{Table, class},
};

/// How often a byte may be looked at again because the candidate it stood in was refuted.
const MAX_RESCANS: u32 = 16;

/// Settings of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The channel the stream begins in: reasoning if the prompt opened it.
    pub start: Channel,
    /// What becomes of whitespace that frames markup.
    pub whitespace: Whitespace,
    /// Bounds on what is held.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            start: Channel::CONTENT,
            whitespace: Whitespace::default(),
            limits: Limits::default(),
        }
    }
}

impl Settings {
    /// The same settings with another start channel.
    #[must_use]
    pub fn start(self, start: Channel) -> Self {
        Self { start, ..self }
    }

    /// The same settings with another whitespace policy.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { whitespace, ..self }
    }

    /// The same settings with other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

/// What a machine has received and not yet given out or accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Bytes held.
    pub bytes: usize,
    /// Why the last of them are held.
    pub kind: HeldKind,
}

/// Why bytes are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HeldKind {
    /// Nothing is held.
    #[default]
    Nothing,
    /// They may become a marker.
    Marker,
    /// They follow an opener that is not certain yet.
    Candidate,
    /// They are whitespace that may turn out to frame markup.
    Whitespace,
    /// They belong to a call, and their meaning depends on what follows.
    Call,
    /// They are the start of a split UTF-8 sequence.
    Utf8,
}

/// Plain counters, for hosts that publish metrics. No text in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes looked at: a measure of work that no clock disturbs.
    pub examined: u64,
    /// Candidates opened.
    pub candidates: u64,
    /// Candidates that committed.
    pub committed: u64,
    /// Candidates refuted, by their content or by a limit.
    pub refuted: u64,
    /// The most bytes ever held.
    pub held_max: usize,
}

#[derive(Debug, Clone, Copy)]
enum Mode {
    Text,
    Candidate(Candidate),
    Committed,
    /// A limit with the error policy was hit.
    Failed(LimitError),
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Length of the opener.
    opener: usize,
    /// Bytes since the opener's first that the body has consumed, the opener with them.
    fed: usize,
    on_commit: OnCommit,
}

/// The text being processed: the caller's chunk, or what was held with its head behind it.
#[derive(Clone, Copy)]
struct Window<'t> {
    text: &'t str,
    /// Stream offset of its first byte.
    base: u64,
    ended: Option<End>,
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
}

/// The one-cursor driver. See the [crate documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Driver {
    table: Table,
    settings: Settings,
    mode: Mode,
    stack: SmallVec<[Channel; 4]>,
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
            spaces: Spaces::new(settings.whitespace, settings.limits.whitespace),
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
        self.restart();
    }

    fn restart(&mut self) {
        self.mode = Mode::Text;
        self.stack.clear();
        self.spent = 0;
        if self.settings.start != Channel::CONTENT {
            self.stack.push(self.settings.start);
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
        self.stack.last().copied().unwrap_or(Channel::CONTENT)
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
    /// [`Bodies::held`].
    #[must_use]
    pub fn held(&self) -> Held {
        let bytes = self.buf.len() + self.spaces.held();
        let kind = match self.mode {
            _ if bytes == 0 => HeldKind::Nothing,
            Mode::Candidate(_) => HeldKind::Candidate,
            Mode::Committed if !self.buf.is_empty() => HeldKind::Call,
            _ if self.buf.is_empty() || self.buf.starts_with('\n') => HeldKind::Whitespace,
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
    /// Only under [`LimitPolicy::Error`], when a limit is hit: what was held has been released,
    /// and every later push returns the same error.
    #[inline]
    pub fn push<S, B>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        if self.quiet && !chunk.is_empty() {
            let channel = self.channel();
            if self.table.set().next_stop(class(channel, false), chunk.as_bytes()).is_none() {
                self.counters.bytes_in += chunk.len() as u64;
                self.counters.examined += chunk.len() as u64;
                self.base += chunk.len() as u64;
                sink.text(channel, chunk);
                return Ok(());
            }
        }
        self.push_slow(chunk, bodies, sink)
    }

    fn push_slow<S, B>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        if let Mode::Failed(error) = self.mode {
            return Err(error);
        }
        self.counters.bytes_in += chunk.len() as u64;
        let mut rest = chunk;
        let mut step = self.table.longest().max(16) + 4;
        while !rest.is_empty() {
            if self.buf.is_empty() {
                let window = Window { text: rest, base: self.base, ended: None };
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
            let keep = self.process_held(None, bodies, sink)?;
            if keep >= before {
                // What is still held came from this chunk: go on there, without copying.
                self.buf.clear();
                rest = &rest[keep - before..];
            } else {
                rest = &rest[cut..];
            }
        }
        self.counters.held_max = self.counters.held_max.max(self.buffered());
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
        B: Bodies<S> + ?Sized,
    {
        if let Mode::Failed(error) = self.mode {
            return Err(error);
        }
        self.quiet = false;
        self.process_held(Some(end), bodies, sink)?;
        self.spaces.finish(sink);
        Ok(())
    }

    /// A message ended and another begins in the same stream: lead and line states start over,
    /// while a marker split across the boundary is still recognised.
    pub fn message_boundary<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if matches!(self.mode, Mode::Text) {
            self.spaces.finish(sink);
            self.spaces.reset();
            self.stack.clear();
            self.spent = 0;
            self.code = Code::default();
            self.quiet = false;
        }
    }

    /// Processes the held text; returns how much of it is no longer held.
    fn process_held<S, B>(
        &mut self,
        ended: Option<End>,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<usize, LimitError>
    where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        let mut text = core::mem::take(&mut self.buf);
        let window = Window { text: &text, base: self.base, ended };
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
        B: Bodies<S> + ?Sized,
    {
        let mut c = Cursor { out: 0, pos: 0, seen: 0 };
        if let Mode::Candidate(candidate) = self.mode {
            c.pos = candidate.fed;
        }
        loop {
            let go_on = match self.mode {
                Mode::Text => self.scan_text(&w, &mut c, bodies, sink),
                Mode::Candidate(candidate) => {
                    self.feed_candidate(candidate, &w, &mut c, bodies, sink)?
                }
                Mode::Committed => self.feed_committed(&w, &mut c, bodies, sink),
                Mode::Failed(error) => return Err(error),
            };
            if !go_on {
                return Ok(c.out);
            }
        }
    }

    fn feed_candidate<S, B>(
        &mut self,
        mut candidate: Candidate,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<bool, LimitError>
    where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        // The limit must fall on the same byte whatever the chunks.
        let most = c.out + self.settings.limits.candidate.max(candidate.opener);
        let limit = ceil_char_boundary(w.text, most.min(w.text.len()));
        let offered = &w.text[c.pos..limit];
        let feed = match offered {
            "" => Feed::More { used: 0 },
            _ => bodies.feed(offered, sink),
        };
        self.counters.examined += looked_at(feed, offered);
        match feed {
            Feed::More { used } => {
                c.pos += used;
                candidate.fed = c.pos - c.out;
                self.mode = Mode::Candidate(candidate);
                if bodies.committed() {
                    self.commit(candidate, w, c, sink);
                    return Ok(true);
                }
                if w.text.len() >= most {
                    return self.overrun(w, c, limit, sink).map(|()| true);
                }
                let Some(end) = w.ended else { return Ok(false) };
                let tail = bodies.finish(&w.text[c.pos..], end, sink);
                match tail {
                    Tail::Closed { used } => {
                        c.pos += used;
                        self.commit(candidate, w, c, sink);
                        self.body_done(Resume::Here, true);
                    }
                    Tail::Markup => {
                        self.drop_candidate(w, c, w.text.len(), NoticeKind::CutOpener, sink)
                    }
                    Tail::Release => self.refute(w, c, w.text.len(), sink),
                }
            }
            Feed::Done { used, then } => {
                let committed = bodies.committed();
                c.pos += used;
                if committed {
                    self.commit(candidate, w, c, sink);
                } else {
                    self.account(SpanKind::Markup, w, c.out, c.pos, sink);
                    self.spaces.boundary(Boundary::Other, self.channel(), sink);
                    (c.out, c.seen) = (c.pos, c.pos);
                }
                self.body_done(then, committed);
            }
            Feed::NotMine { used } => {
                if bodies.retry() {
                    c.pos = c.out + candidate.opener;
                    return Ok(true);
                }
                self.refute(w, c, c.pos + used, sink);
            }
        }
        Ok(true)
    }

    fn feed_committed<S, B>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut S,
    ) -> bool
    where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        let offered = &w.text[c.pos..];
        if !offered.is_empty() {
            let feed = bodies.feed(offered, sink);
            self.counters.examined += looked_at(feed, offered);
            match feed {
                Feed::More { used } => self.consume_body(w, c, used, sink),
                Feed::Done { used, then } => {
                    self.consume_body(w, c, used, sink);
                    self.body_done(then, true);
                    return true;
                }
                // Against the contract; what was committed stays so.
                Feed::NotMine { .. } => {
                    self.body_done(Resume::Here, true);
                    return true;
                }
            }
        }
        let Some(end) = w.ended else { return false };
        if let Tail::Closed { used } = bodies.finish(&w.text[c.pos..], end, sink) {
            self.consume_body(w, c, used, sink);
        }
        self.body_done(Resume::Here, true);
        true
    }

    fn consume_body<S: Sink + ?Sized>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        used: usize,
        sink: &mut S,
    ) {
        self.account(SpanKind::Body, w, c.pos, c.pos + used, sink);
        c.pos += used;
        (c.out, c.seen) = (c.pos, c.pos);
    }

    /// The active candidate is certain, with everything up to `c.pos`.
    fn commit<S: Sink + ?Sized>(
        &mut self,
        candidate: Candidate,
        w: &Window<'_>,
        c: &mut Cursor,
        sink: &mut S,
    ) {
        self.counters.committed += 1;
        self.account(SpanKind::Body, w, c.out, c.pos, sink);
        (c.out, c.seen) = (c.pos, c.pos);
        let channel = self.channel();
        self.spaces.boundary(Boundary::Call, channel, sink);
        if candidate.on_commit == OnCommit::Leave && channel != Channel::CONTENT {
            self.spaces.boundary(Boundary::Leave, channel, sink);
            self.stack.pop();
        }
        self.mode = Mode::Committed;
    }

    fn body_done(&mut self, then: Resume, committed: bool) {
        self.mode = Mode::Text;
        self.swallow = 0;
        if committed {
            self.spaces.call_ended();
        }
        match then {
            Resume::Here => {}
            Resume::Enter(channel) => self.enter(channel),
            Resume::Switch(channel) => {
                self.stack.clear();
                self.enter(channel);
            }
        }
    }

    fn enter(&mut self, channel: Channel) {
        self.stack.push(channel);
        self.spent &= !self.table.per_entry();
    }

    /// The candidate is text after all; `death` is the index behind the deciding byte.
    fn refute<S: Sink + ?Sized>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        death: usize,
        sink: &mut S,
    ) {
        self.counters.refuted += 1;
        self.mode = Mode::Text;
        let (opened, died) = (w.base + c.out as u64, w.base + death as u64);
        self.rescans = if opened < self.rescan_until { self.rescans + 1 } else { 1 };
        self.rescan_until = self.rescan_until.max(died);
        if self.rescans > MAX_RESCANS {
            let bytes = died - opened;
            sink.notice(Notice { kind: NoticeKind::RescanLimit, at: opened, bytes });
            c.pos = death;
        } else {
            // The opener may not match again; whatever begins behind its first scalar may.
            c.pos = ceil_char_boundary(w.text, c.out + 1);
        }
        c.seen = c.out;
    }

    /// The candidate outgrew its limit at `limit`.
    fn overrun<S: Sink + ?Sized>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        limit: usize,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        let (at, bytes) = (w.base + c.out as u64, (limit - c.out) as u64);
        let kind = NoticeKind::CandidateLimit;
        if self.settings.limits.policy == LimitPolicy::Drop {
            self.drop_candidate(w, c, limit, kind, sink);
            return Ok(());
        }
        self.counters.refuted += 1;
        sink.notice(Notice { kind, at, bytes });
        self.mode = Mode::Text;
        (c.pos, c.seen) = (limit, c.out);
        if self.settings.limits.policy == LimitPolicy::Error {
            let error = LimitError { kind, at, bytes };
            self.flush_text(w, c, w.text.len(), sink);
            self.spaces.finish(sink);
            self.mode = Mode::Failed(error);
            return Err(error);
        }
        Ok(())
    }

    fn drop_candidate<S: Sink + ?Sized>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        to: usize,
        kind: NoticeKind,
        sink: &mut S,
    ) {
        self.counters.refuted += 1;
        self.mode = Mode::Text;
        let (at, bytes) = (w.base + c.out as u64, (to - c.out) as u64);
        sink.notice(Notice { kind, at, bytes });
        self.account(SpanKind::Dropped, w, c.out, to, sink);
        self.spaces.boundary(Boundary::Other, self.channel(), sink);
        *c = Cursor { out: to, pos: to, seen: to };
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

    /// Applies the edge matched at `at..at + len`.
    #[allow(clippy::too_many_arguments)] // one call site; a struct would only rename them
    fn cross<S, B>(
        &mut self,
        edge: usize,
        at: usize,
        len: usize,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut S,
    ) where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        let channel = self.channel();
        let (then, uses) = (self.table.edges()[edge].then, self.table.edges()[edge].uses);
        let opens = matches!(then, Then::Enter(_));
        if opens && self.stack.len() >= self.settings.limits.depth {
            let kind = NoticeKind::DepthLimit;
            sink.notice(Notice { kind, at: w.base + at as u64, bytes: len as u64 });
            c.pos = at + len;
            return;
        }
        self.flush_text(w, c, at, sink);
        if uses != Uses::Unlimited {
            self.spent |= self.table.use_bit(edge);
        }
        if let Then::Body(body, on_commit) = then {
            self.counters.candidates += 1;
            bodies.begin(Opener { body, channel, at: w.base + (at + len) as u64 });
            self.mode = Mode::Candidate(Candidate { opener: len, fed: len, on_commit });
            c.pos = at + len;
            return;
        }
        self.account(SpanKind::Markup, w, at, at + len, sink);
        *c = Cursor { out: at + len, pos: at + len, seen: at + len };
        self.swallow = self.table.edges()[edge].binds(self.binds_optional()).1;
        match then {
            Then::Enter(to) => {
                self.spaces.boundary(Boundary::Enter, channel, sink);
                self.enter(to);
            }
            Then::Leave => {
                self.spaces.boundary(Boundary::Leave, channel, sink);
                self.stack.pop();
            }
            Then::Switch(to) => {
                self.spaces.boundary(Boundary::Leave, channel, sink);
                self.stack.clear();
                self.enter(to);
            }
            Then::Erase | Then::Body(..) => {
                self.spaces.boundary(Boundary::Other, channel, sink);
            }
        }
    }

    fn binds_optional(&self) -> bool {
        matches!(self.spaces.policy(), Whitespace::Framing | Whitespace::Trim)
    }
}

/// How much of what a body was offered it looked at.
fn looked_at(feed: Feed, offered: &str) -> u64 {
    match feed {
        Feed::More { .. } => offered.len() as u64,
        Feed::Done { used, .. } | Feed::NotMine { used } => used as u64,
    }
}
