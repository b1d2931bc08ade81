//! The choices of a response: one guard each, and what comes out of it.

use std::{collections::BTreeMap, io};

use llm_stream_guard::{End, Event, Guard, LimitError};

use crate::parse::{
    native::{Fragment, NativeCalls},
    shown::{Note, Render, Shown},
};

/// The most choices of one response: each has a guard of its own.
const MOST: usize = 1024;

/// Every choice seen so far, and where their events go.
pub struct Choices<'r> {
    template: Guard,
    chunk: Option<usize>,
    render: &'r mut dyn Render,
    choices: BTreeMap<u32, Choice>,
    /// The first error of the output; nothing is written after it.
    result: io::Result<()>,
}

struct Choice {
    guard: Guard,
    /// Bytes waiting to become a piece of the length asked for.
    recut: Vec<u8>,
    calls: NativeCalls,
    ended: bool,
}

/// What is done to a choice.
#[derive(Debug, Clone, Copy)]
pub enum Step<'s> {
    /// Raw text, which the guard reads.
    Text(&'s [u8]),
    /// Text the server has already found to be reasoning.
    Reasoning(&'s str),
    /// A piece of a call the server has already found.
    Call(Fragment<'s>),
    /// The choice ended.
    End(End),
    /// Something worth knowing.
    Note(Note<'s>),
}

impl<'r> Choices<'r> {
    /// No choice yet; each gets a clone of `template`, fed in pieces of `chunk` bytes if given.
    pub fn new(template: Guard, chunk: Option<usize>, render: &'r mut dyn Render) -> Self {
        Self { template, chunk, render, choices: BTreeMap::new(), result: Ok(()) }
    }

    /// Does `step` to the choice at `index`.
    pub fn step(&mut self, index: u32, step: Step<'_>) {
        if self.result.is_err() {
            return;
        }
        let known = self.choices.contains_key(&index);
        if let (Step::Note(note), false) = (step, known) {
            self.result = self.render.show(index, Shown::Note(note));
            return;
        }
        if !known && self.choices.len() == MOST {
            let note = Note { kind: "too_many_choices", ..Note::default() };
            self.result = self.render.show(index, Shown::Note(note));
            return;
        }
        let choice = self.choices.entry(index).or_insert_with(|| Choice {
            guard: self.template.clone(),
            recut: Vec::new(),
            calls: NativeCalls::default(),
            ended: false,
        });
        let mut sink = Output { render: &mut *self.render, choice: index, result: Ok(()) };
        choice.step(step, self.chunk, &mut sink);
        self.result = sink.result;
    }

    /// Reports something about the stream as a whole: to every open choice, or to the first.
    pub fn note(&mut self, note: Note<'_>) {
        let open = self.choices.iter().filter(|(_, choice)| !choice.ended).map(|(&index, _)| index);
        let mut open: Vec<u32> = open.collect();
        if open.is_empty() {
            open.push(0);
        }
        open.into_iter().for_each(|index| self.step(index, Step::Note(note)));
    }

    /// Ends every choice that is open, saying `why` if there is something to say.
    pub fn end_open(&mut self, end: End, why: Option<&str>) {
        let open = self.choices.iter().filter(|(_, choice)| !choice.ended).map(|(&index, _)| index);
        for index in open.collect::<Vec<_>>() {
            self.step(index, Step::End(end));
            if let Some(kind) = why {
                self.step(index, Step::Note(Note { kind, ..Note::default() }));
            }
        }
    }

    /// Passes on what was written.
    ///
    /// # Errors
    /// The first error of the output since the last flush.
    pub fn flush(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.result, Ok(()))?;
        self.render.flush()
    }

    /// Ends the output.
    ///
    /// # Errors
    /// As [`Choices::flush`].
    pub fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        self.render.finish()
    }
}

/// The way of one choice's events to the output.
struct Output<'o> {
    render: &'o mut dyn Render,
    choice: u32,
    result: io::Result<()>,
}

impl Output<'_> {
    fn show(&mut self, shown: Shown<'_>) {
        if self.result.is_ok() {
            self.result = self.render.show(self.choice, shown);
        }
    }
}

impl Choice {
    fn step(&mut self, step: Step<'_>, chunk: Option<usize>, out: &mut Output<'_>) {
        if self.ended && !matches!(step, Step::End(_) | Step::Note(_)) {
            // Rather a second message than lost text.
            self.ended = false;
            out.show(Shown::Note(Note { kind: "after_end", ..Note::default() }));
        }
        match step {
            Step::Text(bytes) => match chunk {
                None => self.feed(bytes, out),
                Some(len) => self.feed_recut(bytes, len, out),
            },
            Step::Reasoning(text) => {
                self.flush_recut(out);
                out.show(Shown::Reasoning(text));
            }
            Step::Call(fragment) => {
                self.flush_recut(out);
                self.calls.push(fragment, &mut |shown| out.show(shown));
            }
            Step::End(end) => self.end(end, out),
            Step::Note(note) => {
                self.flush_recut(out);
                out.show(Shown::Note(note));
            }
        }
    }

    fn feed_recut(&mut self, bytes: &[u8], len: usize, out: &mut Output<'_>) {
        let mut pending = std::mem::take(&mut self.recut);
        pending.extend_from_slice(bytes);
        let mut pieces = pending.chunks_exact(len);
        pieces.by_ref().for_each(|piece| self.feed(piece, out));
        self.recut.extend_from_slice(pieces.remainder());
    }

    fn flush_recut(&mut self, out: &mut Output<'_>) {
        let rest = std::mem::take(&mut self.recut);
        self.feed(&rest, out);
    }

    fn feed(&mut self, bytes: &[u8], out: &mut Output<'_>) {
        let Self { guard, calls, .. } = self;
        let result = guard.push_bytes(bytes, &mut |event: Event<'_>| pass(event, calls, out));
        limit(result, out);
    }

    fn end(&mut self, end: End, out: &mut Output<'_>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.flush_recut(out);
        let Self { guard, calls, .. } = self;
        let result = guard.finish(end, &mut |event: Event<'_>| pass(event, calls, out));
        limit(result, out);
        self.calls.end(end, &mut |shown| out.show(shown));
        if self.guard.replaced() > 0 {
            let count = Some(self.guard.replaced());
            out.show(Shown::Note(Note { kind: "invalid_utf8", count, ..Note::default() }));
        }
        self.guard.reset();
    }
}

/// Under the policies the command sets no limit is an error; if one ever is, it shows.
fn limit(result: Result<(), LimitError>, out: &mut Output<'_>) {
    if let Err(LimitError { kind, at, bytes }) = result {
        let (at, bytes) = (Some(at), Some(bytes));
        out.show(Shown::Note(Note { kind: kind.name(), at, bytes, ..Note::default() }));
    }
}

/// Passes on a guard's event, its calls numbered together with the server's own.
fn pass(event: Event<'_>, calls: &mut NativeCalls, out: &mut Output<'_>) {
    out.show(match event {
        Event::Content(text) => Shown::Content(text),
        Event::Reasoning(text) => Shown::Reasoning(text),
        Event::CallStart { id, name, .. } => {
            let index = calls.number_of_guard();
            Shown::CallStart { index, id, name }
        }
        Event::CallArguments { fragment, .. } => {
            Shown::CallArguments { index: calls.guard_call(), fragment }
        }
        Event::CallEnd { outcome, .. } => {
            Shown::CallEnd { index: calls.guard_call(), outcome: outcome.name() }
        }
        Event::Diagnostic(diagnostic) => Shown::Note(Note {
            kind: diagnostic.kind.name(),
            at: Some(diagnostic.at),
            bytes: Some(diagnostic.bytes),
            call: diagnostic.call.map(|_| calls.guard_call()),
            ..Note::default()
        }),
        _ => return,
    });
}
