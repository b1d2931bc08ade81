//! The driver: one cursor over one message.
//!
//! | file | subject |
//! |---|---|
//! | `push.rs` | the loop over a chunk |
//! | `scan.rs` | the search for markers in plain text |
//! | `apply.rs` | the effect of a marker |
//! | `candidate.rs` | bodies, from opener to end |
//! | `literal.rs`, `server_items.rs` | text and items that the host knows not to be markup |
//! | `message.rs`, `window.rs` | the state |
//!
//! The driver searches text for the table's markers, keeps the stack of channels, and runs
//! candidates until they commit or are refuted. It holds back only what a marker, a candidate or a
//! whitespace policy needs. Certain text goes to the sink as slices of the caller's chunk.

mod apply;
mod candidate;
mod literal;
mod marker_suffix;
mod mention;
mod message;
mod preceding;
mod push;
mod scan;
mod server_items;
mod state;
mod value_text;
mod window;

pub use server_items::ServerItem;
pub use state::{Counters, Dangling, DriverSettings, EdgeEvents, Held, HeldKind, InlineTags};

use alloc::sync::Arc;

use self::{
    candidate::Rescans,
    message::{MessageState, Separated, few},
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

/// A cursor over one stream, which writes text and events to a [`Sink`] as soon as they are
/// certain.
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
    /// Stream offset up to which the bytes of the committed body are accounted for.
    accounted: u64,
    /// Announced stretches of the pending text and of the text to come.
    stretches: Stretches,
    /// The suffix of the stream's markers with its `:`, once a marker carried one.
    suffix: LearntSuffix,
    rescans: Rescans,
    /// Whether text without a stop byte may go straight to the sink.
    quiet: bool,
    /// Whether text is being read. At the start of a call it is set only if the sink or a body
    /// panicked in the last one.
    reading: bool,
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
            accounted: 0,
            stretches: Stretches::default(),
            suffix: LearntSuffix::NONE,
            rescans: Rescans::default(),
            quiet: false,
            reading: false,
            counters: Counters::default(),
        };
        driver.restart();
        driver
    }

    /// Returns the driver to the state of a new one with the same table and settings.
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
            swallow: few(settings.newlines.binding(self.binds_optional()).1),
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
        (self.quiet, self.reading) = (false, false);
    }

    /// Returns the channel that text goes to now.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.message.channel()
    }

    /// Returns whether text goes to reasoning that a marker or the prompt opened and nothing has
    /// closed.
    #[must_use]
    pub fn is_unclosed(&self) -> bool {
        self.channel() != Channel::CONTENT && self.message.separated != Separated::Now
    }

    /// Returns the stream offset of the next byte to be received.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.counters.bytes_in
    }

    /// Returns how many newlines would still belong to the marker just passed.
    #[must_use]
    pub fn bound_newlines(&self) -> usize {
        self.message.swallow.into()
    }

    /// Returns the suffix that the markers of the stream carry.
    #[must_use]
    pub fn suffix(&self) -> LearntSuffix {
        self.suffix
    }

    /// Returns the counters since the start of the stream.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the table the driver was built with.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the settings the driver was built with.
    #[must_use]
    pub fn settings(&self) -> &DriverSettings {
        &self.settings
    }

    /// Returns the bytes that the driver itself holds. An active body may hold more: see
    /// [`BodyParsers::held`].
    #[must_use]
    pub fn held(&self) -> Held {
        let bytes = self.buffered();
        let kind = match self.state {
            _ if bytes == 0 => HeldKind::Nothing,
            DriverState::Candidate(_) => HeldKind::Candidate,
            DriverState::Committed if !self.pending.is_empty() => HeldKind::Call,
            // With nothing pending, a whitespace policy holds the bytes.
            _ if self.pending.as_str().bytes().all(|byte| byte == b'\n') => HeldKind::Whitespace,
            _ => HeldKind::Marker,
        };
        Held { bytes, kind }
    }

    /// Returns the number of bytes in buffers that grow with the input. The limits bound it.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.pending.len().saturating_add(self.emitter.held())
    }

    /// Returns whether [`Driver::push`] is certain to pass `chunk` on unchanged, in one event for
    /// the current channel, and to hold nothing after it. With `false`, it may still do so.
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
    /// Returns an error only when a limit is hit under
    /// [`LimitPolicy::Error`](crate::LimitPolicy::Error). The candidate has then been released as
    /// text. The first byte that was not read is at [`LimitError::at`] plus [`LimitError::bytes`].
    /// Every later push returns the same error.
    // Without inlining, text that passes costs a quarter more instructions.
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
        if self.pass(chunk, sink) {
            return Ok(());
        }
        self.push_looking(chunk, bodies, &mut ByRef(sink))
    }

    /// Feeds `chunk` if it [passes](Driver::passes). Otherwise it returns `false`, without an
    /// effect.
    #[inline(always)]
    pub fn pass<S: Sink + ?Sized>(&mut self, chunk: &str, sink: &mut S) -> bool {
        let passes = self.passes(chunk);
        if passes {
            let channel = self.channel();
            self.counters.bytes_in += chunk.len() as u64;
            self.counters.examined += chunk.len() as u64;
            self.base += chunk.len() as u64;
            if let Some(quotable) = self.table.quotable() {
                let none = self.table.stops_at_quotable(class(channel, Place::Within));
                self.message.preceding.pass(chunk.as_bytes(), quotable, none);
            }
            self.emitter.count(channel, chunk.len());
            self.counters.reasoning_bytes = self.emitter.reasoning_bytes();
            sink.event(Event::text(channel, chunk));
        }
        passes
    }

    /// Feeds a chunk for which [`Driver::pass`] returned `false`: [`Driver::push`] without that
    /// test.
    ///
    /// Compiled once, not for each kind of sink, so that [`Driver::pass`] stays small enough to
    /// inline.
    ///
    /// # Errors
    /// See [`Driver::push`].
    #[inline]
    pub fn push_looking<B: BodyParsers + ?Sized>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        if matches!(self.state, DriverState::Committed)
            && self.pending.is_empty()
            && !chunk.is_empty()
        {
            return self.push_committed(chunk, bodies, sink);
        }
        self.counters.bytes_in += chunk.len() as u64;
        self.push_slow(chunk, bodies, sink)
    }

    /// Ends the stream: everything held is emitted or accounted for. The driver can then only be
    /// [reset](Driver::reset).
    ///
    /// # Errors
    /// See [`Driver::push`].
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

    /// Returns whether a body halted, which drops the rest of the message.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        matches!(self.state, DriverState::Halted(_))
    }

    fn is_in_body(&self) -> bool {
        matches!(self.state, DriverState::Candidate(_) | DriverState::Committed)
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

    /// Begins another message in the same stream. Anchors and lines start over. A marker that is
    /// cut by the boundary is still recognised.
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

    /// Returns the error if the limit of reasoning was hit under the error policy.
    fn check_reasoning(&mut self, sink: &mut dyn Sink) -> Result<(), LimitError> {
        self.emitter.failed().map_or(Ok(()), |error| {
            // No text follows that could decide about the held whitespace.
            self.emitter.finish(sink);
            self.state = DriverState::Failed(error);
            Err(error)
        })
    }

    /// Returns whether lines and code matter in the current channel.
    fn tracks(&self) -> bool {
        self.table.tracks_lines() && self.channel() == Channel::CONTENT
    }

    fn binds_optional(&self) -> bool {
        matches!(self.emitter.policy(), Whitespace::Framing | Whitespace::Trim)
    }
}
