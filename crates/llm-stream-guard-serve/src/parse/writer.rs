//! Clean chunks to what is shown: text, calls that begin and end, notes.

use std::{collections::BTreeMap, io};

use llm_stream_guard::{
    End, Outcome,
    chat::{ChatNote, ChatSink, Choice, Chunk, Content, Note as ChoiceNote, ToolCallDelta},
};

use super::shown::{Remark, Render, ShownEvent};

/// Where events and notes go.
pub struct EventWriter<'r> {
    render: &'r mut dyn Render,
    choices: BTreeMap<u32, Progress>,
    /// The first error of the output; nothing is written after it.
    result: io::Result<()>,
}

/// The progress of a choice.
#[derive(Debug, Default)]
struct Progress {
    /// Calls that began and have not been shown to end, in their order.
    open: Vec<u32>,
    /// Outcomes of calls, which the chat guard reports before it writes their last chunk.
    outcomes: BTreeMap<u32, Outcome>,
    finished: bool,
}

impl<'r> EventWriter<'r> {
    /// Shows everything in `render`.
    pub fn new(render: &'r mut dyn Render) -> Self {
        Self { render, choices: BTreeMap::new(), result: Ok(()) }
    }

    fn show(&mut self, choice: u32, shown: ShownEvent<'_>) {
        if self.result.is_ok() {
            self.result = self.render.show(choice, shown);
        }
    }

    /// Shows a note about the stream as a whole: to every open choice, or to the first.
    pub fn note(&mut self, note: Remark<'_>) {
        let open = self.choices.iter().filter(|(_, choice)| !choice.finished);
        let mut open: Vec<u32> = open.map(|(&index, _)| index).collect();
        if open.is_empty() {
            open.push(0);
        }
        open.into_iter().for_each(|index| self.show(index, ShownEvent::Note(note)));
    }

    /// Shows the ends of calls that are known to have ended.
    pub fn settle(&mut self) {
        let known: Vec<u32> = self.choices.keys().copied().collect();
        known.into_iter().for_each(|choice| self.settle_choice(choice, None, None));
    }

    /// Shows the ends of all calls of a choice except `except`. Calls without a reported outcome
    /// are the server's own and end with `last`.
    fn settle_choice(&mut self, choice: u32, except: Option<u32>, last: Option<Outcome>) {
        let Some(Progress { open, outcomes, .. }) = self.choices.get_mut(&choice) else { return };
        let mut ended = Vec::new();
        open.retain(|&index| {
            let outcome =
                if except == Some(index) { None } else { outcomes.remove(&index).or(last) };
            ended.extend(outcome.map(|outcome| (index, outcome)));
            outcome.is_none()
        });
        for (index, outcome) in ended {
            self.show(choice, ShownEvent::CallEnd { index, outcome: outcome.name() });
        }
    }

    /// The stream ended: open calls end, and choices without a finish reason are noted if it was
    /// cut.
    pub fn end(&mut self, end: End) {
        let last = if end == End::Stop { Outcome::Complete } else { Outcome::Incomplete };
        let open = self.choices.iter().filter(|(_, choice)| !choice.finished);
        for choice in open.map(|(&index, _)| index).collect::<Vec<_>>() {
            self.settle_choice(choice, None, Some(last));
            if end == End::Aborted {
                let kind = "no_finish_reason";
                self.show(choice, ShownEvent::Note(Remark { kind, ..Remark::default() }));
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
    /// As [`EventWriter::flush`].
    pub fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        self.render.finish()
    }

    fn text<'t>(
        &mut self,
        choice: u32,
        text: &'t str,
        shown: impl FnOnce(&'t str) -> ShownEvent<'t>,
    ) {
        if !text.is_empty() {
            self.settle_choice(choice, None, None);
            self.show(choice, shown(text));
        }
    }

    fn call(&mut self, choice: u32, delta: &ToolCallDelta) {
        let index = delta.index.unwrap_or_default();
        self.settle_choice(choice, Some(index), None);
        let function = delta.function.as_ref();
        if let Some(id) = &delta.id {
            self.choices.entry(choice).or_default().open.push(index);
            let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
            self.show(choice, ShownEvent::CallStart { index, id, name });
        }
        let fragment = function.and_then(|function| function.arguments.as_deref());
        if let Some(fragment) = fragment.filter(|text| !text.is_empty()) {
            self.show(choice, ShownEvent::CallArguments { index, fragment });
        }
    }

    fn choice(&mut self, Choice { index, delta, finish_reason, .. }: &Choice) {
        let index = *index;
        self.choices.entry(index).or_default();
        self.text(index, delta.reasoning_text().unwrap_or_default(), ShownEvent::Reasoning);
        match delta.content.value() {
            Some(Content::Text(text)) => self.text(index, text, ShownEvent::Content),
            Some(Content::Parts(parts)) => {
                for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                    self.text(index, text, ShownEvent::Content);
                }
            }
            None => {}
        }
        delta.tool_calls.iter().for_each(|call| self.call(index, call));
        if let Some(reason) = finish_reason.value() {
            let cut = matches!(reason.as_str(), "length" | "max_tokens");
            let last = if cut { Outcome::Incomplete } else { Outcome::Complete };
            self.settle_choice(index, None, Some(last));
            self.choices.entry(index).or_default().finished = true;
        }
    }
}

impl ChatSink for EventWriter<'_> {
    fn chunk(&mut self, chunk: Chunk, _: u64) {
        chunk.choices.iter().for_each(|choice| self.choice(choice));
    }

    fn note(&mut self, ChatNote { choice, note }: ChatNote) {
        let note = match note {
            ChoiceNote::CallEnd { index, outcome } => {
                self.choices.entry(choice).or_default().outcomes.insert(index, outcome);
                return;
            }
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
            _ => return,
        };
        self.show(choice, ShownEvent::Note(note));
    }
}
