//! How a value's text becomes JSON, decided before its first byte.

use crate::{
    family::{self, Undeclared},
    machine::arguments::parameters::spec::ParameterSpec,
    tools::Tools,
    typing::{TypeSet, admitted, by_name},
};

/// The output form of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TextMode {
    /// A string, written as it comes.
    String,
    /// A string, or what else its first bytes may still become; then written as it comes.
    Text(TypedText),
    /// Typed by the schema once it is whole.
    Typed(TypeSet, Strings),
    /// JSON by the wire's word, once it is whole.
    Json,
    /// JSON or a string, depending on the whole text.
    Guess,
    /// No output for the value.
    #[default]
    Drop,
}

impl TextMode {
    /// Whether the value is JSON where it begins as an object or an array does.
    pub(crate) fn is_json(self) -> bool {
        match self {
            Self::Typed(types, _) => !types.has(TypeSet::STRING),
            Self::Json | Self::Guess => true,
            Self::String | Self::Text(_) | Self::Drop => false,
        }
    }

    /// Whether the value can be nothing but JSON.
    pub(crate) fn is_only_json(self) -> bool {
        self.is_json() && self != Self::Guess
    }
}

/// The types that a text may have in addition to a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypedText {
    pub(crate) types: TypeSet,
    pub(crate) strings: Strings,
}

impl TypedText {
    /// A string on the wire may be the object that holds all arguments.
    pub(crate) const OR_ARGUMENTS: Self =
        Self { types: TypeSet::STRING, strings: Strings::MayBeArguments };
}

/// How a family writes declared strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// The text is left unchanged.
    Verbatim,
    /// Perhaps as JSON strings, quotes and escapes included.
    MayBeJson,
    /// As they are, but for an object around all arguments.
    MayBeArguments,
}

/// Facts about a value from its parameter's header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire<'h> {
    /// Whether it is a string.
    pub(crate) string: Option<bool>,
    /// Its type, in the wire's word; empty if there is none.
    pub(crate) kind: &'h str,
}

/// How the value of the parameter `key` of `tool` is to be read.
pub(crate) fn mode(
    spec: &ParameterSpec,
    tool: &str,
    key: &str,
    wire: Wire<'_>,
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
