//! The jailed stream in its plain form: start and end sequences, and perhaps a parser.

mod chat;

use std::{fmt, sync::Arc};

use futures_core::Stream;
use jail_match::{End, Jail, JailError, JailEvent, LimitError, Limits, Whitespace};
use think_filter::Start;
use toolcall_parsers::{
    Event, Events, Grammar, Options, Tools, UnknownName,
    grammar::{Certainty, Opener, Role, Text},
};

use crate::{
    chat::{Annotations, ChatOptions},
    guard::{BuildError, Delivery, Guard},
    profile::Profile,
    stream::{Guarded, Stage},
};

/// Withholds tool calls until they are whole, and releases each as one piece.
///
/// With [`JailedStreamBuilder::tool_call_parser`] the family's own markers begin and end a
/// jail; sequences given by hand replace them. Text outside passes through unchanged, and what
/// was jailed but is no call comes out verbatim, in place.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{JailedStream, OwnedEvent};
/// use tokio_stream::StreamExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let jail = JailedStream::builder()
///     .jail_start_sequence("<TOOLCALL>")
///     .jail_end_sequence("</TOOLCALL>")
///     .tool_call_parser("hermes")
///     .build()?;
/// let chunks = ["Hi. <TOOL", "CALL>{\"name\": \"f\", ", "\"arguments\": {}}</TOOLCALL>"];
/// let chunks = tokio_stream::iter(chunks.map(Ok::<_, std::io::Error>));
/// let events: Vec<_> = jail.apply_text(chunks).collect().await;
/// assert!(matches!(&events[0], Ok(OwnedEvent::Content(text)) if text == "Hi. "));
/// assert!(matches!(&events[1], Ok(OwnedEvent::CallStart { name, .. }) if name == "f"));
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct JailedStream {
    machine: JailMachine,
    chat: ChatOptions,
    annotations: Annotations,
}

/// Builds a [`JailedStream`].
#[derive(Debug, Clone, Default)]
pub struct JailedStreamBuilder {
    starts: Vec<String>,
    ends: Vec<String>,
    parser: Option<String>,
    tools: Tools,
    options: Options,
    reasoning: Option<String>,
    start: Start,
    limits: Limits,
    delivery: Option<Delivery>,
    chat: ChatOptions,
    annotations: Annotations,
}

impl JailedStreamBuilder {
    /// Adds a start sequence.
    #[must_use]
    pub fn jail_start_sequence(mut self, sequence: impl Into<String>) -> Self {
        self.starts.push(sequence.into());
        self
    }

    /// Adds start sequences.
    #[must_use]
    pub fn jail_start_sequences<T: Into<String>>(
        mut self,
        sequences: impl IntoIterator<Item = T>,
    ) -> Self {
        self.starts.extend(sequences.into_iter().map(Into::into));
        self
    }

    /// Adds an end sequence.
    #[must_use]
    pub fn jail_end_sequence(mut self, sequence: impl Into<String>) -> Self {
        self.ends.push(sequence.into());
        self
    }

    /// Adds end sequences.
    #[must_use]
    pub fn jail_end_sequences<T: Into<String>>(
        mut self,
        sequences: impl IntoIterator<Item = T>,
    ) -> Self {
        self.ends.extend(sequences.into_iter().map(Into::into));
        self
    }

    /// The tool-call family that parses what was jailed.
    #[must_use]
    pub fn tool_call_parser(self, family: impl Into<String>) -> Self {
        Self { parser: Some(family.into()), ..self }
    }

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

    /// The format reasoning is recognised by, beside the parser.
    #[must_use]
    pub fn reasoning_parser(self, format: impl Into<String>) -> Self {
        Self { reasoning: Some(format.into()), ..self }
    }

    /// Where the stream begins: in reasoning, if the prompt opened it.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// Bounds on what is held, for a parser.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// How calls are delivered: whole, unless said otherwise.
    #[must_use]
    pub fn delivery(self, delivery: Delivery) -> Self {
        Self { delivery: Some(delivery), ..self }
    }

    /// Looks the parsers up and compiles the sequences.
    ///
    /// # Errors
    /// An unknown parser; an empty sequence; neither a parser nor a start sequence; sequences
    /// without a tool-call parser beside a reasoning parser.
    pub fn build(self) -> Result<JailedStream, JailedError> {
        let (chat, annotations) = (self.chat.clone(), self.annotations);
        Ok(JailedStream { machine: self.machine()?, chat, annotations })
    }

    fn machine(self) -> Result<JailMachine, JailedError> {
        let sequences = !self.starts.is_empty() || !self.ends.is_empty();
        if self.parser.is_none() && self.reasoning.is_some() && sequences {
            return Err(JailedError::NoParser);
        }
        if self.parser.is_none() && self.reasoning.is_none() {
            let jail = self.starts.into_iter().fold(Jail::builder(), |jail, s| jail.start(s));
            let jail = self.ends.into_iter().fold(jail, |jail, end| jail.end(end));
            return Ok(JailMachine::Plain(Box::new(jail.build()?)));
        }
        let mut profile = Profile::named("jailed");
        profile.reasoning = self.reasoning;
        let mut guard = Guard::builder(&profile)
            .tools(self.tools)
            .options(self.options)
            .delivery(self.delivery.unwrap_or(Delivery::Atomic))
            .start(self.start)
            .limits(self.limits)
            .whitespace(Whitespace::Verbatim);
        if let Some(name) = &self.parser {
            let family = toolcall_parsers::grammar(name).map_err(JailedError::Parser)?;
            let grammar = with_sequences(family.as_ref().clone(), &self.starts, &self.ends);
            guard = guard.grammar(Arc::new(grammar));
        }
        Ok(JailMachine::Parsed(Box::new(guard.build()?)))
    }
}

/// The family's grammar with its markers replaced by sequences given by hand.
fn with_sequences(mut family: Grammar, starts: &[String], ends: &[String]) -> Grammar {
    let model = family.openers.iter().find(|o| o.certainty == Certainty::Marked);
    let model = model.or(family.openers.first()).cloned();
    if let (Some(model), false) = (model, starts.is_empty()) {
        let opener = |start: &String| Opener {
            marker: start.clone().into(),
            certainty: Certainty::Marked,
            role: Role::Before,
            ..model.clone()
        };
        family.openers = starts.iter().map(opener).collect();
    }
    if !ends.is_empty() {
        let ends: Vec<Text> = ends.iter().map(|end| end.clone().into()).collect();
        for shape in family.openers.iter_mut().flat_map(|opener| &mut opener.shapes) {
            shape.set_closers(&ends);
        }
        family.orphans = ends;
    }
    family
}

impl JailedStream {
    /// A jail without sequences and parser.
    #[must_use]
    pub fn builder() -> JailedStreamBuilder {
        JailedStreamBuilder::default()
    }

    /// Puts the jail around a stream of text. A jail may be applied any number of times.
    pub fn apply_text<S, T, E>(&self, inner: S) -> Guarded<S, JailMachine>
    where
        S: Stream<Item = Result<T, E>>,
        T: AsRef<str>,
    {
        Guarded::new(inner, self.machine.clone())
    }
}

/// The machine inside a jailed stream.
#[derive(Debug, Clone)]
pub enum JailMachine {
    /// A parser reads what is jailed.
    Parsed(Box<Guard>),
    /// What is jailed is text, released as one piece.
    Plain(Box<Jail>),
}

impl Stage for JailMachine {
    fn push(&mut self, chunk: &str, mut on: impl FnMut(Event<'_>)) -> Result<(), LimitError> {
        match self {
            Self::Parsed(guard) => guard.push(chunk, &mut Events(on)),
            Self::Plain(jail) => {
                jail.push(chunk, |event| release(event, &mut on));
                Ok(())
            }
        }
    }

    fn finish(&mut self, end: End, mut on: impl FnMut(Event<'_>)) -> Result<(), LimitError> {
        match self {
            Self::Parsed(guard) => guard.finish(end, &mut Events(on)),
            Self::Plain(jail) => {
                jail.finish(|event| release(event, &mut on));
                Ok(())
            }
        }
    }
}

fn release(event: JailEvent<'_>, on: &mut impl FnMut(Event<'_>)) {
    match event {
        JailEvent::Text(text) => on(Event::Content(text)),
        JailEvent::Jailed(jailed) => {
            let whole = [jailed.start, jailed.body, jailed.end.unwrap_or("")].concat();
            on(Event::Content(&whole));
        }
    }
}

/// Why a jail could not be built. The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailedError {
    /// The parser is not registered.
    Parser(UnknownName),
    /// A sequence is faulty, or there is none.
    Jail(JailError),
    /// There are sequences and a reasoning parser, but no tool-call parser for what the
    /// sequences jail.
    NoParser,
    /// The sequences do not make a table.
    Build(BuildError),
}

impl fmt::Display for JailedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parser(error) => error.fmt(f),
            Self::Jail(error) => error.fmt(f),
            Self::NoParser => {
                f.write_str("jail sequences beside a reasoning parser need a tool-call parser, too")
            }
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for JailedError {}

impl From<JailError> for JailedError {
    fn from(error: JailError) -> Self {
        Self::Jail(error)
    }
}

impl From<BuildError> for JailedError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}
