//! Reasons why a template is refused.

use alloc::string::String;
use core::fmt;

/// An error: a template was refused, with the fault and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseTemplateError {
    /// The kind of the fault.
    pub kind: ErrorKind,
    /// The field with the fault, if the fault is in one.
    pub field: Option<String>,
    /// The key with the fault, with dots between nested keys; empty if the fault is in no key.
    pub key: String,
    /// The place: a character of the pattern at the key, or a byte of the JSON text.
    pub at: Option<usize>,
    /// Details of the fault, for people.
    pub detail: String,
}

/// The kind of fault in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON.
    NotJson,
    /// The file has no `response_template`.
    NoTemplate,
    /// The file has a `response_schema`, the predecessor of templates, which is not supported.
    ResponseSchema,
    /// The template is not an object.
    NotAnObject,
    /// The version is not 1.
    Version,
    /// The template has an unknown key.
    TopKey,
    /// The member `defaults` is not an object.
    DefaultsType,
    /// The member `fields` is not an object, or is empty.
    Fields,
    /// A field is not an object.
    FieldType,
    /// A field has an unknown key.
    FieldKey,
    /// The content parser of a field is unknown.
    ContentName,
    /// A boundary is given both as a literal and as a pattern.
    LiteralAndPattern,
    /// A literal has no text.
    EmptyLiteral,
    /// A list of literals is empty.
    EmptyList,
    /// A literal in a list is not a string.
    LiteralType,
    /// A literal is neither a string nor a list.
    LiteralKind,
    /// A pattern cannot be parsed.
    Regex,
    /// The member `join` is not a string.
    JoinType,
    /// A field has `join`, but not `repeats`.
    JoinWithoutRepeats,
    /// The member `transform_each` is not a boolean.
    EachType,
    /// A field has `transform_each`, but not `transform`.
    EachWithoutTransform,
    /// A placeholder has text around it.
    MixedPlaceholder,
    /// A boundary has named groups, but no transform uses them.
    GroupsNoTransform,
    /// More than one field has no opener.
    TwoLeftovers,
    /// The template has no start anchor.
    NoAnchor,
    /// A placeholder names neither the content nor a group of the opener.
    UndefinedPlaceholder,
    /// A placeholder names a member of a value that has no members.
    PlaceholderPath,
    /// An argument in `content_args` has the wrong type.
    ContentArgs,
    /// The parser `xml-inline` has no `tag_pattern`.
    NoTagPattern,
    /// A `tag_pattern` has no group `key`.
    TagPatternKey,
    /// The parser of values is unknown.
    ValueParserName,
    /// The separator of lines is empty.
    EmptyLineSep,
    /// The separator of keys and values is empty.
    EmptyKvSep,
    /// A field has `join`, but its values are never strings.
    JoinNotText,
    /// The default of a field that repeats is not a list or text, so regions cannot be added to it.
    DefaultNotAddable,
    /// The template uses a valid feature that is not supported.
    Unsupported {
        /// The name of the feature.
        feature: &'static str,
    },
}

impl ErrorKind {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotJson => "not-json",
            Self::NoTemplate => "no-template",
            Self::ResponseSchema => "response-schema",
            Self::NotAnObject => "not-an-object",
            Self::Version => "version",
            Self::TopKey => "top-key",
            Self::DefaultsType => "defaults-type",
            Self::Fields => "fields",
            Self::FieldType => "field-type",
            Self::FieldKey => "field-key",
            Self::ContentName => "content-name",
            Self::LiteralAndPattern => "literal-and-pattern",
            Self::EmptyLiteral => "empty-literal",
            Self::EmptyList => "empty-list",
            Self::LiteralType => "literal-type",
            Self::LiteralKind => "literal-kind",
            Self::Regex => "regex",
            Self::JoinType => "join-type",
            Self::JoinWithoutRepeats => "join-without-repeats",
            Self::EachType => "each-type",
            Self::EachWithoutTransform => "each-without-transform",
            Self::MixedPlaceholder => "mixed-placeholder",
            Self::GroupsNoTransform => "groups-no-transform",
            Self::TwoLeftovers => "two-leftovers",
            Self::NoAnchor => "no-anchor",
            Self::UndefinedPlaceholder => "undefined-placeholder",
            Self::PlaceholderPath => "placeholder-path",
            Self::ContentArgs => "content-args",
            Self::NoTagPattern => "no-tag-pattern",
            Self::TagPatternKey => "tag-pattern-key",
            Self::ValueParserName => "value-parser-name",
            Self::EmptyLineSep => "empty-line-sep",
            Self::EmptyKvSep => "empty-kv-sep",
            Self::JoinNotText => "join-not-text",
            Self::DefaultNotAddable => "default-not-addable",
            Self::Unsupported { .. } => "unsupported",
        }
    }

    /// Returns whether the reference implementation accepts such a template and fails only when it
    /// reads a message.
    #[must_use]
    pub const fn is_late(self) -> bool {
        matches!(
            self,
            Self::UndefinedPlaceholder
                | Self::PlaceholderPath
                | Self::ContentArgs
                | Self::NoTagPattern
                | Self::TagPatternKey
                | Self::ValueParserName
                | Self::EmptyLineSep
                | Self::EmptyKvSep
                | Self::JoinNotText
                | Self::DefaultNotAddable
        )
    }

    const fn text(self) -> &'static str {
        match self {
            Self::NotJson => "not JSON",
            Self::NoTemplate => "no `response_template`",
            Self::ResponseSchema => {
                "this is a `response_schema`, the form before response templates, which is not \
                 read: ask for a checkpoint with a `response_template`, or name the family"
            }
            Self::NotAnObject => "expected an object",
            Self::Version => "expected version 1",
            Self::TopKey | Self::FieldKey => "unknown key",
            Self::DefaultsType => "expected an object",
            Self::Fields => "expected an object with at least one field",
            Self::FieldType => "expected an object",
            Self::ContentName => {
                "expected one of text, int, float, bool, json, xml-inline, kv-lines"
            }
            Self::LiteralAndPattern => "a literal and a pattern: expected one of them",
            Self::EmptyLiteral => "an empty literal",
            Self::EmptyList => "an empty list: expected at least one literal",
            Self::LiteralType => "expected a list of strings",
            Self::LiteralKind => "expected a string or a list of strings",
            Self::Regex => "not a pattern",
            Self::JoinType => "expected a string",
            Self::JoinWithoutRepeats => "needs `repeats`",
            Self::EachType => "expected a boolean",
            Self::EachWithoutTransform => "needs `transform`",
            Self::MixedPlaceholder => "a placeholder with text around it",
            Self::GroupsNoTransform => "named groups, but no `transform` that uses them",
            Self::TwoLeftovers => "a second field without an opener: at most one may have none",
            Self::NoAnchor => "expected `start_anchor` or `start_anchor_pattern`",
            Self::UndefinedPlaceholder => {
                "unknown placeholder: expected `content` or a group of the opener"
            }
            Self::PlaceholderPath => "a placeholder for a member of a value without members",
            Self::ContentArgs => "an argument of the wrong type",
            Self::NoTagPattern => "xml-inline needs a `tag_pattern`",
            Self::TagPatternKey => "expected a group called `key`",
            Self::ValueParserName => "unknown content parser",
            Self::EmptyLineSep | Self::EmptyKvSep => "an empty separator",
            Self::JoinNotText => "only strings can be joined",
            Self::DefaultNotAddable => "regions cannot be added to this default",
            Self::Unsupported { feature } => feature,
        }
    }
}

impl ResponseTemplateError {
    pub(crate) fn new(kind: ErrorKind, key: &str) -> Self {
        Self { kind, field: None, key: key.into(), at: None, detail: String::new() }
    }

    pub(crate) fn in_field(self, field: &str) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    pub(crate) fn at_offset(self, at: usize) -> Self {
        Self { at: Some(at), ..self }
    }

    pub(crate) fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

impl fmt::Display for ResponseTemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, field, key, at, detail } = self;
        f.write_str("response template: ")?;
        if let Some(field) = field {
            write!(f, "field `{field}`: ")?;
        }
        if !key.is_empty() {
            write!(f, "`{key}`: ")?;
        }
        match kind {
            ErrorKind::Unsupported { feature } => write!(f, "{feature} is not supported")?,
            kind => f.write_str(kind.text())?,
        }
        if !detail.is_empty() {
            write!(f, ": {detail}")?;
        }
        if let Some(at) = at {
            let unit = if *kind == ErrorKind::NotJson { "byte" } else { "character" };
            write!(f, " (at {unit} {at})")?;
        }
        Ok(())
    }
}

impl core::error::Error for ResponseTemplateError {}
