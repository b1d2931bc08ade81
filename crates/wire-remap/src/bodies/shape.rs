//! The trait that finds the texts of a body. Each API has an implementation.

use alloc::string::String;
use core::fmt;

use serde_json::Value;

use crate::{segment::Syntax, tally::Location};

/// A text in a body, to be rewritten in place.
#[derive(Debug)]
pub struct TextField<'a> {
    /// The location of the text. It selects scope, policy and counters.
    pub location: Location,
    /// Kind of the text: plain, or JSON in a string.
    pub syntax: Syntax,
    /// The text to rewrite.
    pub text: &'a mut String,
}

/// Kind of a streamed text, by the field it arrives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// Answer text of a response.
    Content,
    /// Reasoning in a field named `reasoning`, or in the field of the API.
    Reasoning,
    /// Reasoning in a field named `reasoning_content`.
    ReasoningContent,
    /// Reasoning in a field named `thinking`.
    Thinking,
    /// Summary of reasoning.
    ReasoningSummary,
    /// Refusal text of a response.
    Refusal,
    /// Arguments of a tool call, as JSON text.
    Arguments,
    /// Input of a tool call that takes plain text.
    Input,
}

impl TextKind {
    /// Returns the location of such texts.
    #[must_use]
    pub fn location(self) -> Location {
        match self {
            Self::Content => Location::Content,
            Self::Reasoning | Self::ReasoningContent | Self::Thinking | Self::ReasoningSummary => {
                Location::Reasoning
            }
            Self::Refusal => Location::Refusal,
            Self::Arguments | Self::Input => Location::Arguments,
        }
    }

    /// Returns the syntax of such texts.
    #[must_use]
    pub fn syntax(self) -> Syntax {
        if self == Self::Arguments { Syntax::Json } else { Syntax::Text }
    }
}

/// Identifies one of the texts that a streamed response interleaves. Each is decoded separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextId {
    /// Index of the choice, or of the output item.
    pub choice: u64,
    /// Index of the tool call, content block or content part in it; 0 if there is only one.
    pub part: u64,
    /// Kind of the text, by its field.
    pub field: TextKind,
}

/// A text in an event of a stream, or an end of texts.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamEvent<'a> {
    /// The next piece of a text.
    Delta {
        /// The text the piece belongs to.
        id: TextId,
        /// The piece, to be rewritten in place.
        text: &'a mut String,
    },
    /// A whole text, independent of the pieces.
    Whole(TextField<'a>),
    /// The event ends texts.
    End {
        /// Restricts the end to texts of this choice.
        choice: Option<u64>,
        /// Restricts the end to texts of this part.
        part: Option<u64>,
        /// Restricts the end to texts of this kind.
        field: Option<TextKind>,
    },
}

/// Finds the texts in the bodies of one API.
///
/// An implementation visits the texts that a model reads or wrote, in the members it knows. Images,
/// identifiers, names and unknown members are not visited. The [`Regime`](crate::Regime) decides
/// which of the texts are remapped and how, so the scope is the same for every shape.
///
/// A shape for bodies with a single prompt and answer:
///
/// ```
/// use serde_json::{Value, json};
/// use wire_remap::{
///     Location, Regime, RemapTable, Syntax,
///     bodies::{BodyError, BodyShape, StreamEvent, TextField, TextId, TextKind},
/// };
///
/// struct Prompt;
///
/// fn visit_text(value: Option<&mut Value>, location: Location, visit: &mut dyn FnMut(TextField<'_>)) {
///     if let Some(Value::String(text)) = value {
///         visit(TextField { location, syntax: Syntax::Text, text });
///     }
/// }
///
/// impl BodyShape for Prompt {
///     fn check_request(&self, body: &Value) -> Result<(), BodyError> {
///         let prompt = body.get("prompt");
///         let is_text = prompt.is_some_and(Value::is_string);
///         is_text.then_some(()).ok_or_else(|| BodyError::new("prompt", "a string", prompt))
///     }
///
///     fn request(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
///         visit_text(body.get_mut("prompt"), Location::User, visit);
///     }
///
///     fn response(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
///         visit_text(body.get_mut("answer"), Location::Content, visit);
///     }
///
///     fn event(&self, event: &mut Value, visit: &mut dyn FnMut(StreamEvent<'_>)) {
///         let id = TextId { choice: 0, part: 0, field: TextKind::Content };
///         if let Some(Value::String(text)) = event.get_mut("answer") {
///             visit(StreamEvent::Delta { id, text });
///         }
///     }
///
///     fn leftover(&self, _: &mut Value, id: TextId, text: &str) -> Option<Value> {
///         Some(self.tail(id, text))
///     }
///
///     fn tail(&self, _: TextId, text: &str) -> Value {
///         json!({ "answer": text })
///     }
/// }
///
/// let mut body = json!({"prompt": "What does <tool_call> do?"});
/// Regime::on(RemapTable::hermes()).request().apply(&mut body, &Prompt)?;
/// assert_eq!(body["prompt"], "What does [[CALL]] do?");
/// # Ok::<(), BodyError>(())
/// ```
pub trait BodyShape {
    /// Checks the shape of a request.
    ///
    /// # Errors
    ///
    /// Returns an error if a member that holds texts is missing or of the wrong type.
    fn check_request(&self, body: &Value) -> Result<(), BodyError>;

    /// Visits the texts of a request.
    fn request(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>));

    /// Visits the texts of a whole response.
    fn response(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>));

    /// Visits the texts of a streamed event, then the ends of texts.
    fn event(&self, event: &mut Value, visit: &mut dyn FnMut(StreamEvent<'_>));

    /// Adds the last piece of a text to the event that ended the text.
    ///
    /// If `event` has no member for the piece, returns an event to send before it instead.
    fn leftover(&self, event: &mut Value, id: TextId, text: &str) -> Option<Value>;

    /// Returns an event with the last piece of a text, for a stream that stopped without ending the
    /// text.
    fn tail(&self, id: TextId, text: &str) -> Value;
}

/// An error: a body was refused. The body was not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyError {
    pub(crate) path: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) found: &'static str,
}

impl BodyError {
    /// Creates an error for a body that has `found` at `path` in place of `expected`.
    #[must_use]
    pub fn new(path: &'static str, expected: &'static str, found: Option<&Value>) -> Self {
        let found = match found {
            None => "nothing",
            Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "a boolean",
            Some(Value::Number(_)) => "a number",
            Some(Value::String(_)) => "a string",
            Some(Value::Array(_)) => "an array",
            Some(Value::Object(_)) => "an object",
        };
        Self { path, expected, found }
    }

    /// Returns the path of the fault in the body.
    #[must_use]
    pub fn path(&self) -> &'static str {
        self.path
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, found } = self;
        write!(f, "{path}: expected {expected}, found {found}; the body was not changed")
    }
}

impl core::error::Error for BodyError {}
