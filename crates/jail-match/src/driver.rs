//! The driver: one cursor over one message.
//!
//! It scans text with the table's markers, keeps the channel stack, runs candidates until they
//! commit or are refuted, and holds back only what a marker, a candidate or a whitespace policy
//! needs. What is certain goes to the sink as slices of the caller's chunk.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "in the driver and its modules: places in a window's text are at most its length, \
              and bodies do not use more than they were offered; places of the stream, and \
              counts, have 64 bits; the cursor's `out` and a candidate's beginning stand in front \
              of what was read"
)]

mod apply;
mod aside;
mod candidate;
mod literal;
mod push;
mod scan;
mod state;
mod window;

pub use aside::Aside;
pub use state::{Counters, Dangling, EdgeEvents, Held, HeldKind, InlineTags, Settings};

use alloc::{string::String, sync::Arc};
use smallvec::SmallVec;

use self::{
    aside::Apart,
    window::{Mode, Open, Window},
};
use crate::{
    body::{BodyParsers, End},
    channel::Channel,
    code::Code,
    diagnostic::{Diagnostic, DiagnosticKind},
    event::Event,
    limits::LimitError,
    sink::{ByRef, Sink, Span, SpanKind},
    stretch::Stretches,
    suffix::LearntSuffix,
    table::{Place, Table, class},
    whitespace::{Emitter, Whitespace},
};

/// The one-cursor driver. See the [crate documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Driver {
    table: Table,
    /// Shared by all clones, as the table is.
    settings: Arc<Settings>,
    mode: Mode,
    stack: SmallVec<[Open; 4]>,
    emitter: Emitter,
    code: Code,
    /// Text held; its first byte is at stream offset `base`.
    buf: String,
    base: u64,
    /// What is known of stretches of it, or ahead.
    stretches: Stretches,
    /// Stream offset up to which the committed body's bytes are accounted for.
    body_from: u64,
    /// Newlines still bound to the marker just passed.
    swallow: usize,
    /// Edges with limited uses that are used up.
    spent: u64,
    /// Spans of reasoning in this message.
    spans: u32,
    apart: Apart,
    /// A call ended the reasoning, whose own closer did not come yet.
    ended_by_call: bool,
    /// The last marker was the end of a message.
    message_ended: bool,
    /// The opener of a block without calls was markup; its closer did not come yet.
    block_opened: bool,
    /// The suffix of the stream's markers, its `:` included, as soon as one carried it.
    suffix: LearntSuffix,
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
        let Settings { whitespace, limits, reasoning, .. } = settings;
        let mut driver = Self {
            table,
            settings: Arc::new(settings),
            mode: Mode::Text,
            stack: SmallVec::new(),
            emitter: Emitter::new(whitespace, limits.whitespace, reasoning),
            code: Code::default(),
            buf: String::new(),
            base: 0,
            stretches: Stretches::default(),
            body_from: 0,
            swallow: 0,
            spent: 0,
            spans: 0,
            apart: Apart::Never,
            ended_by_call: false,
            message_ended: false,
            block_opened: false,
            suffix: LearntSuffix::NONE,
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
        self.stretches.clear();
        self.counters = Counters::default();
        self.emitter.forget_counts();
        self.restart();
    }

    fn restart(&mut self) {
        self.mode = Mode::Text;
        self.stack.clear();
        self.spent = 0;
        self.apart = Apart::Never;
        self.spans = u32::from(self.settings.start == Channel::REASONING);
        if self.settings.start != Channel::CONTENT {
            self.stack.push(Open { channel: self.settings.start, pair: 0 });
            if self.settings.start == Channel::REASONING {
                self.spent = self.table.reasoning_once() | self.table.before_reasoning();
            }
        }
        (self.ended_by_call, self.block_opened, self.message_ended) = (false, false, false);
        self.suffix = self.settings.suffix;
        self.emitter.reset();
        self.code = Code::default();
        self.swallow = self.settings.newlines.binding(self.binds_optional()).1;
        (self.rescan_until, self.rescans) = (0, 0);
        self.quiet = false;
    }

    /// The channel text goes to now.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.stack.last().map_or(Channel::CONTENT, |open| open.channel)
    }

    /// Whether text goes to reasoning that a marker, or the prompt, opened, and none has closed.
    #[must_use]
    pub fn is_unclosed(&self) -> bool {
        self.channel() != Channel::CONTENT && self.apart != Apart::Now
    }

    /// Stream offset of the next byte to be received.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.counters.bytes_in
    }

    /// Newlines that would still go with the marker just passed.
    #[must_use]
    pub fn bound_newlines(&self) -> usize {
        self.swallow
    }

    /// The suffix that the markers of the stream carry.
    #[must_use]
    pub fn suffix(&self) -> LearntSuffix {
        self.suffix
    }

    /// Counters since the start.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The table it was built with.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
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
        let bytes = self.buffered();
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
        self.buf.len().saturating_add(self.emitter.held())
    }

    /// Whether [`Driver::push`] would pass `chunk` on as it is, in one event for the current
    /// channel, and hold nothing behind it. A guess on the safe side: text for which it says no
    /// may pass, too.
    #[must_use]
    #[inline]
    pub fn passes(&self, chunk: &str) -> bool {
        let set = self.table.set();
        let within = || class(self.channel(), Place::Within);
        self.quiet && !chunk.is_empty() && set.next_stop(within(), chunk.as_bytes()).is_none()
    }

    /// Feeds the next piece of the stream.
    ///
    /// # Errors
    /// Only under [`LimitPolicy::Error`](crate::LimitPolicy::Error), when a limit is hit: the candidate has been released as
    /// text, no byte after it was taken (the first of those is [`LimitError::at`] plus
    /// [`LimitError::bytes`]), and every later push returns the same error.
    // A call would cost text that passes a quarter more instructions.
    #[inline(always)]
    pub fn push<S, B>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers + ?Sized,
    {
        if self.passes(chunk) {
            let channel = self.channel();
            self.counters.bytes_in += chunk.len() as u64;
            self.counters.examined += chunk.len() as u64;
            self.base += chunk.len() as u64;
            self.emitter.count(channel, chunk.len());
            self.counters.reasoning_bytes = self.emitter.reasoning_bytes();
            sink.event(Event::text(channel, chunk));
            return Ok(());
        }
        self.push_looking(chunk, bodies, &mut ByRef(sink))
    }

    /// The way of text that does not just pass: this and all it calls is compiled once, not for each
    /// kind of sink, and leaves the way of text that does small enough to stand where it is called.
    #[inline]
    fn push_looking<B: BodyParsers + ?Sized>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        if matches!(self.mode, Mode::Committed) && self.buf.is_empty() && !chunk.is_empty() {
            return self.push_committed(chunk, bodies, sink);
        }
        self.counters.bytes_in += chunk.len() as u64;
        self.push_slow(chunk, bodies, sink)
    }

    /// Ends the stream: everything held is emitted or is accounted for. The driver is then
    /// spent; [`Driver::reset`] makes it as new.
    ///
    /// # Errors
    /// As [`Driver::push`].
    pub fn finish<B: BodyParsers + ?Sized>(
        &mut self,
        end: End,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        if let Mode::Failed(error) = self.mode {
            return Err(error);
        }
        self.quiet = false;
        let processed = self.process_held(Some(end), true, bodies, sink);
        bodies.rest();
        processed?;
        self.emitter.finish(sink);
        self.end_halt(sink);
        self.counters.reasoning_bytes = self.emitter.reasoning_bytes();
        self.check_reasoning(sink)
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
    fn end_halt(&mut self, sink: &mut dyn Sink) {
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
    pub fn message_boundary(&mut self, sink: &mut dyn Sink) {
        if self.is_halted() {
            self.end_halt(sink);
            self.mode = Mode::Text;
        }
        if matches!(self.mode, Mode::Text) {
            self.emitter.finish(sink);
            self.emitter.reset();
            self.stack.clear();
            self.spent = 0;
            (self.spans, self.apart) = (0, Apart::Never);
            (self.ended_by_call, self.block_opened, self.message_ended) = (false, false, false);
            self.code = Code::default();
            self.swallow = 0;
            self.quiet = false;
        }
    }

    /// Stops at a limit of the reasoning with the error policy.
    fn check_reasoning(&mut self, sink: &mut dyn Sink) -> Result<(), LimitError> {
        self.emitter.failed().map_or(Ok(()), |error| {
            // Nothing comes any more that could decide about whitespace.
            self.emitter.finish(sink);
            self.mode = Mode::Failed(error);
            Err(error)
        })
    }

    fn account(&self, kind: SpanKind, w: &Window<'_>, from: usize, to: usize, sink: &mut dyn Sink) {
        if to > from {
            sink.account(Span { kind, at: w.base + from as u64, len: (to - from) as u64 });
        }
    }

    /// Whether lines and code matter in the current channel.
    fn tracks(&self) -> bool {
        self.table.tracks_lines() && self.channel() == Channel::CONTENT
    }

    fn binds_optional(&self) -> bool {
        matches!(self.emitter.policy(), Whitespace::Framing | Whitespace::Trim)
    }
}
