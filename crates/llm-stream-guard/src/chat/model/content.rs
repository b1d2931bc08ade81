//! The content of a chunk: text, or a list of parts.
//!
//! ```text
//! "content": "Hi"                               Text
//! "content": [{"type": "text", "text": "Hi"}]   Parts
//! "content": null                               Text, which is empty
//! ```

use std::borrow::Cow;

use crate::chat::{
    choice::pending_fields::Part,
    model::{chunk::Content, field::Field},
};

/// The content of a chunk.
pub(in crate::chat) enum Pieces {
    Text(String),
    Parts(Vec<Part>),
}

impl Pieces {
    pub(in crate::chat) fn new(content: Field<Content>, list: u64) -> Self {
        match content {
            Field::Value(Content::Text(text)) => Self::Text(text),
            Field::Value(Content::Parts(parts)) => {
                Self::Parts(parts.into_iter().map(|part| Part::new(part, list)).collect())
            }
            Field::Null | Field::Missing => Self::Text(String::new()),
        }
    }

    pub(in crate::chat) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
        }
    }

    pub(in crate::chat) fn parts(&self) -> &[Part] {
        match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => parts,
        }
    }

    /// Returns the text of all parts.
    pub(in crate::chat) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => parts.iter().map(Part::text).collect::<String>().into(),
        }
    }
}
