//! The guard: one cursor over one message, sans-IO.

mod builder;
mod choice;
mod collapse;
mod outlet;
mod payload;
mod stopping;

pub use builder::{BuildError, GuardBuilder};
pub use choice::{BadPayload, ToolChoice};
use outlet::{Outlet, Then};
pub use payload::Rejected;

use std::sync::Arc;

use jail_match::{Channel, Counters, Driver, End, Held, HeldKind, LimitError, Notice, NoticeKind};
use toolcall_parsers::{CallSink, Events, Ids, Message, Wanted};

use think_filter::{TokenEstimate, Withheld};
use wire_remap::{Piece, StreamDecoder};

use self::payload::ChoiceBodies;
use crate::{
    atomic::{Atomic, Pending},
    nonempty::{Nonempty, release},
    profile::Profile,
    stop::{Stop, Stopped},
    utf8::Utf8,
};

/// How the events of a call are delivered. Outcomes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Delivery {
    /// As they come.
    #[default]
    Streaming,
    /// Together, when the call ended. A call whose arguments outgrow
    /// [`GuardBuilder::atomic_limit`] streams from there on.
    Atomic,
}

/// Turns one message's raw text into typed events.
///
/// Feed it with [`Guard::push`] any number of times, then [`Guard::finish`] once. Events do not
/// depend on how the text was cut, come in source order, and are held back only while they are
/// uncertain ([`Guard::held`]). Cheap to clone; a clone goes on independently.
#[derive(Debug, Clone)]
pub struct Guard {
    driver: Driver,
    bodies: ChoiceBodies,
    utf8: Utf8,
    pending: Pending,
    withheld: Option<Box<Withheld>>,
    delivery: Delivery,
    remap: Option<Box<StreamDecoder>>,
    prepend: Option<Arc<str>>,
    prepended: bool,
    stop: Option<Box<Stop>>,
    outlet: Option<Box<Outlet>>,
    special: bool,
    estimate: TokenEstimate,
    watch: Option<Box<collapse::Watch>>,
}

/// Whether markers in a piece of text are markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Markers {
    Live,
    Literal,
}

impl Guard {
    /// A guard for `profile`.
    #[must_use]
    pub fn builder(profile: &Profile) -> GuardBuilder {
        GuardBuilder::new(profile)
    }

    /// Feeds the next piece of text.
    ///
    /// # Errors
    /// Only if a limit with the error policy is hit: what was held has been released.
    #[inline]
    pub fn push<S: CallSink + ?Sized>(
        &mut self,
        chunk: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.outlet.is_some() {
            self.tally(|tally| tally.chunk(chunk.len()));
            return self.outward(sink, Then::Go, |guard, sink| guard.push(chunk, sink));
        }
        if self.watch.is_some() {
            return self.push_watched(chunk, sink);
        }
        self.push_unwatched(chunk, sink)
    }

    #[inline]
    fn push_unwatched<S: CallSink + ?Sized>(
        &mut self,
        chunk: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.stop.is_some() {
            return self.stopping(|stop, on| stop.push(chunk, on), sink);
        }
        self.push_on(chunk, sink)
    }

    /// Feeds text that no stop string ended.
    #[inline]
    fn push_on<S: CallSink + ?Sized>(
        &mut self,
        chunk: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.withheld.is_some() {
            return self.withholding(sink, |guard, sink| guard.push_through(chunk, sink));
        }
        self.push_through(chunk, sink)
    }

    /// Runs `step` with a sink that withholds reasoning.
    fn withholding<S: CallSink + ?Sized>(
        &mut self,
        sink: &mut S,
        step: impl FnOnce(&mut Self, &mut Nonempty<'_, S>) -> Result<(), LimitError>,
    ) -> Result<(), LimitError> {
        let Some(mut withheld) = self.withheld.take() else { return Ok(()) };
        let result = step(self, &mut Nonempty { withheld: &mut withheld, sink });
        if result.is_err() {
            release(&mut withheld, sink);
        }
        self.withheld = Some(withheld);
        result
    }

    #[inline]
    fn push_through<S: CallSink + ?Sized>(
        &mut self,
        chunk: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.prepend.is_some() {
            self.put_first(chunk, sink);
        }
        if self.remap.is_some() {
            return self.decode(|decoder, on| decoder.push(chunk, on), sink);
        }
        self.drive(chunk, Markers::Live, sink)
    }

    #[inline]
    fn drive<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        markers: Markers,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        let Self { driver, bodies, pending, .. } = self;
        match (self.delivery, markers) {
            (Delivery::Streaming, Markers::Live) => driver.push(text, bodies, sink),
            (Delivery::Streaming, Markers::Literal) => driver.push_literal(text, bodies, sink),
            (Delivery::Atomic, Markers::Live) => {
                driver.push(text, bodies, &mut Atomic { pending, sink })
            }
            (Delivery::Atomic, Markers::Literal) => {
                driver.push_literal(text, bodies, &mut Atomic { pending, sink })
            }
        }
    }

    /// Runs the wire decoder and drives what it lets through.
    fn decode<S: CallSink + ?Sized>(
        &mut self,
        step: impl FnOnce(&mut StreamDecoder, &mut dyn FnMut(Piece<'_>)),
        sink: &mut S,
    ) -> Result<(), LimitError> {
        let Some(mut decoder) = self.remap.take() else { return Ok(()) };
        let mut result = Ok(());
        step(&mut decoder, &mut |piece| {
            let markers = match piece {
                // Escaped on the wire, or quoted: it looks like a delimiter and is none.
                Piece::Literal(_) => Markers::Literal,
                Piece::Marker(marker) if !marker.counts => Markers::Literal,
                _ => Markers::Live,
            };
            if result.is_err() {
                return;
            }
            if let Piece::Suspect(suspect) = piece {
                let (kind, at) = (NoticeKind::DamagedMarker, self.driver.position());
                sink.notice(Notice { kind, at, bytes: suspect.text.len() as u64 });
            }
            result = self.drive(piece.text(), markers, sink);
        });
        self.remap = Some(decoder);
        result
    }

    fn put_first<S: CallSink + ?Sized>(&mut self, chunk: &str, sink: &mut S) {
        if let Some(text) = &self.prepend
            && !self.prepended
            && !chunk.is_empty()
        {
            sink.text(Channel::CONTENT, text);
            self.prepended = true;
        }
    }

    /// Feeds bytes, which may be cut inside a UTF-8 sequence. Invalid sequences become U+FFFD
    /// and are counted ([`Guard::replaced`]).
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn push_bytes<S: CallSink + ?Sized>(
        &mut self,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.outlet.is_some() {
            self.tally(|tally| tally.chunk(bytes.len()));
            return self.outward(sink, Then::Go, |guard, sink| guard.push_bytes(bytes, sink));
        }
        let mut utf8 = std::mem::take(&mut self.utf8);
        let mut result = Ok(());
        utf8.push(bytes, |text| {
            if result.is_ok() {
                result = self.push(text, sink);
            }
        });
        self.utf8 = utf8;
        result
    }

    /// Ends the message: what is held comes out, an open call ends as incomplete, an unclosed
    /// thought stays reasoning.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn finish<S: CallSink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.outlet.is_some() {
            let finished = self.outward(sink, Then::Finish, |guard, sink| guard.finish(end, sink));
            self.tally(|tally| tally.finished(end));
            return finished;
        }
        let mut utf8 = std::mem::take(&mut self.utf8);
        let mut result = Ok(());
        utf8.finish(|text| result = self.push(text, sink));
        self.utf8 = utf8;
        result?;
        if let Some(over) = self.over() {
            return over;
        }
        self.finish_unwatched(end, sink)
    }

    fn finish_unwatched<S: CallSink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        let end = self.finish_stop(end, sink)?;
        if self.withheld.is_some() {
            return self.withholding(sink, |guard, sink| {
                guard.finish_through(end, sink)?;
                sink.finish(end);
                Ok(())
            });
        }
        self.finish_through(end, sink)
    }

    fn finish_through<S: CallSink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        self.decode(|decoder, on| decoder.finish(on), sink)?;
        match self.delivery {
            Delivery::Streaming => self.driver.finish(end, &mut self.bodies, sink),
            Delivery::Atomic => {
                let mut sink = Atomic { pending: &mut self.pending, sink };
                self.driver.finish(end, &mut self.bodies, &mut sink)
            }
        }
    }

    /// Whether a call that began is kept back until it ends.
    pub(crate) fn withholds_call(&self) -> bool {
        self.pending.is_open()
    }

    /// Where ids come from when the wire has none.
    pub(crate) fn ids(&self) -> &Ids {
        self.bodies.ids()
    }

    /// Which calls may come out.
    pub(crate) fn wanted(&self) -> &Wanted {
        self.bodies.wanted()
    }

    /// Makes ids from `seed`, unless they come from a source of the caller's.
    pub(crate) fn seed_ids(&mut self, seed: u64) {
        if !self.bodies.ids().is_injected() {
            self.bodies.set_ids(Ids::seeded(seed));
        }
    }

    /// Makes the guard as new.
    pub fn reset(&mut self) {
        self.driver.reset();
        self.bodies.reset();
        self.utf8 = Utf8::default();
        self.pending.reset();
        if let Some(withheld) = &mut self.withheld {
            withheld.reset();
        }
        if let Some(decoder) = &mut self.remap {
            decoder.reset();
        }
        if let Some(stop) = &mut self.stop {
            stop.reset();
        }
        if let Some(outlet) = &mut self.outlet {
            outlet.reset();
        }
        if let Some(watch) = &mut self.watch {
            watch.reset();
        }
        self.prepended = false;
    }

    /// Another message begins in the same stream; see [`Driver::message_boundary`].
    pub fn message_boundary<S: CallSink + ?Sized>(&mut self, sink: &mut S) {
        if self.outlet.is_some() {
            // A limit that is hit here is told by the next call.
            let _ = self.outward(sink, Then::Settle, |guard, sink| {
                guard.message_boundary(sink);
                Ok(())
            });
            return;
        }
        if let Some(withheld) = &mut self.withheld {
            self.driver.message_boundary(&mut Nonempty { withheld, sink: &mut *sink });
            release(withheld, sink);
            withheld.reset();
            return;
        }
        self.driver.message_boundary(sink);
    }

    /// What is held, and why. Under atomic delivery an open call is held, too, and under
    /// [`GuardBuilder::force_nonempty_content`] the reasoning; with a jail its block.
    #[must_use]
    pub fn held(&self) -> Held {
        let held = self.held_by_stages();
        self.outlet.as_ref().map_or(held, |outlet| outlet.held(held))
    }

    fn held_by_stages(&self) -> Held {
        let held = self.held_by_cursor();
        match self.withheld.as_ref().map_or(0, |withheld| withheld.held()) {
            0 => held,
            kept => Held { bytes: held.bytes + kept, kind: HeldKind::Reasoning },
        }
    }

    fn held_by_cursor(&self) -> Held {
        let held = toolcall_parsers::held(&self.driver, self.bodies.buffered());
        let kept = self.pending.held();
        if kept > 0 {
            return Held { bytes: held.bytes + kept, kind: HeldKind::Call };
        }
        let wire = self.remap.as_ref().map_or(0, |decoder| decoder.held());
        if wire > 0 {
            return Held { bytes: held.bytes + wire, kind: HeldKind::Marker };
        }
        let stop = self.stop.as_ref().map_or(0, |stop| stop.held());
        if stop > 0 {
            return Held { bytes: held.bytes + stop, kind: HeldKind::Marker };
        }
        match self.utf8.held() {
            0 => held,
            split => Held { bytes: held.bytes + split, kind: HeldKind::Utf8 },
        }
    }

    /// Live bytes in buffers that grow with input.
    #[must_use]
    pub fn buffered(&self) -> usize {
        let withheld = self.withheld.as_ref().map_or(0, |withheld| withheld.held());
        self.driver.buffered()
            + self.bodies.buffered()
            + self.pending.held()
            + self.utf8.held()
            + self.stop.as_ref().map_or(0, |stop| stop.held())
            + self.outlet.as_ref().map_or(0, |outlet| outlet.buffered())
            + withheld
    }

    /// Counters of the cursor.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.driver.counters()
    }

    /// How many tokens the reasoning so far is estimated to be, as
    /// [`GuardBuilder::token_estimate`] says. A number from the backend is better.
    #[must_use]
    pub fn reasoning_tokens(&self) -> u64 {
        (self.estimate)(self.counters().reasoning_bytes)
    }

    /// How many invalid UTF-8 sequences were replaced.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.utf8.replaced()
    }

    /// The payload that was dropped because it was not calls, under [`BadPayload::Reject`].
    #[must_use]
    pub fn rejected(&self) -> Option<Rejected> {
        self.bodies.rejected()
    }

    /// Where a stop string ended the message. Nothing that follows will come out, and generation
    /// may be cancelled.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.stop.as_ref().and_then(|stop| stop.stopped())
    }

    /// Whether the server must be asked to keep special tokens in the text, because the
    /// family's markers are such tokens.
    #[must_use]
    pub fn needs_special_tokens(&self) -> bool {
        self.special
    }

    /// Guards a whole text: a push and a finish of a clone.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn parse(&self, text: &str, end: End) -> Result<Message, LimitError> {
        let mut guard = self.clone();
        let mut message = Message::default();
        let mut sink = Events(|event: toolcall_parsers::Event<'_>| message.collect(event));
        guard.push(text, &mut sink)?;
        guard.finish(end, &mut sink)?;
        Ok(message)
    }
}

const _: () = {
    const fn machine<T: Clone + Send + 'static>() {}
    machine::<Guard>();
};
