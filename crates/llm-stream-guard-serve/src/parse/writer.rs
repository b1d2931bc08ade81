//! Writes the output of a chat guard as deltas and notes.

use std::{collections::BTreeMap, io};

use llm_stream_guard::{
    End, MessageEnd,
    chat::{ChatNote, ChatSink, ChatStep, Delta, Note as ChoiceNote},
};

use super::shown::{Remark, Render};

/// A sink of chunks that writes their deltas and notes.
pub struct EventWriter<'r> {
    render: &'r mut dyn Render,
    /// Whether each choice has its finish reason.
    finished: BTreeMap<u32, bool>,
    /// How each choice ended. A choice whose note has come may still have deltas.
    ends: BTreeMap<u32, MessageEnd>,
    /// The first error of the output; nothing is written after it.
    result: io::Result<()>,
}

impl<'r> EventWriter<'r> {
    /// Creates a writer to `render`.
    pub fn new(render: &'r mut dyn Render) -> Self {
        let (finished, ends) = (BTreeMap::new(), BTreeMap::new());
        Self { render, finished, ends, result: Ok(()) }
    }

    fn show(&mut self, choice: u32, note: Remark<'_>) {
        if self.result.is_ok() {
            self.result = self.render.note(choice, note);
        }
    }

    /// Returns the choices without a finish reason.
    fn open(&self) -> Vec<u32> {
        let open = self.finished.iter().filter(|(_, finished)| !**finished);
        open.map(|(&index, _)| index).collect()
    }

    /// Writes a note about the whole stream for every open choice, or for choice 0 if none is open.
    pub fn note(&mut self, note: Remark<'_>) {
        let mut open = self.open();
        if open.is_empty() {
            open.push(0);
        }
        open.into_iter().for_each(|index| self.show(index, note));
    }

    /// Ends the stream. If it was cut, notes the choices without a finish reason. Then writes how each
    /// choice ended.
    pub fn end(&mut self, end: End) {
        let kind = "no_finish_reason";
        let open = if end == End::Aborted { self.open() } else { Vec::new() };
        open.into_iter().for_each(|index| self.show(index, Remark { kind, ..Remark::default() }));
        for (choice, end) in std::mem::take(&mut self.ends) {
            if self.result.is_ok() {
                self.result = self.render.end(choice, end);
            }
        }
    }

    /// Flushes the output.
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
    /// As [`EventWriter::flush`].
    pub fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        self.render.finish()
    }
}

impl ChatSink for EventWriter<'_> {
    fn step(&mut self, step: ChatStep<'_>) {
        step.deltas(|choice, delta| {
            let finishes = match delta {
                Delta::Around(_) | Delta::Usage(_) => return,
                delta => matches!(delta, Delta::Finish { .. }),
            };
            *self.finished.entry(choice).or_default() |= finishes;
            if self.result.is_ok() {
                self.result = self.render.delta(choice, delta);
            }
        });
    }

    fn note(&mut self, ChatNote { choice, note }: ChatNote) {
        let note = match note {
            ChoiceNote::Diagnostic(diagnostic) => Remark {
                kind: diagnostic.kind.name(),
                at: Some(diagnostic.at),
                bytes: Some(diagnostic.bytes),
                call: diagnostic.call,
                ..Remark::default()
            },
            ChoiceNote::Violation(violation) => {
                Remark { kind: violation.name(), ..Remark::default() }
            }
            ChoiceNote::End(end) => {
                self.ends.insert(choice, end);
                return;
            }
            _ => return,
        };
        self.show(choice, note);
    }
}
