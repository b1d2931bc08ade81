//! The guard: one cursor over one message, sans-IO.

use std::{fmt, sync::Arc};

use jail_match::{
    Channel, Counters, Driver, End, Held, HeldKind, LimitError, Limits, Settings, Table,
    TableError, Whitespace, ZeroLimit,
};
use think_filter::{Format, Start};
use toolcall_parsers::{
    CallBodies, CallSink, Events, Grammar, InReasoning, Message, Options, Tools, UnknownName,
};

use wire_remap::{Piece, RemapTable, StreamDecoder};

use crate::{
    atomic::{Atomic, Pending},
    nonempty::{Nonempty, Withheld},
    profile::{self, Profile, Reasoning},
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

/// Builds a [`Guard`].
#[derive(Debug, Clone)]
pub struct GuardBuilder {
    profile: Profile,
    format: Option<Format>,
    grammar: Option<Arc<Grammar>>,
    remap: Option<RemapTable>,
    tools: Tools,
    options: Options,
    start: Option<Start>,
    whitespace: Whitespace,
    limits: Limits,
    in_reasoning: InReasoning,
    delivery: Delivery,
    atomic_limit: usize,
    token_suffix: Option<String>,
    nonempty: Option<usize>,
}

impl GuardBuilder {
    /// The tools the request declared.
    #[must_use]
    pub fn tools(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }

    /// Policies for calls.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Where the stream begins, if not where the profile says.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        Self { start: Some(start), ..self }
    }

    /// What becomes of whitespace that frames markup, if not what the profile says.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { whitespace, ..self }
    }

    /// Bounds on what is held.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// What a tool opener inside reasoning does, if not what the profile says.
    #[must_use]
    pub fn tool_in_reasoning(self, in_reasoning: InReasoning) -> Self {
        Self { in_reasoning, ..self }
    }

    /// How the events of a call are delivered.
    #[must_use]
    pub fn delivery(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }

    /// The most bytes of arguments kept under atomic delivery. Default 1 MiB.
    #[must_use]
    pub fn atomic_limit(self, atomic_limit: usize) -> Self {
        Self { atomic_limit, ..self }
    }

    /// A reasoning format in place of the profile's.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// A tool-call grammar in place of the profile's.
    #[must_use]
    pub fn grammar(self, grammar: Arc<Grammar>) -> Self {
        Self { grammar: Some(grammar), ..self }
    }

    /// The suffix that the checkpoint's tokenizer puts into the tags of calls and reasoning:
    /// `:6124c78e` where it writes `<tool_calls:6124c78e>`.
    #[must_use]
    pub fn token_suffix(self, suffix: impl Into<String>) -> Self {
        Self { token_suffix: Some(suffix.into()), ..self }
    }

    /// Makes the reasoning the answer if there is no other: when the stream stopped of itself,
    /// nothing visible came out and no call, the reasoning comes out as content.
    ///
    /// The same text never goes to two channels, so reasoning is withheld until something
    /// visible comes, a call begins, or it outgrew `limit` bytes, which makes it reasoning for
    /// good: no reasoning streams before that, and up to `limit` bytes are kept. A stream cut by
    /// a length limit, and a message that a boundary ends, keep their reasoning.
    #[must_use]
    pub fn force_nonempty_content(self, limit: usize) -> Self {
        Self { nonempty: Some(limit), ..self }
    }

    /// A table of delimiters to map back before anything is recognised, in place of the
    /// profile's.
    #[must_use]
    pub fn remap(self, table: RemapTable) -> Self {
        Self { remap: Some(table), ..self }
    }

    /// Looks the profile's names up and compiles the table.
    ///
    /// # Errors
    /// An unknown reasoning format or tool-call family, a faulty marker, a limit of zero.
    pub fn build(self) -> Result<Guard, BuildError> {
        self.limits.check()?;
        let mut grammar = match (self.grammar, &self.profile.tools) {
            (Some(grammar), _) => Some(grammar),
            (None, Some(name)) => Some(toolcall_parsers::grammar(name)?),
            (None, None) => None,
        };
        let reasoning = match (self.format, &self.profile.reasoning) {
            (Some(format), _) => Some(Reasoning::Format(format)),
            (None, Some(name)) => Some(profile::reasoning(name)?),
            (None, None) => None,
        };
        let format = match reasoning {
            Some(Reasoning::Format(format)) => Some(format),
            Some(Reasoning::Channels(channels)) => {
                let tools = &grammar.get_or_insert_with(|| channels.clone()).name;
                if *tools != channels.name {
                    let (reasoning, tools) = (channels.name.to_string(), tools.to_string());
                    return Err(BuildError::TwoGrammars { reasoning, tools });
                }
                None
            }
            None => None,
        };
        let (grammar, format) = match &self.token_suffix {
            None => (grammar, format),
            Some(suffix) => (
                grammar.map(|it| Arc::new(Arc::unwrap_or_clone(it).with_token_suffix(suffix))),
                format.map(|format| format.with_token_suffix(suffix)),
            ),
        };
        let remap = match (self.remap, &self.profile.remap) {
            (Some(table), _) => Some(table),
            (None, Some(name)) => Some(profile::remap(name)?),
            (None, None) => None,
        };
        let mut edges = Vec::new();
        if let Some(grammar) = &grammar {
            edges.extend(toolcall_parsers::edges(grammar, self.in_reasoning, 0));
        }
        if let Some(format) = &format {
            edges.extend(format.edges());
        }
        let mut start = self.start.unwrap_or(self.profile.start);
        let has_channels = grammar.as_ref().is_some_and(|grammar| grammar.envelope.is_some());
        if format.as_ref().is_none_or(Format::is_passthrough) && !has_channels {
            start = Start::Content;
        }
        let special = self.profile.needs_special_tokens
            || grammar.as_ref().is_some_and(|grammar| grammar.special_tokens)
            || format.as_ref().is_some_and(|format| format.special_tokens);
        let table = Table::new(edges)?;
        let settings = Settings::default()
            .start(profile::channel(start))
            .whitespace(self.whitespace)
            .limits(self.limits);
        let grammar = grammar.unwrap_or_else(|| Arc::new(Grammar::default()));
        Ok(Guard {
            driver: Driver::new(table, settings),
            bodies: CallBodies::new(grammar, self.tools, self.options),
            utf8: Utf8::default(),
            pending: Pending::new(self.atomic_limit),
            withheld: self.nonempty.map(|limit| Box::new(Withheld::new(limit))),
            delivery: self.delivery,
            prepend: format.and_then(|format| format.prepend).map(|text| Arc::from(text.as_ref())),
            remap: remap.map(|table| Box::new(StreamDecoder::new(&table))),
            prepended: false,
            special,
        })
    }
}

/// Turns one message's raw text into typed events.
///
/// Feed it with [`Guard::push`] any number of times, then [`Guard::finish`] once. Events do not
/// depend on how the text was cut, come in source order, and are held back only while they are
/// uncertain ([`Guard::held`]). Cheap to clone; a clone goes on independently.
#[derive(Debug, Clone)]
pub struct Guard {
    driver: Driver,
    bodies: CallBodies,
    utf8: Utf8,
    pending: Pending,
    withheld: Option<Box<Withheld>>,
    delivery: Delivery,
    remap: Option<Box<StreamDecoder>>,
    prepend: Option<Arc<str>>,
    prepended: bool,
    special: bool,
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
        GuardBuilder {
            format: None,
            grammar: None,
            remap: None,
            tools: Tools::none(),
            options: Options::default(),
            start: None,
            whitespace: profile.whitespace.into(),
            limits: Limits::default(),
            in_reasoning: profile.tool_in_reasoning,
            delivery: Delivery::default(),
            atomic_limit: 1 << 20,
            token_suffix: None,
            nonempty: None,
            profile: profile.clone(),
        }
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
            withheld.release(sink);
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
            if result.is_ok() {
                result = self.drive(piece.text(), markers, sink);
            }
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
        let mut utf8 = std::mem::take(&mut self.utf8);
        let mut result = Ok(());
        utf8.finish(|text| result = self.push(text, sink));
        self.utf8 = utf8;
        result?;
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
        self.prepended = false;
    }

    /// Another message begins in the same stream; see [`Driver::message_boundary`].
    pub fn message_boundary<S: CallSink + ?Sized>(&mut self, sink: &mut S) {
        if let Some(withheld) = &mut self.withheld {
            self.driver.message_boundary(&mut Nonempty { withheld, sink: &mut *sink });
            withheld.release(sink);
            withheld.reset();
            return;
        }
        self.driver.message_boundary(sink);
    }

    /// What is held, and why. Under atomic delivery an open call is held, too, and under
    /// [`GuardBuilder::force_nonempty_content`] the reasoning.
    #[must_use]
    pub fn held(&self) -> Held {
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
            + withheld
    }

    /// Counters of the cursor.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.driver.counters()
    }

    /// How many invalid UTF-8 sequences were replaced.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.utf8.replaced()
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

/// Why a guard could not be built. The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A name is not registered.
    Unknown(UnknownName),
    /// A marker is faulty.
    Table(TableError),
    /// A limit is zero.
    Limit(ZeroLimit),
    /// Reasoning is told by the messages of one family, calls are another's.
    TwoGrammars {
        /// The family of the messages.
        reasoning: String,
        /// The tool-call family.
        tools: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::Table(error) => error.fmt(f),
            Self::Limit(error) => error.fmt(f),
            Self::TwoGrammars { reasoning, tools } => write!(
                f,
                "reasoning format `{reasoning}` needs tool-call family `{reasoning}` or none, \
                 found `{tools}`"
            ),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<UnknownName> for BuildError {
    fn from(error: UnknownName) -> Self {
        Self::Unknown(error)
    }
}

impl From<TableError> for BuildError {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl From<ZeroLimit> for BuildError {
    fn from(error: ZeroLimit) -> Self {
        Self::Limit(error)
    }
}

const _: () = {
    const fn machine<T: Clone + Send + 'static>() {}
    machine::<Guard>();
};
