//! Guards of chat-completion streams, as chunks and as bytes.

use llm_stream_guard::{
    End,
    chat::{
        ChatChunk as _, ChatGuard, ChatNote, ChatSink, ChatSse, ChatStep, Chunk, Note, SseSink,
    },
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyList},
};
use serde_json::{Map, Value, json};

use crate::{
    convert::{Piece, chunk_to_json, end, to_python},
    settings::{Settings, fault},
    stream_error,
};

/// Cleans the chunks of a chat-completion stream.
#[pyclass(name = "ChatGuard", module = "toolcall_parsers")]
#[derive(Debug)]
pub(crate) struct PyChatGuard {
    guard: ChatGuard,
    notes: Vec<ChatNote>,
}

/// Cleans the bytes of a chat-completion event stream.
#[pyclass(name = "SseGuard", module = "toolcall_parsers")]
#[derive(Debug)]
pub(crate) struct PySseGuard {
    sse: ChatSse,
    notes: Vec<ChatNote>,
}

/// A sink that keeps chunks and notes.
struct ChunkKeeper<'n> {
    chunks: Vec<Chunk>,
    notes: &'n mut Vec<ChatNote>,
}

impl ChatSink for ChunkKeeper<'_> {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, _| self.chunks.push(chunk));
    }

    fn note(&mut self, note: ChatNote) {
        self.notes.push(note);
    }
}

/// A sink that keeps bytes and notes.
struct ByteKeeper<'n> {
    bytes: Vec<u8>,
    notes: &'n mut Vec<ChatNote>,
}

impl SseSink for ByteKeeper<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn note(&mut self, note: ChatNote) {
        self.notes.push(note);
    }
}

fn chat_guard(settings: Option<&Bound<'_, PyDict>>) -> PyResult<ChatGuard> {
    Settings::new(settings)?.chat()
}

/// Takes the notes as a list of dictionaries.
fn take_notes<'py>(py: Python<'py>, notes: &mut Vec<ChatNote>) -> PyResult<Bound<'py, PyAny>> {
    let notes: Vec<Value> = notes.drain(..).map(note_json).collect();
    to_python(py, &notes)
}

fn note_json(ChatNote { choice, note }: ChatNote) -> Value {
    let mut fields = Map::new();
    fields.insert("choice".into(), choice.into());
    let more = match note {
        Note::Diagnostic(diagnostic) => json!({
            "kind": diagnostic.kind.name(),
            "at": diagnostic.at,
            "bytes": diagnostic.bytes,
            "call": diagnostic.call,
        }),
        Note::CallEnd { index, outcome } => {
            json!({"kind": "call_end", "index": index, "outcome": outcome.name()})
        }
        Note::Rejected(_) => json!({"kind": "rejected"}),
        Note::End(end) => {
            json!({"kind": "end", "finish": end.finish(), "open": end.open.name()})
        }
        Note::Violation(violation) => json!({"kind": violation.name()}),
        _ => json!({"kind": "other"}),
    };
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    Value::Object(fields)
}

/// Returns `released`, or an error that holds it.
fn ended<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    result: Result<(), impl std::fmt::Display>,
    released: T,
) -> PyResult<T> {
    match result {
        Ok(()) => Ok(released),
        Err(error) => Err(stream_error(py, error, released)),
    }
}

#[pymethods]
impl PyChatGuard {
    /// Creates a chat guard. See `Settings` for the keyword arguments.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self { guard: chat_guard(settings)?, notes: Vec::new() })
    }

    /// Feeds a chunk, a dictionary, and returns the clean chunks. A dictionary that is not a chunk
    /// is returned unchanged; an error ends the stream before it.
    fn push<'py>(
        &mut self,
        py: Python<'py>,
        chunk: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Self { guard, notes } = self;
        let mut sink = ChunkKeeper { chunks: Vec::new(), notes };
        match chunk_to_json(chunk)?.into_chunk() {
            Ok(clean) => {
                let result = py.detach(|| guard.push(clean, &mut sink));
                ended(py, result, list_of(py, sink.chunks)?)
            }
            Err(other) => {
                let result = match other.is_error() {
                    true => guard.finish(End::Aborted, &mut sink),
                    false => Ok(()),
                };
                let items = ended(py, result, list_of(py, sink.chunks)?)?;
                items.append(chunk)?;
                Ok(items)
            }
        }
    }

    /// Ends the stream and returns the last chunks. Without `end`, the chunks so far decide whether
    /// the stream was cut, which raises `StreamError`.
    #[pyo3(signature = (end = None))]
    fn finish<'py>(&mut self, py: Python<'py>, end: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let mut sink = ChunkKeeper { chunks: Vec::new(), notes: &mut self.notes };
        let result = match end {
            Some(end) => self.guard.finish(self::end(end)?, &mut sink),
            None => self.guard.end(&mut sink),
        };
        ended(py, result, list_of(py, sink.chunks)?)
    }

    /// Cleans a whole response, a dictionary, with a new guard. A choice without a finish reason
    /// was cut, which raises `StreamError`.
    fn complete<'py>(
        &mut self,
        py: Python<'py>,
        response: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let response = serde_json::from_value(chunk_to_json(response)?).map_err(fault)?;
        let Self { guard, notes } = self;
        let whole = py.detach(|| guard.complete_noting(response, |note| notes.push(note)));
        to_python(py, &whole.map_err(|error| stream_error(py, error, py.None()))?)
    }

    /// Returns and forgets the notes so far: diagnostics, outcomes of calls, breaches of protocol.
    fn take_notes<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        take_notes(py, &mut self.notes)
    }
}

fn list_of(py: Python<'_>, chunks: Vec<Chunk>) -> PyResult<Bound<'_, PyList>> {
    let chunks = chunks.into_iter().map(|chunk| to_python(py, &chunk));
    PyList::new(py, chunks.collect::<PyResult<Vec<_>>>()?)
}

#[pymethods]
impl PySseGuard {
    /// Creates a guard for an event stream. See `Settings` for the keyword arguments.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self { sse: ChatSse::new(chat_guard(settings)?), notes: Vec::new() })
    }

    /// Feeds bytes of the stream and returns the clean bytes.
    fn push<'py>(
        &mut self,
        py: Python<'py>,
        chunk: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let piece = Piece::of(chunk)?;
        let Self { sse, notes } = self;
        let mut sink = ByteKeeper { bytes: Vec::new(), notes };
        let result = py.detach(|| sse.push(piece.as_bytes(), &mut sink));
        ended(py, result, PyBytes::new(py, &sink.bytes))
    }

    /// Ends the stream and returns the last bytes.
    #[pyo3(signature = (end = "stop"))]
    fn finish<'py>(&mut self, py: Python<'py>, end: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut sink = ByteKeeper { bytes: Vec::new(), notes: &mut self.notes };
        let result = self.sse.finish(self::end(end)?, &mut sink);
        ended(py, result, PyBytes::new(py, &sink.bytes))
    }

    /// Returns and forgets the notes so far: diagnostics, outcomes of calls, breaches of protocol.
    fn take_notes<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        take_notes(py, &mut self.notes)
    }
}
