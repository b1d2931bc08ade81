//! The output of `parse`: events and notes of a choice.

use std::io;

/// One line of the output.
#[derive(Debug, Clone, Copy)]
pub enum ShownEvent<'s> {
    /// Visible text of the answer.
    Content(&'s str),
    /// Text of the reasoning.
    Reasoning(&'s str),
    /// The start of a call.
    CallStart {
        /// Position among the choice's calls.
        index: u32,
        /// Id of the started call.
        id: &'s str,
        /// Name of the called tool.
        name: &'s str,
    },
    /// A call's arguments grew.
    CallArguments {
        /// Position among the choice's calls.
        index: u32,
        /// The next piece of JSON text.
        fragment: &'s str,
    },
    /// The end of a tool call.
    CallEnd {
        /// Position among the choice's calls.
        index: u32,
        /// Outcome of the call.
        outcome: &'s str,
    },
    /// Something worth knowing.
    Note(Remark<'s>),
}

/// A diagnostic of the guard.
#[derive(Debug, Clone, Copy, Default)]
pub struct Remark<'s> {
    /// A short, stable name of the kind.
    pub kind: &'s str,
    /// Offset in the choice's text, in bytes.
    pub at: Option<u64>,
    /// How many bytes it is about.
    pub bytes: Option<u64>,
    /// How often it happened.
    pub count: Option<u64>,
    /// The call it is about.
    pub call: Option<u32>,
    /// Further details, if there are any.
    pub message: Option<&'s str>,
}

/// Writes events in some form.
pub trait Render {
    /// Writes one event of a choice.
    ///
    /// # Errors
    /// The output's.
    fn show(&mut self, choice: u32, shown: ShownEvent<'_>) -> io::Result<()>;

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
