//! Where the texts stand in a body: one trait, one implementation per API.

use alloc::string::String;
use core::fmt;

use serde_json::Value;

use crate::{segment::Syntax, tally::Location};

/// A text in a body.
#[derive(Debug)]
pub struct TextField<'a> {
    /// Where it stands.
    pub location: Location,
    /// What kind of text it is.
    pub syntax: Syntax,
    /// The text, to be rewritten in place.
    pub text: &'a mut String,
}

/// The field a streamed text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// Answer text.
    Content,
    /// Reasoning, in the field named `reasoning` or in the API's own.
    Reasoning,
    /// Reasoning, in a field named `reasoning_content`.
    ReasoningContent,
    /// Reasoning, in a field named `thinking`.
    Thinking,
    /// Summary of reasoning.
    ReasoningSummary,
    /// Refusal.
    Refusal,
    /// Arguments of a tool call, JSON text.
    Arguments,
    /// Input of a tool call that takes plain text.
    Input,
}

impl TextKind {
    /// The location of such texts.
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

    /// The syntax of such texts.
    #[must_use]
    pub fn syntax(self) -> Syntax {
        if self == Self::Arguments { Syntax::Json } else { Syntax::Text }
    }
}

/// Names one of the texts that a streamed response interleaves; each is decoded on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextId {
    /// Index of the choice, or of the output item.
    pub choice: u64,
    /// Index of the tool call, content block or content part in it; 0 where there is but one.
    pub part: u64,
    /// The field.
    pub field: TextKind,
}

/// What an event of a stream holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamEvent<'a> {
    /// The next piece of a text.
    Delta {
        /// Which text.
        id: TextId,
        /// The piece, to be rewritten in place.
        text: &'a mut String,
    },
    /// A whole text, independent of the pieces.
    Whole(TextField<'a>),
    /// Texts end with this event.
    End {
        /// Those of this choice only, if given.
        choice: Option<u64>,
        /// Those of this part only, if given.
        part: Option<u64>,
        /// Those of this field only, if given.
        field: Option<TextKind>,
    },
}

/// Knows where the texts of one API stand.
///
/// Implementations visit the texts of the members they know, which a model reads or wrote, and
/// nothing else: no images, no identifiers, no names. A member or a kind of part that an
/// implementation does not know is left as it is, text or not. Which texts are remapped, and
/// how, is decided by the [`Regime`](crate::Regime), so every shape has the same scope.
pub trait BodyShape {
    /// Checks that a request has this shape.
    ///
    /// # Errors
    ///
    /// When a member that holds texts is missing or of the wrong type.
    fn check_request(&self, body: &Value) -> Result<(), BodyError>;

    /// Visits the texts of a request.
    fn request(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>));

    /// Visits the texts of a whole response.
    fn response(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>));

    /// Visits what an event of a streamed response holds.
    fn event(&self, event: &mut Value, visit: &mut dyn FnMut(StreamEvent<'_>));

    /// Adds the last piece of a text to the event that ended it. Returns an event to be sent
    /// before it, if `event` has no place for the text.
    fn leftover(&self, event: &mut Value, id: TextId, text: &str) -> Option<Value>;

    /// An event that carries the last piece of a text whose stream ended without saying so.
    fn tail(&self, id: TextId, text: &str) -> Value;
}

/// Why a body was refused; it was not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyError {
    pub(crate) path: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) found: &'static str,
}

impl BodyError {
    /// `expected` at `path`, but `found` was there.
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

    /// Where in the body the fault is.
    #[must_use]
    pub fn path(&self) -> &'static str {
        self.path
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, found } = self;
        write!(f, "{path}: expected {expected}, found {found}; the body was left as it is")
    }
}

impl core::error::Error for BodyError {}
