//! The encoding of events and comments.

use std::fmt;

use crate::lines::find;

/// The fields of an event to write. None by default.
///
/// ```
/// use sse_events::Fields;
/// let mut out = Vec::new();
/// Fields::default().name("error").data(b"one\ntwo").encode(&mut out)?;
/// assert_eq!(out, b"event: error\ndata: one\ndata: two\n\n");
/// # Ok::<(), sse_events::FieldError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Fields<'f> {
    /// Name of the event, in one line.
    pub name: Option<&'f str>,
    /// Data of the event. A line end of any kind begins a further `data` line, and is decoded as
    /// `\n`.
    pub data: Option<&'f [u8]>,
    /// Id of the event, in one line and without NUL.
    pub id: Option<&'f str>,
    /// Time before a reconnection, in milliseconds.
    pub retry: Option<u64>,
}

impl<'f> Fields<'f> {
    /// Sets the name of the event.
    #[must_use]
    pub const fn name(self, name: &'f str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Sets the data of the event.
    #[must_use]
    pub const fn data(self, data: &'f [u8]) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Sets the id of the event.
    #[must_use]
    pub const fn id(self, id: &'f str) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Sets the time before a reconnection, in milliseconds.
    #[must_use]
    pub const fn retry(self, retry: u64) -> Self {
        Self { retry: Some(retry), ..self }
    }

    /// Appends the event to `out`.
    ///
    /// # Errors
    /// Returns an error for a name or an id with a line end, and for an id with NUL. `out` is then
    /// unchanged.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), FieldError> {
        let bad = |text: &str| find(text.as_bytes()).is_some();
        if self.name.is_some_and(bad) {
            return Err(FieldError { field: "event" });
        }
        if self.id.is_some_and(|id| bad(id) || id.contains('\0')) {
            return Err(FieldError { field: "id" });
        }
        if let Some(name) = self.name {
            line("event: ", name.as_bytes(), b"\n", out);
        }
        if let Some(id) = self.id {
            line("id: ", id.as_bytes(), b"\n", out);
        }
        if let Some(retry) = self.retry {
            line("retry: ", retry.to_string().as_bytes(), b"\n", out);
        }
        if let Some(data) = self.data {
            rows(data, b"\n", out);
        }
        out.push(b'\n');
        Ok(())
    }
}

/// Appends a comment, which clients ignore and which keeps a connection alive. Line ends inside it
/// begin further comments.
///
/// ```
/// let mut out = Vec::new();
/// sse_events::comment("still here", &mut out);
/// assert_eq!(out, b": still here\n\n");
/// ```
pub fn comment(text: &str, out: &mut Vec<u8>) {
    lines(": ", text.as_bytes(), b"\n", out);
    out.push(b'\n');
}

/// Appends `data` lines for the lines of `data`.
pub(crate) fn rows(data: &[u8], eol: &[u8], out: &mut Vec<u8>) {
    lines("data: ", data, eol, out);
}

/// Appends every line of `text` with `prefix` before it.
fn lines(prefix: &str, mut text: &[u8], eol: &[u8], out: &mut Vec<u8>) {
    while let Some(end) = find(text) {
        line(prefix, &text[..end], eol, out);
        text = text[end..].strip_prefix(b"\r\n").unwrap_or(&text[end + 1..]);
    }
    line(prefix, text, eol, out);
}

fn line(prefix: &str, text: &[u8], eol: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(text);
    out.extend_from_slice(eol);
}

/// An error: a field cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldError {
    field: &'static str,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field `{}`: expected one line without NUL", self.field)
    }
}

impl std::error::Error for FieldError {}
