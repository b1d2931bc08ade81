//! Items that carry a chunk and annotations of the transport.

use serde::{Deserialize, Serialize};

use crate::chat::{
    error::error_object,
    model::{
        chunk::Chunk,
        convert::{ChatChunk, FailureChunk},
    },
};

/// A chunk with the annotations of its transport, as server-sent events have them. An item without
/// data is a heartbeat, a comment or another event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotated<T> {
    /// The chunk or other payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<T>,
    /// Id of the transport's item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The kind of event; `error` is an error, and ends the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Comments of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<Vec<String>>,
}

/// The annotations of a chunk: id, event kind and comments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Annotation {
    /// Id of the transport's item.
    pub id: Option<String>,
    /// Kind of the transport's event.
    pub event: Option<String>,
    /// Comments of the item.
    pub comment: Option<Vec<String>>,
}

impl<T> Annotated<T> {
    /// Creates an item with `data` and no annotations.
    pub fn from_data(data: T) -> Self {
        Self::new(Some(data), Annotation::default())
    }

    fn new(data: Option<T>, annotation: Annotation) -> Self {
        let Annotation { id, event, comment } = annotation;
        Self { data, id, event, comment }
    }
}

impl Annotation {
    /// Whether the annotation is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a later annotation: comments are appended, and the first id and event stay.
    pub fn join(&mut self, later: Self) {
        let Self { id, event, comment } = later;
        if self.id.is_none() {
            self.id = id;
        }
        if self.event.is_none() {
            self.event = event;
        }
        if let Some(more) = comment {
            self.comment.get_or_insert_default().extend(more);
        }
    }
}

/// An item of a stream after inspection.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "taken apart at once; a box would be one per chunk")]
pub enum Opened<I> {
    /// An item that carries a chunk.
    Chunk(Chunk, Annotation),
    /// An item without a chunk, which is forwarded at once.
    Pass(I),
    /// An error, which ends the stream.
    Error(I),
}

/// An item of a stream that may carry a chunk: a chunk, a result of one, an [`Annotated`].
pub trait ChatItem: Sized {
    /// Inspects the item's payload.
    fn open(self) -> Opened<Self>;

    /// Creates an item that carries `chunk`. Item types without a place for the annotation drop it.
    fn close(chunk: Chunk, annotation: Annotation) -> Self;

    /// Creates an item with only an annotation, or returns `None` if the type cannot hold one.
    fn bare(annotation: Annotation) -> Option<Self> {
        let _ = annotation;
        None
    }
}

/// An item that can carry an error message; see [`super::Failures::Written`].
pub trait FailureItem: ChatItem {
    /// Creates an item with `message`: OpenAI's error object, or an event `error` with a comment.
    fn failure(message: &str) -> Self;
}

fn open_chunk<T: ChatChunk>(data: T) -> Opened<T> {
    match data.into_chunk() {
        Ok(chunk) => Opened::Chunk(chunk, Annotation::default()),
        Err(other) if other.is_error() => Opened::Error(other),
        Err(other) => Opened::Pass(other),
    }
}

impl<T> Opened<T> {
    fn map<I>(self, wrap: impl FnOnce(T) -> I) -> Opened<I> {
        match self {
            Self::Chunk(chunk, annotation) => Opened::Chunk(chunk, annotation),
            Self::Pass(item) => Opened::Pass(wrap(item)),
            Self::Error(item) => Opened::Error(wrap(item)),
        }
    }
}

macro_rules! plain_items {
    ($($item:ty),*) => {$(
        impl ChatItem for $item {
            fn open(self) -> Opened<Self> {
                open_chunk(self)
            }

            fn close(chunk: Chunk, _: Annotation) -> Self {
                Self::from_chunk(chunk)
            }
        }

        impl FailureItem for $item {
            fn failure(message: &str) -> Self {
                Self::from_error(error_object(message))
            }
        }
    )*};
}

plain_items!(Chunk, serde_json::Value);

impl<T: ChatChunk, E> ChatItem for Result<T, E> {
    fn open(self) -> Opened<Self> {
        match self {
            Ok(item) => open_chunk(item).map(Ok),
            Err(error) => Opened::Error(Err(error)),
        }
    }

    fn close(chunk: Chunk, _: Annotation) -> Self {
        Ok(T::from_chunk(chunk))
    }
}

impl<T: FailureChunk, E> FailureItem for Result<T, E> {
    fn failure(message: &str) -> Self {
        Ok(T::from_error(error_object(message)))
    }
}

impl<T: ChatChunk> FailureItem for Annotated<T> {
    fn failure(message: &str) -> Self {
        let comment = Some(vec![message.to_owned()]);
        Self::new(None, Annotation { id: None, event: Some("error".into()), comment })
    }
}

impl<T: ChatChunk, E> FailureItem for Result<Annotated<T>, E> {
    fn failure(message: &str) -> Self {
        Ok(Annotated::failure(message))
    }
}

impl<T: ChatChunk> ChatItem for Annotated<T> {
    fn open(self) -> Opened<Self> {
        let is_error = self.event.as_deref() == Some("error");
        let Self { data, id, event, comment } = self;
        let annotation = Annotation { id, event, comment };
        let Some(data) = data else {
            let item = Self::new(None, annotation);
            return if is_error { Opened::Error(item) } else { Opened::Pass(item) };
        };
        match open_chunk(data) {
            Opened::Chunk(chunk, _) if !is_error => Opened::Chunk(chunk, annotation),
            Opened::Chunk(chunk, _) => Opened::Error(Self::close(chunk, annotation)),
            Opened::Pass(data) if !is_error => Opened::Pass(Self::new(Some(data), annotation)),
            Opened::Pass(data) | Opened::Error(data) => {
                Opened::Error(Self::new(Some(data), annotation))
            }
        }
    }

    fn close(chunk: Chunk, annotation: Annotation) -> Self {
        Self::new(Some(T::from_chunk(chunk)), annotation)
    }

    fn bare(annotation: Annotation) -> Option<Self> {
        Some(Self::new(None, annotation))
    }
}

impl<T: ChatChunk, E> ChatItem for Result<Annotated<T>, E> {
    fn open(self) -> Opened<Self> {
        match self {
            Ok(item) => item.open().map(Ok),
            Err(error) => Opened::Error(Err(error)),
        }
    }

    fn close(chunk: Chunk, annotation: Annotation) -> Self {
        Ok(Annotated::close(chunk, annotation))
    }

    fn bare(annotation: Annotation) -> Option<Self> {
        Annotated::bare(annotation).map(Ok)
    }
}
