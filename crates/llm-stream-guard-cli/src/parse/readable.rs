//! Output for people: content plain, reasoning dimmed, calls as `-> name(arguments)`.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, IsTerminal as _, Write},
};

use llm_stream_guard::{End, MessageEnd, OpenAtEnd, Outcome, chat::Delta};
use llm_stream_guard_serve::parse::{Remark, Render};

/// Whether escape sequences may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Escape sequences may be used.
    On,
    /// Escape sequences may not be used: a word marks reasoning.
    Off,
}

impl Colour {
    /// Returns the styles that standard output supports: a terminal accepts escape sequences,
    /// unless `NO_COLOR` is set.
    #[must_use]
    pub(crate) fn of_output() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if io::stdout().is_terminal() && !unwanted { Self::On } else { Self::Off }
    }
}

/// A writer of text for a terminal. Control characters of the model are shown as text.
#[derive(Debug)]
pub(crate) struct Readable<W> {
    out: W,
    colour: Colour,
    part: Part,
    choice: u32,
    mid_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Nothing,
    Content,
    Reasoning,
    Call,
    Note,
}

impl<W: Write> Readable<W> {
    /// Creates a renderer that writes to `out`.
    pub(crate) fn new(out: W, colour: Colour) -> Self {
        Self { out, colour, part: Part::Nothing, choice: 0, mid_line: false }
    }

    /// Ends the current line, if it is open.
    fn fresh_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.mid_line) { self.out.write_all(b"\n") } else { Ok(()) }
    }

    fn enter(&mut self, choice: u32, part: Part) -> io::Result<()> {
        if choice != self.choice {
            self.fresh_line()?;
            writeln!(self.out, "[choice {choice}]")?;
            (self.choice, self.part) = (choice, Part::Nothing);
        }
        if part != self.part {
            self.fresh_line()?;
            self.part = part;
            if part == Part::Reasoning && self.colour == Colour::Off {
                self.out.write_all(b"[reasoning] ")?;
                self.mid_line = true;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let text = printable(text);
        self.mid_line = !text.ends_with('\n') && (self.mid_line || !text.is_empty());
        self.out.write_all(text.as_bytes())
    }

    fn dimmed(&mut self, text: &str) -> io::Result<()> {
        if self.colour == Colour::Off {
            return self.text(text);
        }
        self.out.write_all(b"\x1b[2m")?;
        self.text(text)?;
        self.out.write_all(b"\x1b[0m")
    }
}

impl<W: Write> Render for Readable<W> {
    fn delta(&mut self, choice: u32, delta: Delta<'_>) -> io::Result<()> {
        match delta {
            Delta::Content(text) => {
                self.enter(choice, Part::Content)?;
                self.text(text)
            }
            Delta::Reasoning(text) => {
                self.enter(choice, Part::Reasoning)?;
                self.dimmed(text)
            }
            Delta::CallStart { name, .. } => {
                self.enter(choice, Part::Call)?;
                self.fresh_line()?;
                self.text(&format!("-> {name}("))
            }
            Delta::CallArguments { fragment, .. } => {
                self.enter(choice, Part::Call)?;
                self.text(fragment)
            }
            Delta::CallEnd { outcome, .. } => {
                self.enter(choice, Part::Call)?;
                match outcome {
                    Outcome::Complete => self.text(")\n"),
                    _ => self.text(&format!(") [{}]\n", outcome.name())),
                }
            }
            _ => Ok(()),
        }
    }

    fn note(&mut self, choice: u32, note: Remark<'_>) -> io::Result<()> {
        // A note inside a call does not end the call's line.
        let part = self.part;
        self.enter(choice, Part::Note)?;
        self.fresh_line()?;
        self.dimmed(&described(note))?;
        self.part = part;
        self.fresh_line()
    }

    fn end(&mut self, choice: u32, end: MessageEnd) -> io::Result<()> {
        if end.is_whole() {
            return Ok(());
        }
        self.enter(choice, Part::Note)?;
        self.fresh_line()?;
        self.dimmed(&described_end(end))?;
        self.fresh_line()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.fresh_line()?;
        self.flush()
    }
}

fn described_end(MessageEnd { end, open }: MessageEnd) -> String {
    let how = match end {
        End::Stop => "! the model stopped",
        End::Length => "! a limit cut the answer",
        _ => "! the answer was cut",
    };
    match open {
        OpenAtEnd::Nothing => how.to_owned(),
        open => format!("{how} inside of {}", open.name()),
    }
}

fn described(note: Remark<'_>) -> String {
    let mut line = format!("! {}", note.kind);
    let facts = [("byte", note.at), ("bytes", note.bytes), ("times", note.count)];
    for (word, value) in facts {
        if let Some(value) = value {
            let _ = match word {
                "byte" => write!(line, " at byte {value}"),
                _ => write!(line, ", {value} {word}"),
            };
        }
    }
    if let Some(message) = note.message {
        let _ = write!(line, ": {message}");
    }
    line
}

/// Returns `text` without characters that control the terminal.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => {}
            c if steers(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}
