//! An explanation for the terminal: a summary, the text by channel, the chunks.

use std::io::{self, Write};

use llm_stream_guard::explain::{
    ExplainedToken, Explanation, ExplanationSummary, Fate, Finding, Step,
};

use super::{
    Report, chunks,
    words::{bytes, count, visible},
};
use crate::parse::{Colour, printable};

/// The width if the terminal's is not known, in columns.
const WIDTH: usize = 100;
/// Minimum width, in columns.
const NARROWEST: usize = 50;
/// Columns of the labels in front of text.
const LABEL: usize = 12;
/// Maximum length of a region's text, in bytes. The middle of longer text is omitted.
const SHOWN: usize = 4000;
/// Maximum number of calls in the summary.
const CALLS: usize = 20;

/// Returns the width of standard output, in columns: the terminal's, that of `COLUMNS`, or 100.
#[must_use]
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).unwrap_or(WIDTH).max(NARROWEST)
}

/// Writes explanations.
pub(crate) struct Terminal<'o> {
    out: &'o mut dyn Write,
    colour: Colour,
    width: usize,
}

impl<'o> Terminal<'o> {
    /// Creates a writer of lines of at most `width` columns. Each character counts as one column.
    pub(crate) fn new(out: &'o mut dyn Write, colour: Colour, width: usize) -> Self {
        Self { out, colour, width }
    }

    /// Writes the name of the recording.
    ///
    /// # Errors
    /// The output failed, as in every method.
    pub(crate) fn title(&mut self, report: &Report) -> io::Result<()> {
        let line = printable(&report.file).into_owned();
        self.painted(BOLD, &line)?;
        writeln!(self.out)
    }

    /// Writes the whole explanation: the summary, the text, the chunks.
    ///
    /// # Errors
    /// The output failed.
    pub(crate) fn whole(&mut self, explanation: &Explanation, choice: u32) -> io::Result<()> {
        self.summary(explanation, choice)?;
        self.text(explanation)?;
        self.tokens(explanation)?;
        self.steps(explanation)
    }

    /// Writes the summary of a choice.
    ///
    /// # Errors
    /// The output failed.
    pub(crate) fn summary(&mut self, explanation: &Explanation, choice: u32) -> io::Result<()> {
        let Explanation { name, summary, wire, .. } = explanation;
        writeln!(self.out)?;
        let choice = if choice > 0 { format!(", choice {choice}") } else { String::new() };
        let head = format!("Read as `{name}`{choice}");
        self.painted(BOLD, &head)?;
        writeln!(self.out, ": {} in {}", bytes(wire.len()), count(summary.chunks, "chunk"))?;
        self.figures(summary)?;
        if summary.findings.is_empty() {
            return writeln!(self.out, "\n  Nothing unusual was found.");
        }
        for (number, finding) in (1..).zip(&summary.findings) {
            self.finding(number, finding)?;
        }
        Ok(())
    }

    fn figures(&mut self, summary: &ExplanationSummary) -> io::Result<()> {
        self.row(colour(Fate::Content), "answer", &bytes(summary.content))?;
        self.row(colour(Fate::Reasoning), "reasoning", &bytes(summary.reasoning))?;
        if summary.calls.is_empty() {
            self.row(colour(Fate::Call), "calls", "none")?;
        }
        for call in summary.calls.iter().take(CALLS) {
            let outcome = call.outcome.unwrap_or("open");
            let text = format!("{}({}) [{outcome}]", call.name, shortened(&call.arguments, 400));
            self.row(colour(Fate::Call), "call", &text)?;
        }
        let more = summary.calls.len().saturating_sub(CALLS);
        if more > 0 {
            self.row(colour(Fate::Call), "", &format!("and {}", count(more, "more call")))?;
        }
        if summary.dropped > 0 {
            self.row(colour(Fate::Dropped), "dropped", &bytes(summary.dropped))?;
        }
        let mut held = format!("at most {}", bytes(summary.held_max));
        if summary.delay.chunks > 0 {
            let ms = summary.delay.ms.map_or_else(String::new, |ms| format!(", {ms:.0} ms"));
            held.push_str(&format!(
                "; the longest wait was {}, {}{ms}",
                count(summary.delay.chunks, "chunk"),
                bytes(summary.delay.bytes),
            ));
        }
        self.row("", "held back", &held)
    }

    fn finding(&mut self, number: usize, finding: &Finding) -> io::Result<()> {
        let Finding { kind, count, at, says, advice, serve } = finding;
        let times = if *count > 1 { format!(", {count} times") } else { String::new() };
        writeln!(self.out)?;
        let head = format!("{number}. {kind}");
        write!(self.out, "  ")?;
        self.painted(WARN, &head)?;
        writeln!(self.out, " at byte {at}{times}")?;
        self.wrapped("     ", says)?;
        for (head, text) in [("     -> ", advice), ("     -> in `serve`: ", serve)] {
            if !text.is_empty() {
                self.wrapped(head, text)?;
            }
        }
        Ok(())
    }

    /// Writes the text. The label and the colour of each line show the fate of its text.
    ///
    /// # Errors
    /// The output failed.
    pub(crate) fn text(&mut self, explanation: &Explanation) -> io::Result<()> {
        self.heading("The text of the model, and what became of it")?;
        for region in &explanation.regions {
            let text = &explanation.wire[region.at..region.at + region.len];
            let (colour, label) = (colour(region.fate), label(region.fate));
            match &region.marker {
                Some(does) => {
                    let text = format!("{}   ({does})", visible(text));
                    self.row(colour, label, &text)?;
                }
                None if matches!(region.fate, Fate::Markup | Fate::Framing) => {
                    self.row(colour, label, &visible(text))?;
                }
                None => self.row(colour, label, &shortened(text, SHOWN))?,
            }
        }
        Ok(())
    }

    /// Writes the tokens with their roles, if the recording has token ids.
    ///
    /// # Errors
    /// The output failed.
    pub(crate) fn tokens(&mut self, explanation: &Explanation) -> io::Result<()> {
        let Explanation { wire, tokens, .. } = explanation;
        if tokens.is_empty() {
            return Ok(());
        }
        self.heading("The tokens and their roles")?;
        for ExplainedToken { ids, at, len, parts, .. } in tokens {
            let ids = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            let text = visible(wire.get(*at..at.saturating_add(*len)).unwrap_or_default());
            let roles = parts.iter().map(|part| match (parts.len(), part.call) {
                (1, None) => part.role.to_owned(),
                (1, Some(call)) => format!("{} of call {call}", part.role),
                _ => format!("{} ({})", part.role, bytes(part.bytes)),
            });
            let roles = roles.collect::<Vec<_>>().join(", ");
            self.row("", &ids, &format!("{text}   ({roles})"))?;
        }
        Ok(())
    }

    /// Writes the effect of each chunk. Consecutive chunks that only passed share a line.
    ///
    /// # Errors
    /// The output failed.
    pub(crate) fn steps(&mut self, explanation: &Explanation) -> io::Result<()> {
        self.heading("Chunk by chunk")?;
        let steps = &explanation.steps;
        let plain =
            |step: &Step| step.events.is_empty() && step.held.is_none() && step.delay.is_none();
        let mut at = 0;
        while at < steps.len() {
            let run = steps[at..].iter().take_while(|step| plain(step) && step.end.is_none());
            let run = run.count().max(1);
            let group = &steps[at..at + run];
            let label = match (run, group[0].end) {
                (_, Some(_)) => "end".to_owned(),
                (1, None) => at.to_string(),
                _ => format!("{at}-{}", at + run - 1),
            };
            for (line, text) in chunks::told(group, &explanation.wire).iter().enumerate() {
                self.row("", if line == 0 { &label } else { "" }, text)?;
            }
            at += run;
        }
        Ok(())
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out)?;
        self.painted(BOLD, text)?;
        writeln!(self.out)
    }

    /// Writes wrapped text after a label.
    fn row(&mut self, colour: &str, label: &str, text: &str) -> io::Result<()> {
        let room = self.width.saturating_sub(LABEL + 4).max(1);
        let text = printable(text);
        for (line, part) in text.split('\n').flat_map(|line| pieces(line, room)).enumerate() {
            let label = if line == 0 { label } else { "" };
            write!(self.out, "  {label:<LABEL$}  ")?;
            self.painted(colour, part)?;
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Writes wrapped text after an indent.
    fn wrapped(&mut self, indent: &str, text: &str) -> io::Result<()> {
        let room = self.width.saturating_sub(indent.len()).max(1);
        for (line, part) in pieces(&printable(text), room).enumerate() {
            match line {
                0 => writeln!(self.out, "{indent}{part}")?,
                _ => writeln!(self.out, "{:len$}{part}", "", len = indent.len())?,
            }
        }
        Ok(())
    }

    fn painted(&mut self, colour: &str, text: &str) -> io::Result<()> {
        match self.colour {
            Colour::On if !colour.is_empty() => write!(self.out, "\x1b[{colour}m{text}\x1b[0m"),
            _ => write!(self.out, "{text}"),
        }
    }
}

const BOLD: &str = "1";
const WARN: &str = "1;33";

fn colour(fate: Fate) -> &'static str {
    match fate {
        Fate::Reasoning => "35",
        Fate::Markup | Fate::Framing => "7",
        Fate::Call => "36",
        Fate::Dropped => "31",
        Fate::Content | Fate::Other | Fate::Rewritten => "",
    }
}

fn label(fate: Fate) -> &'static str {
    match fate {
        Fate::Content => "answer",
        Fate::Reasoning => "reasoning",
        Fate::Other => "other",
        Fate::Markup => "markup",
        Fate::Framing => "whitespace",
        Fate::Call => "call",
        Fate::Dropped => "dropped",
        Fate::Rewritten => "rewritten",
    }
}

/// Shortens a text to about `most` bytes by omitting its middle.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=most / 2).rev().find(boundary).unwrap_or_default();
    let tail = (text.len() - most / 2..text.len()).find(boundary).unwrap_or(text.len());
    let left = bytes(tail - head);
    format!("{} [... {left} ...] {}", &text[..head], &text[tail..])
}

/// Splits a line into pieces of at most `room` characters, at blanks where possible.
fn pieces(line: &str, room: usize) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((end, _)) = text.char_indices().nth(room) else {
            rest = None;
            return Some(text);
        };
        let end = text[..end].rfind(' ').map_or(end, |blank| blank + 1);
        rest = Some(&text[end..]);
        Some(text[..end].trim_end_matches(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::{pieces, shortened};

    #[test]
    fn lines_break_at_spaces_and_otherwise_anywhere() {
        let broken = |line, room| pieces(line, room).collect::<Vec<_>>();
        assert_eq!(broken("one two three", 8), ["one two", "three"]);
        assert_eq!(broken("überlang", 3), ["übe", "rla", "ng"]);
        assert_eq!(broken("", 3), [""]);
    }

    #[test]
    fn middle_of_long_text_is_omitted() {
        assert_eq!(shortened("abcdefgh", 4), "ab [... 4 bytes ...] gh");
        assert_eq!(shortened("äöü", 4), "ä [... 2 bytes ...] ü");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
