//! What `parse` writes: events and notes, of a choice.

use std::io;

/// One line of output.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'s> {
    /// Visible text.
    Content(&'s str),
    /// Reasoning.
    Reasoning(&'s str),
    /// A call began.
    CallStart {
        /// Position among the choice's calls.
        index: u32,
        /// Its id.
        id: &'s str,
        /// Its name.
        name: &'s str,
    },
    /// A call's arguments grew.
    CallArguments {
        /// Position among the choice's calls.
        index: u32,
        /// The next piece of JSON text.
        fragment: &'s str,
    },
    /// A call ended.
    CallEnd {
        /// Position among the choice's calls.
        index: u32,
        /// How.
        outcome: &'s str,
    },
    /// Something worth knowing.
    Note(Note<'s>),
}

/// A diagnostic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Note<'s> {
    /// What happened: a short, stable name.
    pub kind: &'s str,
    /// Offset in the choice's text, in bytes.
    pub at: Option<u64>,
    /// How many bytes it is about.
    pub bytes: Option<u64>,
    /// How often it happened.
    pub count: Option<u64>,
    /// The call it is about.
    pub call: Option<u32>,
    /// What else there is to say.
    pub message: Option<&'s str>,
}

/// Writes events in some form.
pub trait Render {
    /// Writes one event of a choice.
    ///
    /// # Errors
    /// The output's.
    fn show(&mut self, choice: u32, shown: Shown<'_>) -> io::Result<()>;

    /// Passes on what was written so far: after every piece of input.
    ///
    /// # Errors
    /// The output's.
    fn flush(&mut self) -> io::Result<()>;

    /// Ends the output: what is open on the last line is closed.
    ///
    /// # Errors
    /// The output's.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}
