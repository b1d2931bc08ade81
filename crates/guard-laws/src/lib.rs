//! Adapters that make guards and parsers of templates machines under test. They write events,
//! diagnostics and spans into a record.
//!
//! ```
//! use guard_laws::GuardMachine;
//! use llm_stream_guard::{End, Guard};
//! use stream_laws::{CutPlan, check_chunk_invariance};
//! let guard = Guard::for_model("Qwen/Qwen3-8B").unwrap().build().unwrap();
//! let machine = GuardMachine::new(guard, End::Stop);
//! check_chunk_invariance(&machine, "<think>why</think>so", CutPlan::quick(1)).unwrap();
//! ```
//! A [`TemplateMachine`] does the same for a parser of a template, a [`TokenMachine`] for a guard that is given
//! tokens. Each writes through a [`Recorder`]. [`Damage`] generates wires with damaged calls.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, reason = "tests build what it makes")]

mod damage;
mod options;
mod tokens;

pub use damage::Damage;
pub use options::{call_options, reasoning_options, varied};
pub use tokens::{TokenMachine, likely_marker_tokens, markers_in};

use jail_match::{HeldKind, LimitError, Sink, Span, SpanKind};
use llm_stream_guard::{End, Event, Guard, Ids};
use response_templates::TemplateParser;
use stream_laws::{ByteMachine, HeldBytes, RunRecord, StreamMachine};

/// A guard as a machine under test, with the end of its stream.
#[derive(Debug, Clone)]
pub struct GuardMachine {
    guard: Guard,
    end: End,
    /// Whether a limit ended the stream. Later pushes return the same error, which is recorded
    /// once.
    failed: bool,
}

impl GuardMachine {
    /// Creates a machine that runs clones of `guard` and finishes them with `end`. Generated ids
    /// are numbers, because laws compare the events of several runs.
    #[must_use]
    pub fn new(mut guard: Guard, end: End) -> Self {
        guard.set_ids(Ids::counting());
        Self::with_ids(guard, end)
    }

    /// Creates a machine with ids as the guard generates them.
    #[must_use]
    pub fn with_ids(guard: Guard, end: End) -> Self {
        Self { guard, end, failed: false }
    }

    /// Records the error of a limit, once.
    fn note(&mut self, result: Result<(), LimitError>, out: &mut RunRecord) {
        if let Err(LimitError { kind, at, bytes }) = result
            && !std::mem::replace(&mut self.failed, true)
        {
            out.failure(kind.name(), at, bytes);
        }
    }
}

impl StreamMachine for GuardMachine {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        let result = self.guard.push(chunk, &mut Recorder(out));
        self.note(result, out);
    }

    fn finish(&mut self, out: &mut RunRecord) {
        let result = self.guard.finish(self.end, &mut Recorder(out));
        self.note(result, out);
    }

    fn reset(&mut self) {
        self.guard.reset();
        self.failed = false;
    }

    fn held(&self) -> HeldBytes {
        held(self.guard.held())
    }

    fn work(&self) -> u64 {
        self.guard.counters().examined
    }

    fn state_size(&self) -> usize {
        self.guard.buffered()
    }
}

impl ByteMachine for GuardMachine {
    fn push_bytes(&mut self, chunk: &[u8], out: &mut RunRecord) {
        let result = self.guard.push_bytes(chunk, &mut Recorder(out));
        self.note(result, out);
    }
}

/// A parser of a template as a machine under test.
#[derive(Debug, Clone)]
pub struct TemplateMachine(pub TemplateParser);

impl TemplateMachine {
    /// Creates a machine that runs clones of `parser`, with numbers as ids.
    #[must_use]
    pub fn new(mut parser: TemplateParser) -> Self {
        parser.set_ids(Ids::counting());
        Self(parser)
    }
}

impl StreamMachine for TemplateMachine {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        self.0.push(chunk, &mut Recorder(out));
    }

    fn finish(&mut self, out: &mut RunRecord) {
        self.0.finish(End::Stop, &mut Recorder(out));
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn held(&self) -> HeldBytes {
        held(self.0.held())
    }

    fn work(&self) -> u64 {
        self.0.work()
    }

    fn state_size(&self) -> usize {
        self.0.buffered()
    }
}

fn held(held: jail_match::Held) -> HeldBytes {
    let kind = match held.kind {
        HeldKind::Marker => stream_laws::HeldReason::Marker,
        // Reasoning that may still be the answer counts as a candidate.
        HeldKind::Candidate | HeldKind::Reasoning => stream_laws::HeldReason::Candidate,
        HeldKind::Whitespace => stream_laws::HeldReason::Whitespace,
        HeldKind::Call => stream_laws::HeldReason::Call,
        HeldKind::Utf8 => stream_laws::HeldReason::Utf8,
        // An unknown kind must not pass as a permitted one.
        _ => stream_laws::HeldReason::None,
    };
    HeldBytes::new(kind, held.bytes)
}

/// A sink that writes the output of a guard or a parser into a record.
///
/// # Panics
/// Panics at an event that is not of a call, a diagnostic or text.
#[derive(Debug)]
pub struct Recorder<'r>(pub &'r mut RunRecord);

impl Sink for Recorder<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::CallStart { index, id, name } => self.0.call_start(index, id, name),
            Event::CallArguments { index, fragment } => self.0.call_arguments(index, fragment),
            Event::CallEnd { index, outcome } => self.0.call_end(index, outcome.name()),
            Event::Diagnostic(it) => self.0.diagnostic(it.kind.name(), it.at, it.bytes),
            event => {
                let (channel, text) = event.as_text().expect("text is all there is besides");
                self.0.text(channel.index() as u8, text);
            }
        }
    }

    fn account(&mut self, span: Span) {
        let kind = match span.kind {
            SpanKind::Markup => stream_laws::RecordedSpanKind::Markup,
            SpanKind::Framing => stream_laws::RecordedSpanKind::Framing,
            SpanKind::Body => stream_laws::RecordedSpanKind::Call,
            SpanKind::Dropped => stream_laws::RecordedSpanKind::Dropped,
        };
        self.0.span(kind, span.at, span.len);
    }
}
