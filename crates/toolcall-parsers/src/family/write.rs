//! The part of a family that only the encoder reads.

/// The options of the encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Write {
    /// The spacing of JSON.
    pub json: Spacing,
    /// The spelling of tagged values other than strings.
    pub words: Words,
    /// The order of argument keys.
    pub keys: KeyOrder,
    /// Which characters are escaped in JSON strings.
    pub escapes: Escapes,
    /// Policy for the id of a call object without a given id.
    pub ids: WrittenIds,
    /// The form that the encoder tries first, from 0.
    pub form: usize,
}

/// Which characters are escaped in JSON strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Escapes {
    /// Only those for which JSON requires it.
    #[default]
    Needed,
    /// Also all characters that are not ASCII.
    Ascii,
}

/// Policy for the id of a call object without a given id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum WrittenIds {
    /// A missing id is omitted.
    #[default]
    Given,
    /// The call's index, from 0, as a string.
    Counted,
}

/// The spacing of written JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Spacing {
    /// Blanks after colons and commas: `{"a": 1, "b": 2}`.
    #[default]
    Spaced,
    /// No blanks: `{"a":1,"b":2}`.
    Compact,
    /// Each member on its own line, indented by four blanks per level.
    Indented,
}

/// The spelling of values other than strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Words {
    /// The spelling of JSON: `true`, `null`.
    #[default]
    Json,
    /// The spelling of Python for booleans and null: `True`, `None`.
    Python,
    /// As [`Words::Python`], and also for objects and arrays.
    Repr,
}

/// The order of argument keys on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum KeyOrder {
    /// Keys in the given order.
    #[default]
    Given,
    /// Keys sorted by bytes.
    Sorted,
}
