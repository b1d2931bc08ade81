//! The output of `parse`: deltas and notes of a choice.

use std::io;

use llm_stream_guard::chat::Delta;

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

/// Writes deltas and notes in some form.
pub trait Render {
    /// Writes one delta of a choice: content, reasoning, or one of a call. Others are not shown.
    ///
    /// # Errors
    /// The output's.
    fn delta(&mut self, choice: u32, delta: Delta<'_>) -> io::Result<()>;

    /// Writes one note about a choice.
    ///
    /// # Errors
    /// The output's.
    fn note(&mut self, choice: u32, note: Remark<'_>) -> io::Result<()>;

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
