//! The driver: one cursor over one message.
//!
//! It scans text with the table's markers, keeps the channel stack, runs candidates until they
//! commit or are refuted, and holds back only what a marker, a candidate or a whitespace policy
//! needs. What is certain goes to the sink as slices of the caller's chunk.

mod apply;
mod aside;
mod candidate;
mod literal;
mod message;
mod push;
mod scan;
mod state;
mod window;

pub use aside::Aside;
pub use state::{Counters, Dangling, DriverSettings, EdgeEvents, Held, HeldKind, InlineTags};

use alloc::sync::Arc;

use self::{
    candidate::Rescans,
    message::{MessageState, Separated},
    window::{DriverState, Follows, OpenChannel},
};
use crate::{
    body::{BodyParsers, End},
    channel::Channel,
    diagnostic::{Diagnostic, DiagnosticKind},
    event::Event,
    limits::LimitError,
    pending::Pending,
    sink::{ByRef, Sink},
    stretch::Stretches,
    suffix::LearntSuffix,
    table::{Place, Table, class},
    whitespace::{Emitter, Whitespace},
};

/// Reads a stream with one cursor and writes what is certain to a [`Sink`].
///
/// See the [crate documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Driver {
    table: Table,
    /// Shared by all clones, as the table is.
    settings: Arc<DriverSettings>,
    state: DriverState,
    message: MessageState,
    emitter: Emitter,
    pending: Pending,
    /// Stream offset of the first pending byte.
    base: u64,
    /// Announced stretches of the pending text and of the text to come.
    stretches: Stretches,
    /// The suffix of the stream's markers with its `:`, once a marker carried one.
    suffix: LearntSuffix,
    rescans: Rescans,
    /// Text without a stop byte may go straight to the sink.
    quiet: bool,
    counters: Counters,
}

impl Driver {
    /// Creates a driver at the start of a message.
    #[must_use]
    pub fn new(table: Table, settings: DriverSettings) -> Self {
        let DriverSettings { whitespace, limits, reasoning, .. } = settings;
        let mut driver = Self {
            table,
            settings: Arc::new(settings),
            state: DriverState::Text,
            message: MessageState::default(),
            emitter: Emitter::new(whitespace, limits.whitespace, reasoning),
            pending: Pending::default(),
            base: 0,
            stretches: Stretches::default(),
            suffix: LearntSuffix::NONE,
            rescans: Rescans::default(),
            quiet: false,
            counters: Counters::default(),
        };
        driver.restart();
        driver
    }

    /// Makes the driver as new. The table and the settings stay.
    pub fn reset(&mut self) {
        self.pending.clear();
        self.base = 0;
        self.stretches.clear();
        self.counters = Counters::default();
        self.emitter.forget_counts();
        self.restart();
    }

    fn restart(&mut self) {
        let (start, settings) = (self.settings.start, &self.settings);
        (self.suffix, self.state) = (settings.suffix, DriverState::Text);
        self.message = MessageState {
            swallow: settings.newlines.binding(self.binds_optional()).1,
            ..MessageState::default()
        };
        if start != Channel::CONTENT {
            self.message.open.push(OpenChannel { channel: start, pair: 0 });
        }
        if start == Channel::REASONING {
            self.message.spans = 1;
            self.message.spent = self.table.reasoning_once() | self.table.before_reasoning();
        }
        self.emitter.reset();
        self.rescans = Rescans::default();
        self.quiet = false;
    }

    /// The channel text goes to now.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.message.channel()
    }

    /// Whether text goes to reasoning that a marker, or the prompt, opened, and none has closed.
    #[must_use]
    pub fn is_unclosed(&self) -> bool {
        self.channel() != Channel::CONTENT && self.message.separated != Separated::Now
    }

    /// Stream offset of the next byte to be received.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.counters.bytes_in
    }

    /// Newlines that would still go with the marker just passed.
    #[must_use]
    pub fn bound_newlines(&self) -> usize {
        self.message.swallow
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
    pub fn settings(&self) -> &DriverSettings {
        &self.settings
    }

    /// What is held, by the driver itself. An active body may hold more: see
    /// [`BodyParsers::held`].
    #[must_use]
    pub fn held(&self) -> Held {
        let bytes = self.buffered();
        let kind = match self.state {
            _ if bytes == 0 => HeldKind::Nothing,
            DriverState::Candidate(_) => HeldKind::Candidate,
            DriverState::Committed { .. } if !self.pending.is_empty() => HeldKind::Call,
            // With nothing pending, a whitespace policy holds the bytes.
            _ if self.pending.as_str().bytes().all(|byte| byte == b'\n') => HeldKind::Whitespace,
            _ => HeldKind::Marker,
        };
        Held { bytes, kind }
    }

    /// Live bytes in buffers that grow with input; bounded by the limits.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.pending.len().saturating_add(self.emitter.held())
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
        if matches!(self.state, DriverState::Committed { .. })
            && self.pending.is_empty()
            && !chunk.is_empty()
        {
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
        if let DriverState::Failed(error) = self.state {
            return Err(error);
        }
        self.quiet = false;
        let processed = self.process_pending(Follows::End(end), bodies, sink);
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
        matches!(self.state, DriverState::Halted(_))
    }

    fn is_in_body(&self) -> bool {
        matches!(self.state, DriverState::Candidate(_) | DriverState::Committed { .. })
    }

    /// Reports what was dropped since a body halted.
    fn end_halt(&mut self, sink: &mut dyn Sink) {
        if let DriverState::Halted(at) = self.state
            && self.base > at
        {
            let bytes = self.base - at;
            self.state = DriverState::Halted(self.base);
            sink.event(Diagnostic::new(DiagnosticKind::Halted, at, bytes).into());
        }
    }

    /// A message ended and another begins in the same stream: lead and line states start over,
    /// while a marker split across the boundary is still recognised.
    pub fn message_boundary(&mut self, sink: &mut dyn Sink) {
        if self.is_halted() {
            self.end_halt(sink);
            self.state = DriverState::Text;
        }
        if matches!(self.state, DriverState::Text) {
            self.emitter.finish(sink);
            self.emitter.reset();
            self.message = MessageState::default();
            self.quiet = false;
        }
    }

    /// Stops at a limit of the reasoning with the error policy.
    fn check_reasoning(&mut self, sink: &mut dyn Sink) -> Result<(), LimitError> {
        self.emitter.failed().map_or(Ok(()), |error| {
            // Nothing comes any more that could decide about whitespace.
            self.emitter.finish(sink);
            self.state = DriverState::Failed(error);
            Err(error)
        })
    }

    /// Whether lines and code matter in the current channel.
    fn tracks(&self) -> bool {
        self.table.tracks_lines() && self.channel() == Channel::CONTENT
    }

    fn binds_optional(&self) -> bool {
        matches!(self.emitter.policy(), Whitespace::Framing | Whitespace::Trim)
    }
}
