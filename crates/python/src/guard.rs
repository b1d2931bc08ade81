//! The Python class of a guard for one message.

use llm_stream_guard::{
    End, Event, Guard, Ids, LimitError, Message, MessageEnd, OpenAtEnd, Profile, Sink, Token,
    TokenKind,
    chat::{DividedText, TokenText},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyDict, PyList},
};

use crate::{
    convert::{Piece, end, to_python},
    event::event_of,
    message::message_of,
    recorder::Recorder,
    settings::{Settings, fault},
    stream_error,
};

/// Minimum length of pieces for which the interpreter's lock is released. Parsing a shorter piece
/// takes less time than releasing and taking the lock.
const RELEASE_FROM: usize = 2 << 10;

/// Turns the raw text of one message into events.
#[pyclass(name = "Guard", module = "toolcall_parsers", skip_from_py_object)]
#[derive(Debug, Clone)]
pub(crate) struct PyGuard {
    guard: Guard,
    profile: Profile,
    recorder: Recorder,
    /// Divides text that comes with token ids, if the marker tokens have ids.
    texts: Option<TokenText>,
    finished: bool,
}

impl PyGuard {
    /// Runs `read` and returns a list of its events. The interpreter's lock is released for long
    /// pieces.
    fn read<'py>(
        &mut self,
        py: Python<'py>,
        bytes: usize,
        read: impl FnOnce(&mut Guard, &mut Recorder) -> Result<(), LimitError> + Send,
    ) -> PyResult<Bound<'py, PyList>> {
        if self.finished {
            return Err(PyValueError::new_err("the message is over; `reset` begins another"));
        }
        let Self { guard, recorder, .. } = self;
        recorder.clear();
        let result = match bytes < RELEASE_FROM {
            true => read(guard, recorder),
            false => py.detach(|| read(guard, recorder)),
        };
        let recorder = &self.recorder;
        let events = recorder.items().iter().map(|item| event_of(py, recorder, item));
        let events = PyList::new(py, events.collect::<PyResult<Vec<_>>>()?)?;
        match result {
            Ok(()) => Ok(events),
            Err(error) => Err(stream_error(py, error, events)),
        }
    }
}

/// Divides a text by the ids of its tokens.
///
/// # Errors
/// The settings have no marker tokens with ids.
pub(crate) fn divided(
    texts: Option<&mut TokenText>,
    text: &str,
    ids: &[u32],
) -> PyResult<DividedText> {
    let no_ids = || fault("`ids` need `marker_tokens` with ids: a mapping from texts to ids");
    texts.map(|texts| texts.divide(text, ids)).ok_or_else(no_ids)
}

/// Ends the division of texts, and returns the text that waits for the rest of a marker.
pub(crate) fn waiting(texts: &mut Option<TokenText>) -> String {
    texts.as_mut().map(TokenText::finish).unwrap_or_default()
}

/// Feeds the text that waited, and ends the message.
pub(crate) fn finish_after(
    guard: &mut Guard,
    (waiting, end): (&str, End),
    sink: &mut impl Sink,
) -> Result<(), LimitError> {
    if !waiting.is_empty() {
        guard.push(waiting, sink)?;
    }
    guard.finish(end, sink)
}

#[pymethods]
impl PyGuard {
    /// Creates a guard. See `Settings` for the keyword arguments.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let settings = Settings::new(settings)?;
        let (profile, guard) = settings.guard(Ids::default())?;
        let texts = settings.token_text(&guard);
        Ok(Self { guard, profile, recorder: Recorder::default(), texts, finished: false })
    }

    /// Feeds the next piece of text and returns the events that are certain. `ids` are the ids of
    /// its tokens.
    #[pyo3(signature = (chunk, ids = None))]
    fn push<'py>(
        &mut self,
        py: Python<'py>,
        chunk: &Bound<'py, PyAny>,
        ids: Option<Vec<u32>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let piece = Piece::of(chunk)?;
        if let Some(ids) = ids {
            let Piece::Text(text) = piece else {
                return Err(PyTypeError::new_err("`ids` are those of a `str`"));
            };
            let divided = divided(self.texts.as_mut(), &text, &ids)?;
            return self.read(py, text.len(), |guard, recorder| {
                divided.tokens().try_for_each(|token| guard.push_token(token, recorder))
            });
        }
        self.read(py, piece.as_bytes().len(), |guard, recorder| match piece {
            Piece::Text(text) => guard.push(&text, recorder),
            Piece::Bytes(bytes) => guard.push_bytes(&bytes, recorder),
        })
    }

    /// Feeds the next token, which is a marker or text.
    #[pyo3(signature = (text, *, marker = false))]
    fn push_token<'py>(
        &mut self,
        py: Python<'py>,
        text: &str,
        marker: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let kind = if marker { TokenKind::Marker } else { TokenKind::Text };
        self.read(py, text.len(), |guard, recorder| {
            guard.push_token(Token { id: 0, text, kind }, recorder)
        })
    }

    /// Ends the message and returns the last events.
    #[pyo3(signature = (end = "stop"))]
    fn finish<'py>(&mut self, py: Python<'py>, end: &str) -> PyResult<Bound<'py, PyList>> {
        let end = self::end(end)?;
        let waiting = waiting(&mut self.texts);
        let bytes = self.guard.buffered().saturating_add(waiting.len());
        let events =
            self.read(py, bytes, |guard, recorder| finish_after(guard, (&waiting, end), recorder));
        self.finished = true;
        events
    }

    /// Parses a whole text as a clone of this guard would, and leaves this guard unchanged.
    #[pyo3(signature = (text, *, end = "stop"))]
    fn parse<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        end: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (piece, end) = (Piece::of(text)?, self::end(end)?);
        let (mut guard, mut message) = (self.guard.clone(), Message::default());
        let read = py.detach(|| {
            let mut sink = |event: Event<'_>| message.collect(event);
            match &piece {
                Piece::Text(text) => guard.push(text, &mut sink)?,
                Piece::Bytes(bytes) => guard.push_bytes(bytes, &mut sink)?,
            }
            guard.finish(end, &mut sink)
        });
        read.map_err(|error| stream_error(py, error, py.None()))?;
        let nothing = MessageEnd { end, open: OpenAtEnd::Nothing };
        message_of(py, &message, guard.message_end().unwrap_or(nothing))
    }

    /// Resets the guard for a new message.
    fn reset(&mut self) {
        self.guard.reset();
        drop(waiting(&mut self.texts));
        self.finished = false;
    }

    /// Returns an independent copy with the same state.
    fn copy(&self) -> Self {
        self.clone()
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    /// After `finish`, the part of the message that was open: `none`, `reasoning` or `call`.
    #[getter]
    fn open(&self) -> Option<&'static str> {
        self.guard.message_end().map(|end| end.open.name())
    }

    /// Number of bytes held back because their meaning is not certain yet.
    #[getter]
    fn held(&self) -> usize {
        self.guard.held().bytes
    }

    /// The reason why bytes are held back.
    #[getter]
    fn held_kind(&self) -> &'static str {
        self.guard.held().kind.name()
    }

    /// Whether the server must be asked to keep special tokens in the text.
    #[getter]
    fn needs_special_tokens(&self) -> bool {
        self.guard.needs_special_tokens()
    }

    /// The texts that act only as marker tokens: those of the setting that the family uses.
    #[getter]
    fn marker_tokens(&self) -> Vec<&str> {
        self.guard.marker_tokens().collect()
    }

    /// Estimated number of reasoning tokens so far.
    #[getter]
    fn reasoning_tokens(&self) -> u64 {
        self.guard.reasoning_tokens()
    }

    /// The stop string that ended the message.
    #[getter]
    fn stop_string(&self) -> Option<&str> {
        self.guard.stop_string()
    }

    /// Name of the profile.
    #[getter]
    fn family(&self) -> &str {
        &self.profile.name
    }

    /// The profile as a dictionary.
    #[getter]
    fn profile<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.profile)
    }

    fn __repr__(&self) -> String {
        format!("Guard(family='{}')", self.profile.name)
    }
}
