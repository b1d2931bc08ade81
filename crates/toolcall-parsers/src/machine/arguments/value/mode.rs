//! The conversion of a value's text to JSON, which is chosen before the first byte is read.

use crate::{
    family::{self, Undeclared},
    machine::arguments::parameters::spec::ParameterSpec,
    tools::Tools,
    typing::{TypeSet, admitted, by_name},
};

/// The conversion of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TextMode {
    /// A string, emitted while it arrives.
    String,
    /// A string, unless its first bytes show another type. Emitted while it arrives after that.
    Text(TypedText),
    /// A value of a declared type. Emitted when it is complete.
    Typed(TypeSet, Strings),
    /// JSON, as the wire declares. Emitted when it is complete.
    Json,
    /// JSON or a string, depending on the complete text.
    Guess,
    /// The value is dropped.
    #[default]
    Drop,
}

impl TextMode {
    /// Returns whether the value is JSON if it begins with a bracket.
    pub(crate) fn is_json(self) -> bool {
        match self {
            Self::Typed(types, _) => !types.has(TypeSet::STRING),
            Self::Json | Self::Guess => true,
            Self::String | Self::Text(_) | Self::Drop => false,
        }
    }

    /// Returns whether the value cannot be a plain string.
    pub(crate) fn is_only_json(self) -> bool {
        self.is_json() && self != Self::Guess
    }
}

/// The types that a text may have besides a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypedText {
    pub(crate) types: TypeSet,
    pub(crate) strings: Strings,
}

impl TypedText {
    /// A string that may be an object with all arguments.
    pub(crate) const OR_ARGUMENTS: Self =
        Self { types: TypeSet::STRING, strings: Strings::MayBeArguments };
}

/// The way in which a family writes declared strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// The text is left unchanged.
    Verbatim,
    /// The text may be a JSON string with quotes and escapes.
    MayBeJson,
    /// The text is left unchanged, unless it is an object with all arguments.
    MayBeArguments,
}

/// The facts about a value in its parameter's header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderTypes<'h> {
    /// Whether the value is a string, if the header declares it.
    pub(crate) string: Option<bool>,
    /// The name of the type on the wire, or empty.
    pub(crate) kind: &'h str,
}

/// Returns the conversion of the value of the parameter `key` of `tool`.
pub(crate) fn mode(
    spec: &ParameterSpec,
    tool: &str,
    key: &str,
    wire: HeaderTypes<'_>,
    tools: &Tools,
) -> TextMode {
    let kind = Some(wire.kind).filter(|kind| !kind.is_empty());
    let by_wire = match (wire.string, kind) {
        (Some(string), _) => Some(string),
        (None, Some(kind)) if spec.types == family::Types::Wire => Some(kind == "string"),
        (None, _) => None,
    };
    match by_wire {
        Some(true) => return TextMode::String,
        Some(false) => return TextMode::Json,
        None => {}
    }
    let strings = match (spec.types, spec.undeclared) {
        (family::Types::Schema, Undeclared::Json) => Strings::MayBeJson,
        _ => Strings::Verbatim,
    };
    let declared = tools.get(tool).and_then(|tool| admitted(&tool.parameters, key));
    match (declared, kind.map(by_name), spec.undeclared) {
        (Some(types), _, _) => declared_as(types, strings),
        (None, Some(types), _) => declared_as(types, Strings::Verbatim),
        (None, None, Undeclared::Json) => TextMode::Guess,
        (None, None, Undeclared::Text) => TextMode::String,
    }
}

fn declared_as(types: TypeSet, strings: Strings) -> TextMode {
    let types = if types == TypeSet::ALL { TypeSet::STRING } else { types };
    let text = TypeSet::STRING.or(TypeSet::NULL).has(types) && types.has(TypeSet::STRING);
    match strings {
        Strings::Verbatim if types.only_string() => TextMode::String,
        _ if text => TextMode::Text(TypedText { types, strings }),
        _ => TextMode::Typed(types, strings),
    }
}
