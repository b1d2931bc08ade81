//! Events: what a parser reports, borrowed while it streams and owned for keeping.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use jail_match::{Channel, Notice, NoticeKind, Sink};

/// Receives what a parser emits, in source order.
///
/// Extends [`Sink`] (text) with the life of calls: one [`CallSink::call_start`], any number of
/// [`CallSink::call_arguments`], one [`CallSink::call_end`], never interleaved with another
/// call's.
pub trait CallSink: Sink {
    /// A call began: its index in the message (0, 1, 2 ...), its id, its complete name.
    fn call_start(&mut self, index: u32, id: &str, name: &str);

    /// The call's arguments grew: the fragments concatenate to the JSON text of one object.
    fn call_arguments(&mut self, index: u32, fragment: &str);

    /// The call ended.
    fn call_end(&mut self, index: u32, outcome: Outcome);

    /// Something worth knowing about a call. Ignored unless overridden.
    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        let _ = diagnostic;
    }
}

impl<S: CallSink + ?Sized> CallSink for &mut S {
    fn call_start(&mut self, index: u32, id: &str, name: &str) {
        (**self).call_start(index, id, name);
    }

    #[inline]
    fn call_arguments(&mut self, index: u32, fragment: &str) {
        (**self).call_arguments(index, fragment);
    }

    fn call_end(&mut self, index: u32, outcome: Outcome) {
        (**self).call_end(index, outcome);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        (**self).diagnostic(diagnostic);
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Its arguments are one complete JSON object.
    Complete,
    /// It was cut and closed on request ([`crate::Repair::Close`]); its arguments are JSON.
    Repaired,
    /// The model broke the family's syntax after the call was certain.
    Malformed,
    /// The stream ended inside it.
    Incomplete,
}

impl Outcome {
    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Repaired => "repaired",
            Self::Malformed => "malformed",
            Self::Incomplete => "incomplete",
        }
    }
}

/// Something worth knowing that is not an error; never fatal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagnostic {
    /// What happened.
    pub kind: DiagnosticKind,
    /// Offset in the stream, in bytes.
    pub at: u64,
    /// How many bytes of input it concerns; 0 where none were dropped.
    pub bytes: u64,
    /// The call it is about, if any.
    pub call: Option<u32>,
}

/// What a [`Diagnostic`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The driver's own: limits and cut openers.
    Driver(NoticeKind),
    /// A list of calls between explicit markers was empty.
    EmptyList,
    /// Bytes behind a broken call were dropped.
    Skipped,
    /// A second key for the arguments was ignored.
    SecondArguments,
    /// An id came too late to be used.
    LateId,
    /// The end marker never came.
    MissingCloser,
    /// Text between the markers of a section was dropped.
    Noise,
    /// A parameter was given twice, and this one was dropped.
    DuplicateParameter,
    /// A parameter's text did not fit its declared type and was kept as a string.
    Mistyped,
    /// A pseudo call of the family (a name that means "no tool") was dropped.
    PseudoCall,
    /// The name is not among the declared tools.
    UndeclaredTool,
    /// A call beyond the first was dropped because parallel calls are off.
    ParallelCall,
    /// A literal that JSON cannot express.
    Inexpressible,
    /// An id was used before in this message and got a suffix.
    DuplicateId,
    /// A call was dropped because the request did not ask for it.
    UnwantedCall,
    /// What had to be calls was none, and was dropped.
    BadPayload,
    /// Text behind a stop string was dropped.
    AfterStop,
    /// Arguments were not JSON in a way that is tolerated.
    Tolerated,
}

impl DiagnosticKind {
    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Driver(kind) => kind.name(),
            Self::EmptyList => "empty_list",
            Self::Skipped => "skipped",
            Self::SecondArguments => "second_arguments",
            Self::LateId => "late_id",
            Self::MissingCloser => "missing_closer",
            Self::Noise => "noise",
            Self::DuplicateParameter => "duplicate_parameter",
            Self::Mistyped => "mistyped",
            Self::PseudoCall => "pseudo_call",
            Self::UndeclaredTool => "undeclared_tool",
            Self::ParallelCall => "parallel_call",
            Self::Inexpressible => "inexpressible",
            Self::DuplicateId => "duplicate_id",
            Self::UnwantedCall => "unwanted_call",
            Self::BadPayload => "bad_payload",
            Self::AfterStop => "after_stop",
            Self::Tolerated => "tolerated",
        }
    }
}

impl From<Notice> for Diagnostic {
    fn from(notice: Notice) -> Self {
        let Notice { kind, at, bytes } = notice;
        Self { kind: DiagnosticKind::Driver(kind), at, bytes, call: None }
    }
}

/// One event, borrowed from the chunk that is being parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Visible text.
    Content(&'a str),
    /// Reasoning text.
    Reasoning(&'a str),
    /// A call began.
    CallStart {
        /// Position among the message's calls.
        index: u32,
        /// The wire's id, or a generated one.
        id: &'a str,
        /// The complete name.
        name: &'a str,
    },
    /// A call's arguments grew.
    CallArguments {
        /// Position among the message's calls.
        index: u32,
        /// The next piece of the arguments' JSON text.
        fragment: &'a str,
    },
    /// A call ended.
    CallEnd {
        /// Position among the message's calls.
        index: u32,
        /// How.
        outcome: Outcome,
    },
    /// Something worth knowing.
    Diagnostic(Diagnostic),
}

/// One event, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedEvent {
    /// Visible text.
    Content(String),
    /// Reasoning text.
    Reasoning(String),
    /// A call began.
    CallStart {
        /// Position among the message's calls.
        index: u32,
        /// The wire's id, or a generated one.
        id: String,
        /// The complete name.
        name: String,
    },
    /// A call's arguments grew.
    CallArguments {
        /// Position among the message's calls.
        index: u32,
        /// The next piece of the arguments' JSON text.
        fragment: String,
    },
    /// A call ended.
    CallEnd {
        /// Position among the message's calls.
        index: u32,
        /// How.
        outcome: Outcome,
    },
    /// Something worth knowing.
    Diagnostic(Diagnostic),
}

impl Event<'_> {
    /// The event with its own copy of the text.
    #[must_use]
    pub fn to_owned(self) -> OwnedEvent {
        match self {
            Self::Content(text) => OwnedEvent::Content(text.to_owned()),
            Self::Reasoning(text) => OwnedEvent::Reasoning(text.to_owned()),
            Self::CallStart { index, id, name } => {
                OwnedEvent::CallStart { index, id: id.to_owned(), name: name.to_owned() }
            }
            Self::CallArguments { index, fragment } => {
                OwnedEvent::CallArguments { index, fragment: fragment.to_owned() }
            }
            Self::CallEnd { index, outcome } => OwnedEvent::CallEnd { index, outcome },
            Self::Diagnostic(diagnostic) => OwnedEvent::Diagnostic(diagnostic),
        }
    }
}

impl OwnedEvent {
    /// The event, borrowed.
    #[must_use]
    pub fn as_event(&self) -> Event<'_> {
        match self {
            Self::Content(text) => Event::Content(text),
            Self::Reasoning(text) => Event::Reasoning(text),
            Self::CallStart { index, id, name } => Event::CallStart { index: *index, id, name },
            Self::CallArguments { index, fragment } => {
                Event::CallArguments { index: *index, fragment }
            }
            Self::CallEnd { index, outcome } => Event::CallEnd { index: *index, outcome: *outcome },
            Self::Diagnostic(diagnostic) => Event::Diagnostic(*diagnostic),
        }
    }
}

/// A sink that hands every event to a closure.
///
/// Text of channels other than reasoning is content.
#[derive(Debug, Clone)]
pub struct Events<F>(pub F);

impl<F: FnMut(Event<'_>)> Sink for Events<F> {
    #[inline]
    fn text(&mut self, channel: Channel, text: &str) {
        (self.0)(match channel {
            Channel::REASONING => Event::Reasoning(text),
            _ => Event::Content(text),
        });
    }

    fn notice(&mut self, notice: Notice) {
        (self.0)(Event::Diagnostic(notice.into()));
    }
}

impl<F: FnMut(Event<'_>)> CallSink for Events<F> {
    fn call_start(&mut self, index: u32, id: &str, name: &str) {
        (self.0)(Event::CallStart { index, id, name });
    }

    #[inline]
    fn call_arguments(&mut self, index: u32, fragment: &str) {
        (self.0)(Event::CallArguments { index, fragment });
    }

    fn call_end(&mut self, index: u32, outcome: Outcome) {
        (self.0)(Event::CallEnd { index, outcome });
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        (self.0)(Event::Diagnostic(diagnostic));
    }
}

/// A whole message, as [`crate::parse`] and [`Message::collect`] return it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Message {
    /// All visible text.
    pub content: String,
    /// All reasoning.
    pub reasoning: String,
    /// The calls, in order, complete or not.
    pub calls: Vec<Call>,
    /// What was worth knowing, in order.
    pub diagnostics: Vec<Diagnostic>,
}

/// A call of a [`Message`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The wire's id, or a generated one.
    pub id: String,
    /// The name.
    pub name: String,
    /// The arguments' JSON text; a prefix of it unless the outcome is complete or repaired.
    pub arguments: String,
    /// How it ended; `None` while it is open.
    pub outcome: Option<Outcome>,
}

impl Message {
    /// Adds an event.
    pub fn collect(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) => self.content.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::CallStart { id, name, .. } => self.calls.push(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: String::new(),
                outcome: None,
            }),
            Event::CallArguments { index, fragment } => {
                if let Some(call) = self.calls.get_mut(index as usize) {
                    call.arguments.push_str(fragment);
                }
            }
            Event::CallEnd { index, outcome } => {
                if let Some(call) = self.calls.get_mut(index as usize) {
                    call.outcome = Some(outcome);
                }
            }
            Event::Diagnostic(diagnostic) => self.diagnostics.push(diagnostic),
        }
    }
}
