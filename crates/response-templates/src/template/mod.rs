//! Templates: what is loaded and checked once, and shared by all streams.

mod args;
mod boundary;
mod error;
mod field;
mod load;
mod transform;

use alloc::{sync::Arc, vec::Vec};

use jail_match::{Channel, Edge};

pub(crate) use boundary::Boundary;
pub use error::{ErrorKind, TemplateError};
pub(crate) use field::{Content, Dialect, Field, Pairs, Role};
pub(crate) use transform::{Scope, Transform};

use crate::{
    json::{Object, Value},
    pattern::Matches,
};

/// A response template, checked and compiled. Cheap to clone.
///
/// ```
/// use response_templates::Template;
///
/// let template = Template::from_json(
///     r#"{"start_anchor": "<|bot|>", "fields": {"content": {"close": "<|end|>"}}}"#,
/// )?;
/// assert_eq!(template.fields().collect::<Vec<_>>(), ["content"]);
/// # Ok::<(), response_templates::TemplateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) defaults: Object,
    pub(crate) fields: Vec<Field>,
    /// The field without an opener.
    pub(crate) leftover: Option<usize>,
    anchor: Boundary,
}

impl Template {
    /// Reads a template: the object itself, an object that has it at `response_template` such as
    /// `tokenizer_config.json`, or either as a JSON string.
    ///
    /// # Errors
    /// The first thing that is wrong with it: its field, key and place. What the reference
    /// implementation finds only when a message is read is refused, too, and so is what cannot
    /// be run over text that arrives in pieces.
    pub fn from_json(text: &str) -> Result<Self, TemplateError> {
        load::from_json(text)
    }

    /// As [`Template::from_json`], from a value.
    ///
    /// # Errors
    /// As [`Template::from_json`].
    pub fn from_value(value: &Value) -> Result<Self, TemplateError> {
        load::from_value(value)
    }

    /// The names of the fields, in order of writing.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inner.fields.iter().map(|field| field.name.as_str())
    }

    /// The boundaries of the fields, of each the opener and then the closer, as edges: a
    /// [`jail_match::Trace`] of a parser names them by their position. They say what is marked; the
    /// search is the template's own.
    #[must_use]
    pub fn edges(&self) -> Vec<Edge> {
        self.inner.fields.iter().flat_map(Field::edges).collect()
    }

    /// What a message has before anything is read.
    #[must_use]
    pub fn defaults(&self) -> &Object {
        &self.inner.defaults
    }

    /// Whether it says how calls are written: it has a field `tool_calls`.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        self.inner.fields.iter().any(|field| field.role == Role::Calls)
    }

    /// Whether it says how reasoning is written.
    #[must_use]
    pub fn has_reasoning(&self) -> bool {
        self.inner.fields.iter().any(|field| field.role == Role::Reasoning)
    }

    /// The part of a prompt in which the assistant's turn has begun: what stands behind the last
    /// place where a turn begins; `None` if none does.
    #[must_use]
    pub fn last_turn<'p>(&self, prompt: &'p str) -> Option<&'p str> {
        let last = Matches::new(&self.inner.anchor.program, prompt).last()?;
        prompt.get(last.end as usize..)
    }

    /// The channel of the text of a field: that of content, of reasoning, or one of its own; calls
    /// and unknown fields have none. The sixth field of its own and later ones share a channel.
    #[must_use]
    pub fn channel(&self, field: &str) -> Option<Channel> {
        self.inner.fields.iter().find(|known| known.name == field)?.role.channel()
    }
}
