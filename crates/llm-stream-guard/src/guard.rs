//! The guard of one message: input stages, a cursor that recognises markup, and output stages. The
//! caller does all input and output.
//!
//! ```text
//!   bytes ─► UTF-8 ─► text ─► collapse watch, wire decoding, stop strings ─► cursor
//!                                                                             │
//!   sink ◄─ statistics ◄─ jail ◄─ withheld reasoning ◄─ atomic delivery ◄─ events
//! ```

mod blocks;
mod builder;
mod choice;
mod collapse;
mod cursor;
mod error;
mod hosted;
mod input;
mod markers_held;
mod message_end;
mod mixed_markers;
mod options;
mod output;
mod remap_stage;
mod request;
mod rules;
mod server_items;
#[cfg_attr(not(feature = "response-templates"), path = "guard/no_template.rs")]
mod template;
mod tokens;

pub(crate) use blocks::BlockParser;
pub use builder::GuardBuilder;
pub use choice::ToolChoice;
pub use error::BuildError;
pub use message_end::{MessageEnd, OpenAtEnd};
pub use options::{CallOptions, Delivery, GuardStage, ReasoningOptions};
pub use request::RequestError;
pub(crate) use request::{Declared, RequestedChoice, is_function, name_of};
pub use rules::AnswerRules;
pub use tokens::{Token, TokenKind};

use jail_match::{ByRef, Counters, Edge, End, Held, HeldKind, LimitError, Sink, Utf8};
use think_filter::four_bytes_a_token;
use toolcall_parsers::{Event, Grammar, Ids, Message, Rejected};
use wire_remap::{Collapse, Tally};

use self::{
    cursor::Cursor,
    input::Input,
    output::{Chain, Output},
    tokens::Path,
};
use crate::{
    jailer::Jailer,
    observe::{Stats, StatsCollector},
    profile::{Profile, UnknownModel, profile_for_model},
    stop::Stopped,
};

/// A converter of one message's raw text into typed events.
///
/// Feed it with [`Guard::push`] any number of times, then [`Guard::finish`] once. Events do not
/// depend on how the text was cut, and follow the order of the text. They are held back only while
/// they are uncertain ([`Guard::held`]). Cloning is cheap, and a clone continues independently.
#[derive(Debug, Clone)]
pub struct Guard {
    path: Path,
    utf8: Utf8,
    input: Input,
    cursor: Cursor,
    output: Output,
    special: bool,
    /// Maximum bytes of arguments of a call that is delivered at its end.
    atomic_limit: u32,
}

type Pushed = Result<(), LimitError>;

/// The hook of the output stages to run after the cursor returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    ChunkEnded,
    Finish,
    Nothing,
}

impl Guard {
    /// Creates a builder of a guard for `profile`.
    #[must_use]
    pub fn builder(profile: &Profile) -> GuardBuilder {
        GuardBuilder::new(profile)
    }

    /// Creates a builder of a guard for the model with this id, such as `Qwen/Qwen3-8B` or
    /// `qwen3:8b`; see [`crate::resolve_model`].
    ///
    /// # Errors
    /// Returns an error if no family is known for the model.
    pub fn for_model(id: &str) -> Result<GuardBuilder, UnknownModel> {
        profile_for_model(id).map(|profile| GuardBuilder::new(&profile))
    }

    /// Feeds the next piece of text.
    ///
    /// # Errors
    /// Returns an error only if a limit with the error policy is hit. Held text has then been
    /// released.
    #[inline]
    pub fn push<S: Sink + ?Sized>(&mut self, chunk: &str, sink: &mut S) -> Result<(), LimitError> {
        if self.path == Path::Plain {
            return self.cursor.push(chunk, sink);
        }
        self.push_token_apart(Token::of_text(chunk), &mut ByRef(sink))
    }

    /// Whether `text` certainly passes unchanged as content, with nothing held after it.
    pub(crate) fn passes(&self, text: &str) -> bool {
        self.input.is_passed() && self.output.passes() && self.cursor.passes(text)
    }

    /// Feeds bytes, which may be cut inside a UTF-8 sequence. Invalid sequences become U+FFFD
    /// and are counted ([`Guard::replaced`]).
    ///
    /// # Errors
    /// As [`Guard::push`].
    #[inline]
    pub fn push_bytes<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.path != Path::Plain {
            return self.push_bytes_staged(bytes, &mut ByRef(sink));
        }
        let Self { utf8, cursor, .. } = self;
        let mut result = Ok(());
        utf8.push(bytes, |text| {
            if result.is_ok() {
                result = cursor.push(text, sink);
            }
        });
        if utf8.held() > 0 {
            self.path = Path::Staged;
        }
        result
    }

    #[inline(never)]
    fn push_bytes_staged(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), LimitError> {
        self.count(|stats| stats.chunk(bytes.len()));
        self.staged(sink, Then::ChunkEnded, |utf8, input, cursor, out| {
            let mut pushed = Ok(());
            // After an error, text behind a stop string still counts.
            utf8.push(bytes, |text| {
                let result = input.push(Token::of_text(text), cursor, out);
                pushed = pushed.and(result);
            });
            pushed
        })
    }

    /// Ends the message. Held text is emitted, an open call ends as incomplete, and unclosed
    /// reasoning stays reasoning.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn finish<S: Sink + ?Sized>(&mut self, end: End, sink: &mut S) -> Result<(), LimitError> {
        let finished = self.staged(&mut ByRef(sink), Then::Finish, |utf8, input, cursor, out| {
            input.end_scalar(utf8, cursor, out)?;
            input.finish(end, cursor, out)
        });
        self.count(|stats| stats.finished(end));
        finished
    }

    /// Begins another message in the same stream; see [`jail_match::Driver::message_boundary`].
    pub fn message_boundary<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        // If a limit of a jail is hit here, the next call reports it.
        let _ = self.staged(&mut ByRef(sink), Then::Nothing, |utf8, input, cursor, out| {
            input.end_scalar(utf8, cursor, out)?;
            let open = cursor.is_unclosed();
            cursor.message_boundary(out);
            out.message_boundary(open);
            Ok(())
        });
    }

    /// Checks time limits when no text arrives: a jail may have been open for too long. Only needed
    /// where [`Jailer::time_limit`] must hold while a stream pauses.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn tick<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result<(), LimitError> {
        if let Some(error) = self.output.failed() {
            return Err(error);
        }
        self.output.chain(&mut ByRef(sink)).tick();
        self.output.failed().map_or(Ok(()), Err)
    }

    /// Runs `step` with the stages apart and the chain of those after the cursor.
    fn staged(
        &mut self,
        sink: &mut dyn Sink,
        then: Then,
        step: impl FnOnce(&mut Utf8, &mut Input, &mut Cursor, &mut Chain<'_>) -> Pushed,
    ) -> Pushed {
        if let Some(error) = self.output.failed() {
            return Err(error);
        }
        let Self { utf8, input, cursor, output, .. } = self;
        let mut out = output.chain(sink);
        out.tick();
        let result = step(utf8, input, cursor, &mut out);
        if result.is_err() {
            out.release();
        }
        if then == Then::ChunkEnded {
            out.chunk_ended();
        }
        if input.ended() || then == Then::Finish {
            out.finish();
        }
        self.path = Path::of(&self.input, &self.output, &self.utf8);
        let held = self.held();
        let Self { cursor, output, .. } = self;
        if let Some(stats) = &mut output.stats {
            stats.read(cursor.counters());
            stats.held(held);
        }
        self.output.failed().map_or(result, Err) // A jail may have failed by text before that.
    }

    fn count(&mut self, what: impl FnOnce(&mut StatsCollector)) {
        if let Some(stats) = &mut self.output.stats {
            what(stats);
        }
    }

    /// Resets the guard to its initial state.
    pub fn reset(&mut self) {
        self.utf8 = Utf8::default();
        self.input.reset();
        self.path = Path::of(&self.input, &self.output, &self.utf8);
        self.cursor.reset();
        self.output.reset();
    }

    /// Sets the source of ids for later calls.
    pub fn set_ids(&mut self, ids: Ids) {
        if let Some(parser) = self.output.block_parser() {
            parser.set_ids(ids.clone());
        }
        self.cursor.set_ids(ids);
    }

    /// Returns the number of held bytes and the reason. Bytes are counted in the form in which they
    /// would be emitted (a call as JSON). Atomic delivery holds an open call,
    /// [`ReasoningOptions::nonempty_content`] and [`ReasoningOptions::unclosed`] hold reasoning,
    /// and a jail holds its block.
    #[must_use]
    pub fn held(&self) -> Held {
        let held = self.cursor.held();
        let shares = [
            (self.output.held_of_call(), HeldKind::Call),
            (self.input.held(), HeldKind::Marker),
            (self.utf8.held(), HeldKind::Utf8),
        ];
        // The kind is that of the bytes received last; the number includes all held bytes.
        let bytes = shares.iter().map(|(bytes, _)| bytes).sum::<usize>();
        let kind = shares.iter().find(|(bytes, _)| *bytes > 0).map_or(held.kind, |(_, kind)| *kind);
        self.output.held(Held { bytes: held.bytes.saturating_add(bytes), kind })
    }

    /// Returns the live bytes in buffers that grow with input.
    #[must_use]
    pub fn buffered(&self) -> usize {
        let (utf8, input) = (self.utf8.held(), self.input.buffered());
        [utf8, input, self.cursor.buffered(), self.output.buffered()].iter().sum()
    }

    /// Returns the counters of the cursor.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.cursor.counters()
    }

    /// Returns the estimated number of reasoning tokens so far: one for each four bytes. Prefer a
    /// number from the server.
    #[must_use]
    pub fn reasoning_tokens(&self) -> u64 {
        four_bytes_a_token(self.counters().reasoning_bytes)
    }

    /// Returns the number of invalid UTF-8 sequences that were replaced.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.utf8.replaced()
    }

    /// Returns the payload that was dropped because it was not calls, under
    /// [`BadPayload::Reject`](crate::BadPayload::Reject).
    #[must_use]
    pub fn rejected(&self) -> Option<Rejected> {
        self.cursor.rejected()
    }

    /// Returns where a stop string ended the message. Later text is not emitted, and generation may
    /// be cancelled.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.input.stopped()
    }

    /// Returns the stop string that ended the message.
    #[must_use]
    pub fn stop_string(&self) -> Option<&str> {
        self.input.stop_string()
    }

    /// Returns the first collapse, if [`GuardStage::Collapse`] is set and found one.
    #[must_use]
    pub fn collapse(&self) -> Option<Collapse> {
        self.input.watch.as_ref().and_then(|watch| watch.first())
    }

    /// Returns the limit that ended the message without an error: a collapse whose policy is to end
    /// it.
    #[must_use]
    pub fn ended_by(&self) -> Option<LimitError> {
        self.input.watch.as_ref().and_then(|watch| watch.reason())
    }

    /// Whether a collapse ended the message. Further text is ignored, and the stream may be closed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.input.collapsed().is_some()
    }

    /// Returns the counts of decoding since the start, if delimiters are remapped. Mixed forms are
    /// counted for calls.
    #[must_use]
    pub fn remap_tally(&self) -> Option<Tally> {
        let mut tally = self.input.wire.as_ref()?.tally().clone();
        tally.mixed = self.output.forms.as_ref().map_or(0, |forms| forms.mixed());
        Some(tally)
    }

    /// Returns the markers that the guard acts on, each with its conditions and its effect. A
    /// [`jail_match::Trace`] refers to them by number. With a response template, these are its
    /// boundaries.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        self.output.tokens_shown().unwrap_or(self.cursor.edges())
    }

    /// Returns the grammar of calls, or `None` where a checkpoint's template is read.
    #[must_use]
    pub fn grammar(&self) -> Option<&Grammar> {
        self.cursor.grammar()
    }

    /// Returns the counts since the start, if [`GuardStage::Stats`] or an observer is set.
    #[must_use]
    pub fn stats(&self) -> Option<&Stats> {
        self.output.stats.as_ref().map(|stats| stats.stats())
    }

    /// Returns the jail around content, if there is one.
    #[must_use]
    pub fn jailer(&self) -> Option<&Jailer> {
        self.output.jail.as_ref().map(|jail| &jail.jailer)
    }

    /// Whether the server must be asked to keep special tokens in the text, because the
    /// family's markers are such tokens.
    #[must_use]
    pub fn needs_special_tokens(&self) -> bool {
        let of_blocks = self.jailer().and_then(Jailer::parser);
        self.special || of_blocks.is_some_and(|parser| parser.needs_special_tokens())
    }

    /// Guards a whole text: a push and a finish of a clone.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn parse(&self, text: &str, end: End) -> Result<Message, LimitError> {
        let mut guard = self.clone();
        let mut message = Message::default();
        let mut sink = |event: Event<'_>| message.collect(event);
        guard.push(text, &mut sink)?;
        guard.finish(end, &mut sink)?;
        Ok(message)
    }
}

const _: () = {
    const fn machine<T: Clone + Send + Sync + 'static>() {}
    machine::<Guard>();
};
