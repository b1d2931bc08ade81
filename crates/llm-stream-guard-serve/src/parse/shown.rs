//! The output of `parse`: deltas and notes of a choice.

use std::io;

use llm_stream_guard::{MessageEnd, chat::Delta};

/// A diagnostic of the guard.
#[derive(Debug, Clone, Copy, Default)]
pub struct Remark<'s> {
    /// A short, stable name of the kind.
    pub kind: &'s str,
    /// Byte offset in the choice's text.
    pub at: Option<u64>,
    /// Number of bytes concerned.
    pub bytes: Option<u64>,
    /// Number of occurrences.
    pub count: Option<u64>,
    /// Index of the call concerned.
    pub call: Option<u32>,
    /// Further details, if there are any.
    pub message: Option<&'s str>,
}

/// Writes deltas and notes in some form.
pub trait Render {
    /// Writes one delta of a choice: content, reasoning, or a part of a call. Other deltas are not
    /// shown.
    ///
    /// # Errors
    /// The output failed.
    fn delta(&mut self, choice: u32, delta: Delta<'_>) -> io::Result<()>;

    /// Writes one note about a choice.
    ///
    /// # Errors
    /// The output failed.
    fn note(&mut self, choice: u32, note: Remark<'_>) -> io::Result<()>;

    /// Writes how a choice ended, after all its deltas and notes. By default, writes nothing.
    ///
    /// # Errors
    /// The output failed.
    fn end(&mut self, choice: u32, end: MessageEnd) -> io::Result<()> {
        let _ = (choice, end);
        Ok(())
    }

    /// Flushes the output. Called after each piece of input.
    ///
    /// # Errors
    /// The output failed.
    fn flush(&mut self) -> io::Result<()>;

    /// Ends the output, and closes an open last line.
    ///
    /// # Errors
    /// The output failed.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}
