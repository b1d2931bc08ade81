//! Templates: loaded and checked once, and shared by all streams.

mod args;
mod boundary;
mod error;
mod field;
mod load;
mod transform;

use alloc::{sync::Arc, vec::Vec};

use jail_match::{Channel, Edge};

pub(crate) use boundary::Boundary;
pub use error::{ErrorKind, ResponseTemplateError};
pub(crate) use field::{Content, Dialect, Field, Pairs, Role};
pub(crate) use transform::{Scope, Transform};

use crate::{
    json::{JsonObject, JsonTree},
    pattern::Matches,
};

/// A response template, checked and compiled. Cheap to clone.
///
/// ```
/// use response_templates::ResponseTemplate;
///
/// let template = ResponseTemplate::from_json(
///     r#"{"start_anchor": "<|bot|>", "fields": {"content": {"close": "<|end|>"}}}"#,
/// )?;
/// assert_eq!(template.fields().collect::<Vec<_>>(), ["content"]);
/// # Ok::<(), response_templates::ResponseTemplateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ResponseTemplate {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) defaults: JsonObject,
    pub(crate) fields: Vec<Field>,
    /// The field without an opener.
    pub(crate) leftover: Option<usize>,
    anchor: Boundary,
    /// The template as JSON.
    text: alloc::string::String,
}

impl PartialEq for ResponseTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.inner.text == other.inner.text
    }
}

impl Eq for ResponseTemplate {}

impl ResponseTemplate {
    /// Reads a template. The text may be the template itself, or a file such as
    /// `tokenizer_config.json` that has it at `response_template`. Either may be a JSON string.
    ///
    /// # Errors
    /// Returns an error with the first fault of the template, its field, key and place. Faults that
    /// the reference implementation finds only when it reads a message are errors as well, and so
    /// are features that need the whole text.
    pub fn from_json(text: &str) -> Result<Self, ResponseTemplateError> {
        load::from_json(text)
    }

    /// Returns the template as JSON, without the file around it.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.inner.text
    }

    /// Reads a template from a parsed value: see [`ResponseTemplate::from_json`].
    ///
    /// # Errors
    /// See [`ResponseTemplate::from_json`].
    pub fn from_value(value: &JsonTree) -> Result<Self, ResponseTemplateError> {
        load::from_value(value)
    }

    /// Returns the names of the fields, in the order of the template.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inner.fields.iter().map(|field| field.name.as_str())
    }

    /// Returns the boundaries of the fields as edges: the opener and then the closer of each field.
    /// A [`jail_match::Trace`] of a parser names them by position. The search does not use these
    /// edges.
    #[must_use]
    pub fn edges(&self) -> Vec<Edge> {
        self.inner.fields.iter().flat_map(Field::edges).collect()
    }

    /// Returns whether the template describes calls, in a field `tool_calls`.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        self.inner.fields.iter().any(|field| field.role == Role::Calls)
    }

    /// Returns whether the template describes reasoning.
    #[must_use]
    pub fn has_reasoning(&self) -> bool {
        self.inner.fields.iter().any(|field| field.role == Role::Reasoning)
    }

    /// Returns the part of a prompt after the last start of an assistant's turn; `None` if no turn
    /// begins.
    #[must_use]
    pub fn last_turn<'p>(&self, prompt: &'p str) -> Option<&'p str> {
        let last = Matches::new(&self.inner.anchor.program, prompt).last()?;
        prompt.get(last.end as usize..)
    }

    /// Returns the channel of a field's text: content, reasoning, or a channel for this field.
    /// Calls and unknown fields have none. If there are more fields than channels, the last channel
    /// is shared.
    #[must_use]
    pub fn channel(&self, field: &str) -> Option<Channel> {
        self.inner.fields.iter().find(|known| known.name == field)?.role.channel()
    }
}
