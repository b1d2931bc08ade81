//! Figures that stay as they were last agreed to: what a machine looks at, holds and reports.
//!
//! Laws say what may not be; these say what was, so that a change that makes a machine wait or work
//! more, or report something else, is seen in a file of the repository.

use std::{env, fs, path::Path};

use crate::{COMPLETE, Cut, Event, Machine, Record};

/// The figures of one or more runs, each of them a sum over the runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures(Vec<u64>);

impl Figures {
    /// Adds what a run of `machine` over `input` comes to: the machine's work, and the sums of what it
    /// held and of its live buffers behind each piece, all in bytes; how many events, complete calls
    /// and diagnostics it reported; of text and arguments the bytes; of diagnostics the sums of their
    /// places and of their bytes; the bytes of spans of each kind.
    pub fn add_run<M: Machine>(&mut self, machine: &M, input: &str, cut: Cut) {
        let (mut machine, mut out) = (machine.clone(), Record::default());
        let (mut held, mut buffered) = (0, 0);
        for piece in cut.pieces(input) {
            machine.push(piece, &mut out);
            held += machine.held().bytes as u64;
            buffered += machine.state_size() as u64;
        }
        machine.finish(&mut out);
        let bytes = |event: &Event| match event {
            Event::Text { text, .. } => text.len() as u64,
            Event::CallArguments { fragment, .. } => fragment.len() as u64,
            Event::CallStart { .. } | Event::CallEnd { .. } => 0,
        };
        let complete =
            |event: &&Event| matches!(event, Event::CallEnd { outcome, .. } if outcome == COMPLETE);
        let mut spans = [0; 4];
        for span in &out.spans {
            spans[span.kind as usize] += span.len;
        }
        let [markup, framing, call, dropped] = spans;
        self.add(&[
            machine.work(),
            held,
            buffered,
            out.events.len() as u64,
            out.events.iter().filter(complete).count() as u64,
            out.diagnostics.len() as u64,
            out.events.iter().map(bytes).sum(),
            out.diagnostics.iter().map(|one| one.offset).sum(),
            out.diagnostics.iter().map(|one| one.bytes).sum(),
            markup,
            framing,
            call,
            dropped,
        ]);
    }

    /// Adds the figures of another run, one to each so far.
    pub fn add(&mut self, other: &[u64]) {
        self.0.resize(self.0.len().max(other.len()), 0);
        self.0.iter_mut().zip(other).for_each(|(sum, more)| *sum += more);
    }

    /// A line of a file: the name and the figures, divided by tabs.
    #[must_use]
    pub fn line(&self, name: &str) -> String {
        let figures: Vec<String> = self.0.iter().map(u64::to_string).collect();
        format!("{name}\t{}\n", figures.join("\t"))
    }
}

/// Compares `told`, lines of figures, with the file they are kept in; with `UPDATE` in the
/// environment it writes the file.
///
/// # Errors
/// The first line that differs, or the file's own trouble.
pub fn as_kept(file: &Path, told: &str) -> Result<(), String> {
    if env::var_os("UPDATE").is_some() {
        return fs::write(file, told).map_err(|error| format!("{}: {error}", file.display()));
    }
    let kept = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let told = told.lines().map(Some).chain([None]);
    match told.zip(kept.lines().map(Some).chain([None])).find(|(told, kept)| told != kept) {
        None => Ok(()),
        Some((told, kept)) => Err(format!(
            "{}: not as kept; set UPDATE=1 to keep it\n  told: {}\n  kept: {}",
            file.display(),
            told.unwrap_or("(the end)"),
            kept.unwrap_or("(the end)")
        )),
    }
}
